"""Asking for a certificate: which engines can give one, what the answer contains, and what it rests on."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tmverify as tv
from support.certified import check_by_both, refusal, stubborn_model, text_of
from support.engines import stand_in
from tmverify.engines.engine import Nearest
from tmverify.engines.proof_log import ProofLog, Where
from tmverify.properties.trust import CHECKED, REPLAYED


@pytest.fixture
def votes() -> tv.Model:
    """Class 1 with two votes of three."""
    return tv.Model.from_clauses(3, [[1], [2], [3]], [[1, 1, 1]], bias=-2)


@pytest.mark.parametrize("engine", ["paper", "brute"])
def test_engines_without_evidence_say_so(votes: tv.Model, engine: str) -> None:
    for ask in (
        lambda: tv.check_robustness(votes, [0, 0, 0], 1, engine=engine, certificate=True),
        lambda: tv.robustness_radius(votes, [0, 0, 0], engine=engine, certificate=True),
        lambda: tv.check_universal_robustness(votes, [[0, 0, 0]], 1, 1, engine=engine, certificate=True),
    ):
        with pytest.raises(tv.InvalidInputError, match="auto, search, sat for a certificate"):
            ask()


def test_a_query_made_by_hand_has_no_claim(votes: tv.Model) -> None:
    query = replace(tv.robustness_query(votes, [0, 0, 0], 1), topic=None)
    with pytest.raises(tv.InvalidInputError, match="about a question"):
        tv.decide(query, certificate=True)
    assert tv.decide(query).status is tv.Status.HOLDS


@pytest.mark.parametrize("engine", ["auto", "search", "sat"])
def test_every_kind_of_answer(votes: tv.Model, engine: str, tmp_path: Path) -> None:
    """``sat`` in its own process."""
    x = [0, 0, 0]
    for answer, words in (
        (tv.check_robustness(votes, x, 1, engine=engine, certificate=True), "keeps its decision within 1"),
        (tv.check_robustness(votes, x, 2, engine=engine, certificate=True), "it is not true that"),
        (
            tv.robustness_radius(votes, x, engine=engine, certificate=True),
            "otherwise 2 flip(s) from the input 00",
        ),
        (tv.robustness_radius(votes, x, direction="remove", engine=engine, certificate=True), "nowhere"),
        (
            tv.robustness_radius(votes, x, features=[1, 0, 0], engine=engine, certificate=True),
            "1 of 3 features",
        ),
    ):
        check_by_both(answer.certificate, (votes,), tmp_path)
        assert answer.certificate is not None
        assert words in answer.certificate.check(votes)
        assert answer.trusts == CHECKED


def test_nothing_is_certified_that_is_not_asked_for(votes: tv.Model) -> None:
    assert tv.check_robustness(votes, [0, 0, 0], 1).certificate is None
    assert tv.robustness_radius(votes, [0, 0, 0]).certificate is None


def test_no_answer_no_certificate() -> None:
    rng = np.random.default_rng(0)
    model = stubborn_model(rng, 60, 0.3)
    x = rng.integers(0, 2, 60)
    verdict = tv.check_robustness(model, x, 30, timeout=0.001, certificate=True)
    assert verdict.status is tv.Status.UNKNOWN
    assert verdict.certificate is None
    assert verdict.trusts == ()
    radius = tv.robustness_radius(model, x, timeout=0.001, certificate=True)
    assert radius.radius is None
    assert radius.certificate is None


def test_too_large_for_a_clausal_proof_is_still_decided() -> None:
    """Weights with too many sums for a totalizer: the formula has adders, and the answer no certificate."""
    rng = np.random.default_rng(2)
    clauses = [
        (rng.choice(range(1, 21), 3, replace=False) * rng.choice([-1, 1], 3)).tolist() for _ in range(40)
    ]
    weights = rng.integers(1 << 20, 1 << 21, size=40)
    model = tv.Model.from_clauses(20, clauses, [weights], bias=-int(0.4 * weights.sum()))
    verdict = tv.check_robustness(model, np.zeros(20, int), 10, engine="sat", certificate=True, timeout=60)
    assert verdict.status is tv.Status.HOLDS
    assert verdict.certificate is None
    assert verdict.detail.startswith("no certificate")
    assert any("CaDiCaL" in trusted for trusted in verdict.trusts)
    assert tv.check_robustness(model, np.zeros(20, int), 10, certificate=True).certificate is not None


def test_a_radius_of_0_needs_its_witness_alone(votes: tv.Model, tmp_path: Path) -> None:
    never = tv.Model.from_clauses(3, [], np.zeros((1, 0), int), bias=-1)
    radius = tv.similarity_radius(votes, never, [1, 1, 1], certificate=True)
    assert radius.radius == 0
    assert b"refute" not in text_of(radius.certificate)
    check_by_both(radius.certificate, (votes, never), tmp_path)


def test_what_an_answer_rests_on(votes: tv.Model) -> None:
    x = [0, 0, 0]
    for engine, name in (
        ("search", "numba"),
        ("sat", "CaDiCaL"),
        ("paper", "Glucose"),
        ("brute", "evaluate"),
    ):
        trusts = tv.check_robustness(votes, x, 1, engine=engine).trusts
        assert any(name in trusted for trusted in trusts)
        assert tv.check_robustness(votes, x, 2, engine=engine).trusts == REPLAYED
    assert "structure" in tv.check_equivalence(votes, votes).trusts[0]
    infinite = tv.robustness_radius(votes, x, direction="remove")
    assert infinite.radius == math.inf
    assert infinite.trusts == tv.check_robustness(votes, x, 1, engine="search").trusts
    finite = tv.robustness_radius(votes, x)
    assert set(REPLAYED) < set(finite.trusts)
    whole = tv.check_universal_robustness(votes, [x, [1, 1, 0]], 1, "1/2")
    assert whole.trusts == tv.check_robustness(votes, x, 1).trusts
    assert tv.check_universal_robustness(votes, [x], 1, 1, certificate=True).trusts == CHECKED


def test_an_engine_that_contradicts_itself_is_believed_in_nothing(
    votes: tv.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says 3; asked to prove that 2 are too few, it finds a witness."""
    wrong = Nearest(3, 3, np.array([1, 1, 1], np.uint8), "search")
    stand_in(monkeypatch, "search", find_nearest=lambda query, deadline, log=None: wrong)
    radius = tv.robustness_radius(votes, [0, 0, 0], engine="search", certificate=True)
    assert (radius.lower, radius.upper, radius.certificate) == (0, math.inf, None)
    assert radius.stop_reason is tv.StopReason.REJECTED


