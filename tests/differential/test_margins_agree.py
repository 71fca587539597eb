"""Margins: brute = paper = sat = search = auto, on random tiny models, for every question that has one.

The expected answers come from the definition, over all inputs listed one by one, in this file: *a decision
stands by m votes if each other class has at least m votes less*; votes are scores after the clamp, also those
of the own machine of a class (a scope); a binary machine's second class leads by its score, its first class
by the negated one. With a margin of 0, the decision as such, ties as declared.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tmverify as tv
from support.batteries import battery
from support.columns import ColumnCase, random_column_case
from support.deciding import ENGINES, FOREVER, NEAREST, expect, expect_radius, use_in_this_process
from support.tiny import Case, all_inputs, random_case
from tmverify.engines import auto
from tmverify.engines.engine import (
    nearest_by_steps,
    nothing_known,
)
from tmverify.errors import InvalidInputError

Ints = NDArray[np.int64]


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    use_in_this_process(monkeypatch)


def votes_of(model: tv.Model, x: NDArray[np.uint8]) -> list[int]:
    """The scores on an input, clause by clause, before the clamp."""
    found = []
    for row in range(model.n_outputs):
        total = int(model.bias[row])
        for clause, weight in zip(model.clauses, model.weights[row], strict=True):
            if clause:
                fires = all((x[abs(lit) - 1] == 1) == (lit > 0) for lit in clause)
            else:
                fires = model.empty_clause == "fires"
            total += int(weight) * fires
        found.append(total)
    return found


def said(model: tv.Model, scope: Any, x: NDArray[np.uint8]) -> tuple[int, int]:
    """The class that is decided, and by how many votes it stands."""
    votes = votes_of(model, x)
    if model.clamp is not None:
        votes = [max(-model.clamp, min(model.clamp, v)) for v in votes]
    if scope != "team":
        if model.n_outputs == 1:
            # The own machine of the first class says 1 wherever the whole says its first class.
            positive = votes[0] >= 0 if model.tie == "positive" else votes[0] > 0
            return int(positive == (scope == 1)), abs(votes[0])
        own = votes[scope]
        positive = own >= 0 if model.tie == "positive" else own > 0
        return int(positive), abs(own)
    if model.n_outputs == 1:
        positive = votes[0] >= 0 if model.tie == "positive" else votes[0] > 0
        return int(positive), abs(votes[0])
    best = votes.index(max(votes))
    return best, min(votes[best] - other for c, other in enumerate(votes) if c != best)


class Truth:
    """What each model decides on every input and by how many votes, and what follows from the definition."""

    def __init__(self, a: tv.Model, b: tv.Model, scope: Any, inputs: NDArray[np.uint8]) -> None:
        self.inputs = inputs
        self.a, self.b = (np.array([said(model, scope, z) for z in inputs]) for model in (a, b))

    def unstable(self, x: NDArray[np.uint8], margin: int) -> NDArray[np.bool_]:
        """Which inputs the first model decides otherwise than x, or by fewer votes than the margin."""
        own = self.a[(self.inputs == x).all(axis=1)][0, 0]
        return np.asarray((self.a[:, 0] != own) | (self.a[:, 1] < margin))

    def apart(self, margin: int) -> NDArray[np.bool_]:
        """On which inputs the models decide differently, or one of them by fewer votes than the margin."""
        few = (self.a[:, 1] < margin) | (self.b[:, 1] < margin)
        return np.asarray((self.a[:, 0] != self.b[:, 0]) | few)


def region(case: Case, inputs: NDArray[np.uint8], x: NDArray[np.uint8], epsilon: int) -> NDArray[np.bool_]:
    """Which inputs are in the ball around x, by its definition."""
    changed = inputs != x
    inside = changed.sum(axis=1) <= epsilon
    if case.options["features"] is not None:
        inside &= ~changed[:, ~case.options["features"]].any(axis=1)
    if case.options["direction"] == "add":
        inside &= (inputs >= x).all(axis=1)
    if case.options["direction"] == "remove":
        inside &= (inputs <= x).all(axis=1)
    return np.asarray(inside)


def most_of(case: Case) -> int:
    """The greatest margin that may be asked about."""
    clamps = [
        m.clamp * (min(2, m.n_outputs) if case.scope == "team" else 1)
        for m in (case.a, case.b)
        if m.clamp is not None
    ]
    return min(clamps, default=99)


def random_margin(rng: np.random.Generator, case: Case) -> int:
    return int(min(rng.choice([0, 1, 1, 2, 3, 4, 6]), most_of(case)))


def check_case(case: Case, margin: int, seen: Counter[Any], *, step_by_step: bool) -> None:
    inputs, x, n = all_inputs(case.a.n_features), case.x, case.a.n_features
    truth = Truth(case.a, case.b, case.scope, inputs)
    inside = region(case, inputs, x, case.epsilon)
    asked = case.asked | {"margin": margin}
    for question, bad in (("robustness", truth.unstable(x, margin)), ("similarity", truth.apart(margin))):
        models = (case.a, case.b) if question == "similarity" else (case.a,)
        ask: Any = tv.similarity_query if question == "similarity" else tv.robustness_query
        query = ask(*models, x, case.epsilon, **asked)
        np.testing.assert_array_equal(query.violates(inputs), bad)
        np.testing.assert_array_equal(query.violates(inputs, fast=True), bad)
        violated = bool((bad & inside).any())
        seen[question, margin > 0, violated] += 1
        for name, solve in ENGINES.items():
            expect(solve(query, FOREVER), query, violated, f"{name} on {question} by {margin}")
        whole = ask(*models, x, n, **asked)
        distances = (inputs != x).sum(axis=1)
        radius = min(distances[bad & region(case, inputs, x, n)].tolist(), default=math.inf)
        seen["radius", question, margin > 0, min(radius, 2)] += 1
        for name, engine in ENGINES.items():
            if name in NEAREST:
                claim = NEAREST[name](whole, FOREVER)
            elif step_by_step:
                claim = nearest_by_steps(engine, name, whole, nothing_known(name), FOREVER)
            else:
                continue
            expect_radius(claim, whole, radius, f"{name} on the radius of {question} by {margin}")


@battery((range(4), 100), (range(1000, 1020), 1000))
def test_single_questions(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng([seed, 22])
    seen: Counter[Any] = Counter()
    for number in range(n_cases):
        case = random_case(rng)
        check_case(case, random_margin(rng, case), seen, step_by_step=number % 8 == 0)
    # A battery in which one outcome never occurs tests nothing.
    assert min(seen[q, True, v] for q in ("robustness", "similarity") for v in (True, False)) > 3, seen
    assert min(seen["radius", "robustness", True, r] for r in (0, 1, 2, math.inf) if r != math.inf) > 1, seen


@battery((range(2), 100), (range(1000, 1010), 1000))
def test_public_answers(seed: int, n_cases: int) -> None:
    """The functions people call: the verdict, the radius, and how the witness is accounted for."""
    rng = np.random.default_rng([seed, 23])
    seen: Counter[Any] = Counter()
    for _ in range(n_cases):
        case = random_case(rng)
        margin, engine = random_margin(rng, case), str(rng.choice(list(ENGINES)))
        inputs = all_inputs(case.a.n_features)
        truth = Truth(case.a, case.b, case.scope, inputs)
        for models in ((case.a,), (case.a, case.b)):
            bad = truth.unstable(case.x, margin) if len(models) == 1 else truth.apart(margin)
            inside = region(case, inputs, case.x, case.epsilon)
            check: Any = tv.check_robustness if len(models) == 1 else tv.check_similarity
            measure: Any = tv.robustness_radius if len(models) == 1 else tv.similarity_radius
            options = case.options | {"margin": margin, "engine": engine}
            verdict = check(*models, case.x, case.epsilon, **options)
            assert verdict.status == ("violated" if (bad & inside).any() else "holds")
            found = measure(*models, case.x, **options)
            near = (inputs != case.x).sum(axis=1)[bad & region(case, inputs, case.x, 99)]
            assert found.radius == min(near.tolist(), default=math.inf)
            for answer in (verdict, found):
                seen[check_account(answer, models, case, margin)] += 1
    assert min(seen[kind] for kind in ("none", "differ", "alike")) > 5, seen


def check_account(answer: Any, models: tuple[tv.Model, ...], case: Case, margin: int) -> str:
    """The decisions and leads of a witness are those of the definition, and its words fit."""
    assert answer.margin == margin
    if answer.witness is None:
        assert answer.decisions is None
        assert answer.leads is None
        return "none"
    there = [said(model, case.scope, answer.witness) for model in models]
    names = models[0].classes if case.scope == "team" else (0, 1)
    here = [said(case.a, case.scope, case.x)] if len(models) == 1 else []
    assert answer.decisions == tuple(names[c] for c, _ in (*here, *there))
    assert answer.leads == (tuple(lead for _, lead in there) if margin else None)
    if answer.decisions[0] != answer.decisions[1]:
        return "differ"
    assert answer.leads is not None
    assert min(answer.leads) < margin
    lead = answer.leads[-1]
    assert f"{answer.decisions[1]} by {lead} vote{'' if lead == 1 else 's'}" in repr(answer)
    return "alike"


@battery((range(2), 60), (range(1000, 1010), 600))
def test_universal_questions(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng([seed, 24])
    seen: Counter[Any] = Counter()
    for _ in range(n_cases):
        case = random_case(rng)
        margin, n = random_margin(rng, case), len(case.X)
        eta = Fraction(int(rng.integers(0, n + 1)), n)
        inputs = all_inputs(case.a.n_features)
        truth = Truth(case.a, case.b, case.scope, inputs)
        for models in ((case.a,), (case.a, case.b)):
            holds = 0
            for x in case.X:
                bad = truth.unstable(x, margin) if len(models) == 1 else truth.apart(margin)
                holds += not (bad & region(case, inputs, x, case.epsilon)).any()
            check: Any = tv.check_universal_robustness if len(models) == 1 else tv.check_universal_similarity
            for engine in ENGINES:
                options = case.options | {"margin": margin, "engine": engine}
                verdict = check(*models, case.X, case.epsilon, eta, **options)
                assert verdict.status == ("holds" if holds >= eta * n else "violated"), engine
                assert verdict.margin == margin
            seen[margin > 0, verdict.status.value] += 1
    assert min(seen[True, status] for status in ("holds", "violated")) > 3, seen


@battery((range(3), 100), (range(1000, 1020), 1000))
def test_over_columns(monkeypatch: pytest.MonkeyPatch, seed: int, n_cases: int) -> None:
    """Numbers, categories, costs and rules: every budget, and the radius."""
    monkeypatch.setattr(auto, "NODES", (1, 100_000, 0)[seed % 3])
    rng = np.random.default_rng([seed, 25])
    seen: Counter[Any] = Counter()
    for _ in range(n_cases):
        case = random_column_case(rng, str(rng.choice(["robustness", "similarity"])))
        margin = int(rng.choice([1, 2, 3, 5]))
        ask: Any = tv.similarity_query if case.question == "similarity" else tv.robustness_query

        def query(epsilon: int | None, margin: int = margin, case: ColumnCase = case, ask: Any = ask) -> Any:
            return ask(*case.models, case.x, epsilon, allowed=case.allowed, margin=margin)

        clamps = [m.clamp * min(2, m.n_outputs) for m in case.models if m.clamp is not None]
        if margin > min(clamps, default=margin):
            with pytest.raises(InvalidInputError, match="no decision stands by more"):
                query(None)
            continue
        whole = query(None)
        bits = np.array([z for _, z, _ in case.inputs])
        truth = Truth(case.models[0], case.models[-1], "team", bits)
        bad = truth.apart(margin) if case.question == "similarity" else truth.unstable(case.x, margin)
        costs = np.array([cost for cost, _, _ in case.inputs])
        radius = min(costs[bad].tolist(), default=math.inf)
        seen[case.question, min(radius, 2)] += 1
        for name, find in NEAREST.items():
            expect_radius(find(whole, FOREVER), whole, radius, f"the radius, by {name}")
        epsilon = int(rng.integers(0, 5))
        if whole.region.rules.about_bits:
            epsilon = min(epsilon, case.space.n_bits)
        within = query(epsilon)
        for name, solve in ENGINES.items():
            if name != "paper" or whole.region.rules.about_bits:
                expect(solve(within, FOREVER), within, radius <= epsilon, f"{name} within {epsilon}")
    for question in ("robustness", "similarity"):
        assert min(seen[question, r] for r in (0, 1)) > 1, seen


def test_the_definition_at_its_edges() -> None:
    """A tie is a lead of 0 votes; the least margin asks that there is none; the clamp limits leads."""
    binary = tv.Model.from_clauses(1, [[1]], [[3]], bias=-1, tie="positive")  # scores -1 and 2
    for margin, holds in ((0, True), (1, True), (2, True), (3, False)):
        verdict = tv.check_robustness(binary, [1], 0, margin=margin)
        assert (verdict.status == "holds") is holds
    assert tv.robustness_radius(binary, [1], margin=3).radius == 0
    assert tv.robustness_radius(binary, [1], margin=2).radius == 1
    tied = tv.Model.from_clauses(1, [[1]], [[1], [1]])
    assert tv.check_robustness(tied, [0], 1).status == "holds"
    verdict = tv.check_robustness(tied, [0], 1, margin=1)
    assert verdict.status == "violated"
    assert verdict.leads == (0,)
    clamped = replace(binary, clamp=1)
    assert tv.check_robustness(clamped, [1], 0, margin=1).status == "holds"
    with pytest.raises(InvalidInputError, match="no decision stands by more"):
        tv.check_robustness(clamped, [1], 0, margin=2)


def test_the_own_machine_of_a_class_is_cut_as_well() -> None:
    three = tv.Model.from_clauses(1, [[1]], [[9], [-9], [0]], clamp=4)
    for scope, margin, holds in ((0, 4, True), (1, 4, True), (2, 0, True), (2, 1, False)):
        verdict = tv.check_robustness(three, [1], 0, scope=scope, margin=margin, certificate=True)
        assert (verdict.status == "holds") is holds
        assert verdict.certificate is not None
        verdict.certificate.check(three)
    with pytest.raises(InvalidInputError, match="margin must be at most 4"):
        tv.check_robustness(three, [1], 0, scope=0, margin=5)
    assert three.single(0).clamp == 4
