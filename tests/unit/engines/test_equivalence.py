"""``check_equivalence`` as a whole: right on tiny models, quick on large ones, within its limits."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import pytest

import tmverify as tv
from support.batteries import battery, few_or_many, first
from support.copies import CHANGES, REWRITINGS, Copy, random_large_model, remade
from support.tiny import all_inputs, random_case, random_model
from tmverify.engines import brute
from tmverify.engines.engine import Deadline, Outcome, none_exists, stopped
from tmverify.engines.equivalence import engine as equivalence


def constant(n_features: int) -> tv.Model:
    """A machine that always says 0."""
    return tv.Model.from_clauses(n_features, [], np.zeros((1, 0), int), bias=-1)


@pytest.fixture(scope="module")
def large() -> tv.Model:
    return random_large_model(np.random.default_rng(40), 5000, 1000, 100)


@pytest.fixture(scope="module")
def hard() -> tv.Model:
    """Whether this ever says 1 is beyond every engine: more votes are wanted than a walk finds."""
    rng = np.random.default_rng(0)
    clauses = [rng.choice(150, 5, replace=False) + 1 for _ in range(400)]
    signed = [[int(f) * int(rng.choice([-1, 1])) for f in clause] for clause in clauses]
    return tv.Model.from_clauses(150, signed, [[1] * 300 + [-1] * 100], bias=-110)


@pytest.fixture(autouse=True)
def parts_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny models would be looked at input by input, and the search of parts never met."""
    monkeypatch.setattr(equivalence, "QUICK", 0.0)


@battery((range(3), 100), (range(100, 110), 2000))
def test_tiny_models(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng(seed)
    seen: Counter[tuple[str, str]] = Counter()
    for _ in range(n_cases):
        case = random_case(rng)
        b = case.b
        if rng.random() < 0.5:
            b = REWRITINGS[int(rng.integers(len(REWRITINGS)))](case.a, rng)
            b = CHANGES[int(rng.integers(len(CHANGES)))](b, rng)
        scope = "team" if case.a.n_outputs != b.n_outputs else case.scope
        query = tv.equivalence_query(case.a, b, scope=scope)
        expected = brute.decide(query, Deadline(None)).outcome is Outcome.NO_WITNESS
        verdict = tv.check_equivalence(case.a, b, scope=scope, timeout=60)
        assert verdict.status == ("holds" if expected else "violated")
        seen[verdict.status, verdict.engine] += 1
    assert min(seen["holds", "structure"], seen["violated", "hunt"]) > n_cases // 10


@few_or_many(40, 80)
def test_tiny_models_without_samples_and_walks(monkeypatch: pytest.MonkeyPatch, n_cases: int) -> None:
    """What the hunt would find is found by search, by looking at all, and by the last engine in the parts."""
    monkeypatch.setattr(equivalence, "find_among_samples", lambda *_: None)
    monkeypatch.setattr(equivalence, "find_by_walking", lambda *_: (None, 0))
    rng = np.random.default_rng(50)
    seen: Counter[str | None] = Counter()
    for nodes, patience in ((1000, 60.0), (0, 60.0), (0, 0.0)):
        monkeypatch.setattr(equivalence, "ROUNDS", ((0, nodes),))
        monkeypatch.setattr(brute, "PATIENCE", patience)
        for _ in range(n_cases):
            n_features = int(rng.integers(2, 7))
            a = random_model(rng, n_features, int(rng.integers(1, 4)))
            b = CHANGES[int(rng.integers(len(CHANGES)))](a, rng)
            query, X = tv.equivalence_query(a, b), all_inputs(n_features)
            answer = equivalence.decide(query, Deadline(None), brute.decide)
            same = bool((a.predict(X) == b.predict(X)).all())
            assert answer.outcome is (Outcome.NO_WITNESS if same else Outcome.WITNESS)
            if not same:
                assert answer.witness is not None
                assert query.refuted_by(answer.witness)
            seen[answer.engine] += 1
    assert min(seen["search"], seen["brute"], seen["sat"]) > n_cases // 8


@pytest.mark.parametrize("seed", first(1, range(3)))
@pytest.mark.parametrize("change", CHANGES)
def test_one_change_in_a_large_model(large: tv.Model, change: Copy, seed: int) -> None:
    copy = change(large, np.random.default_rng(seed))
    found, again = (tv.check_equivalence(large, copy, timeout=60) for _ in range(2))
    assert found.seconds < 10
    if not has_vote_at(large, copy):
        assert found.status == "holds"  # what was changed has no vote
        return
    assert found.status == again.status == "violated"
    assert found.witness is not None
    assert again.witness is not None
    assert (found.witness == again.witness).all()  # deterministic


def has_vote_at(a: tv.Model, b: tv.Model) -> bool:
    """Whether the two differ in a clause that votes, in a weight or in the tie."""
    changed = [j for j in range(a.n_clauses) if a.clauses[j] != b.clauses[j]]
    voting = any(a.weights[:, j].any() for j in changed)
    return voting or a.tie != b.tie or bool((a.weights != b.weights).any())


def test_a_change_that_does_not_matter(large: tv.Model) -> None:
    """Where the changed clause is true, another one outvotes all the rest."""
    clauses = [[*clause] for clause in large.clauses]
    clauses[5] = [7, *(lit for lit in clauses[5] if abs(lit) != 7)]
    heavy = np.hstack([large.weights, [[10_000]]])
    heavy[0, 5] = 1
    a = remade(large, [*clauses, [7]], heavy)
    clauses[5] = clauses[5][:-1]
    b = remade(large, [*clauses, [7]], heavy)
    verdict = tv.check_equivalence(a, b, timeout=60)
    assert (verdict.status, verdict.engine) == ("holds", "search")
    assert verdict.seconds < 10


def test_models_with_nothing_in_common(large: tv.Model) -> None:
    other = random_large_model(np.random.default_rng(41), 5000, 1000, 100)
    verdict = tv.check_equivalence(large, other, timeout=60)
    assert (verdict.status, verdict.engine) == ("violated", "hunt")


def test_given_inputs_are_looked_at() -> None:
    """A disagreement in a needle's eye, which random inputs do not meet, found where the data are."""
    x = np.random.default_rng(42).integers(0, 2, 60).astype(np.uint8)
    needle = [int(f + 1) if x[f] else -int(f + 1) for f in range(60)]
    model = tv.Model.from_clauses(60, [needle], [[1]], bias=-1)
    verdict = tv.check_equivalence(model, constant(60), X=x[None, :], timeout=60)
    assert (verdict.status, verdict.engine) == ("violated", "hunt")
    assert verdict.witness is not None
    assert (verdict.witness == x).all()
    assert "arguments" not in verdict.stats  # the data alone were enough


def test_given_inputs_are_checked_and_no_part_of_the_question() -> None:
    model = constant(4)
    for engine in ("auto", "search", "sat", "brute"):
        assert tv.check_equivalence(model, model, X=np.zeros((3, 4)), engine=engine).status == "holds"
        assert tv.check_equivalence(model, model, X=np.zeros((0, 4)), engine=engine).status == "holds"
        with pytest.raises(tv.InvalidInputError, match="n_features=4 columns"):
            tv.check_equivalence(model, model, X=np.zeros((3, 5)), engine=engine)
        with pytest.raises(tv.InvalidInputError, match="only 0 and 1"):
            tv.check_equivalence(model, model, X=np.full((3, 4), 2), engine=engine)


def test_balls_around_given_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equivalence, "find_by_walking", lambda *_: (None, 0))
    x = np.random.default_rng(43).integers(0, 2, 60).astype(np.uint8)
    needle = [int(f + 1) if x[f] else -int(f + 1) for f in range(60)]
    model = tv.Model.from_clauses(60, [needle], [[1]], bias=-1)
    x[[3, 30]] ^= 1
    verdict = tv.check_equivalence(model, constant(60), X=x[None, :], timeout=60)
    assert (verdict.status, verdict.engine) == ("violated", "search")


