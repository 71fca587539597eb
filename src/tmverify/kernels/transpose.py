"""Samples across instead of features: bit s of ``planes[f, w]`` is feature f of row ``64 w + s`` of a block.

Eight rows are folded into one byte per feature, ``sum_k x_k << k`` (a loop over bytes, which LLVM runs 32 at
a time), then eight such bytes into one word. Bytes above 1 would spill into their neighbours' bits: they are
not refused here but reported, so that the caller needs no second pass over the data.
"""

import numpy as np

from tmverify.kernels.jit import kernel

BLOCK = 512


@kernel
def fold_eight(x0, x1, x2, x3, x4, x5, x6, x7, mask, octet):  # type: ignore[no-untyped-def]
    """octet[f] = mask & sum_k x_k[f] << k; returns the OR of all bytes, as a byte (a wider one is slower)."""
    seen = np.uint8(0)
    for f in range(len(octet)):
        seen = np.uint8(seen | x0[f] | x1[f] | x2[f] | x3[f] | x4[f] | x5[f] | x6[f] | x7[f])
        octet[f] = mask & (
            x0[f]
            | (x1[f] << 1)
            | (x2[f] << 2)
            | (x3[f] << 3)
            | (x4[f] << 4)
            | (x5[f] << 5)
            | (x6[f] << 6)
            | (x7[f] << 7)
        )
    return seen


@kernel
def transpose_rows(bits, start, octets, planes):  # type: ignore[no-untyped-def]
    """planes[f, w] = sum_s bits[start + 64 w + s, f] << s over the 512 rows from ``start``.

    There is a row ``start``; rows beyond the last one count as zeros. ``octets`` is scratch, (8, n_features)
    uint8; ``planes`` is (n_features, 8) uint64. Returns the OR of all bytes read: above 1, one was no bit.
    """
    last = len(bits) - 1
    seen = np.uint8(0)
    for w in range(planes.shape[1]):
        for k in range(8):
            i = start + 64 * w + 8 * k
            # Past the end, the last row is read again and masked away.
            seen |= fold_eight(
                bits[min(i, last)],
                bits[min(i + 1, last)],
                bits[min(i + 2, last)],
                bits[min(i + 3, last)],
                bits[min(i + 4, last)],
                bits[min(i + 5, last)],
                bits[min(i + 6, last)],
                bits[min(i + 7, last)],
                np.uint8((1 << max(0, min(last + 1 - i, 8))) - 1),
                octets[k],
            )
        for f in range(len(planes)):
            word = np.uint64(0)
            for k in range(8):
                word |= np.uint64(octets[k, f]) << np.uint64(8 * k)
            planes[f, w] = word
    return seen
