"""Limits: whenever and however a search is stopped, its answer is true and gives the reason."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

import tmverify as tv
from support.batteries import few_or_many
from support.tiny import all_inputs, random_case
from tmverify.engines import auto, brute
from tmverify.engines.engine import Answer, Deadline, Nearest, Outcome
from tmverify.engines.sat import specialised
from tmverify.engines.search import engine as search_engine
from tmverify.engines.search import problem as problem_module
from tmverify.engines.search import tree
from tmverify.engines.search.engine import decide_within, nearest_within
from tmverify.engines.search.problem import Solution, part, problem_of
from tmverify.engines.search.tree import Budget, greedy


def nodes(n: int) -> Budget:
    return Budget(Deadline(None), n)


class Truth:
    """The radius, and the cases that hold a witness, by enumeration."""

    def __init__(self, query: tv.Query) -> None:
        region = query.region
        inputs = all_inputs(region.n_features)
        changed = inputs != region.origin
        distances = changed.sum(axis=1)
        inside = (distances <= region.radius) & ~changed[:, ~region.mutable].any(axis=1)
        outputs = query.clauses.outputs(inputs, empty_fires=False).astype(np.int64)
        votes = [outputs @ c.weights(query.votes) >= c.bound for c in query.constraints]
        met = [np.all([votes[c] for c in case], axis=0) & inside for case in query.cases]
        first, second = query.decisions(inputs).T
        assert (np.any(met, axis=0) == (inside & (first != second))).all()
        self.radius: float = min(distances[np.any(met, axis=0)].tolist(), default=math.inf)
        self.cases = {case for case, holds in zip(query.cases, met, strict=True) if holds.any()}
        self.nearest = {
            case
            for case, holds in zip(query.cases, met, strict=True)
            if distances[holds].tolist() and min(distances[holds]) == self.radius
        }


def all_of(cases: Iterable[tuple[int, ...]]) -> set[frozenset[int]]:
    return {frozenset(case) for case in cases}


def knotty_query(rng: np.random.Generator) -> tv.Query:
    """Small enough for brute force, with clauses enough that a few nodes do not do."""
    n, outputs = int(rng.integers(7, 11)), int(rng.integers(1, 4))
    n_clauses = int(rng.integers(20, 50))
    clauses = [
        [int(f + 1) * int(rng.choice([-1, 1])) for f in rng.choice(n, size=rng.integers(2, 6), replace=False)]
        for _ in range(n_clauses)
    ]
    model = tv.Model.from_clauses(
        n,
        clauses,
        rng.integers(-4, 5, size=(outputs, n_clauses)),
        bias=rng.integers(-6, 7, size=outputs),
        clamp=int(rng.integers(4, 12)) if rng.random() < 0.4 else None,
    )
    x = rng.integers(0, 2, size=n)
    if rng.random() < 0.5:
        return tv.robustness_query(model, x, n)
    weights = model.weights.copy()
    weights[0, :3] += 1
    other = tv.Model.from_clauses(n, clauses, weights, bias=model.bias, clamp=model.clamp)
    return tv.similarity_query(model, other, x, n)


def expect_bounds(claim: Nearest, query: tv.Query, truth: Truth) -> None:
    assert claim.lower <= truth.radius <= claim.upper
    assert (claim.stop_reason is None) == (claim.lower == claim.upper)
    assert bool(claim.open_cases) == (claim.lower < claim.upper)
    if truth.radius < claim.upper:
        assert all_of(truth.nearest) <= all_of(claim.open_cases)
    if claim.upper == math.inf:
        assert claim.witness is None
    else:
        assert claim.witness is not None
        assert query.refuted_by(claim.witness)
        assert (claim.witness != query.region.origin).sum() == claim.upper


def expect_honest(answer: Answer, query: tv.Query, truth: Truth) -> None:
    if answer.outcome is Outcome.STOPPED:
        assert answer.open_cases is not None
        assert all_of(truth.cases) <= all_of(answer.open_cases)
    else:
        assert answer.outcome is (Outcome.WITNESS if truth.cases else Outcome.NO_WITNESS)
        assert answer.witness is None or query.refuted_by(answer.witness)


@few_or_many(6, 15)
@pytest.mark.parametrize(("attempt", "climbs"), [(1, 0), (3, 1), (20_000, 100)])
def test_stopped_after_every_number_of_nodes(
    n_cases: int, monkeypatch: pytest.MonkeyPatch, attempt: int, climbs: int
) -> None:
    """The bounds hold and close in; what is left open holds the witness, if there is one.

    ``attempt``: how many nodes a case gets before the radius is raised one flip at a time; ``climbs``: in how
    many cases greedy flips are tried first.
    """
    monkeypatch.setattr(tree, "ATTEMPT", attempt)
    monkeypatch.setattr(search_engine, "SCREEN", attempt)
    monkeypatch.setattr(search_engine, "CLIMBS", climbs)
    monkeypatch.setattr(search_engine, "STEPS", attempt)
    rng = np.random.default_rng(attempt)
    reasons: Counter[object] = Counter()
    for _ in range(n_cases):
        query = knotty_query(rng)
        truth = Truth(query)
        most = nodes(1 << 62)
        whole = nearest_within(query, most)
        assert (whole.lower, whole.upper, whole.stop_reason) == (truth.radius, truth.radius, None)
        limits = list(range(most.used["nodes"] + 2))
        if len(limits) > 40:
            limits = [*limits[:25], *limits[25 :: len(limits) // 15], limits[-1]]
        for limit in limits:
            budget = nodes(limit)
            claim = nearest_within(query, budget)
            expect_bounds(claim, query, truth)
            assert budget.used["nodes"] <= limit
            assert claim.stop_reason in (None, tv.StopReason.NODE_LIMIT)
            reasons[claim.stop_reason] += 1
    assert reasons[tv.StopReason.NODE_LIMIT] > 6 * n_cases


@few_or_many(20, 40)
def test_decisions_stopped_after_every_number_of_nodes(n_cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    stopped = 0
    for _ in range(n_cases):
        query = knotty_query(rng)
        query = replace(query, region=replace(query.region, radius=int(rng.integers(1, 6))))
        truth = Truth(query)
        monkeypatch.setattr(search_engine, "SCREEN", int(rng.choice([1, 1000])))
        monkeypatch.setattr(search_engine, "CLIMBS", int(rng.choice([0, 100])))
        limit, outcome = 0, Outcome.STOPPED
        while outcome is Outcome.STOPPED:
            budget = nodes(limit)
            answer = decide_within(query, budget)
            expect_honest(answer, query, truth)
            assert budget.used["nodes"] <= limit
            outcome = answer.outcome
            if outcome is Outcome.STOPPED:
                assert answer.stop_reason is tv.StopReason.NODE_LIMIT
                assert str(limit) in answer.detail
                stopped += 1
            limit += 1 + limit // 8
    assert stopped > 2 * n_cases


class Undecided:
    """A tree that never ends, and knows that it takes three flips."""

    lower = 3

    def __init__(self, problem: object, draft: object = None) -> None:
        pass

    def search(self, budget: Budget) -> tuple[tree.Found, None]:
        budget.used["nodes"] = budget.nodes
        return tree.Found.OPEN, None


def test_the_bound_of_an_open_tree_is_the_bound_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No more and no less, with and without a witness of greedy flips."""
    monkeypatch.setattr(search_engine, "Tree", Undecided)
    all_three = tv.Model.from_clauses(5, [[1, 2, 3], [4]], [[1, -1]], bias=-1)
    two_ways = tv.Model.from_clauses(9, [[1, 2, 3], [4], [5], [6], [7]], [[4, 1, 1, 1, 1]], bias=-4)
    for model, climbs, upper in ((all_three, 0, math.inf), (two_ways, 1, 4)):
        monkeypatch.setattr(search_engine, "CLIMBS", climbs)
        claim = nearest_within(tv.robustness_query(model, [0] * model.n_features, 5), nodes(5000))
        assert (claim.lower, claim.upper) == (3, upper)
        assert claim.stop_reason is tv.StopReason.NODE_LIMIT


