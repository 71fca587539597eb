"""A claim in words, as it is printed when it is accepted: read them, it may not be the claim you wanted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from tmcheck.model import Loaded, Machine, read_model
from tmcheck.network import Network
from tmcheck.space import CATEGORY, NUMBER, Column, Space

T = TypeVar("T")

_MOST_SAID = 12  # rules, columns or values; of more, the first and a hash of all

_MORE = {
    "suffices": "",
    "minimal": "; none of these can be left out",
    "widest": "; none of these can be left out, and no value can be added",
    "smallest": "; no fewer columns are enough",
}
_UNITS = {"bits": "flip(s)", "columns": "changed column(s)", "steps": "step(s)"}


def in_words(claim: dict[str, Any], models: Sequence[bytes | Loaded] = ()) -> str:
    """What a claim says.

    ``check`` adds which input it is about and what may change there, by the names of the columns. For a claim
    that was not checked, ``models`` may be given to have the names.
    """
    x = claim.get("about", "the input")
    who = " and ".join(f"model {name[:12]}" for name in claim["models"])
    if claim["scope"] != "team":
        who = f"class {claim['scope']!r} of {who}"
    denied = claim["answer"] != "holds"
    if claim["question"] == "equivalence":
        every = "every input" if claim["distance"] == "bits" else "every possible input"
        return f"{who} {'do not agree' if denied else 'agree'} on {every}"
    space = _space(models)
    if claim["property"] is not None:
        return _property(claim, who, x, models)
    where = claim["changing"] if "changing" in claim else changing(claim, space)
    if claim["reason"] is not None:
        return _reason(
            claim, who, x, where, claim["because"] if "because" in claim else because(claim, space)
        )
    if claim["answer"] == "radius":
        what = _violates(claim)
        if claim["radius"] is None:
            return f"{who} {what} nowhere around {x}{where}"
        return f"{who} {what} {_distance(claim, claim['radius'])} from {x}{where}, and no nearer"
    what = f"{_keeps(claim)} within {_distance(claim, claim['epsilon'])}"
    not_ = "it is not true that " if denied else ""
    if claim["inputs"] == 1 and claim["eta"] == "1/1":
        return f"{not_}{who} {what} of {x}{where}"
    share = f"at least {claim['eta']} of {claim['inputs']} input(s) ({x})"
    return f"{not_}on {share}, {who} {what}{where}"


def _property(claim: dict[str, Any], who: str, x: str, models: Sequence[bytes | Loaded]) -> str:
    """A property that was stated: of which inputs, and what."""
    space = _space(models)
    what = claim["stated"] if "stated" in claim else stated(claim, space, _first(models))
    not_ = "" if claim["answer"] == "holds" else "it is not true that "
    pair = claim["property"]["differ"] is not None
    if claim["epsilon"] is None:
        return f"{not_}every {'two possible inputs' if pair else 'possible input'} of {who}{what}"
    where = claim["changing"] if "changing" in claim else changing(claim, space)
    single = claim["inputs"] == 1 and claim["eta"] == "1/1"
    share = "" if single else f"for at least {claim['eta']} of {claim['inputs']} input(s) ({x}), "
    within = f"within {_distance(claim, claim['epsilon'])} of {x if single else 'it'}{where}"
    every = f"two inputs of {who}, the first {within}," if pair else f"input of {who} {within}"
    return f"{not_}{share}every {every}{what}"


def changing(claim: dict[str, Any], space: Space | None = None) -> str:
    """What a claim says about columns: which may change, which way, to what, at what cost."""
    said = "" if claim["features"] is None else ", only some features changing"
    said += {None: "", "add": ", only from 0 to 1", "remove": ", only from 1 to 0"}[claim["direction"]]
    space = _fitting(claim, space)
    rules = [_rule(space, *rule) for rule in claim["columns"] or ()]
    if rules:
        said += f", where {_some(rules, claim['columns'])}"
    apart = [_together(columns, space) for columns in claim["apart"] or ()]
    if apart:
        said += f", without changing {_some(apart, claim['apart'])}"
    return said


def because(claim: dict[str, Any], space: Space | None = None) -> str:
    """The columns of a claim's reason, and what they are there, if that is said."""
    reason = claim["reason"] or []
    noun, space = "bit" if claim["distance"] == "bits" else "column", _fitting(claim, space)
    said = [
        _column(number, space, noun) if values is None else _is_one_of(number, values, space, noun)
        for number, values in reason
    ]
    long = any(len(values or ()) > _MOST_SAID for _, values in reason)
    return _some(said, reason, between=" and ", before_last=" and ", cut=long)


