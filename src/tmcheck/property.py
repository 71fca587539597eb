"""Properties, as a claim states them: what is assumed of an input, or of two, and what is expected then.

    All, Some        all parts hold, some part holds
    In               a column of an input has one of these values
    Decides          the decision on an input is one of these classes, by at least ``margin`` votes, or it is
                     not by so many
    Agree            the decisions on both inputs are the same, each by at least ``margin`` votes
    Votes            a sum of votes, times integers, is at least a bound

Inputs are numbered 0 and 1, people call them a and b. They are the same except in the columns ``differ``;
what they share is said of input 0. A formula has one form: no All in an All and no Some in a Some, no parts
or at least two, and none without parts inside of another. ``opposite`` is the formula that holds where
another does not; a decision, or an agreement, is then *denied*.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tmcheck import limits
from tmcheck.errors import Refused, readable
from tmcheck.model import Machine
from tmcheck.space import Space
from tmcheck.strict import is_ascending, is_natural


@dataclass(frozen=True, slots=True)
class All:
    """All parts hold."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """Some part holds."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class In:
    """A column of an input has one of these values; or none of them, if denied."""

    of: int
    column: int
    values: tuple[int, ...]
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Decides:
    """The decision on an input is one of these classes, by a margin; or not, if denied."""

    of: int
    classes: tuple[int, ...]
    margin: int
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Agree:
    """The decisions on both inputs are the same, each by a margin; or not, if denied."""

    margin: int
    denied: bool = False


@dataclass(frozen=True, slots=True)
class Votes:
    """Votes, times factors, are at least a bound; terms are of input, row and factor."""

    terms: tuple[tuple[int, int, int], ...]
    bound: int


Formula = All | Some | In | Decides | Agree | Votes


@dataclass(frozen=True, slots=True)
class Property:
    """``expect`` holds of every input that meets ``assume``; of every two, if they ``differ`` somewhere."""

    differ: tuple[int, ...] | None
    assume: Formula
    expect: Formula

    def check_fits(self, machine: Machine, space: Space) -> None:
        """Raise Refused if it speaks of what the model does not have."""
        if self.differ is not None and self.differ[-1] >= space.n_columns:
            raise Refused(f"the property has column {self.differ[-1]}, which is not there")
        shared = _Fitting(machine, space, self.differ)
        for formula in (self.assume, self.expect):
            shared.check(formula)


def read_property(stated: Any) -> Property:
    """The property in a claim; Unreadable if it has another form."""
    known = type(stated) is dict and list(stated) == ["differ", "assume", "expect"]
    readable(known, "a property has the keys differ, assume, expect")
    differ = stated["differ"]
    readable(differ is None or is_ascending(differ), "columns in which a pair differs")
    reading = _Reading(1 if differ is None else 2)
    assume, expect = reading.formula(stated["assume"]), reading.formula(stated["expect"])
    readable(is_about_columns(assume), "an assumption is about columns")
    readable(len(reading.margins) <= 1, "the margins of a property are not the same")
    return Property(None if differ is None else tuple(differ), assume, expect)


