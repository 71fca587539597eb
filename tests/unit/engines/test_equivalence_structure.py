"""Proof by structure: no false claim, and every rewriting is recognised, at the size of the paper."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

import tmverify as tv
from support.batteries import battery
from support.copies import (
    CHANGES,
    REWRITINGS,
    Copy,
    halved,
    in_two_rows,
    random_large_model,
    remade,
    reordered,
    scaled,
)
from support.tiny import all_inputs, perturbed, random_model
from tmverify.engines.engine import Deadline
from tmverify.engines.equivalence.normal import normal_form
from tmverify.engines.equivalence.structure import arguments


def relatives(rng: np.random.Generator) -> tuple[tv.Model, tv.Model]:
    """Two tiny models, one made from the other."""
    n_features = int(rng.integers(1, 7))
    a = b = random_model(rng, n_features, int(rng.integers(1, 4)))
    for _ in range(int(rng.integers(1, 4))):
        b = REWRITINGS[int(rng.integers(len(REWRITINGS)))](b, rng)
    if rng.random() < 0.4:
        b = CHANGES[int(rng.integers(len(CHANGES)))](b, rng)
    if rng.random() < 0.1:
        b = perturbed(rng, b)
    return a, b


@battery((range(2), 250), (range(100, 110), 1000))
def test_arguments_never_exclude_a_disagreement(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for _ in range(n_cases):
        a, b = relatives(rng)
        X = all_inputs(a.n_features)
        query = tv.equivalence_query(a, b)
        different = X[a.predict(X) != b.predict(X)]
        votes = query.clauses.outputs(different, empty_fires=False).astype(np.int64)
        confined, proved = False, True
        for argument in arguments(query, normal_form(query, Deadline(None)), Deadline(None)):
            rows = [query.constraints[c] for c in argument.case]
            met = [votes @ row.weights(query.votes) >= row.bound for row in rows]
            solutions = different[np.logical_and.reduce(met)]
            if argument.parts is None:
                proved = False
                continue
            assert argument.multipliers
            assert all(m > 0 and c in argument.case for c, m in argument.multipliers)
            inside = [clause_holds(clause, solutions) for clause in argument.parts]
            assert np.logical_or.reduce([np.zeros(len(solutions), np.bool_), *inside]).all()
            confined |= argument.parts != ()
            proved &= argument.parts == ()
        assert not (proved and len(different))
        seen["proved"] += proved
        seen["confined"] += confined
        seen["different"] += len(different) > 0
    # A battery in which one outcome never occurs tests nothing.
    assert seen["proved"] > n_cases // 3
    assert min(seen["confined"], seen["different"]) > n_cases // 20


def clause_holds(clause: tuple[int, ...], X: NDArray[np.uint8]) -> NDArray[np.bool_]:
    columns = [X[:, abs(lit) - 1] == (lit > 0) for lit in clause]
    return np.asarray(np.logical_and.reduce([np.ones(len(X), np.bool_), *columns]))


@pytest.fixture(scope="module")
def large() -> tv.Model:
    return random_large_model(np.random.default_rng(0), 5000, 1000, 100)


@pytest.mark.parametrize("rewriting", REWRITINGS)
def test_a_large_model_and_its_rewritten_copy(large: tv.Model, rewriting: Copy) -> None:
    rng = np.random.default_rng(1)
    copy = rewriting(reordered(large, rng), rng)
    verdict = tv.check_equivalence(large, copy, timeout=30)
    assert (verdict.status, verdict.engine) == ("holds", "structure")
    assert verdict.seconds < 5
    assert len(verdict.stats["arguments"]) == 2


def test_everything_at_once(large: tv.Model) -> None:
    rng = np.random.default_rng(2)
    copy = large
    for rewriting in REWRITINGS:
        copy = rewriting(copy, rng)
    verdict = tv.check_equivalence(large, copy, timeout=30)
    assert (verdict.status, verdict.engine) == ("holds", "structure")


@pytest.mark.parametrize("clamp", [None, 9])
def test_ten_classes_with_and_without_clamp(clamp: int | None) -> None:
    rng = np.random.default_rng(3)
    plain = random_large_model(rng, 784, 1000, 12, outputs=10)
    model = remade(plain, plain.clauses, plain.weights, clamp=clamp)
    verdict = tv.check_equivalence(model, scaled(halved(reordered(model, rng), rng), rng), timeout=60)
    assert (verdict.status, verdict.engine) == ("holds", "structure")
    assert verdict.seconds < 20


def test_sums_of_integers_are_integers() -> None:
    """Whether 2 s + 1 or 2 s is positive is the same question; no multiple of the constraints says so."""
    clauses = [[1, 2], [-2, 3], [3]]
    even = tv.Model.from_clauses(3, clauses, [[2, -4, 2]])
    odd = tv.Model.from_clauses(3, clauses, [[2, -4, 2]], bias=1, tie="negative")
    assert tv.check_equivalence(even, odd).engine == "structure"
    assert tv.check_equivalence(even, odd).status == "holds"


def test_two_rows_whose_tie_goes_the_other_way() -> None:
    model = tv.Model.from_clauses(3, [[1, 2], [-2, 3]], [[1, -1]], tie="negative")
    rng = np.random.default_rng(0)
    assert tv.check_equivalence(model, in_two_rows(model, rng)).status == "holds"
    positive = remade(model, model.clauses, model.weights, tie="positive")
    assert tv.check_equivalence(positive, in_two_rows(model, rng)).status == "violated"


def test_the_largest_weights() -> None:
    rng = np.random.default_rng(4)
    weights = rng.integers(2**31 - 50, 2**31, size=(1, 30)) * rng.choice([-1, 1], size=30)
    clauses = [(rng.choice(12, 3, replace=False) + 1).tolist() for _ in range(30)]
    model = tv.Model.from_clauses(12, clauses, weights)
    assert tv.check_equivalence(model, halved(model, rng)).status == "holds"
    other = remade(model, model.clauses, model.weights - np.eye(1, 30, 3, dtype=int))
    assert (
        tv.check_equivalence(model, other).status == tv.check_equivalence(model, other, engine="brute").status
    )


def test_nothing_is_argued_when_the_time_is_over() -> None:
    model = tv.Model.from_clauses(3, [[1, 2], [-2, 3]], [[1, -1]])
    query = tv.equivalence_query(model, model)
    form = normal_form(query, Deadline(None))
    assert [a.parts for a in arguments(query, form, Deadline(0))] == [None, None]
