r"""A query as a 0/1 program: linear constraints over binary variables, feasible iff there is a witness.

OPB is for any pseudo-Boolean solver, LP for any MILP solver (HiGHS, SCIP, CBC, Gurobi, CPLEX). If it has
no solution, the property HOLDS; a solution is a counterexample.

The query is specialised to its region first (``engines.settled``). Every witness stays a witness, so the
optimum of the program is that of the query, and nothing relies on an engine's reasoning. The variables are:

- x_i, the value of feature i, for each feature that matters and flips by itself;
- v_k_a, "column k has value a", for each value that another column may take instead of its own, and
  ``sum_a v_k_a <= 1``;
- c_j for each clause, tied to its literals in the directions that matter: if it adds to a vote sum,
  c may be 1 only if the clause is true, ``c <= l`` for each literal l; if it subtracts, c must be 1 if
  the clause is true, ``c >= 1 - sum (1 - l)``. A literal is x_i, 1 - x_i or, about a column, the sum of the
  v_k_a with which it is true, or 1 minus the sum of those with which it is false: at most one of them is 1,
  and a clause has at most one literal a column;
- h_k, "constraint k holds", and s_m, "case m is chosen", if there are several cases. With w . c >= b and
  ``low = sum of the negative w``, ``w . c - (b - low) h >= low``: exact, and no smaller factor works for
  all c. ``s <= h`` for each constraint of a case; a case with one constraint is that h; ``sum s >= 1``;
- the constant ``one`` >= 1, so that every program has variables, rows and an objective. It carries the
  constant of the objective, and ``-one >= 0`` states that there is no case.

The costs add up to at most ``radius``, where a flip of feature i is x_i or 1 - x_i: that constant is moved
into the bound.

Invariants: all numbers are exact integers; no variable occurs twice in a row, no coefficient is 0.

**OPB**, the linear format of the PB competitions. Its variables are x1, x2, …, whatever they stand for: x4 is
not feature 4, and comments give the mapping. Integers can have any size: a 32-bit solver may refuse large
weights.

    * #variable= 3 #constraint= 2
    * bit x1 = feature 4 (contrast)
    * value x2 = column 7 is Oslo, cost 2
    min: +1 x1 +2 x2 ;
    +1 x1 -3 x2 +2 x3 >= 1 ;

**LP**, the format of CPLEX. Here x<i> is feature i, v<k>_<a> value a of column k, c<j> a clause.

    \ bit x4 = feature 4 (contrast)
    \ value v7_2 = column 7 is Oslo, cost 2
    Minimize
     obj: - 1 x4 + 2 v7_2 + 1 one
    Subject To
     r1: 1 x4 - 3 c2 >= -2
    Binaries
     x4 v7_2 c2 one
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tmverify.atomic import write_lines
from tmverify.engines.engine import EncodingTooLargeError
from tmverify.engines.settled import Settled, settled
from tmverify.errors import InvalidInputError
from tmverify.interop.comments import Variable, Variables, comment_lines, least
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
    settled : Settled
    names : tuple of str
        x<feature> and v<column>_<value>, a variable for each move, in their order; then c<pool clause>,
        h<constraint>, s<case>, one.
    clauses : dict of pool clause index to variable
    holds : dict of constraint of ``settled`` to variable
        Empty unless there are several cases.
    selectors : list of int
        The variable of each case; empty unless there are several.
    """

    settled: Settled
    names: tuple[str, ...]
    clauses: dict[int, int]
    holds: dict[int, int]
    selectors: list[int]

    @property
    def one(self) -> int:
        """The variable that is always 1."""
        return len(self.names) - 1

    def cost(self) -> list[Term]:
        """What the moves cost, as an objective to minimise."""
        terms, constant = _cost(self)
        return [*terms, (constant, self.one)] if constant else terms

    def rows(self) -> Iterator[Row]:
        """Every constraint, generated one at a time: all of them together can take gigabytes."""
        yield Row([(1, self.one)], 1)
        for own in self.settled.columns:
            if len(own) > 1:
                yield Row([(-1, v) for v in own], -1)
        yield from _clause_rows(self)
        yield from _vote_rows(self)
        yield from _case_rows(self)
        if self.settled.limited:
            terms, constant = _cost(self)
            yield Row([(-coefficient, v) for coefficient, v in terms], constant - self.settled.problem.radius)


def to_opb(query: Query, path: str | os.PathLike[str], *, nearest: bool = False) -> None:
    """Write ``query`` as linear pseudo-Boolean constraints.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    path : path
    nearest : bool
        Whether to ask for the nearest counterexample: the optimum is the radius, if that lies within the
        query's region. Equivalence has no input to start from: there it is the fewest ones, or the fewest
        columns with another value than their first.

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
        Whether to ask for the nearest counterexample, as ``to_opb`` does, as far as the solver's gap allows
        (the usual 1e-4 is exact where the optimum is below 10,000). Otherwise the objective is 0.

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


def specialise(query: Query) -> Settled:
    """The query, checked, specialised to its region and settled.

    Raises
    ------
    InvalidInputError
        If ``query`` is none, or too large.
    """
    check_query(query, Query)
    try:
        return settled(query)
    except EncodingTooLargeError as error:
        raise InvalidInputError(f"The formula is too large to write: {error}.") from None


def move_names(settled: Settled) -> list[str]:
    """A name for each move: of the feature that it flips, or of the column's value."""
    return [
        default_name(move.flips[0]) if is_flip else f"v{move.column}_{move.value}"
        for move, is_flip in zip(settled.moves, settled.are_flips, strict=True)
    ]


