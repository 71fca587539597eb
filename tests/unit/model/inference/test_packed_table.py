"""One row at a time: the same labels and the same refusals as for many, whatever the array."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError
from tmverify.model import Model
from tmverify.model.checks import MAX_WEIGHT
from tmverify.model.evaluate import reference_classes
from tmverify.model.inference.packed import FEW_ROWS_BY_TABLE


def some_model(scale: int = 1) -> Model:
    rng = np.random.default_rng(3)
    clauses = [(rng.integers(1, 31, 3) * rng.choice([-1, 1], 3)).tolist() for _ in range(100)]
    return Model.from_clauses(30, clauses, scale * rng.integers(-2, 3, (3, 100)), classes=["a", "b", "cc"])


SMALL = some_model()
LARGE = some_model(MAX_WEIGHT // 2)


def some_rows(n: int) -> NDArray[np.uint8]:
    return np.random.default_rng(4).integers(0, 2, (n, 30), dtype=np.uint8)


def expected_labels(model: Model, rows: NDArray[np.uint8]) -> list[Any]:
    return [model.classes[c] for c in reference_classes(model, rows)]


def test_one_model_has_a_table_and_one_has_none() -> None:
    assert SMALL._packed._table_form is not None
    assert LARGE._packed._table_form is None


@pytest.mark.parametrize("model", [SMALL, LARGE])
def test_row_by_row(model: Model) -> None:
    rows = some_rows(200)
    labels = [model.predict(rows[i : i + 1]) for i in range(len(rows))]
    assert {label.shape for label in labels} == {(1,)}
    assert {label.dtype for label in labels} == {np.array(model.classes).dtype}
    assert [label.item() for label in labels] == expected_labels(model, rows)


@pytest.mark.parametrize("model", [SMALL, LARGE])
@pytest.mark.parametrize("n", [0, 1, 2, FEW_ROWS_BY_TABLE - 1, FEW_ROWS_BY_TABLE, FEW_ROWS_BY_TABLE + 1])
def test_a_few_rows(model: Model, n: int) -> None:
    rows = some_rows(n)
    assert model.predict(rows).tolist() == expected_labels(model, rows)


@pytest.mark.parametrize("model", [SMALL, LARGE])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.uint64, np.float32, np.float64])
def test_any_dtype(model: Model, dtype: Any) -> None:
    row = some_rows(1)
    assert model.predict(row.astype(dtype)).tolist() == expected_labels(model, row)


@pytest.mark.parametrize("model", [SMALL, LARGE])
def test_any_layout(model: Model) -> None:
    row = some_rows(1)
    frozen = row.copy()
    frozen.flags.writeable = False
    unaligned = np.zeros(31, np.uint8)[1:]
    unaligned[:] = row[0]
    for array in (
        frozen,
        row.repeat(2, axis=1)[:, ::2],
        row[:, ::-1].copy()[:, ::-1],
        np.asfortranarray(row),
        unaligned[None],
        row.view(np.matrix),
        np.ma.masked_array(row),
        row.tolist(),
    ):
        assert model.predict(array).tolist() == expected_labels(model, row)


@pytest.mark.parametrize("model", [SMALL, LARGE])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float64])
def test_a_value_that_is_no_bit(model: Model, dtype: Any) -> None:
    for place in (0, 15, 29):
        row = some_rows(1).astype(dtype)
        row[0, place] = 2
        with pytest.raises(InvalidInputError, match=rf"Got 2(\.0)? at index \(0, {place}\) instead"):
            model.predict(row)


@pytest.mark.parametrize("model", [SMALL, LARGE])
def test_a_shape_that_does_not_fit(model: Model) -> None:
    for width in (1, 29, 31):
        with pytest.raises(InvalidInputError, match=f"n_features=30 columns. Got {width} instead"):
            model.predict(np.zeros((1, width), np.uint8))
    with pytest.raises(InvalidInputError, match="For one input, pass X"):
        model.predict(np.zeros(30, np.uint8))
    with pytest.raises(InvalidInputError, match="must be a matrix"):
        model.predict(np.zeros((1, 1, 30), np.uint8))


def test_other_refusals() -> None:
    with pytest.raises(InvalidInputError, match="some of its values are masked"):
        SMALL.predict(np.ma.masked_array(some_rows(1), mask=True))
    with pytest.raises(InvalidInputError, match="Got nan"):
        SMALL.predict(np.full((1, 30), np.nan))
    with pytest.raises(InvalidInputError, match="dtype"):
        SMALL.predict(np.full((1, 30), "1"))


def test_the_answer_belongs_to_the_caller() -> None:
    row = some_rows(1)
    first = SMALL.predict(row)
    first[0] = "zz"
    assert SMALL.predict(row).tolist() == expected_labels(SMALL, row)


def test_threads_do_not_disturb_each_other() -> None:
    rows = some_rows(100)
    expected = expected_labels(SMALL, rows)
    with ThreadPoolExecutor(4) as pool:
        for labels in pool.map(lambda _: [SMALL.predict(row[None]).item() for row in rows], range(8)):
            assert labels == expected
        for labels in pool.map(lambda _: SMALL.predict(rows).tolist(), range(50)):
            assert labels == expected
