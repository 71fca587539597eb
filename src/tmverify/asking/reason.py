"""KeptReason: the facts that suffice for a decision, in the form in which answers and stores keep them.

    {"decision": "good", "columns": [[1, [2, 3]], [4, [0]]], "undecided": [4]}

A column has its place in the model's space (of bits, where the question is about bits) and the values that it
may have, by their numbers. Columns that might be left out, or might have further values, are undecided. What
it says in words is made when it is read (``said``): a store keeps the model's space, not its clauses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tmverify.errors import shown
from tmverify.model import Label
from tmverify.properties.region import Region, region_in
from tmverify.space.parts import ABSENT
from tmverify.space.phrases import Fact
from tmverify.verify.explanation import Explanation, Spaced, Words

if TYPE_CHECKING:
    from tmverify.asking.task import Task

_KEYS = {"decision", "columns", "undecided"}
Columns = tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class KeptReason:
    """A decision, the columns that suffice for it with their values, and the undecided ones of them."""

    decision: Label
    columns: Columns
    undecided: tuple[int, ...] = ()

    @classmethod
    def of(cls, found: Explanation) -> KeptReason:
        """The reason, to be kept."""
        names = set(found.undecided)
        undecided = [place for place, name in zip(found.places, found.columns, strict=True) if name in names]
        columns = tuple(zip(found.places, found.values, strict=True))
        return cls(found.decision, columns, tuple(undecided))

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the columns."""
        return tuple(place for place, _ in self.columns)

    def to_json(self) -> dict[str, Any]:
        """Its JSON form; the module describes it."""
        columns = [[place, list(values)] for place, values in self.columns]
        return {"decision": self.decision, "columns": columns, "undecided": list(self.undecided)}

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> KeptReason:
        """The reason that ``to_json`` wrote; ValueError with the reason if it did not write this."""
        if set(document) != _KEYS or type(document["decision"]) not in (int, str):
            raise ValueError(f"a reason can't be {shown(document)}")
        columns, undecided = document["columns"], document["undecided"]
        if not isinstance(columns, list) or not all(map(_is_column, columns)) or not _are_numbers(undecided):
            raise ValueError(f"a reason can't be {shown(document)}")
        return cls(
            document["decision"],
            tuple((place, tuple(values)) for place, values in columns),
            tuple(undecided),
        )

    def faults(self, region: Region) -> Iterator[str]:
        """Why it can't be about the centre of ``region``; only the first counts."""
        if any(one >= other for one, other in pairwise(self.places)):
            yield "the columns of its reason are not in order"
        own = _values_in(region)
        for place, values in self.columns:
            if place not in own:
                yield f"its reason has column {place}, which may not change"
            elif not values or any(one >= other for one, other in pairwise(values)):
                yield f"column {place} of its reason has values {shown(list(values))}"
            elif own[place][0] not in values:
                yield f"column {place} of its reason has not the value of the input"
            elif not set(values) <= set(own[place]):
                yield f"column {place} of its reason has values that it may not have"
        if not set(self.undecided) <= set(self.places) or any(a >= b for a, b in pairwise(self.undecided)):
            yield f"of its reason, {shown(list(self.undecided))} can't be undecided"


def region_of(task: Task, model: Spaced) -> Region:
    """Where a task's reason must hold; ValueError if its input is none that the columns can have."""
    assert task.x is not None
    return region_in(model.space, task.x, task.epsilon, task.rules.rules(task.n_features))


def n_columns(region: Region) -> int:
    """How many columns may change."""
    return len(_values_in(region))


def said(task: Task, reason: KeptReason, model: Spaced) -> tuple[list[Fact], str]:
    """The facts of a reason, and its rule, in words."""
    words = Words(model, region_of(task, model))
    facts = [words.fact(place, values) for place, values in reason.columns]
    return facts, words.rule(facts, words.then(reason.decision, None, task.scope), task.epsilon)


def _values_in(region: Region) -> dict[int, list[int]]:
    """The values that each column may have that can change, the centre's own first."""
    found = {own.column: own.values.tolist() for own in region.options}
    flags = region.mutable.nonzero()[0]
    for bit, column in zip(flags.tolist(), region.column_of(flags).tolist(), strict=True):
        found[column] = [int(region.origin[bit]), 1 - int(region.origin[bit])]
    return found


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(type(each) is int and each > ABSENT for each in value)


def _is_column(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and _are_numbers(value[:1]) and _are_numbers(value[1])
