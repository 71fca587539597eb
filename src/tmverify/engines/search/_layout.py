"""From a pool of clauses and a centre to clauses over flips: the literals that must flip, then those that stay."""

from numba import njit


@njit(cache=True, nogil=True)
def over_flips(offsets, literals, origin, features, middles):  # type: ignore[no-untyped-def]
    """Clause j wakes by ``features[offsets[j]:middles[j]]`` and stays awake by the rest, each in order."""
    for j in range(len(middles)):
        at = offsets[j]
        for k in range(offsets[j], offsets[j + 1]):
            f = abs(literals[k]) - 1
            if (origin[f] == 1) != (literals[k] > 0):
                features[at] = f
                at += 1
        middles[j] = at
        for k in range(offsets[j], offsets[j + 1]):
            f = abs(literals[k]) - 1
            if (origin[f] == 1) == (literals[k] > 0):
                features[at] = f
                at += 1
