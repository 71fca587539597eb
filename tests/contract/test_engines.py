"""The same tests for every engine, through the public API: the paper's examples, limits, and crashes."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify.engines import ENGINE_NAMES, auto, brute
from tmverify.engines.engine import Deadline, Outcome
from tmverify.engines.sat.engine import isolated
from tmverify.engines.subprocesses.call import _own_worker

every_engine = pytest.mark.parametrize("engine", ENGINE_NAMES)
every_solver = pytest.mark.parametrize("engine", ["sat", "paper"])
every_limit = pytest.mark.parametrize("engine", ["auto", "search", "sat", "paper"])


@pytest.fixture
def xnor() -> tv.Model:
    """The machine of the paper's Example 1."""
    return tv.Model.from_clauses(2, [[1, 2], [-1, -2], [1, -2], [-1, 2]], [[1, 1, -1, -1]])


@pytest.fixture(scope="module")
def hard() -> tv.Model:
    """A random machine that no engine decides in a minute: 300 clauses of 12 literals over 150 features."""
    rng = np.random.default_rng(0)
    clauses = [rng.choice(150, 12, replace=False) + 1 for _ in range(300)]
    signed = [[int(f) * int(rng.choice([-1, 1])) for f in clause] for clause in clauses]
    model = tv.Model.from_clauses(150, signed, [[1, -1] * 150], bias=-20)
    tv.check_robustness(model, np.zeros(150, int), 20, engine="search")  # its kernels are compiled now
    return model


SMALL = tv.Model.from_clauses(1, [[1], [-1]], [[1, 0], [0, 1], [1, -1]])


