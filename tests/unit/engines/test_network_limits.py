"""An engine of networks that is stopped answers UNKNOWN with the reason, and its bounds so far are true."""

from __future__ import annotations

import math
import tempfile
import time
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.network_solvers import call_here
from support.tiny_networks import NetworkCase, network_query, random_network_case
from tmcheck import limits
from tmverify.bnn import BnnModel
from tmverify.engines import engine_for
from tmverify.engines.engine import Deadline
from tmverify.engines.network import engine as network_engine
from tmverify.engines.network.shell import Surroundings
from tmverify.engines.subprocesses import call as subprocess_call
from tmverify.engines.subprocesses.call import Failure
from tmverify.properties.trust import NETWORK_REPLAYED

ENGINES = ("auto", "search", "sat")
NEVER = Deadline(None)


def majority(n: int, copies: int = 1) -> BnnModel:
    """Class 1 iff more than half of ``n`` bits are 1; by as many neurons as wanted."""
    rows = np.ones((copies, n), int)
    return BnnModel.from_layers([(rows, [n // 2 + 1] * copies)], [[-1] * copies, [1] * copies])


def wide(n: int, size: int) -> BnnModel:
    """A rival needs two neurons that no few flips change together, which intervals do not see."""
    rng = np.random.default_rng(n + size)
    traps = np.full((2, n), -1)
    traps[0, :3] = traps[1, 3:6] = 1
    noise = rng.choice([-1, 1], (size, n))
    thresholds = np.concatenate([[n, n], (noise < 0).sum(axis=1) + rng.integers(-1, 3, size)])
    same = rng.choice([-1, 1], size)
    return BnnModel.from_layers(
        [(np.concatenate([traps, noise]), thresholds)], [[-1, -1, *same], [1, 1, *same]]
    )


def stubborn(n: int, size: int) -> BnnModel:
    """Two blocks of neurons that are mostly open, and a class that leads by far."""
    rng = np.random.default_rng(0)
    first = rng.choice([-1, 1], (size, n))
    thresholds = (first < 0).sum(axis=1) + rng.integers(-2, 4, size)
    blocks = [(first, thresholds), (rng.choice([-1, 1], (size, size)), [size // 2] * size)]
    return BnnModel.from_layers(blocks, rng.choice([-1, 1], (2, size)), bias=[25, 0])


@pytest.fixture(scope="module")
def open_case() -> NetworkCase:
    """A network and an input of radius 3, whose first two shells intervals do not close."""
    rng = np.random.default_rng(7)
    while True:
        case = random_network_case(rng)
        query = case.query(len(case.x))
        around = Surroundings(query)
        if case.options or engine_for("brute", query).nearest(query, NEVER).upper != 3:
            continue
        if not any(around.shell(k).safe or around.shell(k).certain for k in (1, 2)):
            return case


def test_more_neurons_than_a_word_has_bits() -> None:
    """The search says so; auto leaves them to the solver, in its own process."""
    model, x = majority(9, copies=70), np.arange(9) < 3
    verdict = tv.check_robustness(model, x, 2, engine="search")
    assert verdict.status is tv.Status.UNKNOWN
    assert verdict.stop_reason is tv.StopReason.REGION_TOO_LARGE
    assert verdict.detail == "70 neurons of the first block may change within 2 flips; the search takes 63"
    radius = tv.robustness_radius(model, x, engine="search")
    assert (radius.lower, radius.upper, radius.stop_reason) == (2, math.inf, tv.StopReason.REGION_TOO_LARGE)
    for engine in ("auto", "sat"):
        assert tv.check_robustness(model, x, 2, engine=engine).status is tv.Status.VIOLATED
        assert tv.robustness_radius(model, x, engine=engine).radius == 2


def test_more_features_than_a_float_counts_sets_of() -> None:
    """comb(2000, 1000) is beyond a float; nothing changes this network's mind."""
    n = 2000
    model = BnnModel.from_layers([(np.ones((2, n), int), [0, n // 2])], [[1, 1], [-1, -1]], bias=[5, 0])
    for engine in ENGINES:
        assert tv.robustness_radius(model, np.zeros(n, int), engine=engine).radius == math.inf
    shell = Surroundings(network_query(majority(n), np.zeros(n, int), n)).shell(n // 2)
    assert network_engine.seconds_for_search(shell) < math.inf


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("ask", ["decide", "nearest"])
def test_a_deadline_that_has_passed(engine: str, ask: str) -> None:
    query = tv.robustness_query(majority(9), np.zeros(9, int), 9)
    answer = getattr(engine_for(engine, query), ask)(query, Deadline(0.0))
    assert answer.stop_reason is tv.StopReason.TIMEOUT
    assert "no answer within 0 s" in answer.detail
    assert answer.witness is None


@pytest.mark.parametrize("engine", ENGINES)
def test_deadlines_hold(engine: str) -> None:
    """A network that takes each of them minutes."""
    model, x = stubborn(300, 60), np.zeros(300, int)
    tv.check_robustness(model, x, 0, engine=engine)  # whatever is done once
    for _ in range(2):
        start = time.monotonic()
        verdict = tv.check_robustness(model, x, 8, engine=engine, timeout=0.2)
        assert time.monotonic() - start < 5
        assert (verdict.status, verdict.stop_reason) == (tv.Status.UNKNOWN, tv.StopReason.TIMEOUT)
    radius = tv.robustness_radius(model, x, engine=engine, timeout=0.2)
    assert radius.stop_reason is tv.StopReason.TIMEOUT
    assert 1 <= radius.lower < radius.upper


def test_a_clock_is_looked_at_where_intervals_close_every_shell() -> None:
    n = 3000
    model = BnnModel.from_layers([(np.ones((50, n), int), [n // 2] * 50)], [[1] * 50, [1] * 50], bias=[1, 0])
    radius = tv.robustness_radius(model, np.zeros(n, int), timeout=0.05)
    assert radius.stop_reason is tv.StopReason.TIMEOUT
    assert 1 <= radius.lower < n


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (RuntimeError("a bug"), tv.StopReason.CRASHED),
        (MemoryError(), tv.StopReason.OUT_OF_MEMORY),
        (RecursionError(), tv.StopReason.CRASHED),
        (OSError(28, "No space left on device"), tv.StopReason.CRASHED),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    ("engine", "place"),
    [
        ("auto", (network_engine, "Surroundings")),
        ("search", (network_engine, "enumerate_shell")),
        ("auto", (network_engine, "hunt")),
        ("sat", (network_engine, "call")),
        ("sat", (tempfile, "TemporaryDirectory")),
    ],
    ids=["shells", "search", "hunt", "solver", "folder"],
)
def test_a_crash_is_no_answer(
    engine: str,
    place: tuple[Any, str],
    error: Exception,
    reason: tv.StopReason,
    open_case: NetworkCase,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, x = open_case.network, open_case.x
    tv.check_robustness(model, x, 0, engine=engine)  # kernels are compiled

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(network_engine, "LONG", 0.0)
    monkeypatch.setattr(network_engine, "MOST_OPEN", 0)
    monkeypatch.setattr(network_engine, "FURTHER", -1)  # nothing is found before
    monkeypatch.setattr(*place, fail)
    verdict = tv.check_robustness(model, x, 3, engine=engine, certificate=True)
    assert (verdict.status, verdict.stop_reason) == (tv.Status.UNKNOWN, reason)
    assert verdict.detail
    assert verdict.certificate is None
    assert verdict.trusts == ()
    radius = tv.robustness_radius(model, x, engine=engine)
    assert (radius.lower, radius.upper, radius.stop_reason) == (1, math.inf, reason)
    assert "tmverify.engines.search" not in " ".join(radius.trusts)


@pytest.mark.parametrize(
    ("engine", "place"),
    [
        ("auto", (network_engine, "Surroundings")),
        ("search", (network_engine, "enumerate_shell")),
        ("sat", (network_engine, "call")),
    ],
    ids=["shells", "search", "solver"],
)
def test_ctrl_c_passes_through(
    engine: str, place: tuple[Any, str], open_case: NetworkCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    tv.check_robustness(open_case.network, open_case.x, 0, engine=engine)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(network_engine, "MOST_OPEN", 0)
    monkeypatch.setattr(*place, interrupt)
    with pytest.raises(KeyboardInterrupt):
        tv.check_robustness(open_case.network, open_case.x, 3, engine=engine)
    with pytest.raises(KeyboardInterrupt):
        tv.robustness_radius(open_case.network, open_case.x, engine=engine)


@pytest.mark.parametrize(
    "failure", ["raise_error", "exhaust_memory", "exit_at_once", "talk_and_answer_nonsense"]
)
def test_a_solver_that_fails_is_unknown(
    failure: str, open_case: NetworkCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def misdirected(function: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
        return subprocess_call.call(f"support.failing_solvers:{failure}", arguments[:1], deadline)

    monkeypatch.setattr(network_engine, "call", misdirected)
    verdict = tv.check_robustness(open_case.network, open_case.x, 3, engine="sat")
    assert verdict.status is tv.Status.UNKNOWN
    expected = tv.StopReason.OUT_OF_MEMORY if failure == "exhaust_memory" else tv.StopReason.CRASHED
    assert verdict.stop_reason is expected
    assert verdict.detail


@pytest.mark.parametrize("engine", ["auto", "sat"])
def test_shells_decided_before_a_failure_count(
    engine: str, open_case: NetworkCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(function: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
        if arguments[0].flips > 1:
            return Failure(tv.StopReason.CRASHED, "as planned")
        return call_here(function, arguments, deadline)

    monkeypatch.setattr(network_engine, "call", call)
    monkeypatch.setattr(network_engine, "MOST_OPEN", 0)
    monkeypatch.setattr(network_engine, "RATE", 1e-6)  # auto leaves everything to the solver
    monkeypatch.setattr(network_engine, "LONG", math.inf)
    radius = tv.robustness_radius(open_case.network, open_case.x, engine=engine)
    assert (radius.lower, radius.upper, radius.detail) == (2, math.inf, "as planned")
    assert tv.check_robustness(open_case.network, open_case.x, 1, engine=engine).status is tv.Status.HOLDS


def test_what_the_hunt_found_is_kept(open_case: NetworkCase, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Any:
        return Failure(tv.StopReason.TIMEOUT, "as planned")

    monkeypatch.setattr(network_engine, "call", fail)
    monkeypatch.setattr(network_engine, "MOST_OPEN", 0)
    monkeypatch.setattr(network_engine, "RATE", 1e-6)
    monkeypatch.setattr(network_engine, "LONG", 0.0)
    radius = tv.robustness_radius(open_case.network, open_case.x)
    assert (radius.lower, radius.upper, radius.stop_reason) == (1, 3, tv.StopReason.TIMEOUT)
    assert radius.exact is False
    verdict = tv.check_robustness(open_case.network, open_case.x, 3)
    assert verdict.status is tv.Status.VIOLATED
    assert verdict.trusts == NETWORK_REPLAYED
    assert tv.check_robustness(open_case.network, open_case.x, 2).status is tv.Status.UNKNOWN


def test_a_counterexample_that_is_none_is_refused(
    open_case: NetworkCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lie(function: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
        return arguments[0].features[: arguments[0].flips], {}

    monkeypatch.setattr(network_engine, "call", lie)
    verdict = tv.check_robustness(open_case.network, open_case.x, 2, engine="sat")
    assert (verdict.status, verdict.stop_reason) == (tv.Status.UNKNOWN, tv.StopReason.REJECTED)
    radius = tv.robustness_radius(open_case.network, open_case.x, engine="sat")
    assert (radius.lower, radius.stop_reason) == (0, tv.StopReason.REJECTED)


def test_search_and_sat_that_disagree_are_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where evidence is wanted and the checker does not enumerate, a proof is asked for, and here refused."""

    def lie(function: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
        return arguments[0].features[: arguments[0].flips], {}

    monkeypatch.setattr(network_engine, "call", lie)
    monkeypatch.setattr(network_engine, "CHECKED_SETS", 0)
    monkeypatch.setattr(network_engine, "CHECKED_OPEN", 0)
    verdict = tv.check_robustness(wide(20, 10), np.zeros(20, int), 3, engine="search", certificate=True)
    assert (verdict.status, verdict.stop_reason) == (tv.Status.UNKNOWN, tv.StopReason.REJECTED)


def test_a_formula_too_large_is_unknown(open_case: NetworkCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_engine, "MAX_LITERALS", 3)
    verdict = tv.check_robustness(open_case.network, open_case.x, 3, engine="sat")
    assert verdict.status is tv.Status.UNKNOWN
    assert verdict.stop_reason is tv.StopReason.ENCODING_TOO_LARGE
    assert "more than 3 literals" in verdict.detail


@pytest.mark.parametrize("engine", ["search", "auto"])
def test_the_checker_follows_what_intervals_closed(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks at patterns that the search need not: where they are many, a proof is written."""
    monkeypatch.setattr(network_engine, "call", call_here)
    monkeypatch.setattr(network_engine, "CHECKED_PATTERNS", 800)
    monkeypatch.setattr(limits, "MOST_PATTERNS", 1000)
    for n in (15, 40):
        model, x = wide(n, 30), np.zeros(n, int)
        plain = tv.check_robustness(model, x, 3, engine="search")
        assert plain.stats["closed_by_intervals"] > 0
        verdict = tv.check_robustness(model, x, 3, engine=engine, certificate=True)
        assert verdict.status is tv.Status.HOLDS
        assert verdict.certificate is not None
        verdict.certificate.check(model)  # type: ignore[arg-type]
        text = b"".join(verdict.certificate.blocks())  # type: ignore[attr-defined]
        assert (b"shell 3 lrat" in text) == (n == 40)
        assert (b"shell 3 enumerate" in text) == (n == 15)


def test_without_a_proof_an_answer_has_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_engine, "CHECKED_SETS", 0)
    monkeypatch.setattr(network_engine, "CHECKED_OPEN", 0)
    monkeypatch.setattr(network_engine, "CHECKED_LITERALS", 0)
    verdict = tv.check_robustness(wide(20, 10), np.zeros(20, int), 3, engine="search", certificate=True)
    assert verdict.status is tv.Status.HOLDS
    assert verdict.certificate is None
    assert verdict.detail.startswith("no certificate: more inputs than the checker enumerates")
    assert any("engines.network.patterns" in part for part in verdict.trusts)


def test_answers_that_need_no_shell_rest_on_no_engine_of_machines() -> None:
    for verdict in (
        tv.check_robustness(majority(5), [0] * 5, 0),
        tv.check_robustness(majority(5), [0] * 5, 5, features=[0] * 5, engine="sat"),
        tv.check_robustness(majority(5), [0] * 5, 2),
    ):
        assert verdict.status is tv.Status.HOLDS
        assert verdict.trusts == ("intervals (tmverify.engines.network.shell)", "NumPy")


def test_brute_force_that_stops_rests_on_the_evaluator_of_networks() -> None:
    """Of more inputs than it looks at, it has seen one."""
    radius = tv.robustness_radius(majority(41), np.ones(41, int), engine="brute")
    assert (radius.lower, radius.stop_reason) == (1, tv.StopReason.REGION_TOO_LARGE)
    assert radius.trusts == NETWORK_REPLAYED