@few_or_many(100, 200)
def test_tiny_cases_with_tiny_budgets(n_cases: int) -> None:
    """All the options of a model and of a region."""
    rng = np.random.default_rng(2)
    for _ in range(n_cases):
        case = random_case(rng)
        for query in (
            tv.robustness_query(case.a, case.x, case.a.n_features, **case.asked),
            tv.similarity_query(case.a, case.b, case.x, case.a.n_features, **case.asked),
        ):
            truth = Truth(query)
            limit = int(rng.integers(0, 4))
            expect_bounds(nearest_within(query, nodes(limit)), query, truth)
            expect_honest(decide_within(query, nodes(limit)), query, truth)


def test_a_search_goes_on_where_it_stopped() -> None:
    """The same nodes in slices of any length as in one go."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        problem = problem_of(query := knotty_query(rng), query.region.radius)
        for case in query.cases[:3]:
            one = part(problem, case, problem.radius)
            at_once, used = tree.Tree(one), nodes(1 << 62)
            expected = at_once.search(used)
            sliced, total = tree.Tree(one), 0
            result: tuple[tree.Found, Solution | None] = (tree.Found.OPEN, None)
            while result[0] is tree.Found.OPEN:
                budget = nodes(int(rng.integers(1, 4)))
                result = sliced.search(budget)
                total += budget.used["nodes"]
            assert result == expected
            assert total == used.used["nodes"]
            assert sliced.lower == at_once.lower


@pytest.fixture(scope="module")
def endless() -> tv.Query:
    """A radius that takes the search hours: long clauses at random, and no witness near."""
    rng = np.random.default_rng(0)
    clauses = [rng.choice(150, 12, replace=False) + 1 for _ in range(300)]
    signed = [[int(f) * int(rng.choice([-1, 1])) for f in clause] for clause in clauses]
    model = tv.Model.from_clauses(150, signed, [[1, -1] * 150], bias=-20)
    query = tv.robustness_query(model, np.zeros(150, int), 40)
    nearest_within(query, nodes(3))  # kernels are compiled
    return query


@pytest.mark.parametrize("limit", [0.001, 0.1, 0.6])
def test_the_clock_stops_a_search(endless: tv.Query, limit: float) -> None:
    start = time.monotonic()
    claim = search_engine.nearest(endless, Deadline(limit))
    assert time.monotonic() - start < limit + 0.5
    assert claim.stop_reason is tv.StopReason.TIMEOUT
    assert f"{limit:g} s" in claim.detail
    assert claim.lower < claim.upper
    start = time.monotonic()
    answer = search_engine.decide(endless, Deadline(limit))
    assert time.monotonic() - start < limit + 0.5
    assert answer.stop_reason is tv.StopReason.TIMEOUT
    assert answer.open_cases == endless.cases


def heavy() -> tuple[tv.Model, list[int]]:
    """Weights and a radius with which bounds can't be held in 64 bits; one flip of feature 0 decides."""
    n, big = 120, 2**31 - 1
    rng = np.random.default_rng(4)
    clauses = [[1], *([f + 1] for f in range(1, n)), *([-f - 1, -1] for f in range(1, n))]
    weights = np.zeros((4, len(clauses)), int)
    weights[0, 1:] = -big + rng.integers(0, 3, size=len(clauses) - 1)
    weights[1:, 1:] = rng.integers(-big, -big // 2, size=(3, len(clauses) - 1))
    weights[1, 0] = big
    model = tv.Model.from_clauses(n, clauses, weights, clamp=5, tie="negative")
    return model, [0] + [1] * (n - 1)


def test_no_unit_for_such_weights() -> None:
    model, x = heavy()
    query = tv.similarity_query(model, model, x, len(x))
    case = max(query.cases, key=len)
    whole = problem_of(query, len(x))
    assert tree.unit_of(part(whole, case, whole.radius)) == 0


def test_without_a_unit_the_search_stops_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """And ``auto`` enumerates, or puts to sat, what is left: what greedy flips do not settle, or all."""
    monkeypatch.setattr(tree, "unit_of", lambda problem: 0)
    monkeypatch.setattr(auto, "sat", lambda query, deadline, evidence=None: specialised.solve(query))
    rng = np.random.default_rng(5)
    by: Counter[str | None] = Counter()
    for _ in range(150):
        case = random_case(rng)
        query = tv.similarity_query(case.a, case.b, case.x, case.a.n_features, **case.asked)
        truth = Truth(query)
        monkeypatch.setattr(search_engine, "greedy", greedy if rng.random() < 0.5 else lambda problem: None)
        enumerates = rng.random() < 0.5
        monkeypatch.setattr(brute, "PATIENCE", 60.0 if enumerates else 0.0)
        rest = "brute" if enumerates else "sat"
        claim, answer = nearest_within(query, nodes(100)), decide_within(query, nodes(100))
        expect_bounds(claim, query, truth)
        expect_honest(answer, query, truth)
        assert claim.stop_reason in (None, tv.StopReason.ENCODING_TOO_LARGE)
        assert answer.stop_reason in (None, tv.StopReason.ENCODING_TOO_LARGE)
        settled = auto.nearest(query, Deadline(None))
        assert (settled.lower, settled.upper) == (truth.radius, truth.radius)
        assert settled.engine == ("search" if claim.stop_reason is None else rest)
        decided = auto.decide(query, Deadline(None))
        assert decided.outcome is (Outcome.WITNESS if truth.cases else Outcome.NO_WITNESS)
        assert decided.engine == ("search" if answer.stop_reason is None else rest)
        by[settled.engine] += 1
        by[decided.engine] += 1
    assert min(by.values()) > 30


def test_more_votes_than_memory_stop_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(problem_module, "MAX_VOTES", 0)
    query = knotty_query(np.random.default_rng(6))
    claim, answer = search_engine.nearest(query, Deadline(None)), search_engine.decide(query, Deadline(None))
    assert claim.stop_reason is answer.stop_reason is tv.StopReason.ENCODING_TOO_LARGE
    assert (claim.lower, claim.upper, claim.open_cases) == (0, math.inf, query.cases)


@pytest.mark.skipif(sys.platform == "win32", reason="needs an alarm")
def test_ctrl_c_ends_a_search(endless: tv.Query) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    query = knotty_query(np.random.default_rng(7))
    radius = Truth(query).radius
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in (0.001, 0.05, 0.3):
            start = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, delay)
            with pytest.raises(KeyboardInterrupt):
                search_engine.nearest(endless, Deadline(60))
            assert time.monotonic() - start < delay + 0.5
            assert search_engine.nearest(query, Deadline(None)).lower == radius  # nothing is left behind
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_many_threads_search_at_once() -> None:
    """The kernels let go of the interpreter; each search has its own arrays."""
    rng = np.random.default_rng(8)
    queries = [knotty_query(rng) for _ in range(30)]
    expected = [search_engine.nearest(query, Deadline(None)).upper for query in queries]
    results: dict[int, list[float]] = {}

    def ask(thread: int) -> None:
        results[thread] = [search_engine.nearest(query, Deadline(None)).upper for query in queries]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [results[number] for number in range(4)] == [expected] * 4