def stated(claim: dict[str, Any], space: Space | None = None, model: Machine | Network | None = None) -> str:
    """What a claim states of one input, or of two: what they are, and what is so then."""
    if claim["property"] is None:
        return ""
    differ, assume, expect = (claim["property"][key] for key in ("differ", "assume", "expect"))
    words = _Formulas(_fitting(claim, space), model, differ)
    said = "" if differ is None else f" that are the same except {words.columns(differ)}"
    if assume != ["all"]:
        said += f"{'' if differ is None else ', a and b,'} such that {words.said(assume)}"
    elif expect[0] not in ("all", "some", "agree") and differ is not None:
        said += ", a and b"
    if expect[0] == "agree":
        said += f" get the same decision{words.by(expect[1], ', each')}"
    else:
        said += f": {words.said(expect)}"
    if words.cut:
        digest = hashlib.sha256(json.dumps(claim["property"], separators=(",", ":")).encode()).hexdigest()
        said += f" (the whole property has the sha256 {digest})"
    return said


class _Formulas:
    """Words for the formulas of a property; ``cut`` tells whether something was too long to be said."""

    def __init__(
        self, space: Space | None, model: Machine | Network | None, differ: list[int] | None
    ) -> None:
        self.space, self.differ = space, differ
        self.classes = None if model is None else model.classes
        self.one_score = isinstance(model, Machine) and len(model.always) == 1
        self.cut = False

    def columns(self, numbers: list[int]) -> str:
        """Columns by their names."""
        self.cut |= len(numbers) > _MOST_SAID
        more = f" and {len(numbers) - _MOST_SAID} more" if len(numbers) > _MOST_SAID else ""
        return f"{' and '.join(_column(n, self.space) for n in numbers[:_MOST_SAID])}{more}"

    def said(self, formula: list[Any], inside: bool = False) -> str:
        """A formula; in brackets where it is inside of another."""
        kind, *rest = formula
        if kind in ("all", "some"):
            if not rest:
                return "anything is so" if kind == "all" else "nothing is so"
            parts = list(self._parts(rest) if kind == "all" else (self.said(part, True) for part in rest))
            self.cut |= len(parts) > _MOST_SAID
            more = [f"{len(parts) - _MOST_SAID} more"] if len(parts) > _MOST_SAID else []
            text = (" and " if kind == "all" else " or ").join([*parts[:_MOST_SAID], *more])
            return f"({text})" if inside and len(parts) > 1 else text
        if kind == "in":
            of, number, values = rest
            self.cut |= len(values) > _MOST_SAID
            return f"{self._whose(of, number)}{_is_one_of(number, values, self.space, 'column')}"
        if kind in ("decides", "fails"):
            of, chosen, margin = rest
            self.cut |= len(chosen) > _MOST_SAID
            whose = self._owner(of) or "the "
            so = f"{whose}decision is {_either(chosen, self._label)}{self.by(margin)}"
            return so if kind == "decides" else f"not ({so})"
        if kind == "votes":
            return self._votes(*rest)
        return "the decisions differ" if kind == "differ" else f"the decisions are the same{self.by(rest[0])}"

    @staticmethod
    def by(margin: int, each: str = "") -> str:
        """By how many votes."""
        return f"{each} by at least {margin} vote(s)" if margin else ""

    def _owner(self, of: int) -> str:
        return "" if self.differ is None else f"{'ab'[of]}'s "

    def _whose(self, of: int, number: int) -> str:
        return self._owner(of) if self.differ is not None and number in self.differ else ""

    def _label(self, c: int) -> str:
        known = self.classes is not None and c < len(self.classes)
        return repr(self.classes[c]) if known and self.classes is not None else f"class number {c}"

    def _votes(self, terms: list[list[int]], bound: int) -> str:
        self.cut |= len(terms) > _MOST_SAID
        text = ""
        for of, row, k in terms[:_MOST_SAID]:
            what = f"votes for {self._label(row)}"
            if self.one_score:  # of the second class, over the first
                ahead, behind = (1, 0) if k > 0 else (0, 1)
                what, k = f"votes for {self._label(ahead)} less those for {self._label(behind)}", abs(k)
            sign = ("-" if k < 0 else "") if not text else (" - " if k < 0 else " + ")
            text += f"{sign}{'' if abs(k) == 1 else f'{abs(k)} times '}{self._owner(of) or 'the '}{what}"
        more = f" and {len(terms) - _MOST_SAID} more" if len(terms) > _MOST_SAID else ""
        return f"{text}{more} are at least {bound}"

    def _parts(self, parts: list[Any]) -> Iterator[str]:
        """The parts of an All; those that say together that a column is no higher than another, as one."""
        place = 0
        while place < len(parts):
            found = self._no_higher(parts, place)
            if found is None:
                yield self.said(parts[place], True)
                place += 1
            else:
                words, length = found
                yield words
                place += length

    def _no_higher(self, parts: list[Any], place: int) -> tuple[str, int] | None:
        """Whether some parts say, for every k, that one value is at most k or another above; how many do."""
        start = place + 2 if parts[place][0] == "in" else place
        if self.space is None or start >= len(parts) or not _is_either_of_two(parts[start]):
            return None
        (_, of, low, _), (_, other, high, _) = parts[start][1:]
        columns = [self.space.column(number) for number in (low, high) if number < self.space.n_columns]
        if len({(c.kind, c.n_values, c.missing, c.ordered) for c in columns}) != 1 or len(columns) < 2:
            return None
        column = columns[0]
        n = column.n_values - column.missing
        length = n - 1 + start - place
        short = column.kind == CATEGORY or (start > place) != column.missing or len(parts) < place + length
        if short or len(parts[start][2][3]) != n - 1:  # what follows takes as long as the parts are
            return None
        there = [["in", of, low, list(range(n))], ["in", other, high, list(range(n))]]
        if not all(
            parts[start + k]
            == ["some", ["in", of, low, list(range(k + 1))], ["in", other, high, list(range(k + 1, n))]]
            for k in range(n - 1)
        ) or parts[place:start] not in ([], there):
            return None
        names = [
            f"{self._whose(i, number)}{_column(number, self.space)}"
            for i, number in ((of, low), (other, high))
        ]
        return f"{names[0]} is no higher than {names[1]}", length


