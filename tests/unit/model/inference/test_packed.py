"""The inference forms: the reference's scores for any number of rows, any weights, any number of outputs."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from support import strategies, tiny
from tmverify.errors import InvalidInputError
from tmverify.model import Model
from tmverify.model.checks import MAX_WEIGHT
from tmverify.model.evaluate import reference_classes, reference_scores
from tmverify.model.inference.batch import BLOCK_ROWS, EIGHT, MAX_SUM, batch_form
from tmverify.model.inference.packed import FEW_ROWS

SIZES = (0, 1, FEW_ROWS - 1, FEW_ROWS, 63, 64, 65, 511, 512, 513, 512 + FEW_ROWS, 1023, 1030)
WEIGHTS = (1, 127, 4095, 4096, 40_000, 1 << 24, MAX_WEIGHT)


def assert_exact(model: Model, X: NDArray[np.uint8]) -> None:
    scores = model.scores(X)
    assert scores.dtype == np.int64
    assert (scores == reference_scores(model, X)).all()
    expected = np.array(model.classes)[reference_classes(model, X)]
    labels = model.predict(X)
    assert labels.dtype == expected.dtype
    assert (labels == expected).all()


def random_model(
    rng: np.random.Generator, n_features: int, n_clauses: int, outputs: int, largest: int
) -> Model:
    clauses: list[list[int]] = []
    for _ in range(n_clauses):
        features = rng.integers(1, n_features + 1, rng.integers(0, 7))
        clauses.append((features * rng.choice([-1, 1], len(features))).tolist())
    weights = rng.integers(-largest, largest, (outputs, n_clauses), endpoint=True)
    weights[rng.random(weights.shape) < rng.choice([0, 0.5, 0.9])] = 0
    return Model.from_clauses(
        n_features,
        clauses,
        weights,
        bias=rng.integers(-3, 4, outputs),
        tie="positive" if rng.integers(2) else "negative",
        clamp=None if rng.integers(2) else int(rng.integers(1, largest, endpoint=True)),
        empty_clause="fires" if rng.integers(2) else "silent",
    )


def random_inputs(rng: np.random.Generator, n: int, n_features: int) -> NDArray[np.uint8]:
    return np.asarray(rng.random((n, n_features)) < rng.choice([0.05, 0.5, 0.95]), np.uint8)


@pytest.mark.parametrize("n", SIZES)
def test_any_number_of_rows(n: int) -> None:
    rng = np.random.default_rng(n)
    for n_features in (1, 2, 63, 64, 65, 130):
        for n_clauses in (0, 1, 7, 8, 9, 40):
            outputs = int(rng.integers(1, 6))
            model = random_model(rng, n_features, n_clauses, outputs, 3)
            assert_exact(model, random_inputs(rng, n, n_features))


@pytest.mark.parametrize("largest", WEIGHTS)
def test_any_weight(largest: int) -> None:
    rng = np.random.default_rng(largest % 1000)
    for n_clauses in (1, 8, 30, 200):
        for n in (5, 70, 520):
            assert_exact(random_model(rng, 12, n_clauses, 3, largest), random_inputs(rng, n, 12))


@pytest.mark.parametrize("weight", [*WEIGHTS, *(-w for w in WEIGHTS)])
@pytest.mark.parametrize("n_clauses", [7, 8, 9, 100])
def test_the_largest_sums(weight: int, n_clauses: int) -> None:
    """All clauses true at once, and all for the same output."""
    model = Model.from_clauses(2, [[1]] * n_clauses, [[weight] * n_clauses, [0] * n_clauses], bias=[1, 0])
    X = np.array([[1, 0], [0, 1]] * 40, np.uint8)
    assert model.scores(X).tolist() == [[weight * n_clauses + 1, 0], [1, 0]] * 40


@pytest.mark.parametrize("outputs", [1, 2, 15, 16, 17, 32, 33, 100])
def test_any_number_of_outputs(outputs: int) -> None:
    rng = np.random.default_rng(outputs)
    for largest in (1, 5000):
        for n in (3, 40, 600):
            assert_exact(random_model(rng, 20, 60, outputs, largest), random_inputs(rng, n, 20))


def test_long_clauses() -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 2, 300, dtype=np.uint8)
    literals = np.where(x, 1, -1) * np.arange(1, 301)
    clauses = [rng.choice(literals, k, replace=False).tolist() for k in (1, 50, 299, 300)]
    X = np.repeat(x[None], 600, axis=0)
    X[np.arange(300), np.arange(300)] ^= 1
    assert_exact(Model.from_clauses(300, clauses, [[1, 2, 4, 8]]), X)


@settings(deadline=None, max_examples=50)
@given(strategies.models(), st.sampled_from([1, 16, FEW_ROWS, 512, 600]))
def test_models_of_hypothesis(model: Model, n: int) -> None:
    inputs = tiny.all_inputs(model.n_features)
    assert_exact(model, np.resize(inputs, (n, model.n_features)))


def test_tiny_models_on_every_input() -> None:
    rng = np.random.default_rng(7)
    for _ in range(100):
        n_features = int(rng.integers(1, 10))
        model = tiny.random_model(rng, n_features, int(rng.integers(1, 5)))
        assert_exact(model, tiny.all_inputs(n_features))


def test_no_run_can_overflow_its_sums() -> None:
    rng = np.random.default_rng(8)
    for largest in WEIGHTS:
        model = random_model(rng, 10, 300, 4, largest)
        form = batch_form(model.clauses, model.weights.T)
        assert form.run_offsets[-1] * EIGHT == len(form.middles)
        for first, last in zip(form.run_offsets[:-1], form.run_offsets[1:], strict=True):
            assert first < last
            a, b = form.part_offsets[first], form.part_offsets[last]
            votes = form.part_weights[EIGHT * a : EIGHT * b].astype(int)
            assert max(votes.clip(0).sum(axis=0).max(), (-votes).clip(0).sum(axis=0).max()) <= MAX_SUM


@pytest.mark.parametrize("n", [1, FEW_ROWS, 512, 515, 1100])
@pytest.mark.parametrize("value", [2, 3, 128, 255])
@pytest.mark.parametrize("ask", [Model.scores, Model.predict])
def test_a_byte_that_is_no_bit_is_refused_wherever_it_is(n: int, value: int, ask: Any) -> None:
    model = Model.from_clauses(70, [[1, -2], [70]], [1, -1])
    for i in {0, n // 2, n - 1}:
        X = np.zeros((n, 70), np.uint8)
        X[i, 69] = value
        with pytest.raises(InvalidInputError, match=rf"Got {value} at index \({i}, 69\) instead"):
            ask(model, X)


@pytest.mark.parametrize("n", [2, BLOCK_ROWS])
def test_any_array_of_bits(n: int) -> None:
    rng = np.random.default_rng(9)
    model = random_model(rng, 30, 40, 3, 5)
    X = random_inputs(rng, n, 30)
    frozen = X.copy()
    frozen.flags.writeable = False
    expected = model.scores(X).tolist()
    for array in (
        X.astype(bool),
        X.astype(float),
        X.astype(np.int64),
        np.asfortranarray(X),
        frozen,
        X.tolist(),
    ):
        assert model.scores(array).tolist() == expected
    assert model.scores(X.repeat(2, axis=0)[::2]).tolist() == expected


def test_numba_is_loaded_at_the_first_use_only() -> None:
    import subprocess

    code = "import sys, tmverify; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
