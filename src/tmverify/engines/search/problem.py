"""A problem over flips: some constraints of a Query, as small as the region makes it.

    Are there at most ``radius`` flips y with  votes[c] . clauses(y) >= bounds[c]  for every c?

Every clause is a conjunction of literals over flips: a feature must flip (the literal *wakes* the clause) or
must stay. ``problem_of`` starts from a Query, where an immutable feature is one that is fixed to stay;
``shrunk`` fixes more. In both, clauses that cannot be true within the radius are dropped, those that are
always true are counted in the bounds, equal ones are merged. ``feature_ids`` and ``flipped`` lead back to the
Query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import EncodingTooLargeError
from tmverify.engines.search._bound import FREE
from tmverify.engines.search._problem import index_features, over_flips, shrink_clauses
from tmverify.properties.query import Query

MAX_VOTES = 1 << 27  # a gigabyte of int64
_NO_TABLE = np.full(1, -1, np.int64)


class Problem(NamedTuple):
    """See the module; the kernels use it directly. Its arrays must not be changed.

    Attributes
    ----------
    offsets, middles, features : int64 (n_clauses + 1,), int64 (n_clauses,), int32 (n_literals,)
        Clause j is true if all of ``features[offsets[j]:middles[j]]`` flip and none of
        ``features[middles[j]:offsets[j + 1]]`` does. Features ascend within each part.
    votes : int64 array, (n_constraints, n_clauses)
    bounds : int64 array, (n_constraints,)
    radius : int
        How many flips are allowed beyond those in ``flipped``.
    feature_ids : int64 array, (n_features,)
        The Query's number of each feature.
    flip_to : uint8 array, (n_features,)
        The value that each feature has if it flips. Only records need it: it may be empty without.
    flipped : int64 array
        Features of the Query that every solution flips.
    came_from : int32 array, (n_literals,)
        The literal of the problem that this one was shrunk from.
    where, clauses, waking : int64 (n_features + 1,), int32 and bool (n_literals,)
        The inverse index: feature i occurs in ``clauses[where[i]:where[i + 1]]``, waking them or not.
    """

    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    features: NDArray[np.int32]
    votes: NDArray[np.int64]
    bounds: NDArray[np.int64]
    radius: int
    feature_ids: NDArray[np.int64]
    flipped: NDArray[np.int64]
    came_from: NDArray[np.int32] = np.empty(0, np.int32)
    where: NDArray[np.int64] = np.empty(0, np.int64)
    clauses: NDArray[np.int32] = np.empty(0, np.int32)
    waking: NDArray[np.bool_] = np.empty(0, np.bool_)
    flip_to: NDArray[np.uint8] = np.empty(0, np.uint8)

    def flips_of_query(self, flips: NDArray[np.bool_]) -> list[int]:
        """The features of the Query that a solution flips."""
        return [*self.flipped.tolist(), *self.feature_ids[flips].tolist()]


class _Room(NamedTuple):
    """Empty arrays for a new Problem, which a kernel fills."""

    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    features: NDArray[np.int32]
    votes: NDArray[np.int64]
    came_from: NDArray[np.int32]


def problem_of(query: Query, radius: int) -> Problem:
    """All constraints of a Query, in its region, with at most ``radius`` flips."""
    region, pool = query.region, query.clauses
    if len(query.constraints) * len(pool) > MAX_VOTES:
        raise EncodingTooLargeError(
            f"{len(query.constraints)} constraints on {len(pool)} clauses are more than fit in memory"
        )
    features = np.empty(len(pool.literals), np.int32)
    middles = np.empty(len(pool), np.int64)
    scratch = np.empty(region.n_features + 1, np.int32)
    over_flips(pool.offsets, pool.literals, region.origin.copy(), features, middles, scratch)
    whole = Problem(
        offsets=pool.offsets.copy(),  # kernels are compiled for arrays that may be written
        middles=middles,
        features=features,
        votes=np.array([c.weights(query.votes) for c in query.constraints], np.int64),
        bounds=np.array([c.bound for c in query.constraints], np.int64),
        radius=min(radius, region.radius),
        feature_ids=np.arange(region.n_features),
        flipped=np.empty(0, np.int64),
        flip_to=1 - region.origin,
    )
    return shrunk(whole, np.where(region.mutable, FREE, 0).astype(np.int8))


def part(problem: Problem, constraints: Sequence[int], radius: int) -> Problem:
    """Only some constraints, within ``radius``, which is no larger than the problem's."""
    chosen = list(constraints)
    if radius == problem.radius and chosen == list(range(len(problem.bounds))):
        return problem
    some = problem._replace(votes=problem.votes[chosen], bounds=problem.bounds[chosen], radius=radius)
    # Nothing is fixed, so no clauses become equal that were different before.
    return shrunk(some, np.full(len(problem.feature_ids), FREE, np.int8), merge=False)


def shrunk(problem: Problem, fixed: NDArray[np.int8], *, merge: bool = True) -> Problem:
    """The problem with features fixed: 1 flips, 0 stays. Without ``merge``, equal clauses stay apart."""
    (n_constraints, m), size = problem.votes.shape, len(problem.features)
    flips = np.flatnonzero(fixed == 1)
    radius = problem.radius - len(flips)
    room = _Room(
        offsets=np.empty(m + 1, np.int64),
        middles=np.empty(m, np.int64),
        features=np.empty(size, np.int32),
        votes=np.empty((n_constraints, m), np.int64),
        came_from=np.empty(size, np.int32),
    )
    always = np.zeros(n_constraints, np.int64)
    table = np.full(1 << (2 * m + 1).bit_length(), -1, np.int64) if merge else _NO_TABLE
    n = shrink_clauses(problem, fixed, radius, merge, room, always, table)
    end = room.offsets[n]
    offsets, middles, features = room.offsets[: n + 1], room.middles[:n], room.features[:end]
    used = np.empty(len(problem.feature_ids), np.int64)
    where = np.zeros(len(used) + 1, np.int64)
    clauses, waking = np.empty(end, np.int32), np.empty(end, np.bool_)
    used = used[: index_features(offsets, middles, features, used, where, clauses, waking)]
    return Problem(
        offsets=offsets,
        middles=middles,
        features=features,
        votes=np.ascontiguousarray(room.votes[:, :n]),
        bounds=problem.bounds - always,
        radius=min(radius, len(used)),
        feature_ids=problem.feature_ids[used],
        flipped=np.append(problem.flipped, problem.feature_ids[flips]) if len(flips) else problem.flipped,
        came_from=room.came_from[:end],
        where=where[: len(used) + 1],
        clauses=clauses,
        waking=waking,
        flip_to=problem.flip_to[used] if len(problem.flip_to) else problem.flip_to,
    )