def _is_either_of_two(formula: list[Any]) -> bool:
    return formula[0] == "some" and [part[0] for part in formula[1:]] == ["in", "in"]


def _reason(claim: dict[str, Any], who: str, x: str, where: str, columns: str) -> str:
    within = "" if claim["epsilon"] is None else f" within {_distance(claim, claim['epsilon'])}"
    if claim["answer"] == "contrastive":
        less = "not all of them do" if len(claim["reason"]) > 1 else "it does not"
        what = f"{_violates(claim)} on an input that differs from {x} in {columns} alone{within}"
        return f"{who} {what}, and {_keeps(claim)} if {less}{where}"
    if not claim["reason"]:
        return f"{who} {_keeps(claim)} on {x} whatever changes{within}{where}"
    what = f"{_keeps(claim)} on {x} whatever else changes{within}{where}, as long as {columns}"
    return f"{who} {what}{_MORE[claim['answer']]}"


def _is_one_of(number: int, values: list[int], space: Space | None, noun: str) -> str:
    """A column and its values; of a number, neighbours together; of others, those that it is not, if less."""
    name = _column(number, space, noun)
    if space is None or number >= space.n_columns:
        return f"{name} is {_either(values, str)}"
    column = space.column(number)
    if column.kind == NUMBER:
        return f"{name} is {_either(list(_runs(column, values)), lambda run: _run(column, run, space))}"
    not_ = 2 * len(values) > column.n_values
    said = sorted(set(range(column.n_values)).difference(values)) if not_ else values
    return f"{name} is {'not ' if not_ else ''}{_either(said, lambda v: repr(space.value(number, v)))}"


