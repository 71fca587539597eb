"""Explanations that are stopped anywhere, or lied to, claim only what is true, and name what is not known."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any
from unittest import mock

import numpy as np
import pytest

import tmverify as tv
from support.certified import refusal, text_of
from support.columns import Rng
from support.explained import Asked, check_claims, contrastive_sets, random_question, sufficient_sets
from support.failing_oracles import Replaced, counting, failing, lies_at, stops_at, stops_once
from support.reasons import is_true
from support.tiny import all_inputs
from tmverify.engines.engine import Answer, Outcome, found, none_exists, stopped
from tmverify.engines.oracle import Oracle, oracle_for
from tmverify.engines.search.oracle import SearchOracle
from tmverify.properties.allowed import Allowed
from tmverify.properties.verdict import StopReason
from tmverify.verify.explainer import Explainer
from tmverify.verify.reasons import Sufficient

OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"smallest": True},
    {"widen": True},
    {"smallest": True, "widen": True},
    {"kind": "contrastive"},
    {"kind": "contrastive", "smallest": True},
)


def honest(n: int, oracle: Any, answer: Answer) -> Answer:
    return answer


def checked(asked: Asked, **options: Any) -> tv.Explanation:
    """An explanation whose claims are true, and that says why if it is not what was asked for."""
    why = asked.explain(**options)
    check_claims(asked, why)
    settled = why.minimal == "smallest" or (why.minimal == "subset" and not options.get("smallest"))
    assert (why.stop_reason is None) == settled, why
    assert (why.detail == "") == settled or options.get("certificate"), why
    return why


def check_stopping(rng: Rng, n: int, engines: tuple[str, ...]) -> Counter[Any]:
    """Stop at every question, and at every look at the clock."""
    seen: Counter[Any] = Counter()
    for _ in range(n):
        asked = random_question(rng)
        engine = engines[int(rng.integers(len(engines)))]
        for options in OPTIONS:
            with failing(honest) as made:
                checked(asked, engine=engine, **options)
            for k in range(made[0].asked + 1):
                for stop in (stops_at(k), stops_once(k)):
                    with failing(stop):
                        why = checked(asked, engine=engine, **options)
                    seen["asked", why.minimal] += 1
            with counting(math.inf) as looks:
                checked(asked, engine=engine, **options)
            for k in range(looks.n + 1):
                with counting(k):
                    why = checked(asked, engine=engine, **options)
                seen["looked", why.minimal] += 1
                if why.stop_reason is not None:
                    assert why.stop_reason is StopReason.TIMEOUT
    return seen


def test_stopped_anywhere() -> None:
    seen = check_stopping(np.random.default_rng(0), 25, ("auto", "search", "brute"))
    assert len(seen) == 6
    assert min(seen.values()) > 30, seen


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(400, 404))
def test_stopped_anywhere_more(seed: int) -> None:
    check_stopping(np.random.default_rng(seed), 200, ("auto", "search", "brute"))


def test_listing_stopped_anywhere() -> None:
    """What was listed before is right; ``complete`` only if all were listed."""
    rng = np.random.default_rng(1)
    ends = Counter[bool]()
    for _ in range(15):
        asked = random_question(rng, int(rng.choice([0, 3])))
        with failing(honest) as made:
            n = len(list(asked.explanations()))
        for k in range(made[0].asked + 1):
            with failing(stops_at(k)):
                check_listing(asked, n, ends)
            with failing(stops_at(k)):
                part = asked.importance()
            facts = sufficient_sets(asked.truth)
            assert part.complete == (part.stop_reason is None)
            assert part.n_reasons == len(facts) if part.complete else part.n_reasons <= len(facts)
        with counting(math.inf) as looks:
            list(asked.explanations())
        for k in range(looks.n + 1):
            with counting(k):
                check_listing(asked, n, ends)
    assert min(ends.values()) > 15


def check_listing(asked: Asked, n: int, ends: Counter[bool]) -> None:
    found = asked.explanations()
    listed = list(found)
    for why in listed:
        check_claims(asked, why)
        assert why.minimal == "subset"
    assert found.complete == (len(listed) == n and found.stop_reason is None)
    assert found.complete or found.stop_reason is StopReason.TIMEOUT
    assert found.complete or found.detail
    ends[found.complete] += 1


def test_certificates_of_what_is_known() -> None:
    """If columns are undecided, sufficiency is certified; a contrastive reason then has no certificate."""
    rng = np.random.default_rng(2)
    answers = Counter[str]()
    for _ in range(12):
        asked = random_question(rng)
        for options in OPTIONS:
            with failing(honest) as made:
                asked.explain(**options)
            for k in range(made[0].asked + 1):
                with failing(stops_at(k)):
                    why = checked(asked, certificate=True, **options)
                if why.certificate is None:
                    assert why.kind == "contrastive"
                    assert why.minimal == "open"
                    continue
                text = text_of(why.certificate)
                assert refusal(text, [asked.model.encode()]) is None, text.decode()
                assert is_true(text, asked.model)
                answer = str(why.certificate.claim["answer"])
                assert why.minimal != "open" or answer == "suffices"
                answers[answer] += 1
    assert set(answers) == {"suffices", "minimal", "widest", "smallest", "contrastive"}


@pytest.mark.parametrize("for_ever", [False, True])
def test_lies(for_ever: bool) -> None:
    """A witness that is none, or that was not asked for, is rejected: it ends no claim and no loop."""
    rng = np.random.default_rng(3)
    rejected = 0
    for _ in range(12):
        asked = random_question(rng)
        rows, inputs = asked.truth.rows, all_inputs(len(asked.x))
        lies = [asked.x, rows[rng.integers(len(rows))].bits, inputs[rng.integers(len(inputs))]]
        for options in OPTIONS:
            with failing(honest) as made:
                asked.explain(**options)
            for k in range(made[0].asked + 1):
                for lie in lies:
                    with failing(lies_at(k, lie, for_ever=for_ever)):
                        why = checked(asked, timeout=None, **options)
                    assert why.stop_reason in (None, StopReason.REJECTED)
                    assert why.stop_reason is None or "bug" in why.detail
                    rejected += why.stop_reason is not None
    assert rejected > 100


def test_lies_in_a_list() -> None:
    rng = np.random.default_rng(4)
    rejected = 0
    for _ in range(12):
        asked = random_question(rng, 2)
        with failing(honest) as made:
            known = [(why.kind, why.places) for why in asked.explanations()]
        for k in range(made[0].asked):
            with failing(lies_at(k, asked.x, for_ever=True)):
                found = asked.explanations(timeout=None)
                listed = list(found)
            for why in listed:
                check_claims(asked, why)
            assert {(why.kind, why.places) for why in listed} <= set(known)
            assert not found.complete
            assert found.stop_reason is StopReason.REJECTED
            rejected += 1
    assert rejected > 30


@pytest.mark.parametrize("what", ["eased", "near"])
def test_lies_of_walks(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """What walks say is replayed too: that less will do, or that a further column is all that lacks."""

    def eased(oracle: Oracle, z: Any, order: Any) -> Any:
        fewer = z.copy()
        bits = np.flatnonzero(z != oracle.query.region.origin)
        fewer[bits[1:]] = oracle.query.region.origin[bits[1:]]
        return fewer

    def near(oracle: Oracle, free: Any, wanted: Any, *, thorough: bool) -> list[Any]:
        places = np.flatnonzero(wanted).tolist()
        return [oracle.query.region.with_flips(oracle._bits(place)[:1]) for place in places]

    lie: Any = eased if what == "eased" else near
    for kind in (Oracle, SearchOracle):
        monkeypatch.setattr(kind, what, lie)
    rng = np.random.default_rng(8)
    rejected = 0
    for _ in range(60):
        asked = random_question(rng, 2)
        for options in OPTIONS:
            why = checked(asked, timeout=None, **options)
            assert why.stop_reason in (None, StopReason.REJECTED)
            rejected += why.stop_reason is not None
        found = asked.explanations(timeout=None)
        for why in found:
            check_claims(asked, why)
        assert found.complete or found.stop_reason is StopReason.REJECTED
    assert rejected > 30


def test_the_smallest_rests_on_witnesses_that_replay() -> None:
    """A set that need not be hit makes every hitting set too large, though each of its columns is needed."""
    model = tv.Model.from_clauses(3, [[-1, -2], [-2, -3]], [[-1, -1]])
    x = np.ones(3, np.uint8)
    asked = Asked(model, x, Allowed())
    assert sufficient_sets(asked.truth) == {frozenset({1}), frozenset({0, 2})}
    for lies in [], [[0], [2]]:
        explainer = Explainer(model, x, None, None, "team", Allowed(), None, "brute", False, None)
        both, other = (explainer.query.region.with_flips(some) for some in ([0, 1], [1, 2]))
        for z in (both, other, *map(explainer.query.region.with_flips, lies)):
            explainer.reasons.pool.append((z == 0, z))
        first = Sufficient(np.array([True, False, True]), {0: both, 2: other})  # minimal, but not smallest
        with mock.patch.object(explainer.reasons, "sufficient", return_value=first):
            why = explainer.sufficient(smallest=True, widen=False)
        check_claims(asked, why)
        assert (why.minimal == "smallest") == (not lies)
        assert why.stop_reason is (StopReason.REJECTED if lies else None)


def wrong_proof(k: int) -> Replaced:
    """The k-th question is answered: there is none."""
    return lambda n, oracle, answer: none_exists() if n == k else answer


def test_contradictions_end() -> None:
    """A false proof can't be seen as such; but if a witness contradicts it, nothing is claimed of it."""
    rng = np.random.default_rng(5)
    contradictions = 0
    for _ in range(40):
        asked = random_question(rng, 4)
        for options in OPTIONS[:2]:
            with failing(honest) as made:
                asked.explain(engine="brute", **options)
            for k in range(made[0].asked):
                with failing(wrong_proof(k)):
                    why = asked.explain(timeout=None, engine="brute", **options)
                if "contradicts" in why.detail:
                    check_claims(asked, why)
                    assert why.stop_reason is StopReason.REJECTED
                    contradictions += 1
    assert contradictions


