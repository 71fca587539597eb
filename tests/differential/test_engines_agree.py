"""brute = paper = sat = search = auto, on random tiny models: all questions, all regions, and the radius.

The expected answers come from the definitions, over all inputs listed one by one, in this file: so ``brute``
is under test here too.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tmverify as tv
from support.batteries import battery, first
from support.certified import check_by_both
from support.deciding import ENGINES, NEAREST, use_in_this_process
from support.tiny import Case, all_inputs, random_case
from tmverify.engines import brute
from tmverify.engines.engine import (
    Answer,
    Deadline,
    Nearest,
    Outcome,
    nearest_by_steps,
    nothing_known,
)
from tmverify.engines.sat import specialised
from tmverify.engines.search import sweep
from tmverify.model.evaluate import reference_classes

CERTIFYING = ("auto", "search", "sat")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    use_in_this_process(monkeypatch)


def decisions(case: Case, model: tv.Model, inputs: NDArray[np.uint8]) -> NDArray[np.int64]:
    scores = []
    for x in inputs:
        values = []
        for row in range(model.n_outputs):
            total = int(model.bias[row])
            for clause, weight in zip(model.clauses, model.weights[row], strict=True):
                if clause:
                    fires = all((x[abs(lit) - 1] == 1) == (lit > 0) for lit in clause)
                else:
                    fires = model.empty_clause == "fires"
                total += int(weight) * fires
            values.append(total)
        scores.append(values)
    return np.array([_decide(case, model, values) for values in scores])


def _decide(case: Case, model: tv.Model, scores: list[int]) -> int:
    if case.scope != "team":
        if model.n_outputs == 1:
            positive = scores[0] >= 0 if model.tie == "positive" else scores[0] > 0
            return int(positive == (case.scope == 1))
        own = scores[case.scope]
        return int(own >= 0 if model.tie == "positive" else own > 0)
    if model.clamp is not None:
        scores = [max(-model.clamp, min(model.clamp, s)) for s in scores]
    if model.n_outputs == 1:
        return int(scores[0] >= 0 if model.tie == "positive" else scores[0] > 0)
    return scores.index(max(scores))


class Truth:
    """What each model decides on every input, and the answers that the definitions give."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.inputs = all_inputs(case.a.n_features)
        self.a, self.b = decisions(case, case.a, self.inputs), decisions(case, case.b, self.inputs)

    def region(self, x: NDArray[np.uint8], epsilon: int) -> NDArray[np.bool_]:
        """Which inputs are in the ball around x, by its definition."""
        z = self.inputs
        changed = z != x
        inside = changed.sum(axis=1) <= epsilon
        if self.case.options["features"] is not None:
            inside &= ~changed[:, ~self.case.options["features"]].any(axis=1)
        if self.case.options["direction"] == "add":
            inside &= (z >= x).all(axis=1)
        if self.case.options["direction"] == "remove":
            inside &= (z <= x).all(axis=1)
        return np.asarray(inside)

    def changed(self, x: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Which inputs the first model decides otherwise than x."""
        return np.asarray(self.a != self.a[(self.inputs == x).all(axis=1)])

    def robust(self, x: NDArray[np.uint8]) -> bool:
        return not (self.changed(x) & self.region(x, self.case.epsilon)).any()

    def similar(self, x: NDArray[np.uint8]) -> bool:
        return not ((self.a != self.b) & self.region(x, self.case.epsilon)).any()

    def nearest(self, x: NDArray[np.uint8], differs: NDArray[np.bool_]) -> float:
        """How far away the nearest such input is, wherever the features may go."""
        distances = (self.inputs != x).sum(axis=1)
        return min(distances[differs & self.region(x, len(x))].tolist(), default=math.inf)


def expect(answer: Answer, query: tv.Query, holds: bool, what: str) -> None:
    assert answer.outcome is (Outcome.NO_WITNESS if holds else Outcome.WITNESS), what
    if not holds:
        assert answer.witness is not None
        assert query.refuted_by(answer.witness), what


def check_case(case: Case, seen: Counter[Any], *, step_by_step: bool = True) -> None:
    """Put one case to every engine; ``step_by_step``: the radius also to those that go up flip by flip."""
    truth = Truth(case)
    questions = [
        (
            "robustness",
            tv.robustness_query(case.a, case.x, case.epsilon, **case.asked),
            truth.robust(case.x),
        ),
        (
            "similarity",
            tv.similarity_query(case.a, case.b, case.x, case.epsilon, **case.asked),
            truth.similar(case.x),
        ),
        ("equivalence", tv.equivalence_query(case.a, case.b, scope=case.scope), (truth.a == truth.b).all()),
    ]
    for question, query, holds in questions:
        seen[question, bool(holds)] += 1
        for name, solve in ENGINES.items():
            expect(solve(query, Deadline(None)), query, bool(holds), f"{name} on {question}")
    n = case.a.n_features
    change = tv.robustness_query(case.a, case.x, n, **case.asked)
    check_radius("change", change, truth.nearest(case.x, truth.changed(case.x)), seen, step_by_step)
    disagreement = tv.similarity_query(case.a, case.b, case.x, n, **case.asked)
    radius = truth.nearest(case.x, truth.a != truth.b)
    check_radius("disagreement", disagreement, radius, seen, step_by_step)


def check_radius(
    question: str, query: tv.Query, radius: float, seen: Counter[Any], step_by_step: bool
) -> None:
    seen[question, radius] += 1
    for name, engine in ENGINES.items():
        if name in NEAREST:
            claim = NEAREST[name](query, Deadline(None))
        elif step_by_step:
            claim = nearest_by_steps(engine, name, query, nothing_known(name), Deadline(None))
        else:
            continue
        expect_radius(claim, query, radius, f"{name} on the nearest {question}")


def expect_radius(claim: Nearest, query: tv.Query, radius: float, what: str) -> None:
    assert (claim.lower, claim.upper) == (radius, radius), what
    assert claim.stop_reason is None, what
    if radius == math.inf:
        assert claim.witness is None, what
    else:
        assert claim.witness is not None, what
        assert (claim.witness != query.region.origin).sum() == radius, what
        assert query.refuted_by(claim.witness), what


@pytest.mark.parametrize("seed", first(4, range(20)))
def test_single_questions(seed: int) -> None:
    run_single_questions(seed, 100, stepping=8)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1000, 1020))
def test_single_questions_deep(seed: int) -> None:
    run_single_questions(seed, 1000)


@pytest.mark.parametrize("pairs", [0, 30])
@pytest.mark.parametrize("unit", [0, 1, 7, 256])
def test_every_counter_and_every_unit(monkeypatch: pytest.MonkeyPatch, pairs: int, unit: int) -> None:
    """Tiny models meet neither adders nor overflow guards by themselves; without a unit, no sweep."""
    monkeypatch.setattr(specialised, "MAX_TOTALIZER_PAIRS", pairs)
    monkeypatch.setattr(sweep, "unit_of", lambda problem: unit)
    for other in ("paper", "search", "auto"):
        monkeypatch.delitem(ENGINES, other)
    run_single_questions(100 + unit, 40, stepping=4)


def test_thresholds_are_exact_with_the_largest_weights() -> None:
    """A sum that just reaches its bound, and one that misses it by 1, with weights near 2**31."""
    rng = np.random.default_rng(5)
    for _ in range(60):
        n = int(rng.integers(2, 9))
        weights = rng.integers(2**31 - 50, 2**31, size=n)
        signs = rng.choice([-1, 1], size=n)
        clauses = [[int(f) + 1] if s > 0 else [-int(f) - 1] for f, s in enumerate(signs)]
        x = (signs < 0).astype(np.uint8)  # every clause is false, and one flip makes it true
        k = int(rng.integers(1, n + 1))
        best = int(np.sort(weights)[-k:].sum())
        clauses += [[1, -1], []]
        for gap in (0, 1):
            # The constant is spread over clauses that always hold, a bias being too small for it.
            always: list[list[int]] = [[]] * (k + 1)
            each, rest = divmod(best + gap, k + 1)
            constants = [-(each + rest)] + [-each] * k
            model = tv.Model.from_clauses(
                n, clauses + always, [[*weights, 5, 0, *constants]], empty_clause="fires"
            )
            query = tv.robustness_query(model, x, k)
            expect(specialised.solve(query), query, gap == 1, f"{k} of {weights}, gap {gap}")
            expect(brute.decide(query, Deadline(None)), query, gap == 1, "brute")


def run_single_questions(seed: int, n_cases: int, *, stepping: int = 1) -> None:
    """Every ``stepping``-th radius is put to the slow engines too, which take a solver call per flip."""
    rng = np.random.default_rng(seed)
    seen: Counter[Any] = Counter()
    for number in range(n_cases):
        check_case(random_case(rng), seen, step_by_step=number % stepping == 0)
    # A battery in which one outcome never occurs tests nothing.
    assert min(seen[q, h] for q in ("robustness", "similarity", "equivalence") for h in (True, False)) > 3
    assert min(seen["change", r] for r in (1, math.inf)) > 1
    assert min(seen["disagreement", r] for r in (0, 1, math.inf)) > 1


@battery((range(2), 50), (range(1000, 1012), 1000))
def test_universal_questions(seed: int, n_cases: int, tmp_path: Path) -> None:
    """Every engine; one in turn leaves evidence, if it can, that both front ends of the checker accept."""
    rng = np.random.default_rng([seed, 1])
    seen: Counter[Any] = Counter()
    for number in range(n_cases):
        case = random_case(rng)
        n = len(case.X)
        certifying = CERTIFYING[number % len(CERTIFYING)]
        eta = Fraction(int(rng.integers(0, n + 2)), n + 1)
        all_truth = Truth(case)
        for question, holds_at in (("robustness", all_truth.robust), ("similarity", all_truth.similar)):
            truth = [holds_at(x) for x in case.X]
            expected = tv.Status.HOLDS if sum(truth) >= eta * n else tv.Status.VIOLATED
            for engine in ENGINES:
                how: dict[str, Any] = {
                    "engine": engine,
                    "certificate": engine == certifying,
                    **case.options,
                }
                models: tuple[tv.Model, ...] = (case.a,) if question == "robustness" else (case.a, case.b)
                if question == "robustness":
                    v = tv.check_universal_robustness(case.a, case.X, case.epsilon, eta, **how)
                else:
                    v = tv.check_universal_similarity(case.a, case.b, case.X, case.epsilon, eta, **how)
                if engine == certifying:
                    check_by_both(v.certificate, models, tmp_path)
                assert v.status is expected, (engine, question)
                assert [one.status == "holds" for one in v.verdicts] == truth[: len(v.verdicts)]
            seen[question, expected] += 1
    assert min(seen.values()) > 3
    assert len(seen) == 4


def test_the_reference_evaluator_is_the_definition() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        case = random_case(rng)
        whole = Case(case.a, case.b, case.X, case.epsilon, {**case.options, "scope": "team"})
        inputs = all_inputs(case.a.n_features)
        assert (reference_classes(case.a, inputs) == decisions(whole, case.a, inputs)).all()
        assert (case.a.predict(inputs) == decisions(whole, case.a, inputs)).all()
