"""Faults that a review of the search found, each with its explanation."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tmverify as tv
from support.engines import stand_in
from tmverify.engines.engine import Deadline, Nearest
from tmverify.engines.search.engine import nearest_within
from tmverify.engines.search.tree import Budget
from tmverify.verify import nearest


def team_and_copy(seed: int) -> tuple[tv.Model, tv.Model, np.ndarray]:
    rng = np.random.default_rng(seed)
    clauses = [(rng.choice(60, 5, replace=False) + 1) * rng.choice([-1, 1], 5) for _ in range(240)]
    weights = rng.integers(-2, 3, size=(4, 240))
    order = rng.permutation(240)
    a = tv.Model.from_clauses(60, [c.tolist() for c in clauses], weights)
    b = tv.Model.from_clauses(60, [clauses[j].tolist() for j in order], weights[:, order])
    return a, b, rng.integers(0, 2, 60)


@pytest.mark.parametrize("engine", ["search", "auto"])
def test_a_reordered_copy_is_similar_at_any_radius(engine: str) -> None:
    """The bound had to be searched down to the last flip; opposite constraints settle it at the root."""
    a, b, x = team_and_copy(0)
    for epsilon in (0, 3, 60):
        v = tv.check_similarity(a, b, x, epsilon, engine=engine, timeout=None)
        assert v.status == "holds"
        assert v.stats["nodes"] < 100
    r = tv.similarity_radius(a, b, x, engine=engine, timeout=None)
    assert r.radius == math.inf


def test_opposite_constraints_that_can_both_hold() -> None:
    """s >= 0 and -s >= 0 do not contradict each other: the tie rules differ just there."""
    positive = tv.Model.from_clauses(2, [[1], [2]], [[1, -1]], tie="positive")
    negative = tv.Model.from_clauses(2, [[2], [1]], [[-1, 1]], tie="negative")
    v = tv.check_similarity(positive, negative, [1, 0], 1, engine="search")
    assert v.status == "violated"
    assert tv.similarity_radius(positive, negative, [1, 0], engine="search").radius == 1


@pytest.mark.parametrize("bias", [8000, 17000])
def test_weights_that_grow_too_large_by_merging(bias: int) -> None:
    """Clauses became equal, their sum too heavy for 64 bits, and the kernel divided by a unit of 0."""
    W, K, E = 2**31 - 1, 1000, 1000
    rng = np.random.default_rng(0)
    n = 2 + K + E
    clauses: list[list[int]] = []
    weights: list[int] = []
    for z in range(3, 3 + K):
        clauses += [[1, z], [-1, z], [-z], [2]]
        weights += [W // 4, W // 4, W, -(W // 4)]
    for _ in range(3 * E):
        features = rng.choice(E, 3, replace=False) + K + 3
        clauses.append((features * rng.choice([-1, 1], 3)).tolist())
        weights.append(int(rng.integers(-50, 51)))
    model = tv.Model.from_clauses(n, clauses, [weights], bias=bias)
    mask = np.arange(n) != 1
    r = tv.robustness_radius(model, np.ones(n), features=mask, engine="search", timeout=2)
    assert r.stop_reason is not tv.StopReason.CRASHED
    assert 1 <= r.lower <= r.upper


def test_a_contradiction_near_by_says_nothing_of_what_is_far_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped between the two looks, a hunt forgot the cases that contradict themselves within the first.

    The models differ in a clause that is 20 flips away, beyond the first look: the radius is not infinite.
    """
    far = list(range(1, 21))
    a = tv.Model.from_clauses(30, [[21], far], [[1, 5]], bias=-2)
    b = tv.Model.from_clauses(30, [[21], far], [[1, 0]], bias=-2)
    query = tv.similarity_query(a, b, np.zeros(30), 30)
    looks = iter([False, *[True] * 100])
    monkeypatch.setattr(Budget, "spent", lambda budget: next(looks))
    claim = nearest_within(query, Budget(Deadline(None), 1 << 60))
    assert claim.lower <= 20
    assert claim.stop_reason is not None
    assert set(claim.open_cases) == set(query.cases)
    monkeypatch.undo()
    assert tv.similarity_radius(a, b, np.zeros(30)).radius == 20


def test_an_exact_radius_was_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine had no time for a lower bound, but 1 is always one: exact, and no reason why not."""
    model = tv.Model.from_clauses(2, [[1]], [[1]], tie="negative")
    witness = np.array([1, 0], np.uint8)
    late = Nearest(0, 1, witness, "search", ((0,),), tv.StopReason.TIMEOUT, "late")
    stand_in(monkeypatch, "auto", find_nearest=lambda query, deadline, log=None: late)
    r = tv.robustness_radius(model, [0, 0])
    assert r.radius == 1
    assert r.stop_reason is None
    assert r.detail == ""


def test_a_radius_is_no_truth_value_and_needs_an_input() -> None:
    model = tv.Model.from_clauses(2, [[1]], [[1]])
    with pytest.raises(TypeError, match="a number or two bounds"):
        bool(tv.robustness_radius(model, [0, 0]))
    with pytest.raises(tv.InvalidInputError, match="about a ball"):
        nearest(tv.equivalence_query(model, model))
