"""DIMACS CNF: take a query to any SAT solver. Satisfiable means VIOLATED, unsatisfiable means HOLDS.

Comments map variables back, one a line, before the header:

    c bit -17 = feature 4 (contrast)         variable 17 is true iff feature 4 is 0 in the witness

``interop.naming`` has the other lines, and what each of them says. In the ``sat`` encoding a clause variable
may be tied to its clause in one direction only, and clauses that cannot change have none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from tmverify.atomic import replacing
from tmverify.engines.protocol import EncodingTooLargeError
from tmverify.engines.sat.formula import Formula
from tmverify.engines.sat.paper import encode_paper
from tmverify.engines.sat.reduced import encode_reduced
from tmverify.errors import InvalidInputError, shown
from tmverify.interop.naming import map_lines
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
    with replacing(path) as draft, open(draft, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in _lines(query, formula))


def _lines(query: Query, formula: Formula) -> Iterator[str]:
    meaning = "satisfiable iff there is a counterexample"
    for line in map_lines(query, meaning, formula.origin, formula.bits, formula.clauses):
        yield f"c {line}"
    yield f"p cnf {formula.cnf.n_vars} {formula.cnf.n_clauses}"
    for literals in formula.cnf:
        yield f"{' '.join(map(str, literals))} 0" if literals else "0"
