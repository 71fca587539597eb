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

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.reduction import Reduced, restrict

_SCALE = 5040  # divisible by 1 … 10, so small balls lose nothing to rounding
_INT64 = 1 << 62


def tighten(reduced: Reduced) -> Reduced:
    """Drop refuted cases and flips that no open case needs, until nothing more follows."""
    while reduced.cases and reduced.cases != ((),):
        kept = {case: _useful_flips(reduced, case) for case in reduced.cases}
        cases = tuple(case for case, flips in kept.items() if flips is not None)
        useful = [flips for flips in kept.values() if flips is not None]
        may_flip = np.logical_or.reduce(useful) if useful else np.zeros(len(reduced.features), np.bool_)
        if len(cases) == len(reduced.cases) and may_flip.all():
            break
        reduced = restrict(reduced, may_flip, cases)
    return reduced


def _useful_flips(reduced: Reduced, case: tuple[int, ...]) -> NDArray[np.bool_] | None:
    """Which flips a witness of the case may need; None if it has no witness."""
    helps = np.zeros(len(reduced.features), np.bool_)
    possible = np.ones(len(reduced.features), np.bool_)
    for c in case:
        weights, bound = reduced.weights[c], reduced.bounds[c]
        helps |= _helping(reduced, weights)
        scale = _scale(weights, reduced.radius)
        need = (bound - _votes_now(reduced, weights)) * scale
        if need <= 0:
            continue
        enough = _enough(_credits(reduced, weights, scale), need, reduced.radius)
        if enough is None:
            return None
        possible &= enough
    return helps & possible


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
    total = sum(abs(w) for w in weights.tolist()) + len(weights)
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


def _enough(credits: NDArray[np.int64], need: int, radius: int) -> NDArray[np.bool_] | None:
    """Features that can be in a set of at most ``radius`` whose credits reach ``need``; None: no set."""
    if radius == 0:
        return None
    gains = np.sort(np.maximum(credits, 0))[::-1]
    if int(gains[:radius].sum()) < need:
        return None
    # The best company of a feature is the radius - 1 largest others; if it is one of those itself, one more.
    company = int(gains[: radius - 1].sum())
    with_next = int(gains[:radius].sum())
    last = int(gains[radius - 2]) if radius >= 2 else 0
    among_best = (credits >= last) & (radius >= 2) & (credits > 0)
    reachable = np.where(among_best, with_next, credits + company)
    return reachable >= need
