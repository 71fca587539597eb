"""The exact definition of what a machine decides, in plain NumPy.

    score_c(x) = bias_c + sum_j weights[c, j] * clause_j(x)

- One output row, binary: class index 1 iff ``score >= 0`` (``tie="positive"``, the paper's encoding and
  Granmo's original) or ``score > 0`` (``tie="negative"``, the paper's Eq. 1).
- Several rows: the largest score wins; the lowest index wins ties.
- With a ``clamp`` T, every score is first cut to ``[-T, T]``, as some libraries do. T >= 1, so that a
  clamp never changes a sign; but it can make scores of several rows equal, and so change an argmax.

This code is slow and simple on purpose. Witnesses are replayed through it, brute force enumerates with it,
and fast inference (``model.inference``) is tested against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tmverify.model.machine import Model

Tie = Literal["positive", "negative"]


def reference_scores(model: Model, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Scores of each row of ``bits``, a checked uint8 matrix: (n, outputs) int64, before any clamp."""
    outputs = model.clauses.outputs(bits, empty_fires=model.empty_clause == "fires")
    return outputs.astype(np.int64) @ model.weights.T + model.bias


def reference_classes(model: Model, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Class index of each row of ``bits``, a checked uint8 matrix."""
    return decide(reference_scores(model, bits), model.tie, model.clamp)


def decide(scores: NDArray[np.int64], tie: Tie, clamp: int | None) -> NDArray[np.int64]:
    """Class index of each row of ``scores``, shape (n, outputs)."""
    if clamp is not None:
        scores = np.clip(scores, -clamp, clamp)
    if scores.shape[1] == 1:
        return np.asarray(scores[:, 0] >= least_positive_score(tie), np.int64)
    return np.asarray(scores.argmax(axis=1), np.int64)


def least_positive_score(tie: Tie) -> int:
    """The least score of a binary machine that means class 1."""
    return 0 if tie == "positive" else 1


def live_clauses(model: Model) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Indices of the live clauses, which can change a score, and the base of each output.

    A clause is *live* if it is a proper conjunction (neither empty nor contradictory) with a
    nonzero weight. Empty clauses that fire are part of the base, so callers have no edge cases to handle:

        score_c(x) = base_c + sum over live j of weights[c, j] * clause_j(x)
    """
    empty = model.clauses.lengths == 0
    counted = (model.weights != 0).any(axis=0)
    base = model.bias
    if model.empty_clause == "fires":
        base = base + model.weights[:, empty].sum(axis=1)
    return np.flatnonzero(counted & ~empty & ~model.clauses.contradictory), base
