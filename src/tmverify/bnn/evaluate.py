"""The reference evaluator of networks: the definition in plain NumPy, on integers.

Witnesses are replayed through it and brute force enumerates with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tmverify.bnn.model import BnnModel

_ROWS = 1 << 12  # rows evaluated at a time; each layer makes an int32 matrix of them


def matches(bits: NDArray[np.uint8], weights: NDArray[np.int8]) -> NDArray[np.int32]:
    """For each row of bits and each row of weights, how many bits have the sign of their weight."""
    n = weights.shape[1]
    products = (2 * bits.astype(np.int32) - 1) @ weights.T.astype(np.int32)
    counts: NDArray[np.int32] = (products + n) // 2
    return counts


def activations(model: BnnModel, bits: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """The bits after each block, for each row of a checked uint8 matrix."""
    found = []
    for layer in model.layers:
        bits = (matches(bits, layer.weights) >= layer.thresholds).astype(np.uint8)
        found.append(bits)
    return found


def reference_scores(model: BnnModel, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Scores of each row of ``bits``, a checked uint8 matrix: (n, n_classes)."""
    result = np.empty((len(bits), model.n_outputs), np.int64)
    for start in range(0, len(bits), _ROWS):
        last = activations(model, bits[start : start + _ROWS])[-1]
        result[start : start + _ROWS] = (
            model.scale * matches(last, model.output).astype(np.int64) + model.bias
        )
    return result


def reference_classes(model: BnnModel, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Class index of each row of ``bits``, a checked uint8 matrix; the first class wins ties."""
    classes: NDArray[np.int64] = reference_scores(model, bits).argmax(axis=1)
    return classes
