"""Parts of a question: one case, in the subcube where one clause is true. Each is a Query of its own.

Its witnesses are witnesses of the question; if no part has one, the question has none, by the argument of
``everywhere.structure``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tmverify.engines.everywhere.structure import Argument, Clause
from tmverify.properties.query import Query
from tmverify.properties.region import Region


def parts_of(query: Query, argument: Argument) -> list[Query]:
    """What an argument leaves of ``query``: nothing, some subcubes, or the case as it is."""
    case = replace(
        query,
        constraints=tuple(query.constraints[c] for c in argument.case),
        cases=(tuple(range(len(argument.case))),),
    )
    if argument.parts is None:
        return [case]
    return [replace(case, region=_subcube(clause, query.region.n_features)) for clause in argument.parts]


def _subcube(clause: Clause, n_features: int) -> Region:
    """All inputs on which ``clause`` is true."""
    literals = np.array(clause, np.int64)
    center, mutable = np.zeros(n_features, np.uint8), np.ones(n_features, np.bool_)
    center[np.abs(literals) - 1] = literals > 0
    mutable[np.abs(literals) - 1] = False
    return Region(center, n_features, mutable)
