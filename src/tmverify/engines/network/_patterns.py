"""Kernels over patterns: how sets of flips change the first block, and how that changes the network.

A pattern is a 64-bit word, a bit for each of at most 63 neurons. ``near[s, t]`` has the neurons that, after s
flips, need at most t more favourable ones; a flip of feature i, which favours neurons ``favours[i]``, gives

    near[s + 1, t] = near[s, t] | (near[s, t + 1] & favours[i])

and the pattern of a whole set is near[k, 0]. Stages are rows of words: row r of a stage is 1 iff at least
``needs[r]`` of the input's bits in ``masks[r]`` equal those of ``rows[r]``. The tests have plain versions.
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
    """The right shift from a 64-bit hash to an index of a table of ``size`` entries, a power of two."""
    shift = np.uint64(64)
    while size > 1:
        size >>= 1
        shift -= np.uint64(1)
    return shift


@kernel
def evaluate_stage(inputs, n_words, rows, masks, needs, start, end, outputs):  # type: ignore[no-untyped-def]
    """Write rows ``start`` to ``end`` of a stage as bits of ``outputs``; return whether any is 1."""
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

    ``known`` is a table, like ``seen`` below, of first-stage outputs known to be harmless, which very many
    patterns share; an entry in use ends with a 1.
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
    """Write the patterns with which a rival wins to ``bad``, as long as ``patterns``; return how many."""
    n = 0
    for pattern in patterns:
        if rival_wins(pattern, stages, known, values):
            bad[n] = pattern
            n += 1
    return n


@kernel
def rival_may_win(low, high, stages, lows, highs):  # type: ignore[no-untyped-def]
    """Whether some row of the last stage may be 1 for some pattern between ``low`` and ``high``."""
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

    ``chosen`` has the k features of the set (when FOUND, those of the witness), ``state[0]`` how many are
    chosen. ``seen`` is a table of harmless patterns, plus 1; its size is a power of two, a pattern's index is
    the top of its product with ``mix``, and new entries replace old ones. ``known`` is a table of what
    harmless patterns become after the first stage. ``counts`` adds up sets, evaluations, and subtrees closed
    by intervals, which are used only if ``closing``.
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
    """``lacks[b, i]`` = how many matches the best rival lacks to win at input b with feature i flipped.

    ``counts[b]`` are the matches of the first block at input b, ``gains[i]`` what a flip of feature i adds to
    them; where ``taken[b, i]``, the feature is flipped already and is left out. ``stages`` are those of the
    whole network, the rivals last; ``values`` is scratch, (2, most words).
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
