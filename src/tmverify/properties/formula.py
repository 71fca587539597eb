"""Formulas: what an expression says of a model's inputs, in numbers.

    All, Some              all parts hold, some part holds
    In                     a column of an input has one of these values
    Decides                the decision on an input is one of these classes, by at least ``margin`` votes
    Agree                  the decisions on two inputs are the same, each by at least ``margin`` votes
    Lead                   a sum of votes, times integers, is at least a bound

A decision stands *by m votes* if each class outside of what is said has at least m votes less than the best
class within. By 0 votes it is the decision as such, ties as the model declares them. The votes of a class are
its score, after the model's clamp if it has one. A binary model has one score s for both classes: its second
class leads by s votes, its first by -s.

``negated`` pushes a negation down to what has no parts, so that formulas need none; "not good" is one of the
other classes. ``denial`` is where a formula fails, its margins included. Formulas have two meanings, which
tests hold against each other: ``holds`` evaluates them on inputs, by the plain evaluator; ``statement``
compiles them to vote constraints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]


class Facts(Protocol):
    """What formulas are evaluated on: n inputs, or n pairs of inputs; ``of`` is 0, or 1 for the second."""

    n: int

    def values(self, of: int, column: int) -> NDArray[np.int64]:
        """The number of the value that a column has, (n,)."""

    def votes(self, of: int) -> NDArray[np.int64]:
        """The votes, (n, outputs)."""

    def decisions(self, of: int) -> NDArray[np.int64]:
        """The class indices, (n,)."""


class Formula(ABC):
    """See the module."""

    @abstractmethod
    def negated(self) -> Formula:
        """The formula that holds where this one does not."""

    @abstractmethod
    def holds(self, facts: Facts) -> Bools:
        """Where it holds, (n,)."""

    @abstractmethod
    def to_json(self) -> list[Any]:
        """Its form in a certificate."""

    @property
    def about_columns(self) -> bool:
        """Whether it speaks of columns alone, not of decisions."""
        return False


@dataclass(frozen=True, slots=True)
class All(Formula):
    """All parts hold; ``all_of`` makes them."""

    parts: tuple[Formula, ...]

    def negated(self) -> Formula:
        return some_of(part.negated() for part in self.parts)

    def holds(self, facts: Facts) -> Bools:
        found = np.ones(facts.n, np.bool_)
        for part in self.parts:
            found &= part.holds(facts)
        return found

    def to_json(self) -> list[Any]:
        return ["all", *(part.to_json() for part in self.parts)]

    @property
    def about_columns(self) -> bool:
        return all(part.about_columns for part in self.parts)


@dataclass(frozen=True, slots=True)
class Some(Formula):
    """Some part holds; ``some_of`` makes them."""

    parts: tuple[Formula, ...]

    def negated(self) -> Formula:
        return all_of(part.negated() for part in self.parts)

    def holds(self, facts: Facts) -> Bools:
        found = np.zeros(facts.n, np.bool_)
        for part in self.parts:
            found |= part.holds(facts)
        return found

    def to_json(self) -> list[Any]:
        return ["some", *(part.to_json() for part in self.parts)]

    @property
    def about_columns(self) -> bool:
        return all(part.about_columns for part in self.parts)


TRUE, FALSE = All(()), Some(())


def all_of(parts: Iterable[Formula]) -> Formula:
    """All parts hold. Parts of parts become parts, and a part that says nothing is left out."""
    found: list[Formula] = []
    for part in parts:
        if part == FALSE:
            return FALSE
        found += part.parts if isinstance(part, All) else [part]
    return found[0] if len(found) == 1 else All(tuple(found))


def some_of(parts: Iterable[Formula]) -> Formula:
    """Some part holds. Parts of parts become parts, and a part that never holds is left out."""
    found: list[Formula] = []
    for part in parts:
        if part == TRUE:
            return TRUE
        found += part.parts if isinstance(part, Some) else [part]
    return found[0] if len(found) == 1 else Some(tuple(found))


@dataclass(frozen=True, slots=True)
class In(Formula):
    """A column of an input has one of some values, by their numbers; ``value_in`` makes them."""

    of: int
    column: int
    values: frozenset[int]
    n_values: int

    def negated(self) -> Formula:
        return replace(self, values=frozenset(range(self.n_values)) - self.values)

    def holds(self, facts: Facts) -> Bools:
        return np.isin(facts.values(self.of, self.column), sorted(self.values))

    def to_json(self) -> list[Any]:
        return ["in", self.of, self.column, sorted(self.values)]

    @property
    def about_columns(self) -> bool:
        return True


def value_in(of: int, column: int, values: Iterable[int], n_values: int) -> Formula:
    """A column has one of these values."""
    found = frozenset(values)
    if not found:
        return FALSE
    return TRUE if len(found) == n_values else In(of, column, found, n_values)


@dataclass(frozen=True, slots=True)
class Decides(Formula):
    """The decision is one of some classes by at least ``margin`` votes; or it is not, if ``denied``.

    "Not by so many votes" is no "for another class", so with a margin a denial is a form of its own.
    """

    of: int
    classes: frozenset[int]
    n_classes: int
    margin: int = 0
    denied: bool = False

    def negated(self) -> Formula:
        if self.margin:
            return replace(self, denied=not self.denied)
        assert not self.denied
        return replace(self, classes=frozenset(range(self.n_classes)) - self.classes)

    def holds(self, facts: Facts) -> Bools:
        return np.asarray(stands(facts, self.of, self.classes, self.margin) != self.denied)

    def to_json(self) -> list[Any]:
        assert self.margin or not self.denied
        return ["fails" if self.denied else "decides", self.of, sorted(self.classes), self.margin]


def decision_in(of: int, classes: Iterable[int], n_classes: int) -> Formula:
    """The decision is one of these classes."""
    found = frozenset(classes)
    if not found:
        return FALSE
    return TRUE if len(found) == n_classes else Decides(of, found, n_classes)


def stands(facts: Facts, of: int, classes: frozenset[int], margin: int) -> Bools:
    """Where the decision is one of these classes by at least ``margin`` votes."""
    decided = np.isin(facts.decisions(of), sorted(classes))
    return decided & (lead(facts.votes(of), classes) >= margin) if margin else decided


def lead(votes: NDArray[np.int64], classes: frozenset[int]) -> NDArray[np.int64]:
    """By how many votes the best of some classes is ahead of the best of the others, (n,)."""
    if votes.shape[1] == 1:
        return votes[:, 0] if 1 in classes else -votes[:, 0]
    within = np.zeros(votes.shape[1], np.bool_)
    within[sorted(classes)] = True
    return np.asarray(votes[:, within].max(axis=1) - votes[:, ~within].max(axis=1))


def leads(votes: NDArray[np.int64], classes: NDArray[np.int64]) -> NDArray[np.int64]:
    """By how many votes one class, another for each row, is ahead of the best of the others, (n,)."""
    found = np.empty(len(votes), np.int64)
    for c in np.unique(classes):
        own = classes == c
        found[own] = lead(votes[own], frozenset([int(c)]))
    return found


@dataclass(frozen=True, slots=True)
class Agree(Formula):
    """The decisions on both inputs are the same class, each by ``margin`` votes; or not, if ``denied``."""

    n_classes: int
    margin: int = 0
    denied: bool = False

    def negated(self) -> Formula:
        return replace(self, denied=not self.denied)

    def holds(self, facts: Facts) -> Bools:
        found = facts.decisions(0) == facts.decisions(1)
        if self.margin:
            for of in (0, 1):
                found &= leads(facts.votes(of), facts.decisions(of)) >= self.margin
        return np.asarray(found != self.denied)

    def to_json(self) -> list[Any]:
        return ["differ"] if self.denied else ["agree", self.margin]


@dataclass(frozen=True, slots=True)
class Lead(Formula):
    """``sum of factor * votes`` is at least ``bound``; terms are of input, score row and factor, distinct."""

    terms: tuple[tuple[int, int, int], ...]
    bound: int

    def negated(self) -> Formula:
        return Lead(tuple((of, row, -k) for of, row, k in self.terms), 1 - self.bound)

    def holds(self, facts: Facts) -> Bools:
        total = np.zeros(facts.n, object)  # factors are any integers
        for of, row, k in self.terms:
            total += facts.votes(of)[:, row].astype(object) * k
        return np.asarray(total >= self.bound, np.bool_)

    def to_json(self) -> list[Any]:
        return ["votes", [list(term) for term in self.terms], self.bound]


def with_margin(formula: Formula, margin: int) -> Formula:
    """The formula, with every decision in it by at least ``margin`` votes."""
    if isinstance(formula, All | Some):
        return type(formula)(tuple(with_margin(part, margin) for part in formula.parts))
    if isinstance(formula, Decides | Agree):
        return replace(formula, margin=margin)
    return formula


def denial(formula: Formula) -> Formula:
    """The formula that holds where this one, which may have margins, does not."""
    if isinstance(formula, All):
        return some_of(map(denial, formula.parts))
    if isinstance(formula, Some):
        return all_of(map(denial, formula.parts))
    return replace(formula, denied=not formula.denied) if isinstance(formula, Decides) else formula.negated()


def atoms(formula: Formula) -> Iterator[Formula]:
    """What a formula is made of, without its All and Some."""
    if isinstance(formula, All | Some):
        for part in formula.parts:
            yield from atoms(part)
    else:
        yield formula
