"""Proof by structure: adding up the constraints of a case so that they cancel, in exact integers.

A case asks for an input z with ``v_c . clauses(z) >= b_c`` for each of its constraints c. Clauses are taken
in normal form (``normal``), and each constraint is divided by the greatest common divisor of its
weights, its bound rounded up, because a sum of integers is an integer. For any multipliers m_c >= 0 a
solution has

    sum_j r_j clause_j(z)  >=  need      where  r = sum_c m_c v_c,   need = sum_c m_c b_c

So if need > 0, and r is 0 or its positive entries add up to less than need, there is no solution: the case is
*refuted*. This is how a model and its copy are proved equivalent: "A says c" and "B says r" each have a
constraint, and these two add up to 0 >= 1. Otherwise one of the few clauses with r_j > 0 must be true at z,
so z lies in one of as many subcubes: the case is split into *parts*, small problems without the structure
that the models share.

Before that, r is *narrowed* by  p c - q (c and l) = (p - q) c + q (c and not l)  and similar identities for
p < q and for other signs, which leave smaller positive entries.

``Argument`` holds the multipliers, which is all that is needed to repeat the proof. They are guessed by
linear programming and checked in integers:

    minimise   sum_j max(0, (m V)_j)      over  m >= 0,  m . bounds = 1

where V has a row per constraint and a column per clause. If the minimum is 0, no positive clause is left, and
the constraints contradict each other; near 0 little is left. For two models that share most of their
structure the solution is simple, and a sample of the columns is enough to find it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import blake2b
from math import lcm

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline
from tmverify.engines.equivalence.normal import Clause, NormalForm, by_feature
from tmverify.engines.proof_log import ProofLog, Where
from tmverify.properties.query import Query
from tmverify.properties.region import Region

MAX_PARTS = 64  # of a case: with more clauses left, the sum says little
_NARROWED = 100_000  # literals in a sum that is narrowed, at most
_MOST_CELLS = 1 << 26  # weights of a case, at most
_AT_ONCE = 1 << 20  # weights made at once
_MOST_COLUMNS = 400  # of a linear program
_LARGEST_DENOMINATOR = 10_000
_INT64 = 1 << 62

Case = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """Why a case has no solution, or where its solutions must be.

    Attributes
    ----------
    case : tuple of int
        Constraints of the Query.
    multipliers : tuple of (int, int)
        Constraint and multiplier, after division by the common divisor; empty if none were found.
    parts : tuple of clauses, or None
        Every solution makes one of these true. Empty: the case is refuted. None: it may be anywhere.
    narrowed : tuple of (clause, int)
        How the sum was narrowed: the clauses rewritten, in order, each with its feature.
    """

    case: Case
    multipliers: tuple[tuple[int, int], ...]
    parts: tuple[Clause, ...] | None
    narrowed: tuple[tuple[Clause, int], ...] = ()


def arguments(query: Query, form: NormalForm, deadline: Deadline) -> Iterator[Argument]:
    """An argument for every case of ``query``, in order; once the time is over, the rest are empty."""
    ledger = _Ledger(form, query)
    cases = list(dict.fromkeys(tuple(dict.fromkeys(case)) for case in query.cases))
    entered = ledger.enter(sorted({c for case in cases for c in case}), deadline)
    for case in cases:
        yield Argument(case, (), None) if not entered or deadline.passed() else ledger.argue(case)


@dataclass(slots=True, eq=False)
class _Ledger:
    """Facts about every constraint in normal form. Weights may be too many to keep; they are recomputed."""

    form: NormalForm
    query: Query
    bounds: dict[int, int] = field(default_factory=dict)
    impossible: set[int] = field(default_factory=set)
    """Constraints that fail whichever of their clauses are true."""
    kinds: dict[int, bytes] = field(default_factory=dict)
    """A digest of each constraint's weights: equal digests suggest equal weights …"""
    opposites: dict[int, bytes] = field(default_factory=dict)
    """… and the digest of the opposite weights."""

    def enter(self, constraints: Sequence[int], deadline: Deadline) -> bool:
        """Enter these constraints; return whether there was time for all of them."""
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
        """Two constraints that add up to 0 >= need > 0."""
        for kind in sorted({self.kinds[c] for c in case}.intersection(self.opposites[c] for c in case)):
            first = max((c for c in case if self.kinds[c] == kind), key=self.bounds.__getitem__)
            second = max((c for c in case if self.opposites[c] == kind), key=self.bounds.__getitem__)
            if self.bounds[first] + self.bounds[second] > 0:
                weights, _ = self._rows((first, second))
                if not weights.sum(axis=0).any():  # compares the weights, not only their digests
                    return min(first, second), max(first, second)
        return None

    def _mixed(self, case: Case) -> Argument:
        """An argument with guessed multipliers, meant to leave as little as possible."""
        unknown = Argument(case, (), None)
        if len(case) * len(self.form.clauses) > _MOST_CELLS:
            return unknown
        weights, bounds = self._rows(case)
        chosen = _guess_multipliers(weights, bounds)
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
    """The same sum with less positive weight, and the steps: the clauses rewritten, each with its feature.

    A step takes a clause of weight p and one with one literal more, of weight q and opposite sign, and
    reduces |p| + |q| to max(|p|, |q|), so the process ends. The clause with less weight is expressed by the
    other clause and by the other half.
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


def _guess_multipliers(weights: NDArray[np.int64], bounds: list[int]) -> list[int] | None:
    """Integers >= 0, one for each row of ``weights``, or None if there is no good guess."""
    from scipy.optimize import linprog

    if not any(bounds):
        return None
    columns, counts = _sample(weights)
    n, k = len(counts), len(bounds)
    size = max(1.0, float(np.abs(columns).max(initial=0)))
    scale = max(abs(b) for b in bounds)
    solution = linprog(
        np.concatenate([np.zeros(k), counts]),
        A_ub=np.hstack([columns / size, -np.eye(n)]),
        b_ub=np.zeros(n),
        A_eq=np.concatenate([np.array(bounds, float) / scale, np.zeros(n)])[None, :],
        b_eq=[1.0],
        method="highs-ds",  # finds a vertex, where most multipliers are 0
    )
    return _integers(solution.x[:k]) if solution.status == 0 else None


def _sample(weights: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distinct columns that are not 0, as rows, and how often each occurs."""
    columns = weights.T[weights.any(axis=0)]
    if len(columns) > 10 * _MOST_COLUMNS:
        columns = columns[:: len(columns) // (10 * _MOST_COLUMNS)]
    distinct, counts = np.unique(columns, axis=0, return_counts=True)
    if len(distinct) > _MOST_COLUMNS:
        stride = -(-len(distinct) // _MOST_COLUMNS)
        distinct, counts = distinct[::stride], counts[::stride]
    return distinct.astype(float), counts.astype(float)


def _integers(values: NDArray[np.float64]) -> list[int]:
    """The multipliers as integers in about the same proportions."""
    largest = float(values.max(initial=0.0))
    if not largest > 0:
        return [0] * len(values)
    near = [
        Fraction(max(0.0, float(value)) / largest).limit_denominator(_LARGEST_DENOMINATOR) for value in values
    ]
    whole = lcm(*(fraction.denominator for fraction in near))
    return [int(fraction * whole) for fraction in near]


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One case of a question, in the subcube where one clause is true, as a separate Query.

    Its witnesses are witnesses of the question; if no part has one, the question has none.
    ``log`` takes its refutation, if evidence is wanted.
    """

    query: Query
    log: ProofLog | None


def subcube(region: Region, clause: Clause) -> Region | None:
    """The part of a region in which ``clause`` is true; None if no possible input makes it true."""
    return region.inside({abs(literal) - 1: literal > 0 for literal in clause})


def parts_of(query: Query, argument: Argument, log: ProofLog | None = None) -> list[Part]:
    """What an argument leaves of ``query``: nothing, some subcubes, or the whole case."""

    def portion(inside: Clause) -> ProofLog | None:
        return None if log is None else log.portion(argument.case, Where(inside))

    case = replace(
        query,
        constraints=tuple(query.constraints[c] for c in argument.case),
        cases=(tuple(range(len(argument.case))),),
    )
    if argument.parts is None:
        return [Part(case, portion(()))]
    parts = []
    for clause in argument.parts:
        cube = by_feature(clause)
        inside = subcube(query.region, cube)
        if inside is not None:
            parts.append(Part(replace(case, region=inside), portion(cube)))
    return parts
