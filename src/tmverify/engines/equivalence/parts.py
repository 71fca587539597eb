"""Parts of a question: one case, in the subcube where one clause is true. Each is a Query of its own.

Its witnesses are witnesses of the question; if no part has one, the question has none, by the argument of
``everywhere.structure``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tmverify.engines.equivalence.normal import Clause
from tmverify.engines.equivalence.structure import Argument
from tmverify.engines.proof_log import Evidence
from tmverify.properties.query import Query
from tmverify.properties.region import Region


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part, and where its refutation is written down, if that is wanted."""

    query: Query
    evidence: Evidence | None


def parts_of(query: Query, argument: Argument, evidence: Evidence | None = None) -> list[Part]:
    """What an argument leaves of ``query``: nothing, some subcubes, or the case as it is."""

    def portion(inside: Clause) -> Evidence | None:
        return None if evidence is None else evidence.portion(argument.case, inside)

    case = replace(
        query,
        constraints=tuple(query.constraints[c] for c in argument.case),
        cases=(tuple(range(len(argument.case))),),
    )
    if argument.parts is None:
        return [Part(case, portion(()))]
    n = query.region.n_features
    cubes = [tuple(sorted(clause, key=abs)) for clause in argument.parts]
    return [Part(replace(case, region=_subcube(cube, n)), portion(cube)) for cube in cubes]


def _subcube(clause: Clause, n_features: int) -> Region:
    """All inputs on which ``clause`` is true."""
    literals = np.array(clause, np.int64)
    center, mutable = np.zeros(n_features, np.uint8), np.ones(n_features, np.bool_)
    center[np.abs(literals) - 1] = literals > 0
    mutable[np.abs(literals) - 1] = False
    return Region(center, n_features, mutable)
