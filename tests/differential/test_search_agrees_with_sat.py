"""search = sat where brute force can't follow: medium random models, and a model of MNIST on real images."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import battery
from tmverify.engines.engine import Deadline, Outcome
from tmverify.engines.sat.engine import SAT
from tmverify.engines.search import engine as search
from tmverify.properties.allowed import Allowed, Direction

needs_data = pytest.mark.skipif(
    not os.environ.get("TMVERIFY_DATA"), reason="TMVERIFY_DATA names no folder with the real data"
)


PATIENCE = 2.0  # seconds for a question to sat, which is now and then a thousand times as slow


def medium_model(rng: np.random.Generator, n_features: int, outputs: int) -> tv.Model:
    """Clauses as trained ones are: many literals alike, some short, some nearly the same."""
    n_clauses = int(rng.integers(50, 201))
    typical = rng.integers(0, 2, size=n_features)
    clauses = []
    for _ in range(n_clauses):
        features = rng.choice(n_features, size=rng.integers(2, 9), replace=False)
        signs = np.where(rng.random(len(features)) < 0.8, typical[features], 1 - typical[features])
        clauses.append(np.where(signs == 1, features + 1, -(features + 1)).tolist())
    heaviest = int(rng.choice([1, 4, 30]))
    weights = rng.integers(-heaviest, heaviest + 1, size=(outputs, n_clauses))
    return tv.Model.from_clauses(
        n_features,
        clauses,
        weights,
        bias=rng.integers(-5, 6, size=outputs),
        tie="positive" if rng.random() < 0.5 else "negative",
        clamp=int(rng.integers(3, 3 * heaviest + 6)) if rng.random() < 0.3 else None,
    )


def medium_query(rng: np.random.Generator) -> tuple[str, tv.Query]:
    n_features, outputs = int(rng.integers(30, 61)), int(rng.integers(1, 5))
    model = medium_model(rng, n_features, outputs)
    x = rng.integers(0, 2, size=n_features)
    directions: list[Direction | None] = [None, None, "add", "remove"]
    options: dict[str, Any] = {
        "scope": "team" if rng.random() < 0.7 else int(rng.integers(len(model.classes))),
        "allowed": Allowed(
            features=rng.random(n_features) < 0.7 if rng.random() < 0.3 else None,
            direction=directions[int(rng.integers(4))],
        ),
    }
    epsilon = int(rng.integers(1, 4))
    if rng.random() < 0.6:
        return "robustness", tv.robustness_query(model, x, epsilon, **options)
    weights = model.weights.copy()
    weights[:, rng.integers(model.n_clauses, size=3)] += rng.integers(-2, 3, size=(outputs, 3))
    other = tv.Model.from_clauses(
        n_features, list(model.clauses), weights, bias=model.bias, tie=model.tie, clamp=model.clamp
    )
    return "similarity", tv.similarity_query(model, other, x, epsilon, **options)


def check_decision(query: tv.Query, patience: float = PATIENCE) -> tuple[Outcome, bool]:
    """What the search answers, and whether sat had the time to say the same."""
    mine, other = search.decide(query, Deadline(None)), SAT.decide(query, Deadline(patience))
    assert mine.outcome is not Outcome.STOPPED
    assert other.outcome in (mine.outcome, Outcome.STOPPED)
    if mine.outcome is Outcome.WITNESS:
        assert mine.witness is not None
        assert query.refuted_by(mine.witness)
    return mine.outcome, other.outcome is mine.outcome


def check_nearest(query: tv.Query) -> float:
    """The radius, between the bounds that sat had time for."""
    mine, other = search.nearest(query, Deadline(None)), SAT.nearest(query, Deadline(PATIENCE))
    assert mine.stop_reason is None
    assert mine.lower == mine.upper
    assert other.lower <= mine.lower <= other.upper
    if mine.witness is not None:
        assert query.refuted_by(mine.witness)
        assert (mine.witness != query.region.origin).sum() == mine.upper
    return mine.upper


@battery(([0], 12), (range(1000, 1012), 100))
def test_medium_models(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng([seed, 2])
    seen: Counter[Any] = Counter()
    for _ in range(n_cases):
        question, query = medium_query(rng)
        outcome, confirmed = check_decision(query)
        seen[question, outcome] += 1
        seen["confirmed", confirmed] += 1
        seen["radius", check_nearest(query)] += 1
    for outcome in (Outcome.WITNESS, Outcome.NO_WITNESS):
        assert seen["robustness", outcome] + seen["similarity", outcome] > 2
    assert seen["confirmed", True] > n_cases // 6  # how many, depends on the machine
    assert len([key for key in seen if key[0] == "radius"]) > 2


@pytest.fixture(scope="module")
def mnist() -> tuple[Any, list[tv.Model]]:
    """Real images, and two models of 500 clauses a class, trained alike from different seeds."""
    data = tv.load_dataset("mnist")
    machines = [
        tv.TsetlinMachineClassifier(500, threshold=50, specificity=10.0, n_epochs=3, random_state=seed)
        for seed in (0, 1)
    ]
    some = slice(0, 10_000)
    return data, [machine.fit(data.X_train[some], data.y_train[some]).model_ for machine in machines]


@pytest.mark.deep
@needs_data
@pytest.mark.parametrize("scope", ["team", "single"])
def test_models_of_mnist(mnist: tuple[Any, list[tv.Model]], scope: str) -> None:
    """Robustness at 1, 3 and 5 flips, similarity at 1 and 2, and the radius against what was decided."""
    data, (model, other) = mnist
    patience = 60.0
    seen: Counter[Any] = Counter()
    for index in np.random.default_rng(0).choice(len(data.X_test), 15, replace=False).tolist():
        x, label = np.asarray(data.X_test[index]), data.y_test[index].item()
        options: dict[str, Any] = {"scope": "team" if scope == "team" else label}
        nearest = search.nearest(tv.robustness_query(model, x, 784, **options), Deadline(patience))
        for epsilon in (1, 3, 5):
            answer = check_decision(tv.robustness_query(model, x, epsilon, **options), patience)
            assert answer[0] is not Outcome.WITNESS or nearest.lower <= epsilon
            assert answer[0] is not Outcome.NO_WITNESS or nearest.upper > epsilon
            seen[answer] += 1
        for epsilon in (1, 2):
            seen[check_decision(tv.similarity_query(model, other, x, epsilon, **options), patience)] += 1
    assert seen[Outcome.WITNESS, True] + seen[Outcome.NO_WITNESS, True] >= 50
    assert min(seen[Outcome.WITNESS, True], seen[Outcome.NO_WITNESS, True]) > 5
