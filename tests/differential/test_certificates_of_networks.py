"""Every exact answer about a tiny network has a certificate for exactly that question, which is accepted."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import battery
from support.certified import refusal, text_of
from support.network_solvers import call_here
from support.tiny import all_inputs
from support.tiny_networks import NetworkCase, random_network_case
from tmverify.bnn.file import encode
from tmverify.engines.network import engine as network_engine
from tmverify.properties.trust import CHECKED, NETWORK_REPLAYED

ENGINES = ("auto", "search", "sat")
# What engines leave to others, so that shells are shown in every way.
VARIATIONS: dict[str, tuple[Any, ...]] = {
    "LONG": (0.0, 2.0),
    "RATE": (1e-6, 1e9),
    "MOST_OPEN": (0, 27),
    "SMALL": (0, 1 << 20),
    "CHECKED_SETS": (0, 1_000_000),
    "CHECKED_OPEN": (0, 20),
}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_engine, "call", call_here)


@battery(([0], 60), (range(1, 4), 1000))
def test_answers_are_certified(seed: int, n_cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng([20261120, seed])
    seen: Counter[str] = Counter()
    for _ in range(n_cases):
        case = random_network_case(rng, most_features=8)
        for name, values in VARIATIONS.items():
            monkeypatch.setattr(network_engine, name, values[int(rng.integers(len(values)))])
        for engine in ENGINES:
            seen += certify(case, engine, rng)
            if rng.random() < 0.3:
                seen += certify_several(case, engine, rng)
    ways = {f"shell {way}" for way in ("close", "patterns", "enumerate", "lrat")}
    assert ways | {"holds", "violated", "finite", "infinite", "universal"} <= set(seen)


def certify(case: NetworkCase, engine: str, rng: np.random.Generator) -> Counter[str]:
    """Ask everything; what was met."""
    network, x, epsilon = case.network, case.x, case.epsilon
    how: dict[str, Any] = {"engine": engine, "certificate": True, **case.options}
    truth = radius_of(case, x)
    verdict = tv.check_robustness(network, x, epsilon, **how)
    assert verdict.status is (tv.Status.HOLDS if truth > epsilon else tv.Status.VIOLATED)
    claim = {"answer": str(verdict.status), "epsilon": epsilon, "radius": None, "inputs": 1, "eta": "1/1"}
    text = expect_certified(case, verdict, claim)

    radius = tv.robustness_radius(network, x, **how)
    assert radius.radius == truth
    least = None if truth == math.inf else int(truth)
    text += expect_certified(
        case, radius, {"answer": "radius", "epsilon": None, "radius": least, "inputs": 1}
    )

    met = Counter([str(verdict.status), "infinite" if truth == math.inf else "finite"])
    return met + ways_of(text)


def certify_several(case: NetworkCase, engine: str, rng: np.random.Generator) -> Counter[str]:
    """The same of three inputs together."""
    network, x, epsilon = case.network, case.x, case.epsilon
    X = np.concatenate([x[None, :], rng.integers(0, 2, size=(2, len(x)), dtype=np.uint8)])
    eta = Fraction(int(rng.integers(1, 4)), 3)
    several = tv.check_universal_robustness(
        network, X, epsilon, eta, engine=engine, certificate=True, **case.options
    )
    enough = sum(radius_of(case, row) > epsilon for row in X) >= eta * 3
    assert several.status is (tv.Status.HOLDS if enough else tv.Status.VIOLATED)
    parts = f"{eta.numerator}/{eta.denominator}"
    claim = {"answer": str(several.status), "epsilon": epsilon, "inputs": 3, "eta": parts}
    return Counter(["universal"]) + ways_of(expect_certified(case, several, claim))


def ways_of(text: bytes) -> Counter[str]:
    """How the shells of a certificate are shown."""
    shells = [line.split() for line in text.splitlines() if line.startswith(b"shell ")]
    return Counter(f"shell {words[2].decode()}" for words in shells)


def expect_certified(case: NetworkCase, answer: Any, claim: dict[str, Any]) -> bytes:
    certificate = answer.certificate
    assert certificate is not None
    said = dict(certificate.claim)
    expected = {
        "question": "robustness",
        "models": [case.network.content_hash],
        "scope": "team",
        "direction": case.options.get("direction"),
        **claim,
    }
    assert {key: said[key] for key in expected} == expected
    mask = case.options.get("features")
    whole = mask is None or bool(np.all(mask))
    assert said["features"] == (None if whole else np.packbits(np.asarray(mask)).tobytes().hex())
    text = text_of(certificate)
    assert refusal(text, [encode(case.network)]) is None
    assert answer.trusts == CHECKED
    return text


def radius_of(case: NetworkCase, x: np.ndarray) -> float:
    """By enumeration of every input; nothing but ``predict``."""
    every = all_inputs(len(x))
    region = NetworkCase(case.network, x, 0, case.options).query().region
    flips = every != x
    inside = ~(flips & ~region.mutable).any(axis=1)
    changed = case.network.predict(every) != case.network.predict(x[None, :])
    return float(min(flips.sum(axis=1)[inside & changed], default=math.inf))


def test_certificates_are_of_one_network_and_one_answer() -> None:
    """Another network, or another epsilon, and it is refused."""
    rng = np.random.default_rng(5)
    refused = 0
    for _ in range(60):
        case, other = random_network_case(rng), random_network_case(rng)
        verdict = tv.check_robustness(case.network, case.x, case.epsilon, certificate=True, **case.options)
        text = text_of(verdict.certificate)
        if case.network != other.network:
            assert refusal(text, [encode(other.network)]) is not None
        if verdict.status is tv.Status.HOLDS and case.epsilon < radius_of(case, case.x) < math.inf:
            further = text.replace(f'"epsilon":{case.epsilon}'.encode(), f'"epsilon":{len(case.x)}'.encode())
            assert refusal(further, [encode(case.network)]) is not None
            refused += 1
    assert refused > 5


def test_without_a_certificate_trust_is_in_the_parts_that_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    parts: dict[str, set[str]] = {engine: set() for engine in ENGINES}
    for _ in range(100):
        case = random_network_case(rng, most_features=8)
        monkeypatch.setattr(network_engine, "SMALL", 0)
        monkeypatch.setattr(network_engine, "MOST_OPEN", int(rng.choice([0, 27])))
        for engine in ENGINES:
            verdict = tv.check_robustness(case.network, case.x, case.epsilon, engine=engine, **case.options)
            assert verdict.certificate is None
            if verdict.status is tv.Status.VIOLATED:
                assert verdict.trusts == NETWORK_REPLAYED
                continue
            assert verdict.trusts[0] == "intervals (tmverify.engines.network.shell)"
            parts[engine] |= set(verdict.trusts)
            radius = tv.robustness_radius(case.network, case.x, engine=engine, **case.options)
            assert radius.trusts[0] == "intervals (tmverify.engines.network.shell)"
            assert (set(NETWORK_REPLAYED) <= set(radius.trusts)) == (radius.witness is not None)
    search = {"the enumeration of patterns (tmverify.engines.network.patterns)", "numba"}
    sat = {"the encoding of networks (tmverify.engines.network.solver)", "CaDiCaL 1.9.5 in PySAT"}
    both = {"intervals (tmverify.engines.network.shell)", "NumPy"}
    assert parts["search"] == search | both
    assert parts["sat"] == sat | both
    assert parts["auto"] == search | sat | both
