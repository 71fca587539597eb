"""A query as a 0/1 program: linear constraints over binary variables, feasible iff there is a witness.

From the query, specialised to its region (``engines.reduction``; every witness stays one, so a program's
optimum is the query's, and nothing is trusted that an engine concluded). Its variables are:

- x_i, the value of feature i, for each feature that matters;
- c_j for each clause, tied in the direction that its weights can use: one that helps must be earned,
  ``c <= l`` for each literal l; one that hurts must be paid, ``c >= 1 - sum (1 - l)``;
- h_k, "constraint k holds", and s_m, "case m is the one", where there are several cases. With w . c >= b and
  ``low = sum of the negative w``, ``w . c - (b - low) h >= low``: exact, and no smaller factor would do for
  all c. ``s <= h`` for each constraint of a case; a case with one constraint is that h; ``sum s >= 1``;
- the constant ``one`` >= 1, so that no program is without variables, rows or objective. It carries the
  constant of the objective, and ``-one >= 0`` says that there is no case.

At most ``radius`` flips, where a flip of feature i is x_i or 1 - x_i: that constant is moved into the bound.

Invariants: all numbers are exact integers; no variable is twice in a row, no coefficient is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tmverify.engines.protocol import EncodingTooLargeError
from tmverify.engines.reduction import Reduced, reduce
from tmverify.errors import InvalidInputError
from tmverify.model.names import default_name
from tmverify.properties.query import Query, check_query

Term = tuple[int, int]
"""A coefficient and the index of a variable."""


class Row(NamedTuple):
    """The sum of ``coefficient * variable`` over ``terms`` is at least ``bound``."""

    terms: list[Term]
    bound: int


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Binary variables 0 … len(names) - 1 with rows and an objective.

    Attributes
    ----------
    reduced : Reduced
    names : tuple of str
        x<feature>, c<pool clause>, h<constraint>, s<case>, one.
    bits : dict of feature index to variable
    clauses : dict of pool clause index to variable
    holds : dict of constraint of ``reduced`` to variable
        Empty unless there are several cases.
    selectors : list of int
        The variable of each case, likewise.
    """

    reduced: Reduced
    names: tuple[str, ...]
    bits: dict[int, int]
    clauses: dict[int, int]
    holds: dict[int, int]
    selectors: list[int]

    @property
    def one(self) -> int:
        """The variable that is 1."""
        return len(self.names) - 1

    def flips(self) -> list[Term]:
        """The number of flips, as an objective to minimise."""
        terms, constant = _flips(self)
        return [*terms, (constant, self.one)] if constant else terms

    def rows(self) -> Iterator[Row]:
        """Every constraint, made as it is asked for: all of them at once can take gigabytes."""
        yield Row([(1, self.one)], 1)
        yield from _clause_rows(self)
        yield from _vote_rows(self)
        yield from _case_rows(self)
        if self.reduced.radius < len(self.bits):
            terms, constant = _flips(self)
            yield Row([(-coefficient, v) for coefficient, v in terms], constant - self.reduced.radius)


def specialise(query: Query) -> Reduced:
    """The query, checked and specialised to its region.

    Raises
    ------
    InvalidInputError
        If ``query`` is none, or too large.
    """
    check_query(query, Query)
    try:
        return reduce(query)
    except EncodingTooLargeError as error:
        raise InvalidInputError(f"The formula is too large to write: {error}.") from None


def build_program(query: Query) -> Program:
    """The program of ``query``.

    Raises
    ------
    InvalidInputError
        If ``query`` is none, or too large.
    """
    reduced = specialise(query)
    names = [default_name(feature) for feature in reduced.features.tolist()]
    bits = {feature: v for v, feature in enumerate(reduced.features.tolist())}
    clauses = {index: len(names) + j for j, index in enumerate(reduced.sources)}
    names += [f"c{index}" for index in reduced.sources]
    holds: dict[int, int] = {}
    selectors: list[int] = []
    if len(reduced.cases) > 1:
        holds = {c: len(names) + c for c in range(len(reduced.bounds))}
        names += [f"h{c}" for c in holds]
        for m, case in enumerate(reduced.cases):
            selectors.append(holds[case[0]] if len(case) == 1 else len(names))
            names += [] if len(case) == 1 else [f"s{m}"]
    return Program(reduced, (*names, "one"), bits, clauses, holds, selectors)


def wanted_values(reduced: Reduced) -> Iterator[list[tuple[int, int]]]:
    """Each clause as (place in ``reduced.features``, value that it asks for): of features, not of flips."""
    starts: list[int] = reduced.origin[reduced.features].tolist()
    for clause in reduced.clauses:
        yield [(abs(lit) - 1, starts[abs(lit) - 1] ^ (lit > 0)) for lit in clause]


def _flips(program: Program) -> tuple[list[Term], int]:
    """The number of flips, as terms and a constant."""
    starts = [int(program.reduced.origin[feature]) for feature in program.bits]
    return [(1 - 2 * start, v) for start, v in zip(starts, program.bits.values(), strict=True)], sum(starts)


def _clause_rows(program: Program) -> Iterator[Row]:
    reduced = program.reduced
    helps: list[bool] = np.any(reduced.weights > 0, axis=0).tolist()
    hurts: list[bool] = np.any(reduced.weights < 0, axis=0).tolist()
    variables = list(program.bits.values())
    outputs = program.clauses.values()
    for clause, output, forward, backward in zip(wanted_values(reduced), outputs, helps, hurts, strict=True):
        wanted = [(variables[i], value) for i, value in clause]
        if forward:
            for x, value in wanted:
                yield Row([(1, x), (-1, output)], 0) if value else Row([(-1, x), (-1, output)], -1)
        if backward:
            negated = [(-1 if value else 1, x) for x, value in wanted]
            yield Row([(1, output), *negated], 1 - sum(value for _, value in wanted))


def _vote_rows(program: Program) -> Iterator[Row]:
    reduced, outputs = program.reduced, list(program.clauses.values())
    for c, (weights, bound) in enumerate(zip(reduced.weights.tolist(), reduced.bounds, strict=True)):
        terms = [(w, output) for w, output in zip(weights, outputs, strict=True) if w]
        if not program.holds:
            yield Row(terms, bound)
            continue
        low = sum(w for w, _ in terms if w < 0)
        assert low < bound, "a constraint that always holds was settled before"
        yield Row([*terms, (low - bound, program.holds[c])], low)


def _case_rows(program: Program) -> Iterator[Row]:
    cases = program.reduced.cases
    if not cases:
        yield Row([(-1, program.one)], 0)
    if len(cases) <= 1:
        return
    yield Row([(1, selector) for selector in program.selectors], 1)
    for case, selector in zip(cases, program.selectors, strict=True):
        if len(case) > 1:
            for c in case:
                yield Row([(1, program.holds[c]), (-1, selector)], 0)
