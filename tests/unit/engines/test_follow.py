"""Following a question: what is told is true, and what is withdrawn ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.tiny import all_inputs, random_case
from tmverify.engines.engine import Deadline
from tmverify.engines.follow import Follower, Withdrawn, followed_by
from tmverify.engines.oracle import oracle_for
from tmverify.engines.subprocesses import call
from tmverify.properties import robustness_query


def parity(n: int) -> tv.Model:
    """Class 1 iff an odd number of features is set: each input has a clause of its own."""
    inputs = all_inputs(n)
    clauses = [[int(i + 1 if bit else -i - 1) for i, bit in enumerate(row)] for row in inputs]
    return tv.Model.from_clauses(n, clauses, [np.where(inputs.sum(axis=1) % 2, 1, -1).tolist()])


@pytest.mark.parametrize("seed", range(60))
def test_bounds_that_are_told_hold(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = random_case(rng)
    options: dict[str, Any] = {"engine": ["auto", "search", "sat"][seed % 3], **case.options}
    exact = tv.robustness_radius(case.a, case.x, **{**options, "engine": "brute"}).radius
    told: list[tuple[float, float]] = []

    def hear(lower: float, upper: float, witness: Any) -> None:
        told.append((lower, upper))
        assert (witness is None) == (upper == np.inf)
        if witness is not None:
            assert (witness != case.x).sum() == upper

    with followed_by(Follower(hear)):
        found = tv.robustness_radius(case.a, case.x, **options).radius
    assert exact is not None
    assert found == exact
    assert all(lower <= exact <= upper for lower, upper in told)
    lowers, uppers = [lower for lower, _ in told], [upper for _, upper in told]
    assert lowers == sorted(lowers)
    assert uppers == sorted(uppers, reverse=True)


def test_something_is_told_before_the_end() -> None:
    told: list[tuple[float, float]] = []
    with followed_by(Follower(lambda lower, upper, witness: told.append((lower, upper)))):
        tv.robustness_radius(parity(4), [0, 0, 0, 0])
    assert told[-1][1] == 1


@pytest.mark.parametrize("engine", ["search", "sat", "brute"])
def test_a_question_that_is_withdrawn_ends(engine: str) -> None:
    rng = np.random.default_rng(3)
    n = 40 if engine != "brute" else 16
    clauses = [(rng.choice(n, 12, replace=False) + 1) * rng.choice([-1, 1], 12) for _ in range(600)]
    votes = rng.integers(-9, 10, len(clauses)).tolist()
    model = tv.Model.from_clauses(n, [clause.tolist() for clause in clauses], [votes], bias=-4)
    x = rng.integers(0, 2, n)
    withdraw_from(lambda: tv.check_robustness(model, x, epsilon=n, engine=engine, timeout=60))


def test_an_explanation_can_be_withdrawn() -> None:
    model = parity(12)
    withdraw_from(lambda: tv.explain(model, [0] * 12, timeout=60))


def withdraw_from(ask: Callable[[], object]) -> None:
    """Ask again and again in a thread, until the question is withdrawn."""
    follower = Follower()
    ended = threading.Event()

    def work() -> None:
        try:
            with followed_by(follower):
                while True:
                    ask()
        except Withdrawn:
            ended.set()

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    assert not ended.is_set()
    follower.withdraw()
    thread.join(timeout=20)  # benchmarks/studio.py measures how soon
    assert ended.is_set()


def test_a_solver_that_waits_is_left_alone() -> None:
    call.call("time:sleep", (0,), Deadline(60))
    worker = call._own_worker()
    follower = Follower()

    def ask() -> None:
        deadline = Deadline(60)
        follower.withdraw()
        call.call("time:sleep", (60,), deadline)  # it is not sent

    is_withdrawn(follower, ask)
    assert call._own_worker() is worker


def test_a_solver_that_works_is_ended() -> None:
    call.call("time:sleep", (0,), Deadline(60))
    worker = call._own_worker()
    follower = Follower()
    start = time.monotonic()

    def ask() -> None:
        threading.Timer(0.3, follower.withdraw).start()
        call.call("time:sleep", (60,), Deadline(60))

    is_withdrawn(follower, ask)
    assert time.monotonic() - start < 20
    assert call._own_worker() is not worker


def test_a_large_model_is_not_prepared_for_nobody() -> None:
    model = parity(4)
    follower = Follower()
    query = robustness_query(model, [0] * 4, None)
    oracle_for(query, "search")

    def prepare() -> None:
        follower.withdraw()
        oracle_for(query, "search")
        raise AssertionError("it was prepared")

    is_withdrawn(follower, prepare)


def is_withdrawn(follower: Follower, work: Callable[[], object]) -> None:
    with pytest.raises(Withdrawn), followed_by(follower):
        work()


def test_what_is_withdrawn_before_it_begins_does_not_begin() -> None:
    follower = Follower()
    follower.withdraw()
    with pytest.raises(Withdrawn), followed_by(follower):
        raise AssertionError("it began")


def test_nothing_is_followed_afterwards() -> None:
    follower = Follower()
    model = tv.Model.from_clauses(2, [[1]], [[1]], bias=-1)
    with followed_by(follower):
        tv.check_robustness(model, [1, 0], epsilon=1)
    follower.withdraw()
    assert tv.check_robustness(model, [1, 0], epsilon=1).status is tv.Status.VIOLATED
