"""Votes of clauses on single rows, for inputs of too few rows for ``_batch``.

Inputs are usually mostly zeros, so the ones are looked up in an index from features to clauses:

    lacking_j(x) = number of features that clause j requires to be 1 and that are 0,
                   or a negative number if it requires a feature to be 0 that is 1

and clause j is true iff ``lacking_j(x) = 0``. The work is proportional to the literals on features that are 1
and to the clauses, and no branch depends on a clause. (Masks of 64 features per word, checked up to
the first violation, were three times slower: one mispredicted branch per clause.)
"""

import numpy as np

from tmverify.kernels.jit import kernel

# Larger than any clause is long; no sum with that length leaves int32.
_VIOLATED = np.int32(-(1 << 30))


@kernel
def find_ones(bits, ones):  # type: ignore[no-untyped-def]
    """ones[:n] = the features f with bits[f] != 0; returns n and the OR of all bytes.

    ``ones`` has one cell more than there are features, as each number is written before it is kept or not.
    """
    n = 0
    seen = np.uint8(0)
    for f in range(len(bits)):
        seen = np.uint8(seen | bits[f])
        ones[n] = f
        n += bits[f] != 0
    return n, seen


@kernel
def find_true_clauses(ones, n_ones, index, lacking, true):  # type: ignore[no-untyped-def]
    """true[:n] = the clauses true on an input whose features ``ones[:n_ones]`` are 1; returns n.

    Feature f is required to be 1 by ``clauses[offsets[f]:middles[f]]`` and to be 0 by
    ``clauses[middles[f]:offsets[f + 1]]``; clause j has ``needed[j]`` literals of the first kind.
    ``lacking`` is scratch like ``needed``; ``true`` has one cell more.
    """
    offsets, middles, clauses, needed = index.offsets, index.middles, index.clauses, index.needed
    for j in range(len(needed)):  # many times faster than assigning a slice
        lacking[j] = needed[j]
    for i in range(n_ones):
        f = ones[i]
        for k in range(offsets[f], middles[f]):
            lacking[clauses[k]] -= np.int32(1)
        for k in range(middles[f], offsets[f + 1]):
            lacking[clauses[k]] = _VIOLATED
    n = 0
    for j in range(len(lacking)):
        true[n] = j
        n += lacking[j] == 0
    return n


@kernel
def add_votes(index, bits, scores):  # type: ignore[no-untyped-def]
    """scores[i, vote_outputs[v]] += vote_weights[v] for every vote v of every clause true on bits[i].

    Clause j has the votes ``[vote_offsets[j], vote_offsets[j + 1])`` of ``index``. Returns the OR of all
    bytes of ``bits``: if it is above 1, some byte was not a bit.
    """
    ones = np.empty(bits.shape[1] + 1, np.uint32)
    lacking = np.empty(len(index.needed), np.int32)
    true = np.empty(len(index.needed) + 1, np.uint32)
    seen = np.uint8(0)
    for i in range(len(bits)):
        n_ones, found = find_ones(bits[i], ones)
        seen |= found
        for a in range(find_true_clauses(ones, n_ones, index, lacking, true)):
            j = true[a]
            for v in range(index.vote_offsets[j], index.vote_offsets[j + 1]):
                scores[i, index.vote_outputs[v]] += index.vote_weights[v]
    return seen
