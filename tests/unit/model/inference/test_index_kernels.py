"""Every score is computed in three ways: by the kernels, the NumPy reference, and ten lines of Python."""

from __future__ import annotations

from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tmverify.model import Model
from tmverify.model.evaluate import reference_classes, reference_scores
from tmverify.model.inference._index import find_ones, find_true_clauses
from tmverify.model.inference.rows import Index

Empty = Literal["silent", "fires"]
WIDTHS = (1, 2, 63, 64, 65, 127, 128, 129, 200)
MAX_WEIGHT = (1 << 31) - 1


def plain_scores(model: Model, x: list[int]) -> list[int]:
    """Straight from the definition, in Python integers."""
    scores = [int(b) for b in model.bias]
    for j, clause in enumerate(model.clauses):
        if not clause and model.empty_clause == "silent":
            continue
        if all((lit > 0) == bool(x[abs(lit) - 1]) for lit in clause):
            scores = [s + int(w) for s, w in zip(scores, model.weights[:, j], strict=True)]
    return scores


def plain_label(model: Model, x: list[int]) -> int | str:
    scores = plain_scores(model, x)
    if model.clamp is not None:
        scores = [max(-model.clamp, min(model.clamp, s)) for s in scores]
    if len(scores) > 1:
        return model.classes[max(range(len(scores)), key=lambda c: (scores[c], -c))]
    return model.classes[scores[0] > 0 or (scores[0] == 0 and model.tie == "positive")]


def assert_three_opinions_agree(model: Model, X: NDArray[np.uint8]) -> None:
    fast = model.scores(X)
    assert fast.dtype == np.int64
    assert fast.tolist() == reference_scores(model, X).tolist()
    assert fast.tolist() == [plain_scores(model, x) for x in X.tolist()]
    labels = model.predict(X).tolist()
    assert labels == [model.classes[c] for c in reference_classes(model, X)]
    assert labels == [plain_label(model, x) for x in X.tolist()]


def random_model(rng: np.random.Generator, n_features: int) -> Model:
    """Clauses from empty to crowded, contradictory ones among them, weights from 0 to the largest."""
    n_clauses, outputs = int(rng.integers(0, 13)), int(rng.integers(1, 5))
    longest = int(rng.choice([2, 4, n_features]))
    clauses = []
    for _ in range(n_clauses):
        features = rng.integers(1, n_features + 1, rng.integers(0, longest + 1))
        clauses.append((features * rng.choice([-1, 1], len(features))).tolist())
    scale = int(rng.choice([1, 3, MAX_WEIGHT]))
    return Model.from_clauses(
        n_features,
        clauses,
        rng.integers(-scale, scale, (outputs, n_clauses), endpoint=True),
        bias=rng.integers(-2, 3, outputs),
        tie="positive" if rng.integers(2) else "negative",
        clamp=None if rng.integers(2) else int(rng.integers(1, 4)),
        empty_clause="fires" if rng.integers(2) else "silent",
    )


