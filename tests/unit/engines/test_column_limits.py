"""Limits where columns move: huge weights and costs, hundreds of values, columns that cost or do nothing."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import tmverify as tv
from support.batteries import few_or_many
from support.columns import ColumnCase, random_column_case
from support.moves import random_column_toy
from tmverify.engines import auto, brute
from tmverify.engines.engine import Deadline, Decide, Outcome, nearest_by_steps, nothing_known
from tmverify.engines.sat import specialised
from tmverify.engines.search import engine as search
from tmverify.engines.search.problem import problem_of
from tmverify.engines.search.tree import Budget, Found, Tree, unit_of
from tmverify.properties.allowed import MAX_COST, Allowed

FOREVER = Deadline(None)
ENGINES: dict[str, Decide] = {
    "brute": brute.decide,
    "sat": lambda query, deadline, log=None: specialised.solve(query),
    "search": search.decide,
    "auto": auto.decide,
}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "sat", ENGINES["sat"])


def radius_by_each(query: tv.Query) -> float:
    """The radius, by every engine, and that budgets around it are decided so."""
    claims = {
        "search": search.nearest(query, FOREVER),
        "auto": auto.nearest(query, FOREVER),
        "brute": nearest_by_steps(brute.decide, "brute", query, nothing_known("brute"), FOREVER),
        "sat": nearest_by_steps(ENGINES["sat"], "sat", query, nothing_known("sat"), FOREVER),
    }
    radius = claims["brute"].upper
    for name, claim in claims.items():
        assert (claim.lower, claim.upper, claim.stop_reason) == (radius, radius, None), name
        if claim.witness is not None:
            assert query.refuted_by(claim.witness)
            assert query.region.cost(claim.witness) == radius
    budgets = [query.region.reach] if radius == math.inf else [int(radius), int(radius) - 1]
    for epsilon in budgets:
        if epsilon >= 0:
            near = replace(query, region=query.region.within(epsilon))
            for name, solve in ENGINES.items():
                found = solve(near, FOREVER).outcome
                assert found is (Outcome.WITNESS if radius <= epsilon else Outcome.NO_WITNESS), name
    return radius


@few_or_many(60, 1000)
def test_huge_costs(n_cases: int) -> None:
    """Budgets are not raised one by one, and no sum overflows."""
    rng = np.random.default_rng(0)
    seen: Counter[str] = Counter()
    for number in range(n_cases):
        case = random_column_case(rng, ("robustness", "target", "similarity")[number % 3])
        if case.allowed.distance == "bits":
            continue
        costs = rng.choice([0, 1, 12_345, MAX_COST - 1, MAX_COST], len(case.space.columns)).tolist()
        cost = {column.name: each for column, each in zip(case.space.columns, costs, strict=True)}
        case = replace(case, allowed=replace(case.allowed, cost=cost))
        assert radius_by_each(case.query()) == case.radius
        seen["dear"] += 1000 < case.radius < math.inf
        seen["none"] += case.radius == math.inf
    assert min(seen.values()) > n_cases // 20


@few_or_many(200, 2000)
def test_no_unit_or_no_overflow(n_cases: int) -> None:
    """Weights and costs up to the largest: a tree is right, or there is no unit and it is open."""
    rng = np.random.default_rng(1)
    seen: Counter[Found] = Counter()
    for _ in range(n_cases):
        toy = random_column_toy(
            rng,
            n=int(rng.integers(1, 6)),
            n_clauses=int(rng.integers(1, 12)),
            n_constraints=int(rng.integers(1, 3)),
            heaviest=int(rng.choice([2**10, 2**20, 2**32])),
            dearest=int(rng.choice([4, 2**10, MAX_COST])),
        )
        toy = replace(toy, needs=tuple(need + int(rng.integers(0, 3)) for need in toy.needs))
        problem = toy.problem()
        result, _ = Tree(problem).search(Budget(FOREVER, 1 << 62))
        if unit_of(problem) == 0:
            assert result is Found.OPEN
        else:
            solved = any(toy.solved_by(choice) for choice in toy.choices())
            assert result is (Found.SOLUTION if solved else Found.NOTHING)
        seen[result] += 1
    assert min(seen[found] for found in Found) > n_cases // 20


def test_without_a_unit_others_answer() -> None:
    space = tv.Space([tv.Category("c", ("a", "b", "d")), tv.Number("n", (1, 2)), tv.Flag("f")])
    big = 2**31 - 1
    clauses = [[1], [2], [3, 4], [5], [-6], [6, -5]]
    model = tv.Model.from_clauses(6, clauses, [[big, -big, big, big - 1, -big, big]], bias=-2, space=space)
    allowed = Allowed(cost={"c": MAX_COST, "n": MAX_COST, "f": MAX_COST})
    query = tv.robustness_query(model, [1, 0, 0, 0, 0, 0], None, allowed=allowed)
    problem = problem_of(query, query.region.radius)
    assert unit_of(problem) == 0
    stopped = search.decide(query, FOREVER)
    if stopped.outcome is Outcome.STOPPED:
        assert stopped.stop_reason is tv.StopReason.ENCODING_TOO_LARGE
    expected = brute.decide(query, FOREVER).outcome
    assert auto.decide(query, FOREVER).outcome is specialised.solve(query).outcome is expected
    truth = ColumnCase("robustness", (model,), np.array([1, 0, 0, 0, 0, 0], np.uint8), allowed)
    claim = auto.nearest(query, FOREVER)
    assert claim.lower == claim.upper == truth.radius


@pytest.mark.parametrize("n", [63, 64, 65, 200])
def test_hundreds_of_values(n: int) -> None:
    """Sets of options in one word, and in several; with the values' names, and with cuts."""
    rng = np.random.default_rng(n)
    values = tuple(f"v{i}" for i in range(n))
    parts = [
        tv.Category("c", values, other=True),
        tv.Number("n", tuple(range(n)), missing=True),
        tv.Flag("f"),
    ]
    space = tv.Space(parts)
    seen: Counter[float] = Counter()
    for _ in range(3):
        clauses = []
        for _ in range(30):
            bits = rng.choice(space.n_bits, size=int(rng.integers(1, 4)), replace=False) + 1
            clauses.append((bits * rng.choice([-1, 1], len(bits))).tolist())
        weights = rng.integers(-3, 4, size=(2, 30))
        model = tv.Model.from_clauses(space.n_bits, clauses, weights, space=space)
        patterns = [column.part.patterns for column in space.columns]
        x = np.concatenate([rows[rng.integers(len(rows))] for rows in patterns])
        for allowed in (Allowed(), Allowed("steps"), Allowed("steps", cost={"c": 3, "f": 0})):
            query = tv.robustness_query(model, x, None, allowed=allowed)
            assert query.region.size(1 << 20) == (n + 1) * (n + 2) * 2
            seen[radius_by_each(query)] += 1
    assert len(seen) > 2