def test_long_evidence_goes_to_a_file_that_goes_with_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Beyond what is kept in memory; nothing is left in the folder for temporary files."""
    monkeypatch.setattr("tmverify.engines.proof_log.IN_MEMORY", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rng = np.random.default_rng(1)
    model = stubborn_model(rng, 16, 0.25)
    answer = tv.robustness_radius(model, rng.integers(0, 2, 16), engine="search", certificate=True)
    text = text_of(answer.certificate)
    assert len(text) > 1000
    assert refusal(text, [model]) is None
    del answer
    assert list(tmp_path.iterdir()) == []


def test_evidence_of_a_worker_is_adopted(tmp_path: Path) -> None:
    """First lines are ours, the rest is copied; a worker that wrote nothing left no file."""
    with ProofLog(str(tmp_path / "theirs")) as theirs:
        for name, steps in ((0, ["close"]), (2, ["split 1", "close", "close"])):
            draft = theirs.draft([name], 3)
            draft.start(7)
            for step in steps:
                draft.step(step)
            draft.keep()
        refutations = theirs.refutations
    ours = ProofLog()
    ours.portion([5, 6, 9], Where((1, -4))).adopt(str(tmp_path / "theirs"), refutations)
    texts = [b"".join(ours.text(refutation)) for refutation in ours.refutations]
    assert texts == [b"refute 5 3 7 1,-4\nclose\n", b"refute 9 3 7 1,-4\nsplit 1\nclose\nclose\n"]
    ours.adopt(str(tmp_path / "none"), [])
    assert ours.covers([5, 9], 3, Where((1, -4))) is not None
    assert ours.covers([5, 9], 4, Where((1, -4))) is None
    assert ours.covers([6], 3, Where((1, -4))) is None
    assert ours.covers([5], 3) is None
