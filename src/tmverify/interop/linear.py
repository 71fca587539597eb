r"""A query as a 0/1 program: linear constraints over binary variables, feasible iff there is a witness.

OPB is for any pseudo-Boolean solver, LP for any MILP solver (HiGHS, SCIP, CBC, Gurobi, CPLEX). If it has
no solution, the property HOLDS; a solution is a counterexample.

The query is specialised to its region first (``engines.reduction``). Every witness stays a witness, so the
optimum of the program is that of the query, and nothing relies on an engine's reasoning. The variables are:

- x_i, the value of feature i, for each feature that matters;
- c_j for each clause, tied to its literals in the directions that matter: if it adds to a vote sum,
  c may be 1 only if the clause is true, ``c <= l`` for each literal l; if it subtracts, c must be 1 if
  the clause is true, ``c >= 1 - sum (1 - l)``;
- h_k, "constraint k holds", and s_m, "case m is chosen", if there are several cases. With w . c >= b and
  ``low = sum of the negative w``, ``w . c - (b - low) h >= low``: exact, and no smaller factor works for
  all c. ``s <= h`` for each constraint of a case; a case with one constraint is that h; ``sum s >= 1``;
- the constant ``one`` >= 1, so that every program has variables, rows and an objective. It carries the
  constant of the objective, and ``-one >= 0`` states that there is no case.

At most ``radius`` flips, where a flip of feature i is x_i or 1 - x_i: that constant is moved into the bound.

Invariants: all numbers are exact integers; no variable occurs twice in a row, no coefficient is 0.

**OPB**, the linear format of the PB competitions. Its variables are x1, x2, …, whatever they stand for: x4 is
not feature 4, and comments give the mapping. Integers can have any size: a 32-bit solver may refuse large
weights.

    * #variable= 3 #constraint= 2
    * bit x1 = feature 4 (contrast)
    min: +1 x1 +1 x2 ;
    +1 x1 -3 x2 +2 x3 >= 1 ;

**LP**, the format of CPLEX. Here x<i> is feature i, c<j> a clause.

    \ bit x4 = feature 4 (contrast)
    Minimize
     obj: 1 x4 - 1 x7 + 1 one
    Subject To
     r1: 1 x4 - 3 c2 >= -2
    Binaries
     x4 x7 c2 one
    End

MILP solvers compute in floating point, so an answer is only as good as the solver's arithmetic: replay a
solution through the model, and take "infeasible" as strong evidence, not as a proof. A solver accepts a
number as an integer if it is within delta <= 1e-5 of one (Gurobi, CPLEX; HiGHS and SCIP 1e-6), and a row as
satisfied if it falls short by at most tau <= 1e-5. Rounding moves a row by at most delta * (sum of
|coefficients|), and rows are integral, so what the solver calls feasible is feasible as long as that, and
tau, stay below 1. Rows whose sum exceeds ``MAX_ROW_SUM``, where that bound is a half, are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tmverify.atomic import write_lines
from tmverify.engines.engine import EncodingTooLargeError
from tmverify.engines.reduction import Reduced, reduce
from tmverify.errors import InvalidInputError
from tmverify.interop.comments import comment_lines
from tmverify.model.names import default_name
from tmverify.properties.query import Query, check_query

MAX_ROW_SUM = 50_000
MAX_LINE_CHARS = 100  # the limits of LP readers differ; the lowest is 255

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
        The variable of each case; empty unless there are several.
    """

    reduced: Reduced
    names: tuple[str, ...]
    bits: dict[int, int]
    clauses: dict[int, int]
    holds: dict[int, int]
    selectors: list[int]

    @property
    def one(self) -> int:
        """The variable that is always 1."""
        return len(self.names) - 1

    def flips(self) -> list[Term]:
        """The number of flips, as an objective to minimise."""
        terms, constant = _flips(self)
        return [*terms, (constant, self.one)] if constant else terms

    def rows(self) -> Iterator[Row]:
        """Every constraint, generated one at a time: all of them together can take gigabytes."""
        yield Row([(1, self.one)], 1)
        yield from _clause_rows(self)
        yield from _vote_rows(self)
        yield from _case_rows(self)
        if self.reduced.radius < len(self.bits):
            terms, constant = _flips(self)
            yield Row([(-coefficient, v) for coefficient, v in terms], constant - self.reduced.radius)


