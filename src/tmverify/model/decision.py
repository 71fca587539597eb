"""The decision rule: from scores to the index of a class, exactly.

- One output row, binary: class index 1 iff ``score >= 0`` (``tie="positive"``, the paper's encoding and
  Granmo's original) or ``score > 0`` (``tie="negative"``, the paper's Eq. 1).
- Several rows: the largest score wins; among equals the lowest index.
- With a ``clamp`` T, every score is first cut to ``[-T, T]``, as some libraries do. T >= 1, so that a
  clamp never changes a sign; between rows it makes ties, and so can change an argmax.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Tie = Literal["positive", "negative"]


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