def test_nothing_is_known() -> None:
    """If no question is answered, all columns together suffice, and nothing is said of a contrast."""
    rng = np.random.default_rng(6)
    for _ in range(20):
        asked = random_question(rng, 1)
        with failing(stops_at(0)):
            why = asked.explain(engine="brute")
            contrast = asked.explain(engine="brute", kind="contrastive")
            found = asked.explanations(engine="brute")
            assert list(found) == []
        assert list(why.places) == asked.truth.movable
        assert why.undecided == why.columns
        assert why.minimal == "open"
        assert why.stop_reason is StopReason.TIMEOUT
        assert why.detail == "as it was told"
        assert contrast.sufficient is tv.Status.UNKNOWN
        assert contrast.trusts == ()
        assert not found.complete


@pytest.mark.parametrize("certificate", [False, True])
def test_next_to_no_time(certificate: bool) -> None:
    rng = np.random.default_rng(7)
    for _ in range(15):
        asked = random_question(rng)
        for options in OPTIONS:
            checked(asked, timeout=1e-9, certificate=certificate, **options)
        found = asked.explanations(timeout=1e-9)
        for why in found:
            check_claims(asked, why)
        part = asked.importance(timeout=1e-9)
        assert part.complete == (part.stop_reason is None)


def test_an_error_in_the_search_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr("tmverify.engines.search.oracle.Tree", fail)
    model = tv.Model.from_clauses(3, [[1], [2, 3]], [[1, 1]], bias=-1)
    asked = Asked(model, np.ones(3, np.uint8), Allowed())
    why = asked.explain(engine="search")
    check_claims(asked, why)
    assert why.stop_reason is StopReason.CRASHED
    assert why.minimal == "open"
    # Another engine is asked, if it may be.
    why = asked.explain(engine="auto")
    check_claims(asked, why)
    assert why.minimal == "subset"


