"""Inputs as the training kernels take them: features packed 64 to a word."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD = 64


def pack_inputs(X: Any) -> NDArray[np.uint64]:
    """Pack checked bits, a dense 0/1 array or a scipy CSR matrix of ones: (n, ceil(n_features / 64))."""
    n, n_features = X.shape
    n_bytes = -(-n_features // WORD) * (WORD // 8)
    octets = np.zeros((n, n_bytes), np.uint8)
    if hasattr(X, "indptr"):
        rows = np.repeat(np.arange(n), np.diff(X.indptr))
        bits = np.left_shift(np.uint8(1), (X.indices & 7).astype(np.uint8))
        ones = X.data != 0
        np.bitwise_or.at(octets, (rows[ones], X.indices[ones] >> 3), bits[ones])
    else:
        packed = np.packbits(X, axis=1, bitorder="little")
        octets[:, : packed.shape[1]] = packed
    return octets.view("<u8").astype(np.uint64, copy=False)
