"""CNF: export a query for any SAT solver (DIMACS), or its radius for any MaxSAT solver (WCNF).

DIMACS: satisfiable means VIOLATED, unsatisfiable means HOLDS.

    c bit -2 = feature 4 (contrast)          variable 2 is true iff feature 4 is 0 in the witness
    c value 3 = column 7 is Oslo, cost 2     variable 3 is true iff the column has this value
    p cnf 5 1
    1 -2 5 0

WCNF, the format of the MaxSAT Evaluations since 2022, has no ``p`` line, an ``h`` before a hard clause and a
weight before a soft one. The hard clauses are those of DIMACS. For each feature that may flip, a soft clause
says that it does not, for each value that a column may take that it does not take it; the weight is what that
costs. So the cost of an assignment is that of its changes.

    c bit -2 = feature 4 (contrast)
    h 1 -2 5 0
    1 -2 0
    2 -3 0

``interop.comments`` describes the other comments. The formula is that of ``sat.specialised`` for the settled
query, before the engine rules out moves by a bound: a file for others should not rest on an engine's
reasoning, nor lack counterexamples that a user may want to count or to block.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from tmverify.atomic import write_lines
from tmverify.engines.engine import EncodingTooLargeError
from tmverify.engines.sat.formula import Formula
from tmverify.engines.sat.paper import encode_paper
from tmverify.engines.sat.specialised import encode_query
from tmverify.engines.settled import Move
from tmverify.errors import InvalidInputError, shown
from tmverify.interop.comments import Variables, comment_lines, least
from tmverify.properties.query import Query, check_query

ENCODERS: Mapping[str, Callable[[Query], Formula]] = {"sat": encode_query, "paper": encode_paper}


def to_dimacs(query: Query, path: str | os.PathLike[str], *, encoding: str = "sat") -> None:
    """Write ``query`` as DIMACS CNF.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    path : path
    encoding : {"sat", "paper"}
        The specialised encoding, or the paper's, which is about bits alone.

    Raises
    ------
    InvalidInputError
        If the encoding is unknown, the query is about columns and the encoding the paper's, or the formula
        would be too large to write.
    """
    check_query(query, Query)
    if not isinstance(encoding, str) or encoding not in ENCODERS:
        raise InvalidInputError(
            f"encoding must be one of {', '.join(ENCODERS)}. Got {shown(encoding)} instead."
        )
    write_lines(path, _dimacs(query, _encoded(query, encoding)))


def to_wcnf(query: Query, path: str | os.PathLike[str]) -> None:
    """Write the search for the nearest counterexample of ``query`` as weighted CNF.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``. The optimum is the radius if
        that lies within the query's region (take ``epsilon=None``, which is all of it). Equivalence has no
        input to start from: there it is the fewest ones in a counterexample, or the fewest columns with
        another value than their first.
    path : path

    Raises
    ------
    InvalidInputError
        If the formula would be too large to write.
    """
    check_query(query, Query)
    write_lines(path, _wcnf(query, _encoded(query, "sat")))


def _encoded(query: Query, encoding: str) -> Formula:
    try:
        return ENCODERS[encoding](query)
    except EncodingTooLargeError as error:
        raise InvalidInputError(f"The formula is too large to write: {error}.") from None


def _dimacs(query: Query, formula: Formula) -> Iterator[str]:
    yield from _comments(query, "satisfiable iff there is a counterexample", formula)
    yield f"p cnf {formula.cnf.n_vars} {formula.cnf.n_clauses}"
    for literals in formula.cnf:
        yield f"{' '.join(map(str, literals))} 0" if literals else "0"


def _wcnf(query: Query, formula: Formula) -> Iterator[str]:
    meaning = f"the optimum is the least {least(query)}; unsatisfiable iff there is no counterexample"
    yield from _comments(query, meaning, formula)
    unused = formula.cnf.n_vars + 1
    for literals in formula.cnf:
        # Readers differ on an empty clause; all understand a variable that must be both true and false.
        for clause in [literals] if literals else [[unused], [-unused]]:
            yield f"h {' '.join(map(str, clause))} 0"
    for lit, cost in formula.costs.items():
        if cost:  # weights are positive
            yield f"{cost} {-lit} 0"


def _comments(query: Query, meaning: str, formula: Formula) -> Iterator[str]:
    variables = Variables(
        origin=formula.origin,
        clauses=formula.clauses,
        bits=formula.bits,
        costs={feature: formula.costs.get(abs(lit), 1) for feature, lit in formula.bits.items()},
        values=[(option.literal, Move(*option[1:])) for option in formula.options],
    )
    return comment_lines("c", query, meaning, variables)
