"""Kernels over patterns: what flips, or sets of them, do to the first block, and that to the network.

Patterns are 64-bit words, of at most 63 neurons. ``near[s, t]`` are the neurons that, after s flips, need at
most t more favourable ones; flipping a feature that is favourable to the neurons ``favours[i]`` gives

    near[s + 1, t] = near[s, t] | (near[s, t + 1] & favours[i])

and the pattern of a whole set is near[k, 0]. Stages are rows of words: row r of a stage is 1 iff at least
``needs[r]`` bits of its ``masks`` equal those of ``rows``. Plain twins are in the tests.
"""

from __future__ import annotations

import numpy as np

from tmverify.kernels.jit import kernel
from tmverify.kernels.words import ones

OPEN, DONE, FOUND = 0, 1, 2
_ONE = np.uint64(1)
HASH = np.uint64(0x9E3779B97F4A7C15)


@kernel
def shift_of(size):  # type: ignore[no-untyped-def]
    """What leaves a place in a table of ``size`` entries, a power of two, of a hash of 64 bits."""
    shift = np.uint64(64)
    while size > 1:
        size >>= 1
        shift -= np.uint64(1)
    return shift


@kernel
def evaluate_stage(inputs, n_words, rows, masks, needs, start, end, outputs):  # type: ignore[no-untyped-def]
    """Rows ``start`` to ``end`` of a stage, as bits of ``outputs``; whether any is 1."""
    outputs[:] = 0
    any_one = False
    for r in range(start, end):
        count = np.uint64(0)
        for w in range(n_words):
            count += ones(~(inputs[w] ^ rows[r, w]) & masks[r, w])
        one = np.int64(count) >= needs[r]
        place = r - start
        outputs[place >> 6] |= np.uint64(one) << np.uint64(place & 63)
        any_one |= one
    return any_one


@kernel
def rival_wins(pattern, stages, known, values):  # type: ignore[no-untyped-def]
    """Whether some row of the last stage is 1; ``values`` is scratch, (2, most words).

    ``known`` is a table, as ``seen`` below, of first-stage outputs known to be harmless (and a 1 for an entry
    in use): very many patterns have the same.
    """
    rows, masks, needs, ends, words = stages
    values[1, 0] = pattern
    any_one = evaluate_stage(values[1], words[0], rows, masks, needs, 0, ends[0], values[0])
    if len(ends) == 1:
        return any_one
    width = known.shape[1] - 1
    slot = np.uint64(0)
    for w in range(width):
        slot = (slot ^ values[0, w]) * HASH
    slot >>= shift_of(len(known))
    same = known[slot, width] == 1  # the entry is in use
    for w in range(width):
        same &= known[slot, w] == values[0, w]
    if same:
        return False
    kept = values[2]
    kept[:] = values[0]
    for stage in range(1, len(ends)):
        now, then = (stage + 1) & 1, stage & 1
        any_one = evaluate_stage(
            values[now], words[stage], rows, masks, needs, ends[stage - 1], ends[stage], values[then]
        )
    if not any_one:
        known[slot, :width] = kept[:width]
        known[slot, width] = 1
    return any_one


@kernel
def find_bad(patterns, stages, known, values, bad):  # type: ignore[no-untyped-def]
    """Those of the patterns with which a rival wins: how many are written to ``bad``, of equal length."""
    n = 0
    for pattern in patterns:
        if rival_wins(pattern, stages, known, values):
            bad[n] = pattern
            n += 1
    return n


@kernel
def rival_may_win(low, high, stages, lows, highs):  # type: ignore[no-untyped-def]
    """The same for all patterns between two: may some row of the last stage be 1?"""
    rows, masks, needs, ends, words = stages
    lows[0, 0], highs[0, 0] = low, high
    start = 0
    any_one = False
    for stage in range(len(ends)):
        now, then = stage & 1, 1 - (stage & 1)
        lows[then, :] = 0
        highs[then, :] = 0
        any_one = False
        for r in range(start, ends[stage]):
            least, most = np.uint64(0), np.uint64(0)
            for w in range(words[stage]):
                wanted, unwanted = rows[r, w] & masks[r, w], ~rows[r, w] & masks[r, w]
                least += ones(lows[now, w] & wanted) + ones(~highs[now, w] & unwanted)
                most += ones(highs[now, w] & wanted) + ones(~lows[now, w] & unwanted)
            may, must = np.int64(most) >= needs[r], np.int64(least) >= needs[r]
            place = r - start
            highs[then, place >> 6] |= np.uint64(may) << np.uint64(place & 63)
            lows[then, place >> 6] |= np.uint64(must) << np.uint64(place & 63)
            any_one |= may
        start = ends[stage]
    return any_one


@kernel
def enumerate_sets(  # type: ignore[no-untyped-def]
    favours, near, chosen, state, seen, mix, known, stages, scratch, steps, work, counts, closing
):
    """Go on through all sets of k features, in order, for about ``steps`` steps; an evaluation is ``work``.

    ``chosen`` has the k features of the set (the last one when FOUND), ``state[0]`` how many are chosen;
    ``seen`` is a table of patterns known to be harmless, plus 1, of a power of two entries, where new ones
    push out old ones (a pattern's place is the top of its product with ``mix``), ``known`` one of what they
    become after the first stage; ``counts`` adds up sets, evaluations and subtrees that intervals closed,
    which they do if ``closing``.
    """
    values, lows, highs = scratch
    n, k = len(favours), len(chosen)
    shift = shift_of(len(seen))
    depth = state[0]
    while steps > 0:
        if depth < 0:
            state[0] = depth
            return DONE
        chosen[depth] += 1
        left = k - depth  # flips still to choose, this one included
        if chosen[depth] > n - left:
            depth -= 1
            continue
        if left == 1:
            base, border = near[depth, 0], near[depth, 1]
            for i in range(chosen[depth], n):
                pattern = base | (border & favours[i])
                slot = (pattern * mix) >> shift
                if seen[slot] != pattern + _ONE:
                    counts[1] += 1
                    steps -= work
                    if rival_wins(pattern, stages, known, values):
                        chosen[depth] = i
                        return FOUND
                    seen[slot] = pattern + _ONE
            counts[0] += n - chosen[depth]
            steps -= n - chosen[depth]
            depth -= 1
            continue
        flip = favours[chosen[depth]]
        for t in range(left):
            near[depth + 1, t] = near[depth, t] | (near[depth, t + 1] & flip)
        if closing and left > 2:
            steps -= 2 * work
            low, high = near[depth + 1, 0], near[depth + 1, left - 1]
            if not rival_may_win(low, high, stages, lows, highs):
                counts[2] += 1
                continue
        depth += 1
        chosen[depth] = chosen[depth - 1]
    state[0] = depth
    return OPEN


@kernel
def scan(counts, gains, thresholds, taken, stages, values, lacks):  # type: ignore[no-untyped-def]
    """``lacks[b, i]``: matches that the best rival lacks to win, at input b with feature i flipped.

    ``counts[b]`` are the matches of the first block at input b, ``gains[i]`` what a flip of feature i adds to
    them (where ``taken[b, i]`` it is flipped already, and left out). Stages of the whole network, the rivals
    last; ``values`` is scratch, (2, most words).
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