def test_the_reasons_for_a_gap_are_told() -> None:
    """Of several answers that are missing, one is told; whatever was found later takes the gap away."""
    model = tv.Model.from_clauses(3, [[1], [2, 3]], [[1, 1]], bias=-1)
    asked = Asked(model, np.ones(3, np.uint8), Allowed())
    full = stopped(StopReason.OUT_OF_MEMORY, "no memory")

    def replaced(n: int, oracle: Any, answer: Answer) -> Answer:
        return full if answer.outcome is Outcome.NO_WITNESS else answer

    with failing(replaced):
        why = asked.explain(kind="contrastive")
    assert (why.minimal, why.stop_reason, why.detail) == ("open", StopReason.OUT_OF_MEMORY, "no memory")
    check_claims(asked, why)
    assert contrastive_sets(asked.truth) == {frozenset({0, 1}), frozenset({0, 2})}


def lying(tell: Any) -> Any:
    """A stand-in for ``oracle_for`` whose oracles answer ``tell(oracle, n)`` to the n-th question."""

    def make(query: Any, engine: str) -> Any:
        oracle: Any = oracle_for(query, engine)
        honest, count = oracle.ask, iter(range(10**9))
        oracle.ask = lambda *a, **k: tell(next(count)) or honest(*a, **k)
        return oracle

    return make


@pytest.mark.parametrize("smallest", [False, True])
def test_a_false_witness_that_changes_a_frozen_column(
    smallest: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Easing takes the free change back, so that nothing that may change has changed."""
    lie = found(np.array([0, 0, 1], np.uint8))
    monkeypatch.setattr("tmverify.verify.explainer.oracle_for", lying(lambda n: lie))
    model = tv.Model.from_clauses(3, [[1]], [[1]], tie="negative")
    why = tv.explain(model, [1, 1, 1], freeze=["x0"], smallest=smallest, timeout=20)
    assert why.minimal == "open"
    assert why.seconds < 10
    listed = tv.explanations(model, [1, 1, 1], freeze=["x0"], timeout=20)
    assert not list(listed)
    assert not listed.complete


def test_a_false_first_witness_of_the_smallest_change(monkeypatch: pytest.MonkeyPatch) -> None:
    lie = found(np.array([1, 0, 1], np.uint8))
    monkeypatch.setattr("tmverify.verify.explainer.oracle_for", lying(lambda n: None if n else lie))
    model = tv.Model.from_clauses(3, [[1]], [[1]], bias=5)
    why = tv.explain(
        model, [1, 1, 1], kind="contrastive", smallest=True, within=4, cost={"x1": 2}, timeout=20
    )
    assert why.sufficient is tv.Status.UNKNOWN
    assert why.stop_reason == "answer-rejected"
