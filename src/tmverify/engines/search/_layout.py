"""From clauses and a centre to clauses over flips: the features that must flip, then those that stay."""

from tmverify.kernels.jit import kernel


@kernel
def over_flips(offsets, literals, origin, features, middles, staying):  # type: ignore[no-untyped-def]
    """Clause j wakes by ``features[offsets[j]:middles[j]]`` and stays awake by the rest, each in order.

    ``staying`` is scratch, with room for one more than there are features.
    """
    for j in range(len(middles)):
        at, n = offsets[j], 0
        for k in range(offsets[j], offsets[j + 1]):
            f = abs(literals[k]) - 1
            wakes = (origin[f] != 0) != (literals[k] > 0)
            features[at] = f  # written either way, kept or not: faster than a branch that can't be foreseen
            staying[n] = f
            at += wakes
            n += not wakes
        middles[j] = at
        for k in range(n):
            features[at + k] = staying[k]