@pytest.mark.parametrize("timeout", [0.01, 0.5])
def test_a_limit_is_kept_and_named(hard: tv.Model, timeout: float) -> None:
    tv.check_equivalence(hard, constant(150), timeout=0.01)  # whatever is loaded at first use
    start = time.monotonic()
    verdict = tv.check_equivalence(hard, constant(150), timeout=timeout)
    assert verdict.status == "unknown"
    assert verdict.stop_reason is tv.StopReason.TIMEOUT
    assert f"{timeout:g} s" in verdict.detail
    assert time.monotonic() - start < timeout + 1


def test_what_stops_the_last_engine_is_the_reason(monkeypatch: pytest.MonkeyPatch, hard: tv.Model) -> None:
    monkeypatch.setattr(equivalence, "ROUNDS", ((10, 1),))
    query = tv.equivalence_query(hard, constant(150))
    crashed = equivalence.decide(query, Deadline(None), lambda *_: stopped(tv.StopReason.CRASHED, "it broke"))
    assert (crashed.stop_reason, crashed.detail) == (tv.StopReason.CRASHED, "it broke")
    refuted = equivalence.decide(query, Deadline(None), lambda *_: none_exists())
    assert (refuted.outcome, refuted.engine) == (Outcome.NO_WITNESS, "sat")


@pytest.mark.parametrize(
    ("error", "reason"), [(MemoryError(), tv.StopReason.OUT_OF_MEMORY), (OSError(), tv.StopReason.CRASHED)]
)
def test_whatever_goes_wrong_is_no_answer(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: tv.StopReason
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(equivalence, "arguments", fail)
    verdict = tv.check_equivalence(constant(3), constant(3))
    assert (verdict.status, verdict.stop_reason) == ("unknown", reason)


def test_ctrl_c(tmp_path: object, hard: tv.Model) -> None:
    path = f"{tmp_path}/hard.tm"
    hard.save(path)
    code = (
        "import sys, signal, numpy as np, tmverify as tv\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "hard = tv.load(sys.argv[1])\n"
        "never = tv.Model.from_clauses(150, [], np.zeros((1, 0), int), bias=-1)\n"
        "tv.check_equivalence(hard, never, timeout=0.01)\n"
        "print('ready', flush=True)\n"
        "tv.check_equivalence(hard, never, timeout=None)\n"
    )
    command = [sys.executable, "-c", code, path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, said = process.communicate(timeout=60)
        assert time.monotonic() - start < 5
    assert "KeyboardInterrupt" in said
