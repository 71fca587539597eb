"""Specialising a Query to its region: drop what cannot change, fix what is fixed, merge what is equal.

Seen from the centre of a ball, a literal of a clause is *satisfied* or *violated*, and its feature may flip
or not. So over flips y (y_i = 1: feature i flips) a clause is again a conjunction: every violated feature
must flip, every satisfied one must stay. With radius eps:

- a clause with a violated literal that cannot flip, or with more than eps violated ones, is false in the
  whole region: dropped;
- a clause with no literal left that can change is true in the whole region: moved into the bounds;
- equal clauses are one clause, with their votes added (the votes of two models may cancel here);
- a constraint that holds, or fails, whatever its clauses do is settled; then its cases are too;
- a feature in no remaining clause is left alone.

``restrict`` does the same once more when further flips have been ruled out (``engines.credits``).

The way back is ``Reduced.witness``: the flips of a solution, applied to the centre. Exact in integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.protocol import EncodingTooLargeError
from tmverify.model.clauses import Clauses
from tmverify.properties.query import Query

MAX_WEIGHTS = 1 << 27  # a gigabyte of int64


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A query over flips, as small as the region makes it.

    Attributes
    ----------
    origin : uint8 array, (n_features,)
    features : int64 array
        The features that still matter; flip i is about ``features[i]``.
    radius : int
        At most this many flips.
    clauses : Clauses
        Over flips: +i asks for flip i - 1, -i forbids it.
    sources : tuple of int
        The first pool clause that each clause stands for.
    weights : int64 array, (n_constraints, n_clauses)
    bounds : tuple of int
        Constraint c asks for ``weights[c] . clauses(y) >= bounds[c]``.
    cases : tuple of tuples of int
        As in Query. No case: there is no witness. An empty case: the centre is one.
    """

    origin: NDArray[np.uint8]
    features: NDArray[np.int64]
    radius: int
    clauses: Clauses
    sources: tuple[int, ...]
    weights: NDArray[np.int64]
    bounds: tuple[int, ...]
    cases: tuple[tuple[int, ...], ...]

    def witness(self, flips: Iterable[int]) -> NDArray[np.uint8]:
        """The input with these flips (indices into ``features``)."""
        z = self.origin.copy()
        z[self.features[list(flips)]] ^= 1
        return z


def reduce(query: Query) -> Reduced:
    """Specialise ``query`` to its region."""
    region = query.region
    clauses, live, votes, fixed = _specialise(
        query.clauses, query.votes, region.origin, region.mutable, region.radius
    )
    if len(query.constraints) * len(clauses) > MAX_WEIGHTS:
        raise EncodingTooLargeError(
            f"{len(query.constraints)} constraints on {len(clauses)} clauses are more than fit in memory"
        )
    weights = np.array([c.weights(votes) for c in query.constraints], np.int64)
    bounds = [c.bound - int(c.weights(fixed)[0]) for c in query.constraints]
    everything = np.arange(region.n_features)
    return _compact(region.origin, everything, region.radius, clauses, live, weights, bounds, query.cases)


def restrict(reduced: Reduced, may_flip: NDArray[np.bool_], cases: tuple[tuple[int, ...], ...]) -> Reduced:
    """The part of ``reduced`` in which only some flips happen and only some cases are open."""
    start = np.zeros(len(reduced.features), np.uint8)
    clauses, live, weights, fixed = _specialise(
        reduced.clauses, reduced.weights, start, may_flip, reduced.radius
    )
    bounds = [bound - done for bound, done in zip(reduced.bounds, fixed[:, 0].tolist(), strict=True)]
    sources = np.array(reduced.sources, np.int64)[live]
    return _compact(
        reduced.origin, reduced.features, reduced.radius, clauses, sources, weights, bounds, cases
    )


def _compact(
    origin: NDArray[np.uint8],
    features: NDArray[np.int64],
    radius: int,
    clauses: Clauses,
    sources: NDArray[np.int64],
    weights: NDArray[np.int64],
    bounds: list[int],
    cases: tuple[tuple[int, ...], ...],
) -> Reduced:
    """Merge, settle, and leave out every clause, constraint and feature that no longer matters."""
    clauses, sources, weights = _merge_equal(clauses, sources, weights)
    cases, used = _settle(cases, weights, bounds)
    weights = weights[used]
    alive = np.flatnonzero((weights != 0).any(axis=0))
    clauses = clauses.select(alive)
    remaining, local = np.unique(clauses.features, return_inverse=True)
    literals = (np.sign(clauses.literals) * (local + 1)).astype(np.int32)
    return Reduced(
        origin=origin,
        features=features[remaining],
        radius=min(radius, len(remaining)),
        clauses=Clauses(len(remaining), literals, clauses.offsets),
        sources=tuple(sources[alive].tolist()),
        weights=weights[:, alive],
        bounds=tuple(bounds[c] for c in used),
        cases=cases,
    )


def _specialise(
    pool: Clauses,
    votes: NDArray[np.int64],
    origin: NDArray[np.uint8],
    may_flip: NDArray[np.bool_],
    radius: int,
) -> tuple[Clauses, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Clauses over flips that can change, their indices, their votes, and the fixed votes (a column)."""
    features, owners = pool.features, pool.owners
    violated = origin[features] != (pool.literals > 0)
    mutable = may_flip[features]
    n = len(pool)
    blocked = np.bincount(owners[violated & ~mutable], minlength=n) > 0
    distance = np.bincount(owners[violated & mutable], minlength=n)
    movable = np.bincount(owners[mutable], minlength=n) > 0
    possible = ~blocked & (distance <= radius)
    fixed = votes[:, possible & ~movable].sum(axis=1, keepdims=True)

    live = possible & movable
    keep = mutable & live[owners]
    signs = np.where(violated[keep], 1, -1)
    literals = (signs * (features[keep] + 1)).astype(np.int32)
    lengths = np.bincount(owners[keep], minlength=n)[live]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Clauses(pool.n_features, literals, offsets), np.flatnonzero(live), votes[:, live], fixed


def _merge_equal(
    clauses: Clauses, sources: NDArray[np.int64], votes: NDArray[np.int64]
) -> tuple[Clauses, NDArray[np.int64], NDArray[np.int64]]:
    first: dict[bytes, int] = {}
    flat, ends = clauses.literals, clauses.offsets.tolist()
    keys = (flat[a:b].tobytes() for a, b in pairwise(ends))
    group = np.array([first.setdefault(key, len(first)) for key in keys], np.int64)
    merged = np.zeros((len(votes), len(first)), np.int64)
    np.add.at(merged.T, group, votes.T)
    leaders = np.unique(group, return_index=True)[1]
    return clauses.select(leaders), sources[leaders], merged


def _settle(
    cases: tuple[tuple[int, ...], ...], weights: NDArray[np.int64], bounds: list[int]
) -> tuple[tuple[tuple[int, ...], ...], list[int]]:
    """Remove constraints that always hold and cases with one that never can; renumber the rest."""
    highest = np.maximum(weights, 0).sum(axis=1).tolist()
    lowest = np.minimum(weights, 0).sum(axis=1).tolist()
    open_cases = []
    for case in cases:
        if all(highest[c] >= bounds[c] for c in case):
            open_cases.append(tuple(dict.fromkeys(c for c in case if lowest[c] < bounds[c])))
    if () in open_cases:
        return ((),), []
    used = sorted({c for case in open_cases for c in case})
    number = {c: i for i, c in enumerate(used)}
    distinct = dict.fromkeys(tuple(number[c] for c in case) for case in open_cases)
    return tuple(distinct), used