def small() -> tv.Model:
    """1 iff the number is over 2, or the city is Oslo and the flag is set."""
    parts = [tv.Number("n", (1, 2)), tv.Category("city", ("Bergen", "Oslo")), tv.Flag("f")]
    return tv.Model.from_clauses(5, [[2], [4, 5]], [[1, 1]], bias=-1, space=tv.Space(parts))


X = [0, 0, 1, 0, 0]


def test_changes_that_cost_nothing() -> None:
    def radius(**cost: int) -> float:
        return radius_by_each(tv.robustness_query(small(), X, None, allowed=Allowed(cost=cost)))

    assert radius() == 1
    assert radius(n=0) == 0
    assert radius(n=3, city=0, f=0) == 0
    assert radius(n=3, city=0) == 1
    assert radius(n=3, city=0, f=4) == 3
    query = tv.robustness_query(small(), X, 0, allowed=Allowed(cost={"n": 0}))
    assert all(solve(query, FOREVER).outcome is Outcome.WITNESS for solve in ENGINES.values())


@pytest.mark.parametrize(
    ("allowed", "radius"),
    [
        (Allowed(freeze=["n"]), 2),
        (Allowed(freeze=["n", "f"]), math.inf),
        (Allowed(freeze=["n", "city", "f"]), math.inf),
        (Allowed(columns=[]), math.inf),
        (Allowed(decrease=["n"]), 2),
        (Allowed(within={"n": (0, 1)}), 2),
        (Allowed(within={"n": (0, 2), "city": ["Bergen"]}), math.inf),
    ],
)
def test_columns_that_are_closed(allowed: Allowed, radius: float) -> None:
    assert radius_by_each(tv.robustness_query(small(), X, None, allowed=allowed)) == radius


def test_a_number_without_cuts() -> None:
    """It has one value and no bit; with a missing value, a bit and two values."""
    for missing in (False, True):
        space = tv.Space([tv.Number("n", (), missing), tv.Category("c", ("a", "b")), tv.Flag("f")])
        k = int(missing)
        model = tv.Model.from_clauses(
            space.n_bits, [[k + 1, k + 3], *([[1]] if missing else [])], [[1, *[1] * k]], bias=-1, space=space
        )
        x = [0] * k + [0, 1, 0]
        assert radius_by_each(tv.robustness_query(model, x, None)) == (1 if missing else 2)
        assert tv.equivalence_query(model, model).region.size(100) == (1 + k) * 2 * 2
    bare = tv.Space([tv.Number("n", ()), tv.Flag("f")])
    model = tv.Model.from_clauses(1, [[1]], [[1]], bias=-1, space=bare)
    assert radius_by_each(tv.robustness_query(model, [0], None)) == 1
    assert radius_by_each(tv.robustness_query(model, [0], None, allowed=Allowed(cost={"n": 5, "f": 2}))) == 2


def test_the_paper_engine_refuses_columns_by_name() -> None:
    with pytest.raises(tv.InvalidInputError, match="paper"):
        tv.check_robustness(small(), X, 1, engine="paper")
    assert tv.check_robustness(small(), X, 1, distance="bits", engine="paper").status == "violated"
