"""Random bits for training: a xorshift64 generator per lane, and masks whose bits are 1 with a given chance.

The generator is Marsaglia's xorshift64 with shifts 14, 29, 11: period 2^64 - 1 on the non-zero words, six
instructions that vectorise over lanes. It is linear over GF(2): it fails tests of linear complexity and
matrix rank, and must not be used for secrets. But linearity also lets us *prove* what feedback needs: from
a uniformly random start, any two bits of a mask, or of two masks that a lane makes one after the other, are
exactly independent, and so are any three bits of a mask, except for 28 of the 41,664 choices of positions
(``tests/unit/training`` computes the ranks). The more usual shifts 13, 7, 17 fail this: there bit 7 of a
word is the sum of bit 0 of that word and of the next. Lanes differ by their seeds, from SeedSequence.

A mask of chance p folds n words into one, the lowest bit of ``share = floor(2^n p)`` first::

    m <- m | ~x   where that bit is 1,   m <- m & x   where it is 0

Each step halves the chance so far and adds the value of the bit. The start of m stands for the remainder,
``2^n p - share``: all ones with that chance, else 0, drawn once per word. So every bit has chance p exactly
(to 2^-16 of the last place), and the 64 bits of a word are correlated by less than 4^-n / (4 p (1 - p)),
0.004 % for p = 0.1 and n = 8.
"""

import numpy as np

from tmverify.kernels.jit import kernel

CHANCE_UNIT = 1 << 24

_NONE, _ONE, _TWO, _THREE = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_SELECT_BITS, _LANE_BITS = np.uint64(16), np.uint64(8)
_REMAINDER_BITS, _REMAINDERS, _HIGH_BITS = np.uint64(16), np.uint64(0xFFFF), np.uint64(48)
_A, _B, _C, _HALF = np.uint64(14), np.uint64(29), np.uint64(11), np.uint64(32)


@kernel
def next_word(state, i):  # type: ignore[no-untyped-def]
    """Advance generator ``state[i]`` and return its new word."""
    x = state[i]
    x ^= x << _A
    x ^= x >> _B
    x ^= x << _C
    state[i] = x
    return x


@kernel
def next_below(state, i, bound):  # type: ignore[no-untyped-def]
    """A number in [0, bound), bound < 2^32: floor(u * bound / 2^32) for a 32-bit u (bias < bound / 2^32)."""
    return ((next_word(state, i) >> _HALF) * np.uint64(bound)) >> _HALF


@kernel
def next_mask(state, i, numerator, denominator):  # type: ignore[no-untyped-def]
    """64 bits, each 1 with chance numerator / denominator: integers, 0 <= numerator <= denominator < 2^32."""
    # The remainder is rounded up or down at random: on average the chance is exact.
    parts = (np.uint64(numerator) << _SELECT_BITS) + next_below(state, i, denominator)
    share = parts // np.uint64(denominator)
    if share >> _SELECT_BITS:
        return _ALL
    mask = _NONE
    if share == _NONE:
        return mask
    k = _NONE
    while (share >> k) & _ONE == _NONE:
        k += _ONE
    while k < _SELECT_BITS:
        x = next_word(state, i)
        mask = mask | x if (share >> k) & _ONE else mask & x
        k += _ONE
    return mask


@kernel
def fill_mask(mask, lanes, row, chance):  # type: ignore[no-untyped-def]
    """Words of bits that are 1 with chance ``chance / 2^24``; word w comes from generator ``lanes[row, w]``.

    The fold is written ``m <- (m & x) ^ d``, with m complemented where the next step is an OR: two
    instructions whatever the bits of the chance, two steps a pass. This and ``move`` of the training
    kernels are where training spends its time.
    """
    share, remainder = chance >> _REMAINDER_BITS, chance & _REMAINDERS
    if share >> _LANE_BITS:
        mask[:] = _ALL
        return
    start = _NONE - (share & _ONE)
    first = _NONE
    if remainder == _NONE:
        mask[:] = start
        while first < _LANE_BITS - _TWO and (share >> first) & _THREE == _NONE:
            first += _TWO
        start = _NONE - ((share >> first) & _ONE)
        mask[:] = start
    else:
        for w in range(mask.shape[0]):
            x = lanes[row, w]
            x ^= x << _A
            x ^= x >> _B
            x ^= x << _C
            lanes[row, w] = x
            mask[w] = (_ALL if (x >> _HIGH_BITS) < remainder else _NONE) ^ start
    for k in range(first, _LANE_BITS, _TWO):
        bits = (share ^ (share >> _ONE)) >> np.uint64(k)
        d0, d1 = _NONE - (bits & _ONE), _NONE - ((bits >> _ONE) & _ONE)
        for w in range(mask.shape[0]):
            x = lanes[row, w]
            x ^= x << _A
            x ^= x >> _B
            x ^= x << _C
            m = (mask[w] & x) ^ d0
            x ^= x << _A
            x ^= x >> _B
            x ^= x << _C
            lanes[row, w] = x
            mask[w] = (m & x) ^ d1
