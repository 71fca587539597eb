"""KeptRules: what may change, in the form in which tasks and stores keep it, and in words.

``Rules`` have an array, so they are not compared and not hashed. ``KeptRules`` say the same with packed bits.
Equal rules are equal here, whatever the order of the arguments that they came from. Their JSON leaves out all
that is the default, and is null where any bits may flip::

    {"distance": "bits", "mask": "f0", "direction": "add"}
    {"distance": "steps", "columns": [[0, "up"], [2, "any", [0, 3]], [5, "any", null, 2]]}

where a column has its place, its way, its values and its cost.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from tmverify.asking.bits import is_packed, pack, unpack
from tmverify.errors import shown
from tmverify.properties.allowed import (
    MAX_COST,
    Direction,
    Distance,
    Rule,
    Rules,
    Way,
    changes_to_known,
    leave_out_unknown,
)
from tmverify.space import Flag, Number, Space
from tmverify.space.phrases import Condition, quoted

_KEYS = ("distance", "mask", "direction", "columns")
_SOME = 6
_MOST_VALUES = 4


@dataclass(frozen=True, slots=True)
class KeptRules:
    """What may change: bits (those of ``mask``, packed, or all; one way or both), or columns."""

    distance: Distance = "bits"
    mask: bytes | None = None
    direction: Direction | None = None
    columns: tuple[Rule, ...] = ()

    @classmethod
    def of(cls, rules: Rules) -> KeptRules:
        """The same rules, to be kept."""
        mask = None if rules.features is None else pack(rules.features)
        return cls(rules.distance, mask, rules.direction, rules.columns)

    @property
    def about_bits(self) -> bool:
        """Whether every bit is on its own."""
        return self.distance == "bits"

    @property
    def everything(self) -> bool:
        """Whether nothing is said but the distance, and that one is no way of counting."""
        return self.mask is None and self.direction is None and not self.columns and self.distance != "steps"

    def rules(self, n_features: int) -> Rules:
        """The rules, for a query."""
        return Rules(self.distance, self.free(n_features), self.direction, self.columns)

    def free(self, n_features: int) -> NDArray[np.bool_] | None:
        """The bits that may change; None for all."""
        return None if self.mask is None else unpack(self.mask, n_features).astype(np.bool_)

    def to_json(self) -> dict[str, Any] | None:
        """Its JSON form; the module describes it."""
        if self == KeptRules():
            return None
        found: dict[str, Any] = {"distance": self.distance}
        if self.mask is not None:
            found["mask"] = self.mask.hex()
        if self.direction is not None:
            found["direction"] = self.direction
        if self.columns:
            found["columns"] = [_rule_json(rule) for rule in self.columns]
        return found

    @classmethod
    def from_json(cls, document: object) -> KeptRules:
        """The rules that ``to_json`` wrote; ValueError with the reason if it did not write this."""
        if document is None:
            return cls()
        if not isinstance(document, dict) or not set(document) <= set(_KEYS):
            raise ValueError(f"rules can't be {shown(document)}")
        mask, columns = document.get("mask"), document.get("columns", [])
        if not (mask is None or isinstance(mask, str)) or not isinstance(columns, list):
            raise ValueError(f"rules can't be {shown(document)}")
        found = cls(
            document.get("distance"),  # type: ignore[arg-type]
            None if mask is None else bytes.fromhex(mask),
            document.get("direction"),
            tuple(map(_rule_of, columns)),
        )
        if found.to_json() != document:
            raise ValueError(f"rules are not written like {shown(document)}")
        found.check()
        return found

    def check(self, n_features: int | None = None, space: Space | None = None) -> None:
        """Raise ValueError with the reason if ``rules_of`` gives no such rules, as far as can be known."""
        if self.distance not in get_args(Distance):
            raise ValueError(f"there is no distance {shown(self.distance)}")
        if self.direction not in (None, *get_args(Direction)):
            raise ValueError(f"there is no direction {shown(self.direction)}")
        if self.about_bits and self.columns:
            raise ValueError("its rules are about bits, and also about columns")
        if not self.about_bits and (self.mask is not None or self.direction is not None):
            raise ValueError("its rules are about columns, and also about bits")
        if self.mask is not None and n_features is not None and not is_packed(self.mask, n_features):
            raise ValueError(f"its mask has not {n_features} features")
        for rule in self.columns:
            _check_rule(rule)
        if any(one.column >= other.column for one, other in pairwise(self.columns)):
            raise ValueError("the columns of its rules are not in order")
        if space is not None:
            self._check_in(space)

    def _check_in(self, space: Space) -> None:
        if self.columns and self.columns[-1].column >= len(space.columns):
            raise ValueError(f"there is no column {self.columns[-1].column}")
        if space.only_flags and not self.about_bits and all(rule.way == "keep" for rule in self.columns):
            raise ValueError("its rules are about columns, where every column is a bit")
        for rule in self.columns:
            column = space.columns[rule.column]
            if rule.way in ("up", "down") and not isinstance(column.part, Number | Flag):
                raise ValueError(f"column {column.name!r} has no order, and may only go {rule.way}")
            if rule.values is not None and rule.values[-1] >= len(column.values):
                raise ValueError(f"column {column.name!r} has no value {rule.values[-1]}")

    def counted(self, n: int) -> str:
        """So many changes in words: "2 flips", "1 column", "3 steps", "cost 4"."""
        if self.unit == "cost":
            return f"cost {n}"
        return f"{n} {self.unit}" if n != 1 else f"1 {self.unit[:-1]}"

    @property
    def unit(self) -> str:
        """What epsilons and radii count: "flips", "columns", "steps", or "cost" if not all changes cost 1."""
        if any(rule.cost != 1 for rule in self.columns):
            return "cost"
        return {"bits": "flips", "columns": "columns", "steps": "steps"}[self.distance]

    def words(self, space: Space | None) -> list[str]:
        """What is said of columns, in a few words each: "only columns income, savings", "steps".

        Of bits, only that they are bits, where a column is more than one. Without the space, columns have
        their place as a name.
        """
        if self.about_bits:
            return ["bits"] if space is not None and not space.only_flags else []
        said = ["steps"] if self.distance == "steps" else []

        def named(rules: Sequence[int]) -> str:
            return _listed([_name(space, place) for place in rules])

        kept = [rule.column for rule in self.columns if rule.way == "keep"]
        if kept:
            others = [] if space is None else sorted(set(range(len(space.columns))) - set(kept))
            if space is not None and len(others) < len(kept):
                said.append(f"only column{'s' * (len(others) != 1)} {named(others) or 'none'}")
            else:
                said.append(f"{named(kept)} frozen")
        ways: dict[str, list[int]] = defaultdict(list)
        for rule in self.columns:
            if rule.way in ("up", "down"):
                flag = space is not None and isinstance(space.columns[rule.column].part, Flag)
                verbs = ("be set", "be cleared") if flag else ("grow", "fall")
                ways[verbs[rule.way == "down"]].append(rule.column)
        said += [f"{named(places)} may only {verb}" for verb, places in ways.items()]
        said += self._values_words(space)
        costs = [rule for rule in self.columns if rule.cost != 1]
        if costs:
            said.append(f"cost {_listed([f'{_name(space, rule.column)} {rule.cost}' for rule in costs])}")
        return said

    def _values_words(self, space: Space | None) -> list[str]:
        """What columns may change to; those that change to known values are said together."""
        given = [rule for rule in self.columns if rule.values is not None]
        known = [] if space is None else [rule for rule in given if changes_to_known(space, rule)]
        if space is None or len(known) < 2:
            return [_values_text(space, rule) for rule in given]
        said = "only known values"
        if not leave_out_unknown(space, self.columns):
            said = f"{_listed([_name(space, rule.column) for rule in known])} only to known values"
        return [said, *(_values_text(space, rule) for rule in given if rule not in known)]

    def by_column(self, space: Space) -> dict[str, dict[str, Any]]:
        """The rule of each column that has one, by its name, as plain values for JSON."""
        found = {}
        for rule in self.columns:
            column = space.columns[rule.column]
            values = None if rule.values is None else [column.values[i] for i in rule.values]
            found[column.name] = {"way": rule.way, "values": values, "cost": rule.cost}
        return found


def _rule_json(rule: Rule) -> list[Any]:
    values = None if rule.values is None else list(rule.values)
    if rule.cost != 1:
        return [rule.column, rule.way, values, rule.cost]
    return [rule.column, rule.way] if values is None else [rule.column, rule.way, values]


def _rule_of(document: object) -> Rule:
    if not isinstance(document, list) or not 2 <= len(document) <= 4:
        raise ValueError(f"a rule of a column can't be {shown(document)}")
    place, way = document[:2]
    values, cost = document[2] if len(document) > 2 else None, document[3] if len(document) > 3 else 1
    if values is not None:
        if not isinstance(values, list):
            raise ValueError(f"a rule of a column can't be {shown(document)}")
        values = tuple(values)
    rule = Rule(place, way, values, cost)
    _check_rule(rule)
    return rule


def _check_rule(rule: Rule) -> None:
    numbers = (rule.column, rule.cost, *(rule.values or ()))
    if any(type(number) is not int or number < 0 for number in numbers) or rule.cost > MAX_COST:
        raise ValueError(f"a rule of a column can't have the numbers {shown(numbers)}")
    if not isinstance(rule.way, str) or rule.way not in get_args(Way):
        raise ValueError(f"a column has no way {shown(rule.way)}")
    values = rule.values
    if values is not None and (not values or any(one >= other for one, other in pairwise(values))):
        raise ValueError(f"the values of a column can't be {shown(values)}")
    if rule == Rule(rule.column) or (rule.way == "keep" and rule != Rule(rule.column, "keep")):
        raise ValueError(f"no column has the rule {shown(tuple(rule))}")


def _name(space: Space | None, place: int) -> str:
    return f"column {place}" if space is None else quoted(space.columns[place].name)


def _values_text(space: Space | None, rule: Rule) -> str:
    assert rule.values is not None
    if space is None:
        return f"{_name(space, rule.column)} has {len(rule.values)} values"
    column = space.columns[rule.column]
    allowed = tuple(i in set(rule.values) for i in range(len(column.values)))
    return f"if changed, {Condition(column, allowed).said(_MOST_VALUES)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SOME} more" if len(names) > _SOME else ""
    return ", ".join(names[:_SOME]) + more
