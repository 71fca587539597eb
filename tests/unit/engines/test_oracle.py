"""Oracles: what is asked of one again and again, in any order, is answered as if it had never been asked."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.columns import Rng
from support.explained import Asked, random_question
from support.reasons import Row
from support.tiny_networks import random_network_case
from tmverify.engines.engine import Deadline, Outcome
from tmverify.engines.oracle import Effort, Mask, Oracle, oracle_for
from tmverify.engines.search import oracle as search_oracle
from tmverify.engines.search.oracle import SearchOracle
from tmverify.properties.query import AnyQuery

UNLIMITED = Deadline(None)


def query_of(asked: Asked) -> AnyQuery:
    query: AnyQuery = tv.robustness_query(
        asked.model, asked.x, asked.epsilon, allowed=asked.allowed, **asked.more
    )
    return query


def witnesses(asked: Asked, oracle: Oracle, free: Mask) -> list[Row]:
    """The violating inputs in which only free columns change, by looking at all inputs."""
    may = set(oracle.columns[free].tolist())
    return [row for row in asked.truth.bad if asked.truth.differing(row) <= may]


def check_oracle(rng: Rng, asked: Asked, engine: str, n_questions: int) -> tuple[int, int]:
    """Ask at random, and do everything else in between; returns how often there was a witness, or none."""
    query = query_of(asked)
    oracle = oracle_for(query, engine)
    assert isinstance(oracle, SearchOracle) == (engine in ("auto", "search"))
    assert oracle.columns.tolist() == asked.truth.movable
    n = len(oracle.columns)
    weights = oracle.weights()
    assert weights.shape == (n,)
    bad = {row.bits.tobytes(): row for row in asked.truth.bad}
    met = [0, 0]

    def changes(z: Any) -> set[int]:
        """What a witness changes; it is one."""
        places = set(np.flatnonzero(oracle.changed(z)).tolist())
        assert asked.truth.differing(bad[z.tobytes()]) == set(oracle.columns[sorted(places)].tolist())
        return places

    for question in range(n_questions):
        free = rng.random(n) < rng.choice([0.2, 0.5, 0.8, 1.0])
        there = witnesses(asked, oracle, free)
        effort = list(Effort)[int(rng.integers(3))]
        answer = oracle.ask(free, UNLIMITED, effort)
        assert answer.outcome is (Outcome.WITNESS if there else Outcome.NO_WITNESS)
        assert oracle.asked == question + 1
        met[not there] += 1
        if answer.witness is not None:
            z = answer.witness
            assert changes(z) <= set(np.flatnonzero(free).tolist())
            order = rng.integers(-2, 3, n)
            fewer = oracle.eased(z, order if rng.random() < 0.5 else weights)
            assert changes(fewer) <= changes(z)
            check_eased(oracle, fewer)
        guess = oracle.guess(free)
        assert guess is None or changes(guess) <= set(np.flatnonzero(free).tolist())
        wanted = ~free & (rng.random(n) < 0.7)
        thorough = bool(rng.random() < 0.5)
        near = [changes(z) for z in oracle.near(free, wanted.copy(), thorough=thorough)]
        beyond = [places - set(np.flatnonzero(free).tolist()) for places in near]
        assert all(len(some) == 1 and some <= set(np.flatnonzero(wanted).tolist()) for some in beyond)
        assert len(set(map(min, beyond))) == len(beyond)
    return met[0], met[1]


def check_eased(oracle: Oracle, z: Any) -> None:
    """No single change can be taken back, unless another case is met without it."""
    region, query = oracle.query.region, oracle.query
    if isinstance(oracle, SearchOracle) and len(oracle.lanes) > 1:
        return
    for place in np.flatnonzero(oracle.changed(z)).tolist():
        bits = oracle._bits(place)
        fewer = z.copy()
        fewer[bits] = region.origin[bits]
        assert not query.violates(fewer[None, :])[0]


@pytest.mark.parametrize(
    ("engine", "n", "n_questions"), [("search", 80, 25), ("auto", 20, 15), ("brute", 20, 10), ("sat", 8, 6)]
)
def test_asked_again_and_again(engine: str, n: int, n_questions: int) -> None:
    rng = np.random.default_rng(0)
    met = np.zeros(2, np.int64)
    lanes: list[int] = []
    for _ in range(n):
        asked = random_question(rng)
        met += check_oracle(rng, asked, engine, n_questions)
        oracle = oracle_for(query_of(asked), engine)
        lanes += [len(oracle.lanes)] if isinstance(oracle, SearchOracle) else []
    assert met.min() > 10
    assert engine != "search" or (min(lanes) == 1 and max(lanes) > 2)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(500, 504))
def test_asked_again_and_again_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(1000):
        check_oracle(rng, random_question(rng), "search", 40)


@pytest.mark.parametrize("engine", ["search", "brute"])
def test_a_column_that_must_change(engine: str) -> None:
    """If every witness changes a column, saying so makes no difference to the answer."""
    rng = np.random.default_rng(1)
    met = {True: 0, False: 0}
    for _ in range(60):
        asked = random_question(rng)
        oracle = oracle_for(query_of(asked), engine)
        n = len(oracle.columns)
        for _ in range(15):
            free = rng.random(n) < rng.choice([0.5, 0.8, 1.0])
            there = [asked.truth.differing(row) for row in witnesses(asked, oracle, free)]
            for must in np.flatnonzero(free).tolist():
                if all(oracle.columns[must] in some for some in there):
                    answer = oracle.ask(free, UNLIMITED, must=must)
                    assert answer.outcome is (Outcome.WITNESS if there else Outcome.NO_WITNESS)
                    if answer.witness is not None:
                        assert oracle.query.refuted_by(answer.witness)
                        assert oracle.changed(answer.witness)[must]
                        assert not oracle.changed(answer.witness)[~free].any()
                    met[bool(there)] += 1
    assert min(met.values()) > 100


def test_asked_among_values() -> None:
    """Columns with some of their values, and others that stay."""
    rng = np.random.default_rng(2)
    met = {True: 0, False: 0}
    for _ in range(100):
        asked = random_question(rng)
        oracle, truth = oracle_for(query_of(asked), "search"), asked.truth
        values = {
            c: frozenset([truth.here[c], *(v for v in truth.options[c] if rng.random() < 0.4)])
            for c in truth.movable
            if rng.random() < 0.7
        }
        there = truth.breaking(values)
        answer = oracle.ask_among({c: sorted(some) for c, some in values.items()}, UNLIMITED)
        assert answer.outcome is (Outcome.WITNESS if there else Outcome.NO_WITNESS)
        if answer.witness is not None:
            assert answer.witness.tobytes() in {row.bits.tobytes() for row in there}
        met[bool(there)] += 1
    assert min(met.values()) > 20


def test_near_has_what_is_at_hand() -> None:
    """A column whose change alone alters the decision is found, wherever columns are flips."""
    rng = np.random.default_rng(3)
    n_single = 0
    for _ in range(150):
        asked = random_question(rng)
        query = query_of(asked)
        if not query.region.plain or query.region.radius == 0:
            continue
        oracle = oracle_for(query, "search")
        nothing = np.zeros(len(oracle.columns), np.bool_)
        near = [asked.truth.differing(row) for row in asked.truth.bad]
        single = {some for some in near if len(some) == 1}
        found = [oracle.columns[oracle.changed(z)] for z in oracle.near(nothing, ~nothing, thorough=True)]
        assert {frozenset(some.tolist()) for some in found} == single
        n_single += len(single)
    assert n_single > 30


def test_a_limit_that_has_passed_leaves_questions_open() -> None:
    """Walks may still find a witness; nothing is proved any more."""
    rng = np.random.default_rng(4)
    n_open = 0
    for engine in ("search", "auto", "sat", "brute"):
        for _ in range(10):
            asked = random_question(rng)
            oracle = oracle_for(query_of(asked), engine)
            free = np.ones(len(oracle.columns), np.bool_)
            answer = oracle.ask(free, Deadline(1e-9))
            if answer.witness is not None:
                assert oracle.query.refuted_by(answer.witness)
            else:
                there = bool(witnesses(asked, oracle, free))
                assert answer.outcome is Outcome.STOPPED or not there
                n_open += answer.outcome is Outcome.STOPPED
    assert n_open > 5


def test_few_nodes_leave_questions_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """With little effort, an answer is right or there is none; with all effort there is one."""
    rng = np.random.default_rng(6)
    met = Counter[Outcome]()
    monkeypatch.setattr(search_oracle, "_FEW_INPUTS", 0)  # nothing is tried one by one
    for _ in range(150):
        asked = random_question(rng, 1)
        oracle = oracle_for(query_of(asked), "auto")
        for nodes in (1, 2, 3):
            monkeypatch.setattr(search_oracle, "NODES", dict.fromkeys(Effort, nodes))
            free = rng.random(len(oracle.columns)) < 0.8
            there = bool(witnesses(asked, oracle, free))
            right = Outcome.WITNESS if there else Outcome.NO_WITNESS
            little = oracle.ask(free, UNLIMITED, Effort.LITTLE)
            assert little.outcome in (right, Outcome.STOPPED)
            met[little.outcome] += 1
            assert oracle.ask(free, UNLIMITED, Effort.ALL).outcome is right
    assert met[Outcome.STOPPED] > 5, met


def test_of_networks() -> None:
    """A network's columns are its bits; its engine is asked each time."""
    rng = np.random.default_rng(5)
    met = {True: 0, False: 0}
    for _ in range(15):
        case = random_network_case(rng, 6)
        query = case.query()
        oracle = oracle_for(query, "auto")
        assert type(oracle) is Oracle
        for _ in range(4):
            free = rng.random(len(oracle.columns)) < 0.7
            there = tv.decide(oracle.part(free), engine="brute").status == "violated"
            answer = oracle.ask(free, UNLIMITED)
            assert answer.outcome is (Outcome.WITNESS if there else Outcome.NO_WITNESS)
            met[there] += 1
    assert min(met.values()) > 5
