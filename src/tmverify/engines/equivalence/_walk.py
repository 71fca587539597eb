"""A local search for an input that meets every bound: flips of least shortfall, some noise, a short memory.

    shortfall(y) = sum_c max(0, bounds[c] - votes[c] . clauses(y))

The gain of every flip is kept up to date: a flip changes it only in clauses that have at most two false
literals before or after. ``terrain`` is a ``hunt.Terrain``, ``place`` a ``hunt.Place``.
"""

import numpy as np

from tmverify.kernels.jit import kernel
from tmverify.kernels.rng import next_below

# What ``walk`` returns, and indices into ``counts``.
LOST, ARRIVED, PAUSED = 0, 1, 2
STEP, LEAST, WHEN = 0, 1, 2

_FAR = np.int64(1) << 62
_DRAWS = 32  # random clauses from which the one to be made true is chosen
_TENURE = 5  # steps, at least, before a flip may be taken back


@kernel
def prepare(terrain, place):  # type: ignore[no-untyped-def]
    """false[j] = false literals of clause j at y; sums[c] = votes; gains[i, c] = what flip i adds to them."""
    offsets, features, votes = terrain.offsets, terrain.features, terrain.votes
    false, sums, gains = place.false, place.sums, place.gains
    sums[:] = 0
    gains[:] = 0
    for j in range(votes.shape[0]):
        n, last = 0, 0
        for k in range(offsets[j], offsets[j + 1]):
            if place.y[features[k]] != terrain.wakes[k]:
                n += 1
                last = features[k]
        false[j] = n
        if n == 0:
            sums += votes[j]
            for k in range(offsets[j], offsets[j + 1]):
                gains[features[k]] -= votes[j]
        elif n == 1:
            gains[last] += votes[j]


@kernel
def only_false(terrain, y, j):  # type: ignore[no-untyped-def]
    """The feature of a false literal of clause j."""
    for k in range(terrain.offsets[j], terrain.offsets[j + 1]):
        if y[terrain.features[k]] != terrain.wakes[k]:
            return terrain.features[k]
    return -1


@kernel
def flip(i, terrain, place):  # type: ignore[no-untyped-def]
    """Flip feature i and keep everything up to date; returns how many literals were looked at."""
    offsets, features, votes, where = terrain.offsets, terrain.features, terrain.votes, terrain.where
    y, false, sums, gains = place.y, place.false, place.sums, place.gains
    n_constraints = votes.shape[1]
    work = where[i + 1] - where[i]
    for c in range(n_constraints):
        sums[c] += gains[i, c]
    for k in range(where[i], where[i + 1]):
        j = terrain.clauses[k]
        if y[i] == terrain.waking[k]:  # true before
            if false[j] == 0:
                for a in range(offsets[j], offsets[j + 1]):
                    for c in range(n_constraints):
                        gains[features[a], c] += votes[j, c]
                for c in range(n_constraints):
                    gains[i, c] += votes[j, c]
                work += offsets[j + 1] - offsets[j]
            elif false[j] == 1:
                f = only_false(terrain, y, j)
                for c in range(n_constraints):
                    gains[f, c] -= votes[j, c]
                work += offsets[j + 1] - offsets[j]
            false[j] += 1
        else:
            if false[j] == 1:
                for c in range(n_constraints):
                    gains[i, c] -= votes[j, c]
                for a in range(offsets[j], offsets[j + 1]):
                    for c in range(n_constraints):
                        gains[features[a], c] -= votes[j, c]
                work += offsets[j + 1] - offsets[j]
            elif false[j] == 2:
                y[i] = not y[i]
                f = only_false(terrain, y, j)
                y[i] = not y[i]
                for c in range(n_constraints):
                    gains[f, c] += votes[j, c]
                work += offsets[j + 1] - offsets[j]
            false[j] -= 1
    y[i] = not y[i]
    return work


@kernel
def best_flip(bounds, place, step, least):  # type: ignore[no-untyped-def]
    """The flip that leaves the least shortfall (ties are broken at random), and that shortfall.

    A flip that is still forbidden (``until[i] > step``) is taken only if it leads below ``least``.
    """
    sums, gains, until = place.sums, place.gains, place.until
    n, n_constraints = gains.shape
    best, chosen, ties = _FAR, -1, 0
    for i in range(n):
        short = np.int64(0)
        for c in range(n_constraints):
            short += max(np.int64(0), bounds[c] - sums[c] - gains[i, c])
        if short > best or (until[i] > step and short >= least):
            continue
        if short < best:
            best, chosen, ties = short, i, 1
        else:
            ties += 1
            if next_below(place.rng, 0, ties) == 0:
                chosen = i
    return chosen, best


@kernel
def wanted_clause(terrain, place):  # type: ignore[no-untyped-def]
    """A false clause that would help a constraint short of votes; of random ones, the nearest to true."""
    votes, bounds, false, sums = terrain.votes, terrain.bounds, place.false, place.sums
    n, n_constraints = votes.shape
    best, chosen = _FAR, np.int64(-1)
    for _ in range(_DRAWS):
        j = np.int64(next_below(place.rng, 0, n))
        if false[j] == 0 or false[j] >= best:
            continue
        for c in range(n_constraints):
            if sums[c] < bounds[c] and votes[j, c] > 0:
                best, chosen = np.int64(false[j]), j
                break
    return chosen


@kernel
def walk(terrain, place, patience, noise, last_step, max_work):  # type: ignore[no-untyped-def]
    """Walk from y until every bound is met, ``patience`` steps bring no progress, or a limit is reached."""
    bounds, sums, counts, rng = terrain.bounds, place.sums, place.counts, place.rng
    work = 0
    while work < max_work and counts[STEP] < last_step:
        short = np.int64(0)
        for c in range(len(bounds)):
            short += max(np.int64(0), bounds[c] - sums[c])
        if short == 0:
            return ARRIVED
        if short < counts[LEAST]:
            counts[LEAST], counts[WHEN] = short, counts[STEP]
        if counts[STEP] - counts[WHEN] > patience:
            return LOST
        counts[STEP] += 1
        work += place.gains.size
        chosen, left = best_flip(bounds, place, counts[STEP], counts[LEAST])
        j = -1
        if chosen < 0 or (left >= short and next_below(rng, 0, 1000) < noise):
            j = wanted_clause(terrain, place)
        if j >= 0:
            first, end = terrain.offsets[j], terrain.offsets[j + 1]
        elif chosen >= 0:
            first, end = 0, 1
        else:
            continue
        for k in range(first, end):
            i = chosen if j < 0 else terrain.features[k]
            if j < 0 or place.y[i] != terrain.wakes[k]:
                place.until[i] = counts[STEP] + _TENURE + next_below(rng, 0, _TENURE)
                work += flip(i, terrain, place)
    return PAUSED