def soon_to_sat(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    """Let ``auto`` turn to sat after a node."""
    if engine == "auto":
        monkeypatch.setattr(auto, "NODES", 1)


def test_example_1(xnor: tv.Model) -> None:
    assert xnor.predict([[1, 0]]) == [0]
    assert xnor.scores([[1, 0]]) == [[-1]]


@every_engine
def test_example_3_with_our_reading(xnor: tv.Model, engine: str) -> None:
    """The paper supposes M(0, 0) = 0; the machine itself says 1, and either flip changes that."""
    v = tv.check_robustness(xnor, [0, 0], 1, engine=engine)
    assert v.status == "violated"
    assert v.decisions == (1, 0)
    assert v.witness is not None
    assert v.flips is not None
    assert v.witness.dtype == np.uint8
    assert len(v.flips) == 1
    assert v.witness[v.flips[0]] == 1
    assert v.engine == ("search" if engine == "auto" else engine)
    assert v.stop_reason is None


@every_engine
def test_radius_zero_holds(xnor: tv.Model, engine: str) -> None:
    v = tv.check_robustness(xnor, [0, 0], 0, engine=engine)
    assert v.status is tv.Status.HOLDS
    assert v.witness is None
    assert v.flips is None
    assert v.decisions is None


@every_engine
def test_equivalence(xnor: tv.Model, engine: str) -> None:
    shuffled = tv.Model.from_clauses(2, [[-1, 2], [1, -2], [2, 1], [-2, -1]], [[-1, -1, 1, 1]])
    assert tv.check_equivalence(xnor, shuffled, engine=engine).status == "holds"
    strict = tv.Model.from_clauses(2, [[1, 2], [-1, -2], [1, -2]], [[1, 1, -1]])
    v = tv.check_equivalence(xnor, strict, engine=engine)
    assert v.status == "violated"
    assert v.witness is not None
    assert v.witness.tolist() == [0, 1]
    assert v.decisions == (0, 1)
    assert v.flips is None


@every_engine
def test_tie_rules_differ_exactly_on_ties(engine: str) -> None:
    positive = tv.Model.from_clauses(1, [[1]], [[1]], tie="positive")
    negative = tv.Model.from_clauses(1, [[1]], [[1]], tie="negative")
    v = tv.check_equivalence(positive, negative, engine=engine)
    assert v.witness is not None
    assert v.witness.tolist() == [0]
    assert v.decisions == (1, 0)


@every_engine
def test_labels_and_scopes(engine: str) -> None:
    m = tv.Model.from_clauses(3, [[1], [2], [3]], np.eye(3, dtype=int), classes=["a", "b", "c"])
    v = tv.check_robustness(m, [1, 0, 0], 1, engine=engine)
    assert v.status == "holds"  # a tie keeps the first class
    v = tv.check_robustness(m, [1, 0, 0], 2, engine=engine)
    assert v.status == "violated"
    assert v.decisions is not None
    assert v.decisions[0] == "a"
    single = tv.check_robustness(m, [1, 0, 0], 3, scope="a", engine=engine)
    assert single.status == "holds"  # its score is never negative
    assert tv.check_similarity(m, m, [1, 0, 0], 3, engine=engine).status == "holds"


@every_engine
def test_direction_and_features(xnor: tv.Model, engine: str) -> None:
    assert tv.check_robustness(xnor, [0, 0], 2, direction="remove", engine=engine).status == "holds"
    assert tv.check_robustness(xnor, [0, 0], 2, direction="add", engine=engine).status == "violated"
    assert tv.check_robustness(xnor, [0, 0], 2, features=[False, False], engine=engine).status == "holds"
    v = tv.check_robustness(xnor, [0, 0], 2, features=[False, True], engine=engine)
    assert v.flips is not None
    assert v.flips.tolist() == [1]


@every_limit
def test_weights_too_large_to_count_never_become_an_answer(engine: str) -> None:
    """The paper's way of counting cannot hold such weights; the others add in binary."""
    big = 2**31 - 1
    m = tv.Model.from_clauses(3, [[1], [2], [3]], [[big, big - 1, -(big - 2)]])
    v = tv.check_robustness(m, [0, 0, 1], 1, engine=engine)
    if engine == "paper":
        assert v.status == "unknown"
        assert v.stop_reason is tv.StopReason.ENCODING_TOO_LARGE
    else:
        assert v.status == "violated"
        assert tv.check_robustness(m, [1, 1, 0], 1, engine=engine).status == "holds"


@every_limit
@pytest.mark.parametrize("limit", [0.05, 0.3])
def test_time_limits_hold(hard: tv.Model, engine: str, limit: float) -> None:
    start = time.monotonic()
    v = tv.check_robustness(hard, np.zeros(150, int), 40, engine=engine, timeout=limit)
    assert time.monotonic() - start < limit + 1
    assert v.status is tv.Status.UNKNOWN
    assert v.stop_reason is tv.StopReason.TIMEOUT
    assert v.witness is None


def test_brute_refuses_large_regions(hard: tv.Model) -> None:
    v = tv.check_robustness(hard, np.zeros(150, int), 40, engine="brute")
    assert v.status == "unknown"
    assert v.stop_reason is tv.StopReason.REGION_TOO_LARGE
    assert "1048576" in v.detail


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@linux
@pytest.mark.parametrize("engine", ["sat", "paper", "auto"])
def test_a_killed_solver_is_unknown_and_the_next_question_works(
    monkeypatch: pytest.MonkeyPatch, hard: tv.Model, engine: str
) -> None:
    soon_to_sat(monkeypatch, engine)
    tv.check_robustness(hard, np.zeros(150, int), 0, engine=engine)  # the worker is warm now

    worker = _own_worker().process.pid

    def kill_when_busy() -> None:
        before = cpu_seconds(worker)
        while cpu_seconds(worker) < before + 0.1:
            time.sleep(0.02)
        os.kill(worker, signal.SIGKILL)

    killer = threading.Thread(target=kill_when_busy)
    killer.start()
    v = tv.check_robustness(hard, np.zeros(150, int), 40, engine=engine, timeout=60)
    killer.join()
    assert v.status is tv.Status.UNKNOWN
    assert v.stop_reason is tv.StopReason.CRASHED
    assert v.engine == ("sat" if engine == "auto" else engine)
    assert tv.check_robustness(hard, np.zeros(150, int), 0, engine=engine).status == "holds"


@pytest.mark.parametrize(
    "failure", ["raise_error", "exhaust_memory", "exit_at_once", "talk_and_answer_nonsense"]
)
def test_a_failing_solver_is_unknown(xnor: tv.Model, failure: str) -> None:
    engine = isolated(f"support.failing_solvers:{failure}")
    answer = engine(tv.robustness_query(xnor, [0, 0], 1), Deadline(30.0))
    assert answer.outcome is Outcome.STOPPED
    expected = tv.StopReason.OUT_OF_MEMORY if failure == "exhaust_memory" else tv.StopReason.CRASHED
    assert answer.stop_reason is expected
    assert answer.detail


@linux
def test_nothing_is_left_behind_when_the_asking_process_is_killed(tmp_path: Path) -> None:
    """A worker in the middle of a long solve dies with its owner, even by kill -9."""
    script = tmp_path / "ask.py"
    script.write_text(
        "import support.failing_solvers, tmverify as tv\n"
        "from tmverify.engines.sat.engine import isolated\n"
        "from tmverify.engines.engine import Deadline\n"
        "m = tv.Model.from_clauses(1, [[1]], [[1]])\n"
        "isolated('support.failing_solvers:spin')(tv.robustness_query(m, [0], 1), Deadline(60.0))\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1] / "support"), *sys.path])
    env = {**os.environ, "PYTHONPATH": path, "SPIN_PID": str(tmp_path / "pid")}
    owner = subprocess.Popen([sys.executable, str(script)], env=env)
    try:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert owner.poll() is None
            time.sleep(0.05)
        worker = int((tmp_path / "pid").read_text())
    finally:
        owner.kill()
        owner.wait()
    for _ in range(100):
        if not Path(f"/proc/{worker}").exists() or " Z " in Path(f"/proc/{worker}/stat").read_text():
            return
        time.sleep(0.05)
    pytest.fail("the worker outlived its owner")


@linux
@pytest.mark.parametrize("engine", ["sat", "search"])
def test_a_question_in_the_middle_of_a_question_gets_its_own_answer(xnor: tv.Model, engine: str) -> None:
    """Asked from a signal handler, both used to read one worker's pipe, and answers changed places."""
    tv.check_robustness(xnor, [0, 0], 0, engine=engine)  # all is imported: a handler can't do that half-way
    inner: list[str] = []
    asking = False

    def interrupt(*_: object) -> None:
        nonlocal asking
        if not asking:
            asking = True
            inner.append(tv.check_robustness(xnor, [0, 0], 1, timeout=30, engine=engine).status)
            asking = False

    outer: list[str] = []
    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
        end = time.monotonic() + 1
        while time.monotonic() < end:
            outer.append(tv.check_robustness(xnor, [0, 0], 0, timeout=30, engine=engine).status)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert set(outer) == {"holds"}
    assert set(inner) == {"violated"}


@linux
@pytest.mark.parametrize("engine", ["sat", "search", "auto"])
def test_an_interrupted_question_leaves_no_busy_worker(
    monkeypatch: pytest.MonkeyPatch, hard: tv.Model, xnor: tv.Model, engine: str
) -> None:
    soon_to_sat(monkeypatch, engine)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    old = signal.signal(signal.SIGALRM, interrupt)
    try:
        for delay in (0.01, 0.1, 0.2):
            signal.setitimer(signal.ITIMER_REAL, delay)
            with pytest.raises(KeyboardInterrupt):
                tv.check_robustness(hard, np.zeros(150, int), 40, timeout=60, engine=engine)
            for after in ("sat", engine):
                v = tv.check_robustness(xnor, [0, 0], 1, timeout=30, engine=after)
                assert v.status == "violated"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def test_the_users_folder_and_startup_files_do_no_harm(tmp_path: Path) -> None:
    """A json.py in the working directory, and a start-up file that prints."""
    (tmp_path / "json.py").write_text("x = 1")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("print('hello', end='')")
    code = (
        "import tmverify as tv; m = tv.Model.from_clauses(1, [[1]], [[1]], tie='negative'); "
        "v = tv.check_robustness(m, [1], 1, engine='sat'); print(v.status, v.detail)"
    )
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    said = subprocess.check_output([sys.executable, "-P", "-c", code], cwd=tmp_path, env=env, text=True)
    assert said.strip() == "helloviolated"


@every_engine
@pytest.mark.parametrize("forever", [1e10, 10**400, float("inf"), None])
def test_endless_limits(xnor: tv.Model, engine: str, forever: float | None) -> None:
    assert tv.check_robustness(xnor, [0, 0], 1, timeout=forever, engine=engine).status == "violated"


def test_brute_looks_at_the_clock_on_large_models() -> None:
    rng = np.random.default_rng(0)
    clauses = rng.integers(1, 785, size=(5000, 60)).tolist()
    model = tv.Model.from_clauses(784, clauses, [[1, -1] * 2500], bias=2500)
    v = tv.check_robustness(model, np.zeros(784, int), 2, engine="brute", timeout=0.2)
    assert v.stop_reason is tv.StopReason.TIMEOUT
    assert v.seconds < 1.2


def test_a_flip_counter_too_large_is_refused() -> None:
    model = tv.Model.from_clauses(20000, [[1]], [[1]])
    v = tv.check_robustness(model, np.zeros(20000, int), 10000, engine="paper")
    assert v.stop_reason is tv.StopReason.ENCODING_TOO_LARGE


def test_many_classes_within_the_limit() -> None:
    """4,032 cases of up to 126 constraints: the clock is looked at between them."""
    tv.check_equivalence(SMALL, SMALL)  # kernels are compiled now
    tv.similarity_radius(SMALL, SMALL, [0])
    rng = np.random.default_rng(0)
    clauses = rng.integers(1, 9, size=(64, 3)).tolist()
    model = tv.Model.from_clauses(8, clauses, rng.integers(-3, 4, size=(64, 64)))
    x = [0] * 8
    for ask in (
        lambda: tv.check_equivalence(model, model, timeout=0.5),
        lambda: tv.check_similarity(model, model, x, 8, timeout=0.5),
        lambda: tv.similarity_radius(model, model, x, timeout=0.5),
    ):
        start = time.monotonic()
        ask()
        assert time.monotonic() - start < 10  # not the 4,032 cases one after another
    wide = tv.Model.from_clauses(8, clauses, rng.integers(-3, 4, size=(65, 64)))
    with pytest.raises(tv.InvalidInputError, match=r"class by class \(scope=<class>\)"):
        tv.check_equivalence(wide, wide)
    assert tv.check_similarity(wide, wide, x, 1, scope=64).status == "holds"


@pytest.mark.parametrize("engine", ["sat", "search", "auto"])
def test_threads_ask_at_the_same_time(monkeypatch: pytest.MonkeyPatch, xnor: tv.Model, engine: str) -> None:
    soon_to_sat(monkeypatch, engine)
    results: list[str] = []

    def ask() -> None:
        for epsilon in (0, 1, 0, 1):
            results.append(tv.check_robustness(xnor, [0, 0], epsilon, engine=engine).status)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == ["holds"] * 8 + ["violated"] * 8


@every_engine
def test_radius(xnor: tv.Model, engine: str) -> None:
    r = tv.robustness_radius(xnor, [0, 0], engine=engine)
    assert (r.radius, r.lower, r.upper, r.exact, str(r)) == (1, 1, 1, True, "1")
    assert r.decisions == (1, 0)
    assert r.flips is not None
    assert r.witness is not None
    assert r.witness.tolist() == [int(f in r.flips) for f in range(2)]
    assert r.engine == ("search" if engine == "auto" else engine)
    assert r.stop_reason is None


@every_engine
def test_radius_within_a_region(engine: str) -> None:
    """Two of three must be set: which features may change, and how, decides how many flips it takes."""
    m = tv.Model.from_clauses(3, [[1], [2], [3]], [[1, 1, 1]], bias=-2)
    assert tv.robustness_radius(m, [1, 1, 1], engine=engine).radius == 2
    assert tv.robustness_radius(m, [1, 1, 0], engine=engine).radius == 1
    only = tv.robustness_radius(m, [1, 1, 1], features=[0, 1, 1], engine=engine)
    assert only.flips is not None
    assert only.flips.tolist() == [1, 2]
    for none in (dict[str, Any](features=[0, 0, 1]), dict[str, Any](direction="add")):
        r = tv.robustness_radius(m, [1, 1, 1], engine=engine, **none)
        assert (r.radius, r.witness, r.flips, r.decisions, str(r)) == (math.inf, None, None, None, "inf")


@every_engine
def test_radius_of_a_single_machine(engine: str) -> None:
    m = tv.Model.from_clauses(3, [[1], [2], [3]], [[1, 0, 0], [0, 1, 1]], bias=[0, -1], classes=["a", "b"])
    assert tv.robustness_radius(m, [1, 0, 0], engine=engine).radius == 3  # a tie keeps the first class
    assert tv.robustness_radius(m, [1, 0, 0], scope="b", engine=engine).radius == 1
    assert tv.robustness_radius(m, [1, 0, 0], scope="a", engine=engine).radius == math.inf


@every_engine
def test_the_nearest_disagreement(engine: str) -> None:
    both = tv.Model.from_clauses(3, [[1, 2]], [[1]], bias=-1)
    all_three = tv.Model.from_clauses(3, [[1, 2, 3]], [[1]], bias=-1)
    for x, radius in (([1, 1, 0], 0), ([0, 1, 0], 1), ([0, 0, 1], 3)):
        r = tv.similarity_radius(both, all_three, x, engine=engine)
        assert r.radius == radius
        assert r.witness is not None
        assert r.witness.tolist() == [1, 1, 0]
        assert r.decisions == (1, 0)
    assert (
        tv.similarity_radius(both, all_three, [0, 0, 0], features=[0, 1, 1], engine=engine).radius == math.inf
    )
    assert tv.similarity_radius(both, both, [0, 0, 0], engine=engine).radius == math.inf


@every_limit
@pytest.mark.parametrize("limit", [0.05, 0.3])
def test_time_limits_of_a_radius(hard: tv.Model, engine: str, limit: float) -> None:
    """No input within 20 flips is decided otherwise, which the search proves at once."""
    start = time.monotonic()
    r = tv.robustness_radius(hard, np.zeros(150, int), engine=engine, timeout=limit)
    assert time.monotonic() - start < limit + 1
    assert r.radius is None
    assert not r.exact
    assert r.stop_reason is tv.StopReason.TIMEOUT
    assert r.upper > 20
    assert r.lower < r.upper
    assert "?" in str(r) or str(r).startswith(f"{r.lower}..")


def test_brute_knows_the_radius_as_far_as_it_can_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two flips of 20 are 211 inputs, three 1,351."""
    monkeypatch.setattr(brute, "MAX_INPUTS", 1000)
    for clause, radius in (([1, 2], 2), ([1, 2, 3], None)):
        model = tv.Model.from_clauses(20, [clause], [[1]], bias=-1)
        r = tv.robustness_radius(model, np.zeros(20, int), engine="brute")
        assert r.radius == radius
    assert (r.lower, r.upper, str(r)) == (3, math.inf, "3..?")
    assert r.stop_reason is tv.StopReason.REGION_TOO_LARGE