def telling_inputs(rng: np.random.Generator, model: Model, n: int) -> NDArray[np.uint8]:
    """Random inputs, and for half of them some clause made true or true but for one bit."""
    X = rng.integers(0, 2, (n, model.n_features), dtype=np.uint8)
    for x in X[: n // 2]:
        if model.n_clauses:
            clause = model.clauses[int(rng.integers(model.n_clauses))]
            for lit in clause:
                x[abs(lit) - 1] = lit > 0
            if clause and rng.integers(2):
                x[abs(clause[int(rng.integers(len(clause)))]) - 1] ^= 1
    return X


@pytest.mark.parametrize("n_features", WIDTHS)
def test_random_models(n_features: int) -> None:
    rng = np.random.default_rng(n_features)
    for _ in range(60):
        model = random_model(rng, n_features)
        assert_three_opinions_agree(model, telling_inputs(rng, model, 10))


@pytest.mark.deep
@pytest.mark.parametrize("n_features", [*WIDTHS, 784, 4999])
def test_many_random_models(n_features: int) -> None:
    rng = np.random.default_rng(10_000 + n_features)
    for _ in range(1000 if n_features <= 200 else 50):
        model = random_model(rng, n_features)
        assert_three_opinions_agree(model, telling_inputs(rng, model, 10))


@pytest.mark.parametrize("n_features", range(1, 9))
def test_every_input_of_small_models(n_features: int) -> None:
    rng = np.random.default_rng(100 + n_features)
    X = np.array([*product([0, 1], repeat=n_features)], np.uint8)
    for _ in range(12):
        assert_three_opinions_agree(random_model(rng, n_features), X)


@pytest.mark.parametrize("empty_clause", ["silent", "fires"])
@pytest.mark.parametrize("n_features", [1, 2])
def test_every_pair_of_clauses_on_every_input(n_features: int, empty_clause: Empty) -> None:
    """All sets of literals, the contradictory and the empty ones included."""
    literals = [lit for i in range(1, n_features + 1) for lit in (-i, i)]
    clauses = [
        [lit for lit, keep in zip(literals, mask, strict=True) if keep]
        for mask in product([0, 1], repeat=len(literals))
    ]
    X = np.array([*product([0, 1], repeat=n_features)], np.uint8)
    for pair in product(clauses, repeat=2):
        assert_three_opinions_agree(
            Model.from_clauses(n_features, pair, [2, -3], empty_clause=empty_clause), X
        )


@st.composite
def models_and_inputs(draw: st.DrawFn) -> tuple[Model, NDArray[np.uint8]]:
    n_features = draw(st.sampled_from([1, 2, 5, *WIDTHS]))
    literal = st.builds(lambda i, s: i * s, st.integers(1, n_features), st.sampled_from([-1, 1]))
    clauses = draw(st.lists(st.lists(literal, max_size=6), max_size=6))
    outputs = draw(st.integers(1, 3))
    weight = st.integers(-3, 3) | st.integers(-MAX_WEIGHT, MAX_WEIGHT)
    weights = draw(st.lists(weight, min_size=outputs * len(clauses), max_size=outputs * len(clauses)))
    model = Model.from_clauses(
        n_features,
        clauses,
        np.array(weights, np.int64).reshape(outputs, len(clauses)),
        bias=draw(st.lists(weight, min_size=outputs, max_size=outputs)),
        tie=draw(st.sampled_from(["positive", "negative"])),
        clamp=draw(st.none() | st.integers(1, 4)),
        empty_clause=draw(st.sampled_from(["silent", "fires"])),
        classes=draw(st.sampled_from([None, [*"abc"][: max(2, outputs)]])),
    )
    rows = draw(st.lists(st.integers(0, (1 << n_features) - 1), min_size=1, max_size=4))
    X = np.array([[row >> f & 1 for f in range(n_features)] for row in rows], np.uint8)
    return model, X


@settings(deadline=None)
@given(models_and_inputs())
def test_models_of_hypothesis(case: tuple[Model, NDArray[np.uint8]]) -> None:
    assert_three_opinions_agree(*case)


@pytest.mark.parametrize("n_features", WIDTHS)
def test_one_literal_reads_one_bit(n_features: int) -> None:
    """Clause i is feature i alone, clause n + i its negation: no bit is lost or seen twice."""
    clauses = [[sign * i] for sign in (1, -1) for i in range(1, n_features + 1)]
    weights = np.concatenate([np.eye(n_features, dtype=int), -np.eye(n_features, dtype=int)], axis=1)
    model = Model.from_clauses(n_features, clauses, weights, classes=range(max(2, n_features)))
    X = np.concatenate([np.eye(n_features, dtype=np.uint8), 1 - np.eye(n_features, dtype=np.uint8)])
    assert model.scores(X).tolist() == (2 * X.astype(int) - 1).tolist()


@pytest.mark.parametrize("n_features", WIDTHS)
def test_the_longest_clause_fires_on_one_input_only(n_features: int) -> None:
    rng = np.random.default_rng(n_features)
    x = rng.integers(0, 2, n_features, dtype=np.uint8)
    model = Model.from_clauses(n_features, [[(i + 1) * (1 if b else -1) for i, b in enumerate(x)]], [1])
    flipped = x ^ np.eye(n_features, dtype=np.uint8)
    assert model.scores([x]).tolist() == [[1]]
    assert not model.scores(flipped).any()


@pytest.mark.parametrize("dtype", [bool, np.int64, np.float32])
def test_every_kind_of_input_array(dtype: Any) -> None:
    rng = np.random.default_rng(5)
    model = random_model(rng, 65)
    X = rng.integers(0, 2, (9, 65), dtype=np.uint8)
    expected = model.scores(X).tolist()
    frozen = X.copy()
    frozen.flags.writeable = False
    for given_array in (
        X.astype(dtype),
        np.asfortranarray(X.astype(dtype)),
        X.repeat(2, axis=1)[:, ::2],
        frozen,
    ):
        assert model.scores(given_array).tolist() == expected


def test_the_ones_of_a_row() -> None:
    rng = np.random.default_rng(11)
    for n_features in WIDTHS:
        for values in ([0], [1], [0, 1], [0, 0, 0, 1], [0, 1, 2, 255]):
            bits = rng.choice(np.array(values, np.uint8), n_features)
            ones = np.zeros(n_features + 1, np.uint32)
            n, seen = find_ones(bits, ones)
            assert ones[:n].tolist() == np.flatnonzero(bits).tolist()
            assert seen == np.bitwise_or.reduce(bits)


def test_true_clauses_by_the_index_from_features() -> None:
    rng = np.random.default_rng(12)
    for _ in range(300):
        n_features, n_clauses = int(rng.integers(1, 40)), int(rng.integers(0, 30))
        signs = rng.choice([-1, 0, 0, 0, 1], (n_clauses, n_features))
        x = rng.integers(0, 2, n_features, dtype=np.uint8)
        expected = np.flatnonzero(((signs == 0) | (signs == 2 * x.astype(int) - 1)).all(axis=1))
        asking = [np.flatnonzero(signs[:, f] == sign) for f in range(n_features) for sign in (1, -1)]
        bounds = np.cumsum([0, *map(len, asking)])
        true = np.zeros(n_clauses + 1, np.uint32)
        index = Index(
            bounds[::2].copy(),
            bounds[1::2].copy(),
            np.concatenate(asking).astype(np.uint32),
            (signs == 1).sum(axis=1).astype(np.int32),
            np.zeros(n_clauses + 1, np.int64),
            np.empty(0, np.uint32),
            np.empty(0, np.int32),
        )
        n = find_true_clauses(
            np.flatnonzero(x).astype(np.uint32),
            np.count_nonzero(x),
            index,
            np.empty(n_clauses, np.int32),
            true,
        )
        assert true[:n].tolist() == expected.tolist()
