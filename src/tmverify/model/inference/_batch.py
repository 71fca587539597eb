"""Votes of clauses on a block of 512 samples, by the method of the four Russians.

The block is transposed first: bit s of ``planes[f, w]`` is feature f of row ``64 w + s``. A clause is then
evaluated on all samples at once: the AND of its features' planes, until no sample is left. Clauses then vote
eight at a time. Their outputs on a sample are one byte, the *pattern* p, and a table holds what each of the
256 patterns adds to the sums,

    table[p] = sum_{k in p} weights[k],        sums[s] += table[pattern[s]],

so a sample costs one look-up per eight clauses, without a branch, however many are true. (Looping over
the true bits instead costs one mispredicted branch per 64 samples and clause, and was twice as slow.)

Sums are 16 lanes of int16, one AVX2 register for up to 16 outputs. The layout prevents overflow:
clauses come in *runs* in which the votes of one sign for one output add up to less than 2**15, and after each
run the sums, shifted left by the run's ``shift``, go into the int64 scores. Large weights are split
into digits, each with its own runs.
"""

import numpy as np

from tmverify.kernels.jit import kernel
from tmverify.model.inference._vectors import (
    all_samples,
    drop_row,
    keep_row,
    load_lanes,
    nobody,
    store_row,
    store_sum,
)


@kernel
def fold_eight(x0, x1, x2, x3, x4, x5, x6, x7, mask, octet):  # type: ignore[no-untyped-def]
    """octet[f] = mask & sum_k x_k[f] << k; LLVM vectorises the loop to 32 bytes at a time.

    Returns the OR of all bytes, as a byte (a wider one is slower).
    """
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

    Row ``start`` must exist; rows beyond the last one count as zeros. ``octets`` is scratch, (8, n_features)
    uint8; ``planes`` is (n_features, 8) uint64. Returns the OR of all bytes read: if it is above 1, some byte
    was not a bit and has corrupted its neighbours. So the caller needs no second pass to check the data.
    """
    last = len(bits) - 1
    seen = np.uint8(0)
    for w in range(planes.shape[1]):
        for k in range(8):
            i = start + 64 * w + 8 * k
            # Past the end, the last row is read again and masked out.
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


@kernel
def find_true(planes, features, starts, middles, first, true):  # type: ignore[no-untyped-def]
    """true[k] = the samples on which clause ``first + k`` is true, for the eight clauses from ``first``.

    Clause j requires ones in ``features[starts[j]:middles[j]]`` and zeros in
    ``features[middles[j]:starts[j + 1]]``; the latter are padded to fours. Returns whether any is true.
    """
    some = False
    for k in range(8):
        j = first + k
        alive = all_samples()
        for i in range(starts[j], middles[j]):
            alive = keep_row(alive, planes, features[i])
        for i in range(middles[j], starts[j + 1], 4):
            if nobody(alive):
                break
            alive = drop_row(alive, planes, features[i])
            alive = drop_row(alive, planes, features[i + 1])
            alive = drop_row(alive, planes, features[i + 2])
            alive = drop_row(alive, planes, features[i + 3])
        store_row(alive, true, k)
        some |= not nobody(alive)
    return some


@kernel
def find_patterns(true, patterns):  # type: ignore[no-untyped-def]
    """Bit k of pattern s is bit s of clause k: eight rows of 64 bytes transposed, 8 x 8 bits at a time.

    ``true`` is (8, 64) uint8, ``patterns`` (64,) uint64 whose bytes, lowest first, are the 512 patterns.
    """
    for b in range(len(patterns)):
        word = np.uint64(0)
        for k in range(8):
            word |= np.uint64(true[k, b]) << np.uint64(8 * k)
        swap = (word ^ (word >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
        word ^= swap ^ (swap << np.uint64(7))
        swap = (word ^ (word >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
        word ^= swap ^ (swap << np.uint64(14))
        swap = (word ^ (word >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
        patterns[b] = word ^ swap ^ (swap << np.uint64(28))


@kernel
def add_patterns(patterns, weights, row, table, sums, base, n):  # type: ignore[no-untyped-def]
    """sums[base + s] += sum of weights[row + k] over the bits k of patterns[s], for s below ``n``."""
    table[0] = 0
    for k in range(8):
        vote = load_lanes(weights, row + k)
        for p in range(1 << k):
            store_sum(load_lanes(table, p), vote, table, p + (1 << k))
    for s in range(base, base + n):
        store_sum(load_lanes(sums, s), load_lanes(table, patterns[s - base]), sums, s)


@kernel
def flush_sums(sums, shift, scores):  # type: ignore[no-untyped-def]
    """scores[s, 16 g + c] += sums[s of group g, c] << shift; ``sums`` is (512 g, 16) and zero afterwards."""
    n, n_outputs = scores.shape
    for first in range(0, n_outputs, 16):
        base = first << 5
        for s in range(n):
            for c in range(first, min(first + 16, n_outputs)):
                scores[s, c] += np.int64(sums[base + s, c - first]) << shift
            for c in range(16):
                sums[base + s, c] = 0


@kernel
def add_block_votes(  # type: ignore[no-untyped-def]
    planes,
    features,
    starts,
    middles,
    run_offsets,
    run_shifts,
    part_offsets,
    part_groups,
    part_weights,
    true,
    true_bytes,
    patterns,
    pattern_bytes,
    table,
    sums,
    scores,
):
    """Add the votes of all clauses on one block to ``scores``, (n, outputs) int64 with n up to 512.

    Run r takes the eights of clauses from ``run_offsets[r]``. Eight o votes through its parts, each for one
    group of 16 outputs: part p for group ``part_groups[p]``, by the rows ``8 p`` to ``8 p + 7`` of
    ``part_weights``. The other arrays are scratch: ``true`` (8, 8) uint64 and its bytes (8, 64), ``patterns``
    (64,) uint64 and its bytes (512,), ``table`` (256, 16) int16, ``sums`` (512 groups, 16) int16, zeroed.
    """
    n = len(scores)
    for r in range(len(run_shifts)):
        for o in range(run_offsets[r], run_offsets[r + 1]):
            if find_true(planes, features, starts, middles, 8 * o, true):
                find_patterns(true_bytes, patterns)
                for p in range(part_offsets[o], part_offsets[o + 1]):
                    base = part_groups[p] << 9
                    add_patterns(pattern_bytes, part_weights, 8 * p, table, sums, base, n)
        flush_sums(sums, run_shifts[r], scores)


@kernel
def decide_rows(scores, least_positive, clamp, classes):  # type: ignore[no-untyped-def]
    """classes[i] = index of the class of scores[i], by the rule of ``model.evaluate``, without a copy.

    The sign decides if there is one output, else the first of the largest scores.

    Scores are cut to ``[-clamp, clamp]`` first; a ``clamp`` beyond every score means none.
    """
    n, n_outputs = scores.shape
    if n_outputs == 1:
        for i in range(n):
            classes[i] = scores[i, 0] >= least_positive
        return
    for i in range(n):
        best = 0
        highest = min(max(scores[i, 0], -clamp), clamp)
        for c in range(1, n_outputs):
            score = min(max(scores[i, c], -clamp), clamp)
            if score > highest:
                highest = score
                best = c
        classes[i] = best
