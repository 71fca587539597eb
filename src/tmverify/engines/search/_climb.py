"""Greedy flips: an upper bound on the radius, and most witnesses, before any tree."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def climb(offsets, features, wakes, votes, needs, radius, flips):  # type: ignore[no-untyped-def]
    """Flip, one at a time, the feature that leaves the least shortfall; whether every need was met.

    shortfall(y) = sum_c max(0, need_c - votes_c(y)). Stops after ``radius`` flips; a flip is not taken back.
    """
    n = len(flips)
    n_constraints = len(needs)
    m = votes.shape[1]
    false = np.zeros(m, np.int32)
    sums = np.zeros(n_constraints, np.int64)
    gains = np.zeros((n_constraints, n), np.int64)
    flips[:] = False
    for j in range(m):
        for k in range(offsets[j], offsets[j + 1]):
            false[j] += wakes[k]
        if false[j] == 0:
            for c in range(n_constraints):
                sums[c] += votes[c, j]
    for _ in range(radius + 1):
        short = 0
        for c in range(n_constraints):
            short += max(0, needs[c] - sums[c])
        if short == 0:
            return True
        gains[:] = 0
        for j in range(m):
            if false[j] == 0:
                for k in range(offsets[j], offsets[j + 1]):
                    for c in range(n_constraints):
                        gains[c, features[k]] -= votes[c, j]
            elif false[j] == 1:
                for k in range(offsets[j], offsets[j + 1]):
                    if flips[features[k]] != wakes[k]:
                        for c in range(n_constraints):
                            gains[c, features[k]] += votes[c, j]
                        break
        best, chosen = np.int64(1) << 62, -1
        for i in range(n):
            if not flips[i]:
                left = 0
                for c in range(n_constraints):
                    left += max(0, needs[c] - sums[c] - gains[c, i])
                if left < best:
                    best, chosen = left, i
        if chosen < 0:
            return False
        flips[chosen] = True
        for c in range(n_constraints):
            sums[c] += gains[c, chosen]
        for j in range(m):
            for k in range(offsets[j], offsets[j + 1]):
                if features[k] == chosen:
                    false[j] += -1 if wakes[k] else 1
                    break
    return False
