"""A problem over flips: one case of a Query, or several constraints of it, as small as the region makes it.

    Are there at most ``radius`` flips y with  votes[c] . clauses(y) >= needs[c]  for every c?

Every clause is a conjunction of literals over flips: feature i must flip (the literal *wakes* the clause) or
must stay. ``problem_of`` starts from a Query, in which an immutable feature is one that is fixed to stay;
``shrunk`` fixes more. Either way clauses that cannot be true within the radius are gone, true ones are counted
in the needs, equal ones are one. ``names`` and ``flipped`` are the way back to the Query's features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.protocol import EncodingTooLargeError
from tmverify.engines.search._bound import FREE
from tmverify.engines.search._shrink import renumber, shrink_clauses
from tmverify.properties.query import Query

MAX_VOTES = 1 << 27  # a gigabyte of int64


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """See the module; arrays are not to be changed.

    Attributes
    ----------
    offsets, features, wakes : int64 (n_clauses + 1,), int32 and bool (n_literals,)
        Clause j has literals ``offsets[j]:offsets[j + 1]``, by feature.
    votes : int64 array, (n_constraints, n_clauses)
    needs : int64 array, (n_constraints,)
    radius : int
        Further flips, beyond those in ``flipped``.
    names : int64 array, (n_features,)
        The Query's number of each feature.
    flipped : tuple of int
        Features of the Query that every solution flips.
    """

    offsets: NDArray[np.int64]
    features: NDArray[np.int32]
    wakes: NDArray[np.bool_]
    votes: NDArray[np.int64]
    needs: NDArray[np.int64]
    radius: int
    names: NDArray[np.int64]
    flipped: tuple[int, ...]

    def named(self, flips: NDArray[np.bool_]) -> list[int]:
        """A solution in features of the Query."""
        return [*self.flipped, *self.names[flips].tolist()]


def problem_of(query: Query) -> Problem:
    """All constraints of a Query, in its region."""
    region, pool = query.region, query.clauses
    if len(query.constraints) * len(pool) > MAX_VOTES:
        raise EncodingTooLargeError(
            f"{len(query.constraints)} constraints on {len(pool)} clauses are more than fit in memory"
        )
    features = pool.features.astype(np.int32)
    fixed = np.where(region.mutable, FREE, 0).astype(np.int8)
    whole = Problem(
        offsets=pool.offsets.copy(),  # kernels are compiled for arrays that may be written
        features=features,
        wakes=region.origin[features] != (pool.literals > 0),
        votes=np.array([c.weights(query.votes) for c in query.constraints], np.int64),
        needs=np.array([c.bound for c in query.constraints], np.int64),
        radius=region.radius,
        names=np.arange(region.n_features),
        flipped=(),
    )
    return shrunk(whole, fixed)


def part(problem: Problem, constraints: Sequence[int], radius: int) -> Problem:
    """Only some constraints, within ``radius``, which is no larger than the problem's."""
    chosen = list(constraints)
    some = Problem(
        problem.offsets,
        problem.features,
        problem.wakes,
        problem.votes[chosen],
        problem.needs[chosen],
        radius,
        problem.names,
        problem.flipped,
    )
    return shrunk(some, np.full(len(problem.names), FREE, np.int8))


def shrunk(problem: Problem, fixed: NDArray[np.int8]) -> Problem:
    """The problem with features fixed: 1 flips, 0 stays."""
    m, size = problem.votes.shape[1], len(problem.features)
    n_constraints = len(problem.needs)
    flips = np.flatnonzero(fixed == 1)
    radius = problem.radius - len(flips)
    offsets = np.empty(m + 1, np.int64)
    features = np.empty(size, np.int32)
    wakes = np.empty(size, np.bool_)
    votes = np.empty((n_constraints, m), np.int64)
    always = np.zeros(n_constraints, np.int64)
    n = shrink_clauses(
        problem.offsets, problem.features, problem.wakes, problem.votes, fixed, radius,
        offsets, features, wakes, votes, always,
    )  # fmt: skip
    end = offsets[n]
    features = features[:end]
    used = np.empty(len(problem.names), np.int64)
    used = used[: renumber(features, len(problem.names), used)]
    return Problem(
        offsets=offsets[: n + 1],
        features=features,
        wakes=wakes[:end],
        votes=np.ascontiguousarray(votes[:, :n]),
        needs=problem.needs - always,
        radius=min(radius, len(used)),
        names=problem.names[used],
        flipped=(*problem.flipped, *problem.names[flips].tolist()),
    )
