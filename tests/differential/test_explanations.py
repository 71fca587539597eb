"""Explanations, held against every possible input of tiny models with random spaces and rules."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.certified import refusal, text_of
from support.columns import Rng
from support.explained import (
    Asked,
    check_claims,
    contrastive_sets,
    minimal_hitting_sets,
    random_question,
    sufficient_sets,
)
from support.reasons import is_true
from tmverify.properties.trust import CHECKED

ENGINES = ("auto", "search", "sat", "brute")
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"smallest": True},
    {"widen": True},
    {"smallest": True, "widen": True},
    {"kind": "contrastive"},
    {"kind": "contrastive", "smallest": True},
)


def explained(asked: Asked, options: dict[str, Any], **more: Any) -> tv.Explanation:
    """An explanation that leaves nothing open, and whose claims are true."""
    why = asked.explain(**options, timeout=None, **more)
    check_claims(asked, why)
    assert why.kind == options.get("kind", "sufficient")
    assert why.widened == ("widen" in options)
    assert why.stop_reason is None
    assert why.undecided == ()
    if why.kind == "sufficient" or asked.truth.bad:
        assert why.sufficient is tv.Status.HOLDS
        assert why.minimal == ("smallest" if "smallest" in options else "subset")
    return why


def check_models(rng: Rng, n: int, engines: tuple[str, ...]) -> Counter[str]:
    """Every kind of explanation of n models; how often something of interest was met."""
    seen: Counter[str] = Counter()
    for _ in range(n):
        asked = random_question(rng)
        for options in OPTIONS:
            for engine in engines:
                why = explained(asked, options, engine=engine)
                assert why.engine == engine
                seen[why.kind] += 1
                seen["empty"] += not why.columns
                seen["several"] += len(why) > 1
                seen["wide"] += any(len(some) > 1 for some in why.values)
        seen["limited"] += asked.epsilon is not None
        seen["target"] += "target" in asked.more
        seen["scope"] += "scope" in asked.more
        seen["bits"] += asked.allowed.distance == "bits"
        seen["steps"] += asked.allowed.distance == "steps"
        seen["rules"] += bool(asked.allowed.within or asked.allowed.freeze or asked.allowed.increase)
        seen["costs"] += asked.allowed.cost is not None
        seen["clamp"] += asked.model.clamp is not None
        seen["classes"] += len(asked.model.classes) > 2
        seen["flags"] += asked.model.space.only_flags
    return seen


@pytest.mark.parametrize("seed", range(10))
def test_what_is_claimed_is_true(seed: int) -> None:
    """A thousand models."""
    seen = check_models(np.random.default_rng(seed), 100, ("auto",))
    assert min(seen.values()) > 5, seen


@pytest.mark.parametrize("engine", ["search", "sat", "brute"])
def test_with_every_engine(engine: str) -> None:
    check_models(np.random.default_rng(10), 30, (engine,))


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 108))
def test_what_is_claimed_is_true_more(seed: int) -> None:
    check_models(np.random.default_rng(seed), 500, ("auto",))
    check_models(np.random.default_rng(seed), 100, ENGINES)


def check_all(asked: Asked, engine: str) -> int:
    """Check that all reasons of both kinds are listed, and their importance; returns how many there are."""
    found = asked.explanations(timeout=None, engine=engine)
    assert not found.complete
    listed = list(found)
    assert found.complete
    assert found.stop_reason is None
    assert next(found, None) is None
    for why in listed:
        check_claims(asked, why)
        assert why.minimal == "subset"
    facts = [frozenset(why.places) for why in listed if why.kind == "sufficient"]
    changes = [frozenset(why.places) for why in listed if why.kind == "contrastive"]
    assert len(set(facts)) == len(facts)
    assert len(set(changes)) == len(changes)
    assert set(facts) == sufficient_sets(asked.truth)
    assert set(changes) == contrastive_sets(asked.truth)
    assert minimal_hitting_sets(set(changes)) == set(facts)
    if changes:
        assert minimal_hitting_sets(set(facts)) == set(changes)
    for kind in ("sufficient", "contrastive"):
        of_kind = {frozenset(why.places) for why in asked.explanations(kind=kind, timeout=None)}
        assert of_kind == set(facts if kind == "sufficient" else changes)
    importance = asked.importance(timeout=None, engine=engine)
    names = {name for some in facts for name in map(asked.name, some)}
    assert importance.shares == {
        name: sum(name in map(asked.name, some) for some in facts) / len(facts) for name in names
    }
    assert list(importance.shares.values()) == sorted(importance.shares.values(), reverse=True)
    assert importance.n_reasons == len(facts)
    assert importance.complete
    return len(listed)


@pytest.mark.parametrize(("engine", "n"), [("auto", 60), ("search", 20), ("sat", 15), ("brute", 20)])
def test_all_of_them(engine: str, n: int) -> None:
    rng = np.random.default_rng(20)
    counts = [check_all(random_question(rng, int(rng.choice([0, 4]))), engine) for _ in range(n)]
    assert min(counts) == 1
    assert max(counts) > 8


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(200, 204))
def test_all_of_them_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(500):
        asked = random_question(rng, int(rng.choice([0, 4])))
        check_all(asked, ENGINES[int(rng.integers(len(ENGINES)))])


def test_some_of_them() -> None:
    """A limit lists the first ones; it is complete if there are no others."""
    rng = np.random.default_rng(30)
    for _ in range(30):
        asked = random_question(rng)
        n = sum(1 for _ in asked.explanations(timeout=None))
        for limit in {1, max(1, n - 1), n, n + 1}:
            found = asked.explanations(timeout=None, limit=limit)
            listed = list(found)
            assert len(listed) == min(n, limit)
            assert found.complete == (limit >= n)
            assert found.detail == ("" if limit >= n else f"there are more than {limit}")
            for why in listed:
                check_claims(asked, why)
        some = list(islice(asked.explanations(timeout=None), 1))
        assert len(some) == 1
        facts = sufficient_sets(asked.truth)
        part = asked.importance(limit=1, timeout=None)
        assert part.complete == (len(facts) == 1)
        assert part.n_reasons == 1
        assert set(part.shares.values()) <= {1.0}


def check_certificates(rng: Rng, n: int, engine: str) -> Counter[Any]:
    """Check that certificates are accepted and claim what the explanation says; returns which there were."""
    seen: Counter[Any] = Counter()
    for _ in range(n):
        asked = random_question(rng)
        for options in OPTIONS:
            why = explained(asked, options, engine=engine, certificate=True)
            text = text_of(why.certificate)
            assert refusal(text, [asked.model.encode()]) is None, text.decode()
            assert is_true(text, asked.model), text.decode()
            seen[check_claim(asked, why)] += 1
    return seen


def check_claim(asked: Asked, why: tv.Explanation) -> str:
    """Check that a certificate says what the explanation says; returns the kind of its claim."""
    assert why.certificate is not None
    claim: Any = why.certificate.claim
    answer: str = claim["answer"]
    columns, values = [c for c, _ in claim["reason"]], [some for _, some in claim["reason"]]
    assert columns == list(why.places)
    assert claim["epsilon"] == asked.epsilon == why.within
    assert claim["target"] == asked.more.get("target")
    assert claim["scope"] == asked.more.get("scope", "team")
    assert claim["models"] == [asked.model.content_hash]
    complete = answer == why.minimal or (why.minimal == "subset" and answer != "suffices") or not columns
    assert (why.trusts == CHECKED) == (complete or why.minimal == "open")
    if why.kind == "contrastive" and columns:
        assert answer == "contrastive"
        assert values == [None] * len(columns)
        return answer
    assert [tuple(some) for some in values] == list(why.values)
    if why.minimal == "open":
        assert answer == "suffices"
    elif any(len(some) > 1 for some in values):
        assert answer == "widest"
    elif why.minimal == "subset":
        assert answer in ("minimal", "widest")
    elif why.kind == "sufficient":
        assert answer in ("smallest", "widest")
    return answer


@pytest.mark.parametrize(("engine", "n"), [("auto", 40), ("search", 15), ("sat", 15)])
def test_certificates_are_accepted(engine: str, n: int) -> None:
    seen = check_certificates(np.random.default_rng(40), n, engine)
    assert set(seen) == {"minimal", "widest", "smallest", "contrastive"}, seen


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(300, 304))
def test_certificates_are_accepted_more(seed: int) -> None:
    for engine in ("auto", "search", "sat"):
        check_certificates(np.random.default_rng(seed), 200, engine)
