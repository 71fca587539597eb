"""WCNF: the radius as a MaxSAT problem. The optimum is the least number of flips.

The format of the MaxSAT Evaluations since 2022: no ``p`` line, ``h`` before a hard clause, a weight before a
soft one. PySAT (RC2) reads it.

    c bit -2 = feature 4 (contrast)
    h 1 -2 5 0
    1 -2 0

The hard clauses are the ``sat`` encoding (``engines.sat.reduced``): satisfiable iff there is a counterexample
in the region. A soft clause of weight 1 a feature asks that it doesn't flip, so the cost of an assignment is
the number of its flips. The comments are those of ``interop.naming``.

The query is specialised to its region but, unlike DIMACS, not tightened by credits (``engines.credits``).
That would keep the optimum too, since a nearest witness flips only what helps its case; but the file would
then rest on an engine's argument, and would lack counterexamples that a user may want to count or to block.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from tmverify.atomic import replacing
from tmverify.engines.sat.formula import Formula
from tmverify.engines.sat.reduced import encode
from tmverify.interop.naming import map_lines
from tmverify.interop.program import specialise
from tmverify.properties.query import Query


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
    formula = encode(specialise(query))
    with replacing(path) as draft, open(draft, "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in _lines(query, formula))


def _lines(query: Query, formula: Formula) -> Iterator[str]:
    meaning = "the optimum is the least number of flips; unsatisfiable iff there is no counterexample"
    for line in map_lines(query, meaning, formula.origin, formula.bits, formula.clauses):
        yield f"c {line}"
    unused = formula.cnf.n_vars + 1
    for literals in formula.cnf:
        # Readers differ on a clause without literals; a variable that must be both is refused by all.
        lines = [literals] if literals else [[unused], [-unused]]
        for line_literals in lines:
            yield f"h {' '.join(map(str, line_literals))} 0"
    for feature, lit in formula.bits.items():
        yield f"1 {lit if formula.origin[feature] else -lit} 0"
