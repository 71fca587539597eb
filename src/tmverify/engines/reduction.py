"""Specialising a Query to its region: drop false clauses, count those always true, merge equal ones.

Seen from the centre of a ball, a literal of a clause is *satisfied* or *violated*, and its feature may flip
or not. So over flips y (y_i = 1: feature i flips) a clause is again a conjunction: every violated feature
must flip, every satisfied one must stay. With radius eps:

- a clause with a violated literal that cannot flip, or with more than eps violated ones, is false in the
  whole region: dropped;
- a clause with no literal left that can change is true in the whole region: moved into the bounds;
- equal clauses are one clause, with their votes added (the votes of two models may cancel here);
- a constraint that holds, or fails, whatever its clauses do is settled; then its cases are too;
- a feature in no remaining clause is left alone.

``Reduced.witness`` leads back: it applies the flips of a solution to the centre. All integers are exact.

``tighten`` rules out more flips by *credits*, an upper bound on what flips can gain, and then specialises
again. With at most r flips, let a constraint lack ``need`` votes at the centre. A set Y of flips gains at
most the sum of its features' credits, where feature i is credited

    + |w_j|      for each true clause j with w_j < 0 on i                    (its flip kills the clause)
    + w_j / d_j  for each false clause j with w_j > 0 that i, among d_j, must bring alive
    - w_j / r    for each true clause j with w_j > 0 on i                    (killed by 1 to r of the flips)

So if even the r largest credits add up to less than ``need``, the case is refuted; and a feature whose own
credit plus the r - 1 largest others is less than ``need`` flips in no witness of the case. A feature that
helps no constraint of a case (its flip only kills helpful clauses or wakes harmful ones) need not flip
either: a witness remains a witness without that flip.

Credits are multiplied by ``_SCALE`` and rounded up, penalties rounded down: each rounding only weakens the
bound. Where sums might overflow 64 bits the scale is 0, so every need is 0 and nothing is ruled out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import EncodingTooLargeError
from tmverify.model.clauses import Clauses
from tmverify.properties.query import Query

MAX_WEIGHTS = 1 << 27  # a gigabyte of int64
_SCALE = 5040  # divisible by 1 … 10, so for small radii rounding changes nothing
_INT64 = 1 << 62

Cases = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """A query over flips, as small as the region makes it.

    Attributes
    ----------
    origin : uint8 array, (n_features,)
    features : int64 array
        The features that still matter; flip i flips ``features[i]``.
    radius : int
        At most this many flips.
    clauses : Clauses
        Over flips: literal +i requires flip i - 1, -i forbids it.
    sources : int64 array
        For each clause, the index of the first pool clause that it stands for.
    weights : int64 array, (n_constraints, n_clauses)
    bounds : tuple of int
        Constraint c requires ``weights[c] . clauses(y) >= bounds[c]``.
    cases : tuple of tuples of int
        As in Query. No cases: there is no witness. An empty case: the centre is a witness.
    """

    origin: NDArray[np.uint8]
    features: NDArray[np.int64]
    radius: int
    clauses: Clauses
    sources: NDArray[np.int64]
    weights: NDArray[np.int64]
    bounds: tuple[int, ...]
    cases: Cases

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
    bounds = tuple(c.bound - int(c.weights(fixed)[0]) for c in query.constraints)
    features = np.arange(region.n_features)
    whole = Reduced(region.origin, features, region.radius, clauses, live, weights, bounds, query.cases)
    return _compact(whole)


def tighten(reduced: Reduced) -> Reduced:
    """Drop refuted cases and flips that no open case needs, until nothing more can be dropped."""
    while reduced.cases and reduced.cases != ((),):
        helps = np.array([_helping(reduced, weights) for weights in reduced.weights])
        possible = np.array([_possible(reduced, c) for c in range(len(reduced.bounds))])
        open_cases = tuple(case for case in reduced.cases if possible[list(case)].any(axis=1).all())
        may_flip = np.zeros(len(reduced.features), np.bool_)
        for case in open_cases:
            may_flip |= helps[list(case)].any(axis=0) & possible[list(case)].all(axis=0)
        if len(open_cases) == len(reduced.cases) and may_flip.all():
            break
        reduced = restrict(reduced, may_flip, open_cases)
    return reduced


def restrict(reduced: Reduced, may_flip: NDArray[np.bool_], cases: Cases) -> Reduced:
    """The part of ``reduced`` in which only some flips happen and only some cases are open."""
    start = np.zeros(len(reduced.features), np.uint8)
    clauses, live, weights, fixed = _specialise(
        reduced.clauses, reduced.weights, start, may_flip, reduced.radius
    )
    bounds = tuple(bound - done for bound, done in zip(reduced.bounds, fixed[:, 0].tolist(), strict=True))
    sources = reduced.sources[live]
    return _compact(
        replace(reduced, clauses=clauses, sources=sources, weights=weights, bounds=bounds, cases=cases)
    )


def _compact(whole: Reduced) -> Reduced:
    """Merge clauses, settle constraints, and leave out every clause, constraint and feature not needed."""
    leaders, weights = merge_equal(whole.clauses, whole.weights)
    cases, used = _settle(whole.cases, weights, whole.bounds)
    weights = weights[used]
    alive = np.flatnonzero((weights != 0).any(axis=0))
    clauses = whole.clauses.select(leaders[alive])
    remaining, local = np.unique(clauses.features, return_inverse=True)
    literals = (np.sign(clauses.literals) * (local + 1)).astype(np.int32)
    return Reduced(
        origin=whole.origin,
        features=whole.features[remaining],
        radius=min(whole.radius, len(remaining)),
        clauses=Clauses(len(remaining), literals, clauses.offsets),
        sources=whole.sources[leaders[alive]],
        weights=weights[:, alive],
        bounds=tuple(whole.bounds[c] for c in used),
        cases=cases,
    )


def _specialise(
    pool: Clauses,
    votes: NDArray[np.int64],
    origin: NDArray[np.uint8],
    may_flip: NDArray[np.bool_],
    radius: int,
) -> tuple[Clauses, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The clauses that can change, over flips; their indices; their votes; and the fixed votes (a column)."""
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


