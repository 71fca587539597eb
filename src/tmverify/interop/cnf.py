"""CNF: export a query for any SAT solver (DIMACS), or its radius for any MaxSAT solver (WCNF).

DIMACS: satisfiable means VIOLATED, unsatisfiable means HOLDS.

    c bit -2 = feature 4 (contrast)          variable 2 is true iff feature 4 is 0 in the witness
    p cnf 5 1
    1 -2 5 0

WCNF, the format of the MaxSAT Evaluations since 2022, has no ``p`` line, an ``h`` before a hard clause and a
weight before a soft one. The hard clauses are satisfiable iff there is a counterexample in the region. For
each feature, a soft clause of weight 1 says that it does not flip, so the cost of an assignment is its number
of flips.

    c bit -2 = feature 4 (contrast)
    h 1 -2 5 0
    1 -2 0

``interop.comments`` describes the other comments.

WCNF is specialised to its region but, unlike DIMACS, not tightened by credits (``engines.reduction``). That
would also keep the optimum, since a nearest witness flips only what helps its case; but the file would then
rely on an engine's reasoning, and would lack counterexamples that a user may want to count or to block.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from tmverify.atomic import write_lines
from tmverify.engines.engine import EncodingTooLargeError
from tmverify.engines.sat.formula import Formula
from tmverify.engines.sat.paper import encode_paper
from tmverify.engines.sat.reduced import encode, encode_reduced
from tmverify.errors import InvalidInputError, shown
from tmverify.interop.comments import comment_lines
from tmverify.interop.linear import specialise
from tmverify.properties.query import Query, check_query

ENCODERS: Mapping[str, Callable[[Query], Formula]] = {"sat": encode_reduced, "paper": encode_paper}


def to_dimacs(query: Query, path: str | os.PathLike[str], *, encoding: str = "sat") -> None:
    """Write ``query`` as DIMACS CNF.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    path : path
    encoding : {"sat", "paper"}
        The specialised encoding, or the paper's.

    Raises
    ------
    InvalidInputError
        If the encoding is unknown, or the formula would be too large to write.
    """
    check_query(query, Query)
    if not isinstance(encoding, str) or encoding not in ENCODERS:
        raise InvalidInputError(
            f"encoding must be one of {', '.join(ENCODERS)}. Got {shown(encoding)} instead."
        )
    try:
        formula = ENCODERS[encoding](query)
    except EncodingTooLargeError as error:
        raise InvalidInputError(f"The formula is too large to write: {error}.") from None
    write_lines(path, _dimacs(query, formula))


def to_wcnf(query: Query, path: str | os.PathLike[str]) -> None:
    """Write the search for the nearest counterexample of ``query`` as weighted CNF.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``. The optimum is the radius if
        that lies within the query's region (take ``epsilon = n_features``). For equivalence, which has no
        input to start from, it is the fewest ones in a counterexample.
    path : path

    Raises
    ------
    InvalidInputError
        If the formula would be too large to write.
    """
    write_lines(path, _wcnf(query, encode(specialise(query))))


def _dimacs(query: Query, formula: Formula) -> Iterator[str]:
    meaning = "satisfiable iff there is a counterexample"
    yield from comment_lines("c", query, meaning, formula.origin, formula.bits, formula.clauses)
    yield f"p cnf {formula.cnf.n_vars} {formula.cnf.n_clauses}"
    for literals in formula.cnf:
        yield f"{' '.join(map(str, literals))} 0" if literals else "0"


def _wcnf(query: Query, formula: Formula) -> Iterator[str]:
    meaning = "the optimum is the least number of flips; unsatisfiable iff there is no counterexample"
    yield from comment_lines("c", query, meaning, formula.origin, formula.bits, formula.clauses)
    unused = formula.cnf.n_vars + 1
    for literals in formula.cnf:
        # Readers differ on an empty clause; all understand a variable that must be both true and false.
        for clause in [literals] if literals else [[unused], [-unused]]:
            yield f"h {' '.join(map(str, clause))} 0"
    for feature, lit in formula.bits.items():
        yield f"1 {lit if formula.origin[feature] else -lit} 0"
