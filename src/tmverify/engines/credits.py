"""Credits: an upper bound on what flips can gain, in integers, and the flips that it rules out.

Over flips, with at most r of them, let a constraint lack ``need`` votes at the centre. A set Y of flips gains
at most the sum of its features' credits, where feature i is credited

    + |w_j|      for each true clause j with w_j < 0 on i                    (its flip kills the clause)
    + w_j / d_j  for each false clause j with w_j > 0 that i, among d_j, must bring alive
    - w_j / r    for each true clause j with w_j > 0 on i                    (killed by 1 to r of the flips)

So, if even the r largest credits stay below ``need``, the case is refuted; and a feature whose own credit
together with the r - 1 largest others stays below it flips in no witness of the case. A feature that helps no
constraint of a case (all it does is kill helpful clauses or wake harmful ones) need not flip either: leaving
it alone keeps every witness a witness.

Credits are multiplied by ``_SCALE`` and rounded up, penalties rounded down: each rounding only weakens the
bound. Where sums might leave 64 bits the scale is 0, every need with it, and nothing is ruled out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.reduction import Reduced, restrict

_SCALE = 5040  # divisible by 1 … 10, so small balls lose nothing to rounding
_INT64 = 1 << 62


def tighten(reduced: Reduced) -> Reduced:
    """Drop refuted cases and flips that no open case needs, until nothing more follows."""
    while reduced.cases and reduced.cases != ((),):
        effects = [_effect(reduced, c) for c in range(len(reduced.bounds))]
        open_cases = tuple(case for case in reduced.cases if not any(effects[c].refuted for c in case))
        may_flip = np.zeros(len(reduced.features), np.bool_)
        for case in open_cases:
            helps = np.logical_or.reduce([effects[c].helps for c in case])
            possible = np.logical_and.reduce([effects[c].possible for c in case])
            may_flip |= helps & possible
        if len(open_cases) == len(reduced.cases) and may_flip.all():
            break
        reduced = restrict(reduced, may_flip, open_cases)
    return reduced


@dataclass(frozen=True, slots=True, eq=False)
class _Effect:
    """What the credits say of one constraint."""

    refuted: bool
    helps: NDArray[np.bool_]
    """Features whose flip can make its sum larger."""
    possible: NDArray[np.bool_]
    """Features that flip in some witness of it, as far as the credits can tell."""


def _effect(reduced: Reduced, c: int) -> _Effect:
    weights = reduced.weights[c]
    helps = _helping(reduced, weights)
    scale = _scale(weights, reduced.radius)
    need = (reduced.bounds[c] - _votes_now(reduced, weights)) * scale
    if need <= 0:
        return _Effect(False, helps, np.ones(len(reduced.features), np.bool_))
    possible = _enough(_credits(reduced, weights, scale), need, reduced.radius)
    return _Effect(not possible.any(), helps, possible)


def _helping(reduced: Reduced, weights: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Features whose flip can make the weighted sum larger."""
    clauses = reduced.clauses
    helpful = (clauses.literals > 0) == (weights[clauses.owners] > 0)
    helpful &= weights[clauses.owners] != 0
    return np.bincount(clauses.features[helpful], minlength=len(reduced.features)) > 0


def _scale(weights: NDArray[np.int64], radius: int) -> int:
    """The factor for credits, or 0 if even unscaled sums of them might not fit 64 bits.

    A feature meets a clause once, so a credit is at most the total of the weights, rounding aside.
    """
    total = int(np.abs(weights).sum()) + len(weights)  # a model's limits keep this sum below 2**57
    return next((s for s in (_SCALE, 1) if total * s * (radius + 1) < _INT64), 0)


def _votes_now(reduced: Reduced, weights: NDArray[np.int64]) -> int:
    """The weighted sum at the centre: of the clauses that need no flip."""
    return int(weights[_distance(reduced) == 0].sum())


def _distance(reduced: Reduced) -> NDArray[np.int64]:
    """How many flips each clause needs."""
    clauses = reduced.clauses
    return np.bincount(clauses.owners[clauses.literals > 0], minlength=len(clauses))


def _credits(reduced: Reduced, weights: NDArray[np.int64], scale: int) -> NDArray[np.int64]:
    """Each feature's credit, times the scale."""
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
