"""The table kernels: nibbles and true clauses by their slow twins, classes by the reference."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from support.batteries import one_in
from tmverify.model import Model
from tmverify.model.evaluate import reference_classes
from tmverify.model.inference._table import decide_few, fold_quarters
from tmverify.model.inference.rows import TableForm

WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 127, 128, 129, 784)
COUNTS = (0, 1, 63, 64, 65, 511, 512, 513, 1100)


def form_of(model: Model) -> TableForm:
    form = model._packed._table_form
    assert form is not None
    return form


def decide_one(rows: NDArray[np.uint8], table: NDArray[np.int64]) -> int:
    classes = np.empty(len(rows), np.int64)
    answer = int(decide_few(rows, table, classes))
    assert answer in (-1, classes[-1])
    return answer


def random_model(rng: np.random.Generator, n_features: int, n_clauses: int, n_outputs: int) -> Model:
    clauses = [
        (rng.integers(1, n_features + 1, rng.integers(0, 5)) * rng.choice([-1, 1])).tolist()
        for _ in range(n_clauses)
    ]
    return Model.from_clauses(
        n_features,
        clauses,
        rng.integers(-9, 10, (n_outputs, n_clauses)),
        bias=rng.integers(-5, 6, n_outputs),
        tie="positive" if rng.integers(2) else "negative",
        clamp=None if rng.integers(2) else int(rng.integers(1, 12)),
        empty_clause="fires" if rng.integers(2) else "silent",
    )


def random_rows(rng: np.random.Generator, n: int, n_features: int) -> NDArray[np.uint8]:
    return np.asarray(rng.random((n, n_features)) < rng.choice([0.1, 0.5, 0.9]), np.uint8)


@pytest.mark.parametrize("n_features", WIDTHS)
def test_nibbles(n_features: int) -> None:
    rng = np.random.default_rng(n_features)
    q = -(-n_features // 4)
    for _ in range(20):
        bits = random_rows(rng, 1, n_features)[0]
        nibbles = np.full(q, 255, np.uint8)
        assert fold_quarters(bits, nibbles) == bits.max()
        padded = np.pad(bits, (0, 4 * q - n_features)).reshape(4, q)
        assert nibbles.tolist() == (padded * [[1], [2], [4], [8]]).sum(axis=0).tolist()


@pytest.mark.parametrize("n_features", WIDTHS)
def test_every_byte_is_seen(n_features: int) -> None:
    nibbles = np.zeros(-(-n_features // 4), np.uint8)
    for f in range(n_features):
        for value in (2, 128, 255):
            bits = np.zeros(n_features, np.uint8)
            bits[f] = value
            assert fold_quarters(bits, nibbles) == value


@pytest.mark.parametrize(("n_features", "n_clauses"), one_in(4, product(WIDTHS, COUNTS)))
def test_classes_are_those_of_the_reference(n_features: int, n_clauses: int) -> None:
    rng = np.random.default_rng(n_features + 1000 * n_clauses)
    for n_outputs in (1, 2, 10, 16, 17, 40):
        model = random_model(rng, n_features, n_clauses, n_outputs)
        table = form_of(model).table
        rows = random_rows(rng, 30, n_features)
        expected = reference_classes(model, rows).tolist()
        classes = np.full(len(rows), -1, np.int64)
        assert decide_few(rows, table, classes) == expected[-1]
        assert classes.tolist() == expected
        assert [decide_one(rows[i : i + 1], table) for i in range(len(rows))] == expected


def test_each_clause_has_a_bit_of_its_own() -> None:
    """Clause j is true on input j alone, and votes for class j alone."""
    n = 600
    rows = np.eye(n, dtype=np.uint8)
    model = Model.from_clauses(n, [[i + 1] for i in range(n)], np.eye(n, dtype=int))
    assert model._packed._table_form is None, "600 classes of 600 clauses: too large by intent"
    n = 200
    model = Model.from_clauses(n, [[i + 1] for i in range(n)], np.eye(n, dtype=int))
    classes = np.empty(n, np.int64)
    assert decide_few(rows[:n, :n].copy(), form_of(model).table, classes) == n - 1
    assert classes.tolist() == [*range(n)]


def test_the_largest_scores_of_int32() -> None:
    """Sums as large as a table may hold, then one more: no table, and the same answers."""
    largest = (1 << 31) - 1
    for bias, has_table in ((1, True), (2, False)):
        for sign in (1, -1):
            weights = [[sign * (largest - 1) // 2] * 2, [0, 0]]
            model = Model.from_clauses(1, [[1], [1]], weights, bias=[sign * bias, 0])
            assert (model._packed._table_form is not None) == has_table
            assert model.predict(np.array([[1]], np.uint8)).tolist() == [0 if sign > 0 else 1]
            assert model.predict(np.array([[1], [0]], np.uint8)).tolist() == [0 if sign > 0 else 1] * 2


def test_a_byte_that_is_no_bit() -> None:
    model = random_model(np.random.default_rng(0), 10, 20, 3)
    table = form_of(model).table
    rows = np.zeros((3, 10), np.uint8)
    rows[2, 9] = 2
    assert decide_one(rows[2:], table) == -1
    assert decide_one(rows[:2], table) >= 0
    assert decide_one(rows, table) == -1


def test_no_rows() -> None:
    model = random_model(np.random.default_rng(0), 10, 20, 3)
    assert decide_few(np.zeros((0, 10), np.uint8), form_of(model).table, np.empty(0, np.int64)) == 0


def test_one_compilation_for_arrays_that_may_be_written_to_and_those_that_may_not() -> None:
    model = random_model(np.random.default_rng(0), 10, 20, 3)
    rows = np.zeros((1, 10), np.uint8)
    frozen = rows.copy()
    frozen.flags.writeable = False
    assert decide_one(rows, form_of(model).table) == decide_one(frozen, form_of(model).table)
    assert len(decide_few.signatures) == 1
