"""OPB: take a query to any pseudo-Boolean solver, in the linear format of the PB competitions.

    * #variable= 3 #constraint= 2
    * bit x1 = feature 4 (contrast)         x1 is the file's first variable; features count from 0
    min: +1 x1 +1 x2 ;
    +1 x1 -3 x2 +2 x3 >= 1 ;

Satisfiable means VIOLATED, unsatisfiable means HOLDS. The rows are those of ``interop.program``, the comments
those of ``interop.naming``. The format calls variables x1, x2, …, counted from 1, whatever they stand for: x4
is not feature 4, and a comment says so. Numbers are integers of any size: a solver of 32 bits may refuse
heavy votes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from tmverify.atomic import replacing
from tmverify.interop.naming import map_lines
from tmverify.interop.program import Program, Term, build_program
from tmverify.properties.query import Query


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
    program = build_program(query)
    with replacing(path) as draft, open(draft, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in _lines(query, program, nearest))


def _lines(query: Query, program: Program, nearest: bool) -> Iterator[str]:
    n_rows = sum(1 for _ in program.rows())
    yield f"* #variable= {len(program.names)} #constraint= {n_rows}"
    meaning = "satisfiable iff there is a counterexample"
    if nearest:
        meaning += "; the optimum is the least number of flips"
    bits = {feature: f"x{v + 1}" for feature, v in program.bits.items()}
    clauses = {index: f"x{v + 1}" for index, v in program.clauses.items()}
    yield "* x1, x2, ... are the variables of this file, not features: features count from 0, see bit"
    for line in map_lines(query, meaning, program.reduced.origin, bits, clauses):
        yield f"* {line}"
    if nearest:
        # The grammar has no empty objective; the constant that is 1 costs nothing.
        yield f"min: {_sum(program.flips() or [(0, program.one)])} ;"
    for terms, bound in program.rows():
        yield f"{_sum(terms)} >= {bound} ;"


def _sum(terms: Sequence[Term]) -> str:
    return " ".join(f"{coefficient:+d} x{v + 1}" for coefficient, v in terms)
