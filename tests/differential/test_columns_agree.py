"""brute = sat = search = auto over columns: random spaces, rules, costs and models, every budget, the radius.

The expected answers come from ``support.columns``: every pattern of bits, possible or not, and the arguments
as a caller gives them. So ``Region`` and ``brute`` are under test here too.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from support.batteries import battery
from support.columns import ColumnCase, random_column_case
from support.deciding import FOREVER, expect, expect_radius
from support.tiny import all_inputs
from tmverify.engines import auto, brute
from tmverify.engines.engine import (
    Decide,
    nearest_by_steps,
    nothing_known,
)
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.sat import refutation, specialised
from tmverify.engines.search import engine as search

# In this process: ten times as fast as through a worker.
ENGINES: dict[str, Decide] = {
    "brute": brute.decide,
    "sat": lambda query, deadline, log=None: specialised.solve(query),
    "search": search.decide,
    "auto": auto.decide,
    "proof": lambda query, deadline, log=None: refutation.prove(query, ProofLog()),
    "solver": lambda query, deadline, log=None: refutation.prove(query, ProofLog(), sweep=False),
}


def check_region(case: ColumnCase) -> None:
    """The region has the inputs that the definitions allow, at their costs, and no others."""
    region = case.query().region
    everything = case.question == "equivalence"
    costs = {z.tobytes(): cost for cost, z, _ in case.inputs}
    for z in all_inputs(case.space.n_bits):
        cost = region.cost(z)
        assert (cost is not None) == (z.tobytes() in costs)
        assert everything or cost == costs.get(z.tobytes())
        assert region.contains(z) == (cost is not None)
    assert region.size(1 << 20) == len(costs)
    if not everything:
        assert region.radius == region.reach >= max(costs.values())
        some = region.within(min(region.radius, 2))
        assert some.size(1 << 20) == sum(cost <= 2 for cost in costs.values())


def check_case(case: ColumnCase, rng: np.random.Generator, seen: Counter[Any], stepping: bool) -> None:
    check_region(case)
    radius = case.radius
    seen[case.question, radius < math.inf] += 1
    if case.question == "equivalence":
        query = case.query()
        for name, solve in ENGINES.items():
            expect(solve(query, FOREVER), query, radius < math.inf, name)
        return
    budgets = {int(rng.integers(0, 6))}
    if radius < math.inf:
        budgets |= {int(radius), max(0, int(radius) - 1)}
    if case.query().region.rules.about_bits:
        budgets = {min(epsilon, case.space.n_bits) for epsilon in budgets}
    for epsilon in budgets:
        query = case.query(epsilon)
        for name, solve in ENGINES.items():
            expect(solve(query, FOREVER), query, case.has_witness(epsilon), f"{name} within {epsilon}")
    query = case.query()
    seen["radius", radius] += 1
    claims = {"search": search.nearest(query, FOREVER), "auto": auto.nearest(query, FOREVER)}
    for name in ("brute", "sat") if stepping else ():
        claims[name] = nearest_by_steps(ENGINES[name], name, query, nothing_known(name), FOREVER)
    for name, claim in claims.items():
        expect_radius(claim, query, radius, f"the radius, by {name}")


@battery((range(6), 260), (range(1000, 1050), 1000))
def test_engines_agree(monkeypatch: pytest.MonkeyPatch, seed: int, n_cases: int) -> None:
    """With few nodes ``auto`` turns to its other engines, and a small NEAR makes a search look twice."""
    monkeypatch.setattr(auto, "sat", ENGINES["sat"])
    monkeypatch.setattr(auto, "NODES", (1, 100_000, 0)[seed % 3])
    monkeypatch.setattr(brute, "PATIENCE", (0.0, 60.0)[seed % 2])
    monkeypatch.setattr(search, "NEAR", (1, 16)[seed // 2 % 2])
    rng = np.random.default_rng([20, seed])
    seen: Counter[Any] = Counter()
    for number in range(n_cases):
        check_case(random_column_case(rng), rng, seen, stepping=number % 4 == 0)
    # A battery in which one outcome never occurs tests nothing.
    for question in ("robustness", "target", "similarity", "equivalence"):
        assert min(seen[question, True], seen[question, False]) > n_cases // 40
    assert min(seen["radius", r] for r in (0, 1, math.inf)) > n_cases // 60
    far = [n for (what, radius), n in seen.items() if what == "radius" and 1 < radius < math.inf]
    assert sum(far) > n_cases // 60
