"""The credits: sums that stay within 64 bits, and a bound that no set of flips beats."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import tmverify as tv
from support.tiny import random_case
from tmverify.engines.reduction import _credits, _scale, _votes_now, reduce


@pytest.mark.parametrize(
    ("n_clauses", "weight", "radius", "scale"),
    [
        (10, 3, 5, 5040),
        (16, 2**31 - 1, 10, 5040),
        (16, 2**31 - 1, 1 << 20, 1),
        (1 << 20, 2**31 - 1, 1 << 20, 0),
    ],
)
def test_the_scale_leaves_room_for_every_sum(n_clauses: int, weight: int, radius: int, scale: int) -> None:
    weights = np.full(n_clauses, weight)
    assert _scale(weights, radius) == scale
    assert scale * (weight + 1) * n_clauses * radius < 2**62


def test_no_set_of_flips_gains_more_than_its_credits() -> None:
    rng = np.random.default_rng(11)
    compared = 0
    for _ in range(150):
        case = random_case(rng)
        reduced = reduce(tv.similarity_query(case.a, case.b, case.x, case.epsilon, **case.options))
        for weights in reduced.weights:
            scale = _scale(weights, reduced.radius)
            credits, now = _credits(reduced, weights, scale), _votes_now(reduced, weights)
            for k in range(reduced.radius + 1):
                for flips in combinations(range(len(reduced.features)), k):
                    y = np.zeros((1, len(reduced.features)), np.uint8)
                    y[0, list(flips)] = 1
                    gain = int(reduced.clauses.outputs(y, empty_fires=False)[0] @ weights) - now
                    assert gain * scale <= credits[list(flips)].sum()
                    compared += 1
    assert compared > 1000
