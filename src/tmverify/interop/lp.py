r"""LP: take a query to any MILP solver (HiGHS, SCIP, CBC, Gurobi, CPLEX) in the CPLEX LP format.

    \ bit x4 = feature 4 (contrast)
    Minimize
     obj: 1 x4 - 1 x7 + 1 one
    Subject To
     r1: 1 x4 - 3 c2 >= -2
    Binaries
     x4 x7 c2 one
    End

Infeasible means HOLDS, feasible VIOLATED. The rows are those of ``interop.program``, the comments those of
``interop.naming``; x<i> is feature i, c<j> a clause.

MILP solvers compute in floating point, so an answer is as good as the solver's arithmetic: replay a solution
through the model, and take "infeasible" for strong evidence, not for a proof. A solver calls a number an
integer that is within delta <= 1e-5 of one (Gurobi, CPLEX; HiGHS and SCIP 1e-6) and a row satisfied that is
short by tau <= 1e-5. Rounding moves a row by at most delta * (sum of |coefficients|), and rows are integral,
so what the solver calls feasible is feasible as long as that, and tau, stay below 1. Rows of more than
``MAX_ROW_SUM``, where they come to a half, are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from tmverify.atomic import replacing
from tmverify.errors import InvalidInputError
from tmverify.interop.naming import map_lines
from tmverify.interop.program import Program, Term, build_program
from tmverify.properties.query import Query

MAX_ROW_SUM = 50_000
MAX_LINE_CHARS = 100  # the format's limits differ from reader to reader; the shortest is 255


def to_lp(query: Query, path: str | os.PathLike[str], *, nearest: bool = False) -> None:
    """Write ``query`` as a mixed-integer program; the answer is as good as the solver's floating point.

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
        If the rows would be too many to write, or have numbers that floating point might not carry.
    """
    program = build_program(query)
    _check_numbers(program)
    with replacing(path) as draft, open(draft, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in _lines(query, program, nearest))


def _check_numbers(program: Program) -> None:
    largest = max(sum(abs(coefficient) for coefficient, _ in terms) for terms, _ in program.rows())
    if largest > MAX_ROW_SUM:
        raise InvalidInputError(
            f"The coefficients of a row may add up to {MAX_ROW_SUM} at most: with more, the tolerances of "
            f"MILP solvers could turn the answer. Got {largest} instead. Write OPB, SMT-LIB or DIMACS, which "
            f"are solved in integers."
        )


def _lines(query: Query, program: Program, nearest: bool) -> Iterator[str]:
    meaning = "feasible iff there is a counterexample, within the solver's arithmetic"
    if nearest:
        meaning += "; the optimum is the least number of flips"
    bits = {feature: program.names[v] for feature, v in program.bits.items()}
    clauses = {index: program.names[v] for index, v in program.clauses.items()}
    for line in map_lines(query, meaning, program.reduced.origin, bits, clauses):
        yield f"\\ {line}"
    yield "Minimize"
    objective = program.flips() if nearest else []
    yield from _folded("obj:", _words(program, objective or [(0, program.one)]))
    yield "Subject To"
    for number, (terms, bound) in enumerate(program.rows(), 1):
        yield from _folded(f"r{number}:", [*_words(program, terms), f">= {bound}"])
    yield "Binaries"
    yield from _folded("", program.names)
    yield "End"


def _words(program: Program, terms: Sequence[Term]) -> Iterator[str]:
    for i, (coefficient, v) in enumerate(terms):
        sign = "-" if coefficient < 0 else "+" if i else ""
        yield f"{sign} {abs(coefficient)} {program.names[v]}".strip()


def _folded(start: str, words: Iterable[str]) -> Iterator[str]:
    """The words behind ``start``, on as many lines as they need."""
    line = start
    for word in words:
        if len(line) + 1 + len(word) > MAX_LINE_CHARS:
            yield f" {line}".rstrip()
            line = word
        else:
            line = f"{line} {word}".strip()
    yield f" {line}"
