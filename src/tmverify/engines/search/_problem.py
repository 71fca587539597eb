"""Kernels that turn clauses and a centre into clauses over flips, and shrink them when features are fixed."""

import numpy as np

from tmverify.engines.search._bound import FREE
from tmverify.kernels.jit import kernel, part

_PRIME = np.uint64(1099511628211)
_WAKES_END = np.uint64(1 << 40)
_SEED = np.uint64(14695981039346656037)


@kernel
def over_flips(offsets, literals, origin, features, middles, staying):  # type: ignore[no-untyped-def]
    """Write clause j's waking features to ``features[offsets[j]:middles[j]]``, then those that must stay.

    ``staying`` is scratch, with room for one more than there are features.
    """
    for j in range(len(middles)):
        at, n = offsets[j], 0
        for k in range(offsets[j], offsets[j + 1]):
            f = abs(literals[k]) - 1
            wakes = (origin[f] != 0) != (literals[k] > 0)
            features[at] = f  # written even if it is not kept: faster than an unpredictable branch
            staying[n] = f
            at += wakes
            n += not wakes
        middles[j] = at
        for k in range(n):
            features[at + k] = staying[k]


@kernel
def shrink_clauses(problem, fixed, least, radius, merge, new, always, table):  # type: ignore[no-untyped-def]
    """Write the clauses that can still change at a cost of at most ``radius`` to ``new``; returns how many.

    A clause with a literal fixed to false, or that costs more than ``radius`` to wake, is dropped; literals
    fixed to true are removed; a clause without literals left adds its votes to ``always``; one whose votes
    are all 0 is dropped. ``least[f]`` is what it costs at least to make f true; None: 1. With
    ``merge``, equal clauses become one with their votes added.
    ``new.came_from[k]`` is the old index of new literal k. ``table`` is scratch, full of -1: its length is a
    power of two, more than twice the number of clauses to be merged.
    """
    offsets, middles, features, votes = problem.offsets, problem.middles, problem.features, problem.votes
    new_offsets, new_middles, new_features, new_votes = new.offsets, new.middles, new.features, new.votes
    came_from, n_constraints = new.came_from, votes.shape[0]
    mask = np.uint64(len(table) - 1)
    n, end = np.int64(0), np.int64(0)
    new_offsets[0] = 0
    for j in range(votes.shape[1]):
        counts = False
        for c in range(n_constraints):
            counts |= votes[c, j] != 0
        if not (counts or merge):  # with merge, an equal clause may follow, and the first gives the order
            continue
        start = end
        false = False
        price = np.int64(0)
        code = _SEED
        for k in range(offsets[j], middles[j]):
            f = features[k]
            if fixed[f] == FREE:
                new_features[end] = f
                came_from[end] = k
                end += 1
                code = (code ^ np.uint64(f)) * _PRIME
                if least is not None:  # numba compiles this only for columns
                    price += least[f]
            false |= fixed[f] == 0
        middle = end
        if least is None:
            price = middle - start
        if false or price > radius:
            end = start
            continue
        code = (code ^ _WAKES_END) * _PRIME
        for k in range(middles[j], offsets[j + 1]):
            f = features[k]
            if fixed[f] == FREE:
                new_features[end] = f
                came_from[end] = k
                end += 1
                code = (code ^ np.uint64(f)) * _PRIME
            false |= fixed[f] == 1
        if false:
            end = start
            continue
        if end == start:
            for c in range(n_constraints):
                always[c] += votes[c, j]
            continue
        if merge:
            code ^= code >> np.uint64(29)
            slot = np.int64(code & mask)
            while table[slot] >= 0 and not _equal(new, table[slot], start, middle, end):
                slot = (slot + 1) & (len(table) - 1)
            twin = table[slot]
            if twin >= 0:
                for c in range(n_constraints):
                    new_votes[c, twin] += votes[c, j]
                end = start
                continue
            table[slot] = n
        for c in range(n_constraints):
            new_votes[c, n] = votes[c, j]
        new_middles[n] = middle
        n += 1
        new_offsets[n] = end
    return _drop_silent(n, new)


@part
def _equal(new, j, start, middle, end):  # type: ignore[no-untyped-def]
    offsets, middles, features = new.offsets, new.middles, new.features
    first = offsets[j]
    if offsets[j + 1] - first != end - start or middles[j] - first != middle - start:
        return False
    n = 0
    while n < end - start and features[first + n] == features[start + n]:
        n += 1
    return n == end - start


@part
def _drop_silent(n, new):  # type: ignore[no-untyped-def]
    offsets, middles, features, votes, came_from = new
    kept, end, start = np.int64(0), np.int64(0), np.int64(0)
    for j in range(n):
        middle, stop = middles[j], offsets[j + 1]
        counts = False
        for c in range(votes.shape[0]):
            counts |= votes[c, j] != 0
        if counts:
            if kept != j:
                for c in range(votes.shape[0]):
                    votes[c, kept] = votes[c, j]
                for k in range(start, stop):
                    features[end + k - start] = features[k]
                    came_from[end + k - start] = came_from[k]
            middles[kept] = end + middle - start
            end += stop - start
            kept += 1
            offsets[kept] = end
        start = stop
    return kept


@kernel
def inherit(offsets, came_from, owners, old_share, old_load, share, load):  # type: ignore[no-untyped-def]
    """Multipliers of shrunk clauses, from the old ones; ``owners[k]`` is the old clause of old literal k."""
    for j in range(len(load)):
        first, end = offsets[j], offsets[j + 1]
        sum_ = np.float32(0.0)
        for k in range(first, end):
            share[k] = old_share[came_from[k]]
            sum_ += share[k]
        for k in range(first, end):
            share[k] = share[k] / sum_ if sum_ > 0 else np.float32(1.0) / np.float32(end - first)
        load[j] = old_load[owners[came_from[first]]]


@kernel
def index_features(offsets, middles, features, feature_ids, where, clauses, waking):  # type: ignore[no-untyped-def]
    """Renumber the features that occur as 0, 1, … in order; feature_ids[new] = old. Returns how many occur.

    Feature i then occurs in clauses[where[i]:where[i + 1]], waking them or not; ``where`` has room for
    one more than all old features, and is all 0 at first.
    """
    for f in features:
        where[f] = 1
    n = 0
    for f in range(len(where)):
        if where[f]:
            where[f] = n
            feature_ids[n] = f
            n += 1
    for k in range(len(features)):
        features[k] = where[features[k]]
    where[: n + 1] = 0
    for f in features:
        where[f + 1] += 1
    for i in range(n):
        where[i + 1] += where[i]
    for j in range(len(middles)):
        for k in range(offsets[j], offsets[j + 1]):
            at = where[features[k]]
            clauses[at] = j
            waking[at] = k < middles[j]
            where[features[k]] = at + 1
    for i in range(n, 0, -1):  # where[i] has become the start of feature i + 1: move all up by one
        where[i] = where[i - 1]
    where[0] = 0
    return n
