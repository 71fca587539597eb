"""Engines broken on purpose: the checker refuses every false claim of theirs.

Each fault makes an engine say HOLDS too often, as a bug would. The models are tiny, so the truth is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.certified import is_true, refusal, stubborn_model, text_of
from support.engines import stand_in
from support.tiny import random_case
from tmverify.engines import auto
from tmverify.engines.equivalence import engine as equivalence
from tmverify.engines.equivalence import structure
from tmverify.engines.sat import refutation
from tmverify.engines.search import engine as search_engine
from tmverify.engines.search.problem import Problem, problem_of
from tmverify.properties import conditions

Fault = Callable[[pytest.MonkeyPatch], None]


def on_problems(change: Callable[[Problem], Problem]) -> Fault:
    """Every problem that the engines make of a query is changed."""

    def spoil(patch: pytest.MonkeyPatch) -> None:
        def spoilt(query: tv.Query, radius: int) -> Problem:
            return change(problem_of(query, radius))

        patch.setattr(search_engine, "problem_of", spoilt)
        patch.setattr(refutation, "problem_of", spoilt)

    return spoil


def too_optimistic(problem: Problem) -> Problem:
    """The bound is too low by one vote: everything seems to need one more."""
    return problem._replace(bounds=problem.bounds + 1)


def dropped_clause(problem: Problem) -> Problem:
    """The first clause has no votes."""
    votes = problem.votes.copy()
    votes[:, :1] = np.minimum(votes[:, :1], 0)
    return problem._replace(votes=votes)


def smaller_ball(problem: Problem) -> Problem:
    """One flip less than there may be."""
    return problem._replace(radius=max(0, problem.radius - 1))


def wrong_tie(patch: pytest.MonkeyPatch) -> None:
    """Ties go the other way round."""
    patch.setattr(conditions, "least_positive_score", lambda tie: 1 if tie == "positive" else 0)


def lost_cases(patch: pytest.MonkeyPatch) -> None:
    """The last rival is forgotten."""
    whole = search_engine._Screen.likeliest_first

    def fewer(self: Any, cases: Any) -> Any:
        return whole(self, cases)[:-1]

    patch.setattr(search_engine._Screen, "likeliest_first", fewer)


def hasty_contradictions(patch: pytest.MonkeyPatch) -> None:
    """Any two constraints are said to contradict each other."""

    def contradictory(self: Any, case: tuple[int, ...]) -> bool:
        if len(case) > 1:
            self.write_contradiction(case[0], case[1])
        return len(case) > 1

    patch.setattr(search_engine._Screen, "contradictory", contradictory)


def hasty_structure(patch: pytest.MonkeyPatch) -> None:
    """Every case is said to cancel."""

    def argue(self: Any, case: tuple[int, ...]) -> structure.Argument:
        return structure.Argument(case, ((case[0], 1),), ())

    patch.setattr(structure._Ledger, "argue", argue)
    patch.setattr(equivalence, "find_among_samples", lambda query, deadline: None)


FAULTS: dict[str, tuple[str, Fault]] = {
    "a bound too optimistic by one": ("search", on_problems(too_optimistic)),
    "a bound too optimistic by one, sat": ("sat", on_problems(too_optimistic)),
    "a dropped clause": ("search", on_problems(dropped_clause)),
    "a dropped clause, sat": ("sat", on_problems(dropped_clause)),
    "a smaller ball": ("search", on_problems(smaller_ball)),
    "a smaller ball, sat": ("sat", on_problems(smaller_ball)),
    "a wrong tie": ("search", wrong_tie),
    "a wrong tie, sat": ("sat", wrong_tie),
    "a lost case": ("search", lost_cases),
    "a hasty contradiction": ("search", hasty_contradictions),
    "a hasty structure": ("auto", hasty_structure),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_engine_convinces_nobody(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, spoil = FAULTS[fault]
    spoil(monkeypatch)
    monkeypatch.setattr(auto, "NODES", 1000)
    rng = np.random.default_rng(1)
    seen: Counter[str] = Counter()
    for _ in range(40):
        case = random_case(rng)
        small = stubborn_model(rng, 7, rng.uniform(0.05, 0.15))
        for question, answer, models in answers(case, small, rng, engine):
            if answer is None or answer.certificate is None:
                seen["without a certificate"] += 1
                continue
            text = text_of(answer.certificate)
            reason = refusal(text, models)
            if not is_true(text, models):
                seen["wrong"] += 1
                assert reason is not None, (question, text.decode())
            seen["refused"] += reason is not None
    assert seen["wrong"] + seen["without a certificate"] > 3, seen
    assert seen["wrong"] > 0 or fault == "a lost case", seen


def answers(case: Any, small: tv.Model, rng: np.random.Generator, engine: str) -> list[tuple[str, Any, Any]]:
    """The questions, put to the broken engine in this process."""
    a, b, x, options = case.a, case.b, case.x, case.options
    how: dict[str, Any] = {"engine": engine, "certificate": True}
    if engine == "auto":
        return [("equivalence", tv.check_equivalence(a, b, scope=case.scope, **how), (a, b))]
    if engine == "sat":
        queries = [
            (tv.robustness_query(a, x, case.epsilon, **case.asked), (a,)),
            (tv.similarity_query(a, b, x, case.epsilon, **case.asked), (a, b)),
            (tv.robustness_query(small, rng.integers(0, 2, 7), 3), (small,)),
        ]
        return [("by sat", proved(query), models) for query, models in queries]
    y = rng.integers(0, 2, 7)
    return [
        ("robustness", tv.check_robustness(a, x, case.epsilon, **how, **options), (a,)),
        ("similarity", tv.check_similarity(a, b, x, case.epsilon, **how, **options), (a, b)),
        ("radius", tv.robustness_radius(a, x, **how, **options), (a,)),
        ("radius", tv.robustness_radius(small, y, **how), (small,)),
        ("robustness", tv.check_robustness(small, y, 3, **how), (small,)),
    ]


def proved(query: tv.Query) -> tv.Verdict:
    """What ``decide`` makes of the sat engine's answer, without a worker process, which has no faults."""
    with pytest.MonkeyPatch.context() as patch:
        stand_in(patch, "sat", decide=lambda query, deadline, log: refutation.prove(query, log))
        return tv.decide(query, engine="sat", certificate=True)


def test_without_a_fault_nothing_is_refused() -> None:
    """The same questions by engines that are whole: the battery above tests the faults, not itself."""
    rng = np.random.default_rng(1)
    for _ in range(20):
        case = random_case(rng)
        small = stubborn_model(rng, 7, rng.uniform(0.05, 0.15))
        for engine in ("search", "auto", "sat"):
            for _, answer, models in answers(case, small, rng, engine):
                assert refusal(text_of(answer.certificate), models) is None


def test_a_radius_is_not_believed_beyond_its_proof() -> None:
    """A certificate of radius 2, made to say 3 with a witness 3 flips away, or infinity without one."""
    three = tv.Model.from_clauses(4, [[1], [2], [3]], [[1, 1, 1]], bias=-2)
    radius = tv.robustness_radius(three, [0, 0, 0, 0], certificate=True)
    assert radius.radius == 2
    text = text_of(radius.certificate)
    further = text.replace(b'"radius":2', b'"radius":3').replace(b"witness c0", b"witness e0")
    assert further.count(b"witness e0") == 1
    assert "below 3" in str(refusal(further, [three]))
    never = text.replace(b'"radius":2', b'"radius":null')
    assert refusal(never, [three])
    assert refusal(never.replace(b"witness c0\n", b""), [three])
