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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.equivalence.multipliers import guess_multipliers
from tmverify.engines.equivalence.normal import Clause, NormalForm
from tmverify.engines.protocol import Deadline
from tmverify.properties.query import Query

MAX_PARTS = 64  # of a case: with more clauses left the sum says little
_NARROWED = 100_000  # literals at most
_MOST_CELLS = 1 << 26  # weights of a case
_AT_ONCE = 1 << 20
_INT64 = 1 << 62

Case = tuple[int, ...]


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
    narrowed : tuple of (clause, int)
        How the sum was narrowed: clauses rewritten by a feature, one after the other.
    """

    case: Case
    multipliers: tuple[tuple[int, int], ...]
    parts: tuple[Clause, ...] | None
    narrowed: tuple[tuple[Clause, int], ...] = ()


def arguments(query: Query, form: NormalForm, deadline: Deadline) -> Iterator[Argument]:
    """An argument for every case of ``query``, in order; the last ones are empty if the time is over."""
    ledger = _Ledger(form, query)
    cases = list(dict.fromkeys(tuple(dict.fromkeys(case)) for case in query.cases))
    entered = ledger.enter(sorted({c for case in cases for c in case}), deadline)
    for case in cases:
        yield Argument(case, (), None) if not entered or deadline.passed() else ledger.argue(case)


@dataclass(slots=True, eq=False)
class _Ledger:
    """What is known of every constraint in normal form; its weights, which may be too many, are made anew."""

    form: NormalForm
    query: Query
    bounds: dict[int, int] = field(default_factory=dict)
    impossible: set[int] = field(default_factory=set)
    """Constraints that fail whatever their clauses do."""
    kinds: dict[int, bytes] = field(default_factory=dict)
    """Constraints of the same kind seem to have the same weights …"""
    opposites: dict[int, bytes] = field(default_factory=dict)
    """… and the kind of those with the opposite weights."""

    def enter(self, constraints: Sequence[int], deadline: Deadline) -> bool:
        """Take note of these constraints; whether there was time for all of them."""
        size = max(1, _AT_ONCE // max(1, len(self.form.clauses)))
        for start in range(0, len(constraints), size):
            if deadline.passed():
                return False
            some = constraints[start : start + size]
            weights, bounds = self._rows(some)
            best = np.maximum(weights, 0).sum(axis=1).tolist()
            for c, row, bound, most in zip(some, weights, bounds, best, strict=True):
                self.bounds[c] = bound
                self.kinds[c], self.opposites[c] = _digest(row), _digest(-row)
                if most < bound:
                    self.impossible.add(c)
        return True

    def argue(self, case: Case) -> Argument:
        alone = next((c for c in case if c in self.impossible), None)
        if alone is not None:
            return Argument(case, ((alone, 1),), ())
        pair = self._opposed(case)
        if pair is not None:
            return Argument(case, tuple((c, 1) for c in pair), ())
        return self._mixed(case)

    def _rows(self, constraints: Sequence[int]) -> tuple[NDArray[np.int64], list[int]]:
        """Weights and bounds, divided and rounded."""
        chosen = [self.query.constraints[c] for c in constraints]
        weights = np.array([c.weights(self.form.votes) for c in chosen])
        always = [sum(k * int(self.form.always[row]) for row, k in c.terms) for c in chosen]
        divisors = np.maximum(np.gcd.reduce(weights, axis=1), 1)
        bounds = [
            -((more - c.bound) // d) for c, more, d in zip(chosen, always, divisors.tolist(), strict=True)
        ]
        return weights // divisors[:, None], bounds

    def _opposed(self, case: Case) -> tuple[int, int] | None:
        """Two constraints with the sum 0 >= need > 0."""
        for kind in sorted({self.kinds[c] for c in case}.intersection(self.opposites[c] for c in case)):
            first = max((c for c in case if self.kinds[c] == kind), key=self.bounds.__getitem__)
            second = max((c for c in case if self.opposites[c] == kind), key=self.bounds.__getitem__)
            if self.bounds[first] + self.bounds[second] > 0:
                weights, _ = self._rows((first, second))
                if not weights.sum(axis=0).any():  # literally, not only by their digests
                    return min(first, second), max(first, second)
        return None

    def _mixed(self, case: Case) -> Argument:
        """The multipliers that leave least, as far as a guess goes."""
        unknown = Argument(case, (), None)
        if len(case) * len(self.form.clauses) > _MOST_CELLS:
            return unknown
        weights, bounds = self._rows(case)
        chosen = guess_multipliers(weights, bounds)
        if chosen is None:
            return unknown
        need = sum(m * bound for m, bound in zip(chosen, bounds, strict=True))
        sizes = np.abs(weights).sum(axis=1).tolist()
        largest = sum(m * size for m, size in zip(chosen, sizes, strict=True))
        if need <= 0 or largest >= _INT64:
            return unknown
        rest, narrowed = self._narrowed(np.array(chosen, np.int64) @ weights)
        multipliers = tuple((c, m) for c, m in zip(case, chosen, strict=True) if m)
        if sum(w for w in rest.values() if w > 0) < need:
            return Argument(case, multipliers, (), narrowed)
        parts = tuple(clause for clause, w in rest.items() if w > 0)
        return Argument(case, multipliers, parts, narrowed) if len(parts) <= MAX_PARTS else unknown

    def _narrowed(self, total: NDArray[np.int64]) -> tuple[dict[Clause, int], tuple[tuple[Clause, int], ...]]:
        left = np.flatnonzero(total)
        clauses = self.form.clauses.select(left)
        rest = dict(zip(clauses, total[left].tolist(), strict=True))
        return narrow(rest) if len(clauses.literals) <= _NARROWED else (rest, ())


def narrow(rest: dict[Clause, int]) -> tuple[dict[Clause, int], tuple[tuple[Clause, int], ...]]:
    """The same sum of clauses with less that is positive, and how: clauses rewritten by a feature each.

    A step takes a clause of weight p and one with a literal more of weight q, of opposite signs, and leaves
    max(|p|, |q|) of |p| + |q|: so there is a last one. The clause with less weight is written by the other
    and the half that both lack.
    """
    rest = dict(rest)
    steps = []
    for longer in list(rest):
        for k in range(len(longer)):
            parent = longer[:k] + longer[k + 1 :]
            p, q = rest.get(parent, 0), rest.get(longer, 0)
            if p * q < 0:
                amount = min(p, -q) if p > 0 else max(p, -q)
                half = (*longer[:k], -longer[k], *longer[k + 1 :])
                for clause, change in ((parent, -amount), (longer, amount), (half, amount)):
                    rest[clause] = rest.get(clause, 0) + change
                steps.append((longer if abs(q) <= abs(p) else parent, abs(longer[k]) - 1))
    return {clause: weight for clause, weight in rest.items() if weight}, tuple(steps)


def _digest(weights: NDArray[np.int64]) -> bytes:
    return blake2b(weights.tobytes(), digest_size=16).digest()
