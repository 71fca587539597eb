"""Kernel of the hunt: what one more flip does to the lead that rivals lack, for many inputs at once."""

from __future__ import annotations

import numpy as np

from tmverify.kernels.jit import kernel
from tmverify.kernels.words import ones


@kernel
def scan(counts, gains, thresholds, taken, stages, values, lacks):  # type: ignore[no-untyped-def]
    """``lacks[b, i]``: matches that the best rival lacks to win, at input b with feature i flipped.

    ``counts[b]`` are the matches of the first block at input b, ``gains[i]`` what a flip of feature i adds to
    them (where ``taken[b, i]`` it is flipped already, and left out). Stages as in ``_patterns``, of the whole
    network, the rivals last; ``values`` is scratch, (2, most words).
    """
    rows, masks, needs, ends, words = stages
    n_first = len(thresholds)
    last = len(ends) - 1
    for b in range(len(counts)):
        for i in range(len(gains)):
            if taken[b, i]:
                continue
            values[0, :] = 0
            for j in range(n_first):
                one = counts[b, j] + gains[i, j] >= thresholds[j]
                values[0, j >> 6] |= np.uint64(one) << np.uint64(j & 63)
            start = 0
            least = np.int64(1 << 40)
            for stage in range(last + 1):
                now, then = stage & 1, 1 - (stage & 1)
                values[then, :] = 0
                for r in range(start, ends[stage]):
                    count = np.uint64(0)
                    for w in range(words[stage]):
                        count += ones(~(values[now, w] ^ rows[r, w]) & masks[r, w])
                    lack = needs[r] - np.int64(count)
                    if stage == last:
                        least = min(least, lack)
                    else:
                        values[then, (r - start) >> 6] |= np.uint64(lack <= 0) << np.uint64((r - start) & 63)
                start = ends[stage]
            lacks[b, i] = least