def variables_of(settled: Settled, moves: Sequence[str], clauses: Mapping[int, Variable]) -> Variables:
    """What variables stand for, given those of the moves and of the clauses."""
    kinds = list(zip(moves, settled.moves, settled.are_flips, strict=True))
    return Variables(
        origin=settled.problem.origin,
        clauses=clauses,
        bits={move.flips[0]: name for name, move, is_flip in kinds if is_flip},
        costs={move.flips[0]: move.cost for _, move, is_flip in kinds if is_flip},
        values=[(name, move) for name, move, is_flip in kinds if not is_flip],
    )


def build_program(query: Query) -> Program:
    """The program of ``query``.

    Raises
    ------
    InvalidInputError
        If ``query`` is none, or too large.
    """
    whole = specialise(query)
    names = move_names(whole)
    clauses = {index: len(names) + j for j, index in enumerate(whole.sources.tolist())}
    names += [f"c{index}" for index in clauses]
    holds: dict[int, int] = {}
    selectors: list[int] = []
    if len(whole.cases) > 1:
        holds = {c: len(names) + c for c in range(len(whole.problem.bounds))}
        names += [f"h{c}" for c in holds]
        for m, case in enumerate(whole.cases):
            selectors.append(holds[case[0]] if len(case) == 1 else len(names))
            names += [] if len(case) == 1 else [f"s{m}"]
    return Program(whole, (*names, "one"), clauses, holds, selectors)


def _happens(program: Program) -> list[tuple[int, int]]:
    """For each move, a factor and a constant: ``constant + factor * variable`` is 1 iff it happens.

    The variable of a flip is the feature's value; all others are the moves themselves.
    """
    return [(-1, 1) if clears else (1, 0) for clears in program.settled.clearing]


def _cost(program: Program) -> tuple[list[Term], int]:
    """What the moves cost, as terms and a constant."""
    priced = [
        (move.cost, v, happens)
        for v, (move, happens) in enumerate(zip(program.settled.moves, _happens(program), strict=True))
        if move.cost
    ]
    terms = [(cost * factor, v) for cost, v, (factor, _) in priced]
    return terms, sum(cost * constant for cost, _, (_, constant) in priced)


def _clause_rows(program: Program) -> Iterator[Row]:
    whole, happens = program.settled, _happens(program)
    helps: list[bool] = np.any(whole.problem.votes > 0, axis=0).tolist()
    hurts: list[bool] = np.any(whole.problem.votes < 0, axis=0).tolist()
    outputs = program.clauses.values()
    for clause, output, forward, backward in zip(whole.clauses(), outputs, helps, hurts, strict=True):
        literals = [_literal(whole.atoms[atom], happens, wanted) for atom, wanted in clause]
        if forward:
            for terms, constant in literals:
                yield Row([*terms, (-1, output)], -constant)
        if backward:
            negated = [(-factor, v) for terms, _ in literals for factor, v in terms]
            missing = len(literals) - sum(constant for _, constant in literals)
            yield Row([(1, output), *negated], 1 - missing)


def _literal(
    moves: Sequence[int], happens: Sequence[tuple[int, int]], wanted: bool
) -> tuple[list[Term], int]:
    """Terms and a constant: they add up to 1 if one of the moves happens, or if none does, as ``wanted``."""
    terms = [(happens[v][0], v) for v in moves]
    constant = sum(happens[v][1] for v in moves)
    return (terms, constant) if wanted else ([(-factor, v) for factor, v in terms], 1 - constant)


def _vote_rows(program: Program) -> Iterator[Row]:
    problem, outputs = program.settled.problem, list(program.clauses.values())
    for c, (weights, bound) in enumerate(zip(problem.votes.tolist(), problem.bounds.tolist(), strict=True)):
        terms = [(w, output) for w, output in zip(weights, outputs, strict=True) if w]
        if not program.holds:
            yield Row(terms, bound)
            continue
        low = sum(w for w, _ in terms if w < 0)
        assert low < bound, "a constraint that always holds was settled before"
        yield Row([*terms, (low - bound, program.holds[c])], low)


def _case_rows(program: Program) -> Iterator[Row]:
    cases = program.settled.cases
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
    meaning += f"; the optimum is the least {least(query)}" if nearest else ""
    clauses = {index: names[v] for index, v in program.clauses.items()}
    moves = names[: len(program.settled.moves)]
    return comment_lines(sign, query, meaning, variables_of(program.settled, moves, clauses))


def _opb(query: Query, program: Program, nearest: bool) -> Iterator[str]:
    n_rows = sum(1 for _ in program.rows())
    yield f"* #variable= {len(program.names)} #constraint= {n_rows}"
    yield "* x1, x2, ... are the variables of this file, not features: features count from 0, see bit"
    names = [f"x{v + 1}" for v in range(len(program.names))]
    yield from _comments("*", query, program, "satisfiable iff there is a counterexample", nearest, names)
    if nearest:
        # The grammar has no empty objective, so ``one`` is added with cost 0.
        yield f"min: {_opb_sum(program.cost() or [(0, program.one)])} ;"
    for terms, bound in program.rows():
        yield f"{_opb_sum(terms)} >= {bound} ;"


def _opb_sum(terms: Sequence[Term]) -> str:
    return " ".join(f"{coefficient:+d} x{v + 1}" for coefficient, v in terms)


def _lp(query: Query, program: Program, nearest: bool) -> Iterator[str]:
    meaning = "feasible iff there is a counterexample, within the solver's arithmetic"
    yield from _comments("\\", query, program, meaning, nearest, program.names)
    yield "Minimize"
    objective = program.cost() if nearest else []
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
