"""Seeded random tiny networks and questions about them: small enough for brute force."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.bnn import BnnModel, PixelCuts
from tmverify.bnn.query import NetworkQuery
from tmverify.properties import robustness_query
from tmverify.properties.allowed import Allowed


@dataclass(frozen=True)
class NetworkCase:
    """A network, an input, and a region."""

    network: BnnModel
    x: NDArray[np.uint8]
    epsilon: int
    options: dict[str, Any]

    def query(self, epsilon: int | None = None) -> NetworkQuery:
        flips = self.epsilon if epsilon is None else epsilon
        return network_query(self.network, self.x, flips, **self.options)


def network_query(network: BnnModel, x: ArrayLike, epsilon: int, **options: Any) -> NetworkQuery:
    """``robustness_query`` of a network."""
    query = robustness_query(network, x, epsilon, allowed=Allowed(**options))
    assert isinstance(query, NetworkQuery)
    return query


def random_network(rng: np.random.Generator, n_features: int) -> BnnModel:
    widths = [n_features, *rng.integers(1, 7, size=rng.integers(1, 4)).tolist()]
    layers = []
    for n, m in pairwise(widths):
        # Near the middle, where neurons change; sometimes anywhere, so that some neurons are constant.
        spread = rng.integers(0, n + 2, size=m) if rng.random() < 0.2 else n // 2 + rng.integers(0, 3, size=m)
        layers.append((rng.choice([-1, 1], size=(m, n)), spread))
    n_classes = int(rng.integers(2, 5))
    network = BnnModel.from_layers(
        layers,
        rng.choice([-1, 1], size=(n_classes, widths[-1])),
        scale=int(rng.integers(1, 4)),
        bias=rng.integers(-3, 4, size=n_classes) if rng.random() < 0.6 else 0,
    )
    if rng.random() < 0.3:
        levels = rng.choice([0, 1, 100, 255, 256], size=n_features)
        network = replace(network, cuts=PixelCuts(levels, rng.random(n_features) < 0.5))
    return network


def random_network_case(rng: np.random.Generator, most_features: int = 7) -> NetworkCase:
    n = int(rng.integers(1, most_features + 1))
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["features"] = rng.random(n) < 0.7
    if rng.random() < 0.3:
        options["direction"] = str(rng.choice(["add", "remove"]))
    x = rng.integers(0, 2, size=n).astype(np.uint8)
    return NetworkCase(random_network(rng, n), x, int(rng.integers(0, n + 1)), options)