def _runs(column: Column, values: list[int]) -> Iterator[tuple[int, int]]:
    """Values of a number, the first and the last of those that have no other between them."""
    first = values[0]
    for value, after in zip(values, [*values[1:], -1], strict=True):
        if after != value + 1 or not column.is_interval(after):
            yield first, value
            first = after


def _run(column: Column, ends: tuple[int, int], space: Space) -> str:
    if column.is_interval(ends[0]):
        return repr(space.intervals(column.number, *ends))
    return repr(space.value(column.number, ends[0]))


def _either(some: list[T], name: Callable[[T], str]) -> str:
    more = f" or {len(some) - _MOST_SAID} more" if len(some) > _MOST_SAID else ""
    return f"{' or '.join(map(name, some[:_MOST_SAID]))}{more}"


def _space(models: Sequence[bytes | Loaded]) -> Space | None:
    read = [read_model(model) if isinstance(model, bytes) else model for model in models]
    return next((loaded.model.space for loaded in read if loaded.model.space is not None), None)


def _first(models: Sequence[bytes | Loaded]) -> Machine | Network | None:
    read = [read_model(model) if isinstance(model, bytes) else model for model in models[:1]]
    return read[0].model if read else None


def _fitting(claim: dict[str, Any], space: Space | None) -> Space | None:
    """The space, if its columns are those of the claim: one about bits has none for several bits of one."""
    return None if space is None or (claim["distance"] == "bits" and space.several) else space


def _violates(claim: dict[str, Any]) -> str:
    if claim["target"] is not None:
        return f"decides {claim['target']!r}"
    weak = f", or by less than {claim['margin']} vote(s)," if claim["margin"] else ""
    return f"{'decides otherwise' if claim['question'] == 'robustness' else 'disagree'}{weak}"


def _keeps(claim: dict[str, Any]) -> str:
    if claim["target"] is not None:
        return f"does not decide {claim['target']!r}"
    if claim["question"] != "robustness":
        return f"agree{f', each by at least {m} vote(s),' if (m := claim['margin']) else ''}"
    return f"keeps its decision{f' by at least {m} vote(s)' if (m := claim['margin']) else ''}"


def _distance(claim: dict[str, Any], cost: int) -> str:
    unit = _UNITS[claim["distance"]]
    priced = any(rule[3] != 1 for rule in claim["columns"] or ())
    return f"a cost of {cost} ({unit}, weighted)" if priced else f"{cost} {unit}"


def _rule(space: Space | None, number: int, way: str, values: list[int] | None, factor: int) -> str:
    said = {"any": [], "keep": ["stays"], "up": ["only rises"], "down": ["only falls"]}[way]
    if values is not None:
        names = [str(v) if space is None else repr(space.value(number, v)) for v in values[:_MOST_SAID]]
        more = f" and {len(values) - _MOST_SAID} more" if len(values) > _MOST_SAID else ""
        said = [*said, f"only becomes {' or '.join(names)}{more}"]
    if factor != 1:
        said = [*said, f"costs {factor} times as much"]
    return f"{_column(number, space)} {' and '.join(said)}"


def _together(columns: list[int], space: Space | None) -> str:
    names = [_column(number, space) for number in columns[:_MOST_SAID]]
    more = f" and {len(columns) - _MOST_SAID} more" if columns[_MOST_SAID:] else ""
    return f"{'all of ' if len(columns) > 1 else ''}{' and '.join(names)}{more}"


def _column(number: int, space: Space | None, noun: str = "column") -> str:
    known = space is not None and number < space.n_columns
    return repr(space.name(number)) if known and space is not None else f"{noun} {number}"


def _some(
    said: list[str],
    whole: list[Any],
    *,
    between: str = "; ",
    before_last: str = "; and ",
    cut: bool = False,
) -> str:
    """What is said, if it is not too long; else the first, and a hash of all, as if it is ``cut`` before."""
    text = between.join(said[:_MOST_SAID])
    more = f"{before_last}{len(said) - _MOST_SAID} more" if len(said) > _MOST_SAID else ""
    if not more and not cut:
        return text
    digest = hashlib.sha256(json.dumps(whole, separators=(",", ":")).encode()).hexdigest()
    return f"{text}{more} (all of them have the sha256 {digest})"
