"""The class of one or a few rows, by tables of clauses that are not violated; for models of moderate size.

A clause is a bit; 512 of them, a *chunk*, are one row of 64 bytes. Features come in groups of four, group g
being g, g + q, g + 2 q and g + 3 q with ``q = ceil(n_features / 4)``, and the four bits of a group are its
*nibble* v. The table holds the clauses that v does not violate. The true clauses are

    AND over g of table[chunk, g, v_g]

so 512 clauses cost q look-ups, however many literals they have, and no branch. The votes of the true clauses
are then added up, 16 outputs at a time. (The index of ``_index`` took five times as long on 500 rules;
it is still used if a table would not fit the caches. Groups of eight features need tables 8 times as
large, and groups of neighbours can't be folded 32 bytes at a time.)

Everything is in one matrix, ``table``, (n, 8) int64, whose rows of 64 bytes are, in order:

    1                               header: chunks, outputs, least positive score, clamp
    chunks * q * 16                 clauses left, by chunk, group and nibble
    parts                           bias, 16 outputs a part, int32
    parts * chunks * 512            votes, by part and clause, int32

No sum leaves int32: ``rows.table_form`` refuses models where one could.
"""

import numpy as np
from numba import types

from tmverify.kernels.jit import njit
from tmverify.kernels.words import lowest_bit
from tmverify.model.inference._vectors import add_votes, all_samples, keep_row, load_votes, vote_of, word_of

# One compilation serves writable and read-only arrays. Helpers are inlined, which halves the compile time.
_ROWS = types.Array(types.uint8, 2, "C", readonly=True)
_TABLE = types.Array(types.int64, 2, "C")
_CLASSES = types.Array(types.int64, 1, "C")
_LOWEST = -(1 << 63)


@njit(inline="always")
def fold_quarters(bits, nibbles):  # type: ignore[no-untyped-def]
    """nibbles[g] = sum_k bits[g + k q] << k, with q = len(nibbles); returns the OR of all bytes.

    If that is above 1, some byte was not a bit, and the nibbles are invalid.
    """
    n, q = len(bits), len(nibbles)
    seen = np.uint8(0)
    for g in range(q):
        seen = np.uint8(seen | bits[g])
        nibbles[g] = bits[g]
    for k in range(1, 4):
        quarter = bits[min(k * q, n) : min(k * q + q, n)]
        for g in range(len(quarter)):
            seen = np.uint8(seen | quarter[g])
            nibbles[g] |= quarter[g] << k
    return seen


@njit(inline="always")
def count_votes(nibbles, table, part):  # type: ignore[no-untyped-def]
    """Scores of the 16 outputs of a part."""
    q, chunks = len(nibbles), table[0, 0]
    parts = (table[0, 1] + 15) >> 4
    row = np.uint64(1)
    biases = row + np.uint64(16 * q * chunks)
    first = biases + np.uint64(parts + part * chunks * 512)
    sums = load_votes(table, biases + np.uint64(part))
    for _ in range(chunks):
        alive = all_samples()
        for g in range(q):
            alive = keep_row(alive, table, row + np.uint64(nibbles[g]))
            row += np.uint64(16)
        for w in range(8):
            word = word_of(alive, w)
            while word:
                sums = add_votes(sums, load_votes(table, first + lowest_bit(word)))
                word &= word - np.uint64(1)
            first += np.uint64(64)
    return sums


# Without nogil: releasing and taking the lock again costs as much as classifying a row.
@njit(types.int64(_ROWS, _TABLE, _CLASSES), cache=True)
def decide_few(rows, table, classes):  # type: ignore[no-untyped-def]
    """classes[i] = index of the class of ``rows[i]``, by the rule of ``model.evaluate``.

    Returns the last one, or -1 if a byte is neither 0 nor 1.
    """
    n_outputs, clamp = table[0, 1], table[0, 3]
    nibbles = np.empty((rows.shape[1] + 3) >> 2, np.uint8)
    best = 0
    for i in range(len(rows)):
        if fold_quarters(rows[i], nibbles) > 1:
            return -1
        best, highest = 0, _LOWEST
        for first in range(0, n_outputs, 16):
            sums = count_votes(nibbles, table, first >> 4)
            for c in range(first, min(first + 16, n_outputs)):
                score = min(max(vote_of(sums, c - first), -clamp), clamp)
                if score > highest:
                    highest = score
                    best = c
        if n_outputs == 1:
            best = 1 if highest >= table[0, 2] else 0
        classes[i] = best
    return best
