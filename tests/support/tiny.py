"""Seeded random tiny problems: small enough for brute force, with every option of a model in play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from tmverify.properties.allowed import Allowed

MAX_FEATURES = 6
MAX_CLAUSES = 8
MAX_WEIGHT = 3
MAX_CLASSES = 4


@dataclass(frozen=True)
class Case:
    """Two models with the same features and classes, some inputs, and a region."""

    a: tv.Model
    b: tv.Model
    X: NDArray[np.uint8]
    epsilon: int
    options: dict[str, Any]

    @property
    def x(self) -> NDArray[np.uint8]:
        return np.asarray(self.X[0])

    @property
    def asked(self) -> dict[str, Any]:
        """The options as a query has them."""
        allowed = Allowed(features=self.options["features"], direction=self.options["direction"])
        return {"scope": self.scope, "allowed": allowed}

    @property
    def scope(self) -> Any:
        return self.options["scope"]


def random_model(rng: np.random.Generator, n_features: int, outputs: int) -> tv.Model:
    n_clauses = int(rng.integers(0, MAX_CLAUSES + 1))
    clauses = []
    for _ in range(n_clauses):
        features = rng.integers(1, n_features + 1, size=rng.integers(0, 5))
        clauses.append([int(f) * int(rng.choice([-1, 1])) for f in features])
    heaviest = int(rng.choice([1, MAX_WEIGHT]))
    return tv.Model.from_clauses(
        n_features,
        clauses,
        rng.integers(-heaviest, heaviest + 1, size=(outputs, n_clauses)),
        bias=rng.integers(-2, 3, size=outputs) if rng.random() < 0.5 else 0,
        tie="positive" if rng.random() < 0.5 else "negative",
        clamp=int(rng.integers(1, 5)) if rng.random() < 0.5 else None,
        empty_clause="silent" if rng.random() < 0.7 else "fires",
    )


def random_case(rng: np.random.Generator) -> Case:
    n_features = int(rng.integers(1, MAX_FEATURES + 1))
    outputs = int(rng.integers(1, MAX_CLASSES + 1))
    a = random_model(rng, n_features, outputs)
    # Sometimes a similar model, so that agreement is not rare; one row and two rows have the same classes.
    rows = 3 - outputs if outputs <= 2 and rng.random() < 0.5 else outputs
    b = random_model(rng, n_features, rows) if rng.random() < 0.5 else perturbed(rng, a)
    options: dict[str, Any] = {
        "scope": "team" if rng.random() < 0.6 else int(rng.integers(len(a.classes))),
        "features": rng.random(n_features) < 0.7 if rng.random() < 0.4 else None,
        "direction": [None, None, "add", "remove"][int(rng.integers(4))],
    }
    X = rng.integers(0, 2, size=(int(rng.integers(1, 5)), n_features)).astype(np.uint8)
    return Case(a, b, X, int(rng.integers(0, n_features + 1)), options)


def perturbed(rng: np.random.Generator, model: tv.Model) -> tv.Model:
    """The same clauses in another order, perhaps with one weight changed."""
    order = rng.permutation(model.n_clauses)
    weights = model.weights[:, order].copy()
    if model.n_clauses and rng.random() < 0.5:
        weights[0, rng.integers(model.n_clauses)] += int(rng.choice([-1, 1]))
    return tv.Model.from_clauses(
        model.n_features,
        [model.clauses[int(j)] for j in order],
        weights,
        bias=model.bias,
        tie=model.tie,
        clamp=model.clamp,
        empty_clause=model.empty_clause,
    )


def all_inputs(n_features: int) -> NDArray[np.uint8]:
    """Every input, (2 ** n_features, n_features)."""
    numbers = np.arange(1 << n_features)[:, None]
    return np.asarray(numbers >> np.arange(n_features) & 1, np.uint8)