def merge_equal(clauses: Clauses, votes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of each group of equal clauses, and the sum of each group's votes."""
    number: dict[bytes, int] = {}
    group = np.array([number.setdefault(key, len(number)) for key in clause_keys(clauses)], np.int64)
    merged = np.zeros((len(votes), len(number)), np.int64)
    for row, sums in zip(votes, merged, strict=True):
        np.add.at(sums, group, row)
    return np.unique(group, return_index=True)[1], merged


def clause_keys(clauses: Clauses) -> Iterator[bytes]:
    """A key for each clause: equal clauses have equal bytes."""
    flat, ends = clauses.literals, clauses.offsets.tolist()
    return (flat[a:b].tobytes() for a, b in pairwise(ends))


def _settle(cases: Cases, weights: NDArray[np.int64], bounds: tuple[int, ...]) -> tuple[Cases, list[int]]:
    """Remove constraints that always hold and cases with one that never holds; renumber the rest."""
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


def _possible(reduced: Reduced, c: int) -> NDArray[np.bool_]:
    """Features that the credits do not exclude from all witnesses of constraint ``c``."""
    weights = reduced.weights[c]
    scale = _scale(weights, reduced.radius)
    need = (reduced.bounds[c] - _votes_now(reduced, weights)) * scale
    if need <= 0:
        return np.ones(len(reduced.features), np.bool_)
    return _enough(_credits(reduced, weights, scale), need, reduced.radius)


def _helping(reduced: Reduced, weights: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Features whose flip can make the weighted sum larger."""
    clauses = reduced.clauses
    helpful = (clauses.literals > 0) == (weights[clauses.owners] > 0)
    helpful &= weights[clauses.owners] != 0
    return np.bincount(clauses.features[helpful], minlength=len(reduced.features)) > 0


def _scale(weights: NDArray[np.int64], radius: int) -> int:
    """The factor for credits, or 0 if even unscaled sums of them might overflow 64 bits.

    A feature occurs at most once in a clause, so a credit is at most the total of the weights, plus rounding.
    """
    total = int(np.abs(weights).sum()) + len(weights)  # a model's limits keep this sum below 2**57
    return next((s for s in (_SCALE, 1) if total * s * (radius + 1) < _INT64), 0)


def _votes_now(reduced: Reduced, weights: NDArray[np.int64]) -> int:
    """The weighted sum at the centre, where the clauses that need no flip are true."""
    return int(weights[_distance(reduced) == 0].sum())


def _distance(reduced: Reduced) -> NDArray[np.int64]:
    """How many flips each clause needs."""
    clauses = reduced.clauses
    return np.bincount(clauses.owners[clauses.literals > 0], minlength=len(clauses))


def _credits(reduced: Reduced, weights: NDArray[np.int64], scale: int) -> NDArray[np.int64]:
    """Each feature's credit, multiplied by the scale."""
    clauses = reduced.clauses
    w, d = weights[clauses.owners], _distance(reduced)[clauses.owners]
    value = np.zeros(len(w), np.int64)
    kills = (d == 0) & (w < 0)
    value[kills] = -w[kills] * scale
    wakes = (clauses.literals > 0) & (w > 0)
    value[wakes] = -(-w[wakes] * scale // d[wakes])
    pays = (d == 0) & (w > 0)
    value[pays] = -(w[pays] * scale // max(reduced.radius, 1))
    credits = np.zeros(len(reduced.features), np.int64)
    np.add.at(credits, clauses.features, value)
    return credits


def _enough(credits: NDArray[np.int64], need: int, radius: int) -> NDArray[np.bool_]:
    """Features that can be in a set of at most ``radius`` whose credits reach ``need``, which is positive."""
    if radius == 0:
        return np.zeros(len(credits), np.bool_)
    gains = np.sort(np.maximum(credits, 0))[::-1]
    company = int(gains[: radius - 1].sum())  # the best that radius - 1 features bring …
    best = company + int(gains[radius - 1 : radius].sum())  # … and radius of them
    return (np.minimum(credits + company, best) >= need) & (best >= need)
