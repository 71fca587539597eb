"""The reference evaluator: plain NumPy, the definition written down.

    score_c(x) = bias_c + sum_j weights[c, j] * clause_j(x)

Slow and obvious on purpose. Witnesses are replayed through it, brute force enumerates with it, and the
bit-packed evaluator behind ``Model.predict`` is tested against it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tmverify.model.decision import decide

if TYPE_CHECKING:
    from tmverify.model.machine import Model


def reference_scores(model: Model, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Scores of each row of ``bits``, a checked uint8 matrix: (n, outputs) int64, before any clamp."""
    outputs = model.clauses.outputs(bits, empty_fires=model.empty_clause == "fires")
    return outputs.astype(np.int64) @ model.weights.T + model.bias


def reference_classes(model: Model, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Class index of each row of ``bits``, a checked uint8 matrix."""
    return decide(reference_scores(model, bits), model.tie, model.clamp)
