"""Bits of an input, 64 to a word: feature f is bit ``f % 64`` of word ``f // 64``."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def pack_rows(bits, words):  # type: ignore[no-untyped-def]
    """words[i, f // 64] |= bits[i, f] << (f % 64); ``words`` comes zeroed, (n, ceil(n_features / 64))."""
    n, n_features = bits.shape
    for i in range(n):
        for f in range(n_features):
            words[i, f >> 6] |= np.uint64(bits[i, f]) << np.uint64(f & 63)
