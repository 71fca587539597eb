"""A problem over flips: some constraints of a Query, as small as the region makes it.

    Are there at most ``radius`` flips y with  votes[c] . clauses(y) >= needs[c]  for every c?

Every clause is a conjunction of literals over flips: a feature must flip (the literal *wakes* the clause) or
must stay. ``problem_of`` starts from a Query, in which an immutable feature is one that is fixed to stay;
``shrunk`` fixes more. Either way clauses that cannot be true within the radius are gone, those that are true
throughout are counted in the needs, equal ones are one. ``names`` and ``flipped`` lead back to the Query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.protocol import EncodingTooLargeError
from tmverify.engines.search._bound import FREE
from tmverify.engines.search._layout import over_flips
from tmverify.engines.search._shrink import index_features, renumber, shrink_clauses
from tmverify.properties.query import Query

MAX_VOTES = 1 << 27  # a gigabyte of int64
_NO_TABLE = np.full(1, -1, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """See the module; arrays are not to be changed.

    Attributes
    ----------
    offsets, middles, features : int64 (n_clauses + 1,), int64 (n_clauses,), int32 (n_literals,)
        Clause j wakes when ``features[offsets[j]:middles[j]]`` flip, if none flips of
        ``features[middles[j]:offsets[j + 1]]``. Features ascend within each part.
    votes : int64 array, (n_constraints, n_clauses)
    needs : int64 array, (n_constraints,)
    radius : int
        Further flips, beyond those in ``flipped``.
    names : int64 array, (n_features,)
        The Query's number of each feature.
    flipped : tuple of int
        Features of the Query that every solution flips.
    came_from : int32 array, (n_literals,)
        The literal of the problem that this one was shrunk from.
    where, clauses, waking : int64 (n_features + 1,), int32 and bool (n_literals,)
        The other way round: feature i occurs in ``clauses[where[i]:where[i + 1]]``, waking them or not.
    """

    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    features: NDArray[np.int32]
    votes: NDArray[np.int64]
    needs: NDArray[np.int64]
    radius: int
    names: NDArray[np.int64]
    flipped: tuple[int, ...]
    came_from: NDArray[np.int32]
    where: NDArray[np.int64]
    clauses: NDArray[np.int32]
    waking: NDArray[np.bool_]

    def named(self, flips: NDArray[np.bool_]) -> list[int]:
        """A solution in features of the Query."""
        return [*self.flipped, *self.names[flips].tolist()]


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
        needs=np.array([c.bound for c in query.constraints], np.int64),
        radius=min(radius, region.radius),
        names=np.arange(region.n_features),
        flipped=(),
        came_from=np.empty(0, np.int32),
        where=np.empty(0, np.int64),
        clauses=np.empty(0, np.int32),
        waking=np.empty(0, np.bool_),
    )
    return shrunk(whole, np.where(region.mutable, FREE, 0).astype(np.int8))


def part(problem: Problem, constraints: Sequence[int], radius: int) -> Problem:
    """Only some constraints, within ``radius``, which is no larger than the problem's."""
    chosen = list(constraints)
    if radius == problem.radius and chosen == list(range(len(problem.needs))):
        return problem
    some = replace(problem, votes=problem.votes[chosen], needs=problem.needs[chosen], radius=radius)
    # Nothing is fixed, so no two clauses become equal that were not.
    return shrunk(some, np.full(len(problem.names), FREE, np.int8), merge=False)


def shrunk(problem: Problem, fixed: NDArray[np.int8], *, merge: bool = True) -> Problem:
    """The problem with features fixed: 1 flips, 0 stays. Without ``merge``, equal clauses stay apart."""
    m, size = problem.votes.shape[1], len(problem.features)
    n_constraints = len(problem.needs)
    flips = np.flatnonzero(fixed == 1)
    radius = problem.radius - len(flips)
    offsets, middles = np.empty(m + 1, np.int64), np.empty(m, np.int64)
    features, came_from = np.empty(size, np.int32), np.empty(size, np.int32)
    votes = np.empty((n_constraints, m), np.int64)
    always = np.zeros(n_constraints, np.int64)
    table = np.full(1 << (2 * m + 1).bit_length(), -1, np.int64) if merge else _NO_TABLE
    n = shrink_clauses(
        problem.offsets, problem.middles, problem.features, problem.votes, fixed, radius, merge,
        offsets, middles, features, votes, came_from, always, table,
    )  # fmt: skip
    end = offsets[n]
    features = features[:end]
    used = np.empty(len(problem.names), np.int64)
    used = used[: renumber(features, used, np.zeros(len(problem.names), np.int32))]
    offsets, middles = offsets[: n + 1], middles[:n]
    where = np.zeros(len(used) + 1, np.int64)
    clauses, waking = np.empty(end, np.int32), np.empty(end, np.bool_)
    index_features(offsets, middles, features, where, clauses, waking, np.empty_like(where))
    return Problem(
        offsets=offsets,
        middles=middles,
        features=features,
        votes=np.ascontiguousarray(votes[:, :n]),
        needs=problem.needs - always,
        radius=min(radius, len(used)),
        names=problem.names[used],
        flipped=(*problem.flipped, *problem.names[flips].tolist()),
        came_from=came_from[:end],
        where=where,
        clauses=clauses,
        waking=waking,
    )
