"""What of a model can change a score, and what the scores are without it.

A clause is *live* if it is a proper conjunction (neither empty nor contradictory) that some output counts.
Empty clauses that fire are part of the base, so whoever goes on from here meets no edge case of the model:

    score_c(x) = base_c + sum over live j of weights[c, j] * clause_j(x)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tmverify.model.machine import Model


def live_clauses(model: Model) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices of the live clauses, and the base of each output."""
    empty = model.clauses.lengths == 0
    counted = (model.weights != 0).any(axis=0)
    base = model.bias
    if model.empty_clause == "fires":
        base = base + model.weights[:, empty].sum(axis=1)
    return np.flatnonzero(counted & ~empty & ~model.clauses.contradictory()), base
