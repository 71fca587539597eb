"""Fixing features in a problem over flips: drop what is false, strip what is true, merge what is equal."""

import numpy as np
from numba import njit

from tmverify.engines.search._bound import FREE

_PRIME = np.uint64(1099511628211)
_SEED = np.uint64(14695981039346656037)


@njit(cache=True, nogil=True)
def shrink_clauses(  # type: ignore[no-untyped-def]
    offsets, features, wakes, votes, fixed, radius, new_offsets, new_features, new_wakes, new_votes, always
):
    """Write the clauses that can still change within ``radius`` further flips; returns how many.

    A clause with a literal fixed to false, or with more than ``radius`` flips to go, is dropped; literals
    fixed to true are stripped; a clause without any left adds its votes to ``always``; equal clauses become
    one with their votes added, and one whose votes are all 0 is dropped.
    """
    n_constraints = votes.shape[0]
    size = 1
    while size < 2 * votes.shape[1] + 2:
        size *= 2
    table = np.full(size, -1, np.int64)
    mask = np.uint64(size - 1)
    n, end = 0, 0
    new_offsets[0] = 0
    for j in range(votes.shape[1]):
        counts = False
        for c in range(n_constraints):
            counts |= votes[c, j] != 0
        if not counts:
            continue
        start = end
        waking = 0
        false = False
        code = _SEED
        for k in range(offsets[j], offsets[j + 1]):
            f = features[k]
            if fixed[f] == FREE:
                new_features[end] = f
                new_wakes[end] = wakes[k]
                waking += wakes[k]
                end += 1
                code = (code ^ np.uint64(2 * f + wakes[k])) * _PRIME
            elif (fixed[f] == 1) != wakes[k]:
                false = True
                break
        if false or waking > radius:
            end = start
            continue
        if end == start:
            for c in range(n_constraints):
                always[c] += votes[c, j]
            continue
        code ^= code >> np.uint64(29)
        slot = np.int64(code & mask)
        while table[slot] >= 0 and not _equal(
            new_features, new_wakes, new_offsets[table[slot]], new_offsets[table[slot] + 1], start, end
        ):
            slot = (slot + 1) & (size - 1)
        if table[slot] >= 0:
            for c in range(n_constraints):
                new_votes[c, table[slot]] += votes[c, j]
            end = start
            continue
        table[slot] = n
        for c in range(n_constraints):
            new_votes[c, n] = votes[c, j]
        n += 1
        new_offsets[n] = end
    return _drop_silent(n, new_offsets, new_features, new_wakes, new_votes)


@njit(cache=True, nogil=True)
def _equal(features, wakes, a, a_end, b, b_end):  # type: ignore[no-untyped-def]
    if a_end - a != b_end - b:
        return False
    for k in range(b_end - b):
        if features[a + k] != features[b + k] or wakes[a + k] != wakes[b + k]:
            return False
    return True


@njit(cache=True, nogil=True)
def _drop_silent(n, offsets, features, wakes, votes):  # type: ignore[no-untyped-def]
    kept, end = 0, 0
    start = 0
    for j in range(n):
        stop = offsets[j + 1]
        counts = False
        for c in range(votes.shape[0]):
            counts |= votes[c, j] != 0
        if counts:
            for k in range(start, stop):
                features[end] = features[k]
                wakes[end] = wakes[k]
                end += 1
            for c in range(votes.shape[0]):
                votes[c, kept] = votes[c, j]
            kept += 1
            offsets[kept] = end
        start = stop
    return kept


@njit(cache=True, nogil=True)
def renumber(features, n_features, names):  # type: ignore[no-untyped-def]
    """Number the features that occur 0, 1, … in their order; names[new] = old. Returns how many there are."""
    number = np.zeros(n_features, np.int32)
    for k in range(len(features)):
        number[features[k]] = 1
    n = 0
    for f in range(n_features):
        if number[f]:
            number[f] = n
            names[n] = f
            n += 1
    for k in range(len(features)):
        features[k] = number[features[k]]
    return n


@njit(cache=True, nogil=True)
def index_features(offsets, features, wakes, where, clauses, occurs_waking):  # type: ignore[no-untyped-def]
    """The other way round: feature i occurs in clauses[where[i]:where[i + 1]], waking them or not."""
    where[:] = 0
    for k in range(len(features)):
        where[features[k] + 1] += 1
    for i in range(1, len(where)):
        where[i] += where[i - 1]
    cursor = where[:-1].copy()
    for j in range(len(offsets) - 1):
        for k in range(offsets[j], offsets[j + 1]):
            at = cursor[features[k]]
            clauses[at] = j
            occurs_waking[at] = wakes[k]
            cursor[features[k]] = at + 1