class _Reading:
    """Formulas on their way."""

    def __init__(self, n_inputs: int) -> None:
        self.inputs = range(n_inputs)
        self.margins: set[int] = set()
        self.count = 0

    def formula(self, given: Any, above: str | None = None, depth: int = 0) -> Formula:
        readable(type(given) is list and bool(given) and type(given[0]) is str, "a part of a property")
        kind, rest = given[0], given[1:]
        self.count += 1
        readable(self.count <= limits.MOST_PARTS, f"a property of more than {limits.MOST_PARTS} parts")
        if kind in ("all", "some"):
            readable(depth < limits.DEEPEST, f"a property of more than {limits.DEEPEST} levels")
            readable(kind != above and len(rest) != 1, "a property that is not in its plain form")
            readable(bool(rest) or above is None, "a property with a part that always or never holds")
            parts = tuple(self.formula(part, kind, depth + 1) for part in rest)
            return All(parts) if kind == "all" else Some(parts)
        sizes = {"in": 3, "decides": 3, "fails": 3, "agree": 1, "differ": 0, "votes": 2}
        readable(sizes.get(kind) == len(rest), "a part of a property")
        readable(kind not in ("agree", "differ") or len(self.inputs) == 2, "there is one input, not two")
        return self._atom(kind, rest)

    def _atom(self, kind: str, rest: list[Any]) -> Formula:
        if kind == "in":
            of, column, values = rest
            readable(self._is_input(of) and is_natural(column) and is_ascending(values), "values")
            return In(of, column, tuple(values))
        if kind == "votes":
            return self._votes(*rest)
        if kind == "differ":
            self.margins.add(0)
            return Agree(0, denied=True)
        margin = rest[-1]
        readable(is_natural(margin, limits.MOST_MARGIN), "margin")
        self.margins.add(margin)
        if kind == "agree":
            return Agree(margin)
        of, classes, _ = rest
        readable(self._is_input(of) and is_ascending(classes), "classes")
        readable(kind != "fails" or margin > 0, "a decision is denied by a margin only")
        return Decides(of, tuple(classes), margin, denied=kind == "fails")

    def _votes(self, terms: Any, bound: Any) -> Votes:
        readable(type(terms) is list and bool(terms) and _is_factor(bound), "votes")
        readable(all(type(term) is list and len(term) == 3 for term in terms), "votes")
        for of, row, k in terms:
            readable(self._is_input(of) and is_natural(row) and _is_factor(k) and k != 0, "votes")
        rows = [(of, row) for of, row, _ in terms]
        readable(sorted(set(rows)) == rows, "votes")
        self.count += len(terms)
        return Votes(tuple((of, row, k) for of, row, k in terms), bound)

    def _is_input(self, of: Any) -> bool:
        return type(of) is int and of in self.inputs


def _is_factor(value: Any) -> bool:
    return type(value) is int and abs(value) < limits.LARGEST_VOTES


class _Fitting:
    """What a model has, held against what a formula speaks of."""

    def __init__(self, machine: Machine, space: Space, differ: tuple[int, ...] | None) -> None:
        self.machine, self.space = machine, space
        self.differ = frozenset(differ or ())

    def check(self, formula: Formula) -> None:
        """Raise Refused if something is not there, or is said in another form than the plain one."""
        if isinstance(formula, All | Some):
            for part in formula.parts:
                self.check(part)
        elif isinstance(formula, In):
            self._check_values(formula)
        elif isinstance(formula, Votes):
            n = len(self.machine.always)
            if any(row >= n for _, row, _ in formula.terms):
                raise Refused("the property has votes of a class that is not there")
        else:
            self._check_margin(formula.margin)
            n = len(self.machine.classes)
            if isinstance(formula, Decides) and not (formula.classes[-1] < n and len(formula.classes) < n):
                raise Refused("the property has a class that is not there, or all of them")

    def _check_values(self, formula: In) -> None:
        number, values = formula.column, formula.values
        if number >= self.space.n_columns:
            raise Refused(f"the property has column {number}, which is not there")
        n = self.space.column(number).n_values
        if values[-1] >= n or len(values) == n:
            raise Refused(f"the property has a value that column {number} has not, or all of them")
        if formula.of and number not in self.differ:
            raise Refused(f"the property speaks of column {number} of the second input, which is the first's")

    def _check_margin(self, margin: int) -> None:
        check_margin(self.machine, margin)


def check_margin(machine: Machine, margin: int) -> None:
    """Raise Refused if no decision of a machine can stand by so many votes."""
    most = None if machine.clamp is None else machine.clamp * min(2, len(machine.always))
    if most is not None and margin > most:
        raise Refused(f"the margin is above {most}: the scores are cut, no decision stands by more")


def is_about_columns(formula: Formula) -> bool:
    """Whether a formula speaks of columns alone."""
    if isinstance(formula, All | Some):
        return all(map(is_about_columns, formula.parts))
    return isinstance(formula, In)


def opposite(formula: Formula) -> Formula:
    """The formula that holds where this one does not."""
    if isinstance(formula, All):
        return Some(tuple(map(opposite, formula.parts)))
    if isinstance(formula, Some):
        return All(tuple(map(opposite, formula.parts)))
    if isinstance(formula, Votes):
        return Votes(tuple((of, row, -k) for of, row, k in formula.terms), 1 - formula.bound)
    return replace(formula, denied=not formula.denied)
