"""Proof by structure: the constraints of a case that cancel each other, in exact integers.

A case asks for an input z with ``v_c . clauses(z) >= b_c`` for each of its constraints c. Clauses are taken
in normal form (``everywhere.normal``), and each constraint is divided by the greatest common divisor of its
weights, its bound rounded up, because a sum of integers is an integer. For any multipliers m_c >= 0 a
solution has

    sum_j r_j clause_j(z)  >=  need      where  r = sum_c m_c v_c,   need = sum_c m_c b_c

So if need > 0, and r is 0, or its positive entries add up to less than need, there is none: the case is
*refuted*. This is how a model and its copy are proved equivalent: "A says c" and "B says r" have a constraint
each whose sum is 0 >= 1. Else one of the few clauses with r_j > 0 must be true at z, which confines z to as
many subcubes: the case is split into *parts*, small problems in which the shared structure has cancelled.

r is *narrowed* before, by  p c - q (c and l) = (p - q) c + q (c and not l)  and its like for p < q and for
other signs: identities that leave less to be positive.

``Argument`` holds the multipliers, all that is needed to go through the proof again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.everywhere.multipliers import guess_multipliers
from tmverify.engines.everywhere.normal import NormalForm, normal_form
from tmverify.engines.protocol import Deadline
from tmverify.properties.query import Query

MAX_PARTS = 64  # of a case: with more clauses left the sum says little
_NARROWED = 100_000  # literals at most
_MOST_CELLS = 1 << 26
_INT64 = 1 << 62

Case = tuple[int, ...]
Clause = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """Why a case has no solution, or where it has one if at all.

    Attributes
    ----------
    case : tuple of int
        Constraints of the Query.
    multipliers : tuple of (int, int)
        Constraint and multiplier, after division by the common divisor; empty if none were found.
    parts : tuple of clauses, or None
        A solution makes one of these true; none: the case is refuted; None: it may be anywhere.
    """

    case: Case
    multipliers: tuple[tuple[int, int], ...]
    parts: tuple[Clause, ...] | None


def arguments(query: Query, deadline: Deadline) -> Iterator[Argument]:
    """An argument for every case of ``query``, in order; the last ones are empty if the time is over."""
    ledger = _Ledger(normal_form(query, deadline), query)
    for case in dict.fromkeys(tuple(dict.fromkeys(case)) for case in query.cases):
        yield Argument(case, (), None) if deadline.passed() else ledger.argue(case)


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """A constraint in normal form."""

    weights: NDArray[np.int64]
    bound: int


@dataclass(slots=True, eq=False)
class _Ledger:
    form: NormalForm
    query: Query
    bounds: dict[int, int] = field(default_factory=dict)
    """Of the constraints in normal form."""
    impossible: set[int] = field(default_factory=set)
    """Constraints that fail whatever their clauses do."""
    digests: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)
    """Of the weights, and of the same with other signs."""
    cancel: dict[tuple[int, int], bool] = field(default_factory=dict)

    def argue(self, case: Case) -> Argument:
        for c in case:
            self._enter(c)
            if c in self.impossible:
                return Argument(case, ((c, 1),), ())
        pair = self._opposed(case)
        if pair is not None:
            return Argument(case, tuple((c, 1) for c in pair), ())
        return self._mixed(case)

    def _row(self, c: int) -> _Row:
        """Constraint c, divided and rounded; made anew each time, for all of them may not fit in memory."""
        constraint = self.query.constraints[c]
        weights = constraint.weights(self.form.votes)
        bound = constraint.bound - int(constraint.weights(self.form.always[:, None])[0])
        divisor = int(np.gcd.reduce(weights)) if len(weights) else 0
        return _Row(weights // divisor, -(-bound // divisor)) if divisor else _Row(weights, bound)

    def _enter(self, c: int) -> None:
        if c in self.bounds:
            return
        row = self._row(c)
        self.bounds[c] = row.bound
        self.digests[c] = _digest(row.weights), _digest(-row.weights)
        if int(np.maximum(row.weights, 0).sum()) < row.bound:
            self.impossible.add(c)

    def _opposed(self, case: Case) -> tuple[int, int] | None:
        """Two constraints with the sum 0 >= need > 0."""
        place: dict[bytes, int] = {}
        for c in case:
            d = place.get(self.digests[c][1])
            if d is not None and self.bounds[c] + self.bounds[d] > 0 and self._cancel(c, d):
                return d, c
            same = place.get(self.digests[c][0])
            if same is None or self.bounds[same] < self.bounds[c]:
                place[self.digests[c][0]] = c
        return None

    def _cancel(self, c: int, d: int) -> bool:
        """Whether the weights really are opposite."""
        if (c, d) not in self.cancel:
            self.cancel[c, d] = not (self._row(c).weights + self._row(d).weights).any()
        return self.cancel[c, d]

    def _mixed(self, case: Case) -> Argument:
        """The multipliers that leave least, as far as a guess goes."""
        unknown = Argument(case, (), None)
        if len(case) * len(self.form.clauses) > _MOST_CELLS:
            return unknown
        rows = [self._row(c) for c in case]
        weights = np.array([row.weights for row in rows])
        chosen = guess_multipliers(weights, [row.bound for row in rows])
        if chosen is None:
            return unknown
        need = sum(m * row.bound for m, row in zip(chosen, rows, strict=True))
        largest = sum(m * int(np.abs(row.weights).sum()) for m, row in zip(chosen, rows, strict=True))
        if need <= 0 or largest >= _INT64:
            return unknown
        rest = self._narrowed(np.array(chosen, np.int64) @ weights)
        multipliers = tuple((c, m) for c, m in zip(case, chosen, strict=True) if m)
        if sum(w for w in rest.values() if w > 0) < need:
            return Argument(case, multipliers, ())
        parts = tuple(clause for clause, w in rest.items() if w > 0)
        return Argument(case, multipliers, parts) if len(parts) <= MAX_PARTS else unknown

    def _narrowed(self, total: NDArray[np.int64]) -> dict[Clause, int]:
        left = np.flatnonzero(total)
        clauses = self.form.clauses.select(left)
        rest = dict(zip(clauses, total[left].tolist(), strict=True))
        return narrow(rest) if len(clauses.literals) <= _NARROWED else rest


def narrow(rest: dict[Clause, int]) -> dict[Clause, int]:
    """The same sum of clauses with less that is positive.

    A step takes a clause of weight p and one with a literal more of weight q, of opposite signs, and leaves
    max(|p|, |q|) of |p| + |q|: so there is a last one.
    """
    rest = dict(rest)
    for longer in list(rest):
        for k in range(len(longer)):
            parent = longer[:k] + longer[k + 1 :]
            p, q = rest.get(parent, 0), rest.get(longer, 0)
            if p * q < 0:
                amount = min(p, -q) if p > 0 else max(p, -q)
                half = (*longer[:k], -longer[k], *longer[k + 1 :])
                for clause, change in ((parent, -amount), (longer, amount), (half, amount)):
                    rest[clause] = rest.get(clause, 0) + change
    return {clause: weight for clause, weight in rest.items() if weight}


def _digest(weights: NDArray[np.int64]) -> bytes:
    return blake2b(weights.tobytes(), digest_size=16).digest()
