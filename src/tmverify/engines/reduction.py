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

The way back is ``Reduced.witness``: the flips of a solution, applied to the centre. Exact in integers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.model.clauses import Clauses
from tmverify.properties.query import Query


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
    clauses, sources, votes, fixed = _specialise(query)
    clauses, sources, votes = _merge_equal(clauses, sources, votes)
    weights = np.array(
        [c.weights(votes) for c in query.constraints], np.int64
    ).reshape(len(query.constraints), len(clauses))
    bounds = [c.bound - int(c.weights(fixed)[0]) for c in query.constraints]
    cases, used = _settle(query.cases, weights, bounds)
    weights = weights[used]

    alive = np.flatnonzero((weights != 0).any(axis=0))
    clauses, weights = clauses.select(alive), weights[:, alive]
    features, local = np.unique(clauses.features, return_inverse=True)
    literals = (np.sign(clauses.literals) * (local + 1)).astype(np.int32)
    return Reduced(
        origin=query.region.origin,
        features=features,
        radius=min(query.region.radius, len(features)),
        clauses=Clauses(len(features), literals, clauses.offsets),
        sources=tuple(sources[alive].tolist()),
        weights=weights,
        bounds=tuple(bounds[c] for c in used),
        cases=cases,
    )


def _specialise(
    query: Query,
) -> tuple[Clauses, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Clauses over flips that can change, their pool indices, their votes, and the fixed votes (a column)."""
    region, pool = query.region, query.clauses
    features, owners = pool.features, pool.owners
    violated = region.origin[features] != (pool.literals > 0)
    mutable = region.mutable[features]
    n = len(pool)
    blocked = np.bincount(owners[violated & ~mutable], minlength=n) > 0
    distance = np.bincount(owners[violated & mutable], minlength=n)
    movable = np.bincount(owners[mutable], minlength=n) > 0
    possible = ~blocked & (distance <= region.radius)
    fixed = query.votes[:, possible & ~movable].sum(axis=1, keepdims=True)

    live = np.flatnonzero(possible & movable)
    keep = mutable & np.isin(owners, live)
    signs = np.where(violated[keep], 1, -1)
    literals = (signs * (features[keep] + 1)).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owners[keep], minlength=n)[live])]).astype(np.int64)
    return Clauses(pool.n_features, literals, offsets), live, query.votes[:, live], fixed


def _merge_equal(
    clauses: Clauses, sources: NDArray[np.int64], votes: NDArray[np.int64]
) -> tuple[Clauses, NDArray[np.int64], NDArray[np.int64]]:
    first: dict[bytes, int] = {}
    flat, ends = clauses.literals, clauses.offsets.tolist()
    keys = (flat[a:b].tobytes() for a, b in zip(ends[:-1], ends[1:], strict=True))
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
