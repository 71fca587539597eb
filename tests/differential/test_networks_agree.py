"""Random tiny networks: brute force = search = sat = auto, decision and nearest witness alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import battery
from support.tiny_networks import NetworkCase, random_network_case
from tmverify.engines.engine import Deadline
from tmverify.engines.network import engine as network_engine
from tmverify.engines.network.solver import reach, solve


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The solver is called directly: a process for each of thousands of shells would take minutes."""

    def call(function: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
        job: Any = {"solver:solve": solve, "solver:reach": reach}[function.rsplit(".")[-1]]
        return job(*arguments)

    monkeypatch.setattr(network_engine, "call", call)


@pytest.mark.usefixtures("in_this_process")
@battery((range(3), 100), (range(1000, 1010), 1000))
def test_engines_agree(seed: int, n_cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([20261116, seed])
    answers = set()
    for _ in range(n_cases):
        case = random_network_case(rng, most_features=int(rng.choice([6, 9])))
        hunts, gives_up = rng.random() < 0.5, rng.random() < 0.2
        monkeypatch.setattr(network_engine, "LONG", 0.0 if hunts else 2.0)
        monkeypatch.setattr(network_engine, "RATE", 1e-6 if gives_up else 1e9)  # auto leaves a shell to sat …
        monkeypatch.setattr(network_engine, "SMALL", 0)
        monkeypatch.setattr(network_engine, "MOST_OPEN", int(rng.choice([0, 27])))  # … or takes patterns
        truth = _truth(case)
        for engine in ("brute", "search", "sat", "auto"):
            _expect(case, engine, truth)
        answers.add(truth)
    assert {1, 2, math.inf} <= answers  # the battery has them all


def _truth(case: NetworkCase) -> float:
    """The radius by going through all inputs, with nothing but ``predict``."""
    n = len(case.x)
    every = (np.arange(1 << n)[:, None] >> np.arange(n) & 1).astype(np.uint8)
    region = case.query(n).region
    flips = every != case.x
    inside = ~(flips & ~region.mutable).any(axis=1)
    changed = case.network.predict(every) != case.network.predict(case.x[None, :])
    return float(min(flips.sum(axis=1)[inside & changed], default=math.inf))


def _expect(case: NetworkCase, engine: str, truth: float) -> None:
    verdict = tv.check_robustness(case.network, case.x, case.epsilon, engine=engine, **case.options)
    assert verdict.status is (tv.Status.HOLDS if truth > case.epsilon else tv.Status.VIOLATED)
    radius = tv.robustness_radius(case.network, case.x, engine=engine, **case.options)
    assert radius.radius == truth
    if radius.witness is not None:
        assert int((radius.witness != case.x).sum()) == truth