def to_opb(query: Query, path: str | os.PathLike[str], *, nearest: bool = False) -> None:
    """Write ``query`` as linear pseudo-Boolean constraints.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    path : path
    nearest : bool
        Whether to ask for the counterexample with the fewest flips: the optimum is the radius, if that lies
        within the query's region. For equivalence, which has no input to start from, the fewest ones.

    Raises
    ------
    InvalidInputError
        If the constraints would be too many to write.
    """
    write_lines(path, _opb(query, build_program(query), nearest))


def to_lp(query: Query, path: str | os.PathLike[str], *, nearest: bool = False) -> None:
    """Write ``query`` as a mixed-integer program; the answer is only as good as the solver's arithmetic.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    path : path
    nearest : bool
        Whether to minimise the number of flips: the optimum is the radius, if that lies within the query's
        region, and as far as the solver's gap allows (the usual 1e-4 is exact below 10,000 flips). For
        equivalence, which has no input to start from, the fewest ones. Otherwise the objective is 0.

    Raises
    ------
    InvalidInputError
        If the rows would be too many to write, or have numbers too large for floating point to be safe.
    """
    program = build_program(query)
    largest = max(sum(abs(coefficient) for coefficient, _ in terms) for terms, _ in program.rows())
    if largest > MAX_ROW_SUM:
        raise InvalidInputError(
            f"The coefficients of a row may add up to {MAX_ROW_SUM} at most: with more, the tolerances of "
            f"MILP solvers could turn the answer. Got {largest} instead. Write OPB, SMT-LIB or DIMACS, which "
            f"are solved in integers."
        )
    write_lines(path, _lp(query, program, nearest))


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
    clauses = {index: len(names) + j for j, index in enumerate(reduced.sources.tolist())}
    names += [f"c{index}" for index in reduced.sources.tolist()]
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
    """Each clause as pairs: place in ``reduced.features``, required value of the feature, not of its flip."""
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


def _comments(
    sign: str, query: Query, program: Program, meaning: str, nearest: bool, names: Sequence[str]
) -> Iterator[str]:
    meaning += "; the optimum is the least number of flips" if nearest else ""
    bits = {feature: names[v] for feature, v in program.bits.items()}
    clauses = {index: names[v] for index, v in program.clauses.items()}
    return comment_lines(sign, query, meaning, program.reduced.origin, bits, clauses)


def _opb(query: Query, program: Program, nearest: bool) -> Iterator[str]:
    n_rows = sum(1 for _ in program.rows())
    yield f"* #variable= {len(program.names)} #constraint= {n_rows}"
    yield "* x1, x2, ... are the variables of this file, not features: features count from 0, see bit"
    names = [f"x{v + 1}" for v in range(len(program.names))]
    yield from _comments("*", query, program, "satisfiable iff there is a counterexample", nearest, names)
    if nearest:
        # The grammar has no empty objective, so ``one`` is added with cost 0.
        yield f"min: {_opb_sum(program.flips() or [(0, program.one)])} ;"
    for terms, bound in program.rows():
        yield f"{_opb_sum(terms)} >= {bound} ;"


def _opb_sum(terms: Sequence[Term]) -> str:
    return " ".join(f"{coefficient:+d} x{v + 1}" for coefficient, v in terms)


def _lp(query: Query, program: Program, nearest: bool) -> Iterator[str]:
    meaning = "feasible iff there is a counterexample, within the solver's arithmetic"
    yield from _comments("\\", query, program, meaning, nearest, program.names)
    yield "Minimize"
    objective = program.flips() if nearest else []
    yield from _folded("obj:", _lp_words(program, objective or [(0, program.one)]))
    yield "Subject To"
    for number, (terms, bound) in enumerate(program.rows(), 1):
        yield from _folded(f"r{number}:", [*_lp_words(program, terms), f">= {bound}"])
    yield "Binaries"
    yield from _folded("", program.names)
    yield "End"


def _lp_words(program: Program, terms: Sequence[Term]) -> Iterator[str]:
    for i, (coefficient, v) in enumerate(terms):
        sign = "-" if coefficient < 0 else "+" if i else ""
        yield f"{sign} {abs(coefficient)} {program.names[v]}".strip()


def _folded(start: str, words: Iterable[str]) -> Iterator[str]:
    """``start`` and then the words, on as many lines as they need."""
    line = start
    for word in words:
        if len(line) + 1 + len(word) > MAX_LINE_CHARS:
            yield f" {line}".rstrip()
            line = word
        else:
            line = f"{line} {word}".strip()
    yield f" {line}"
