"""Inputs: what is accepted as 0/1, what is refused, and with which message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from tmverify.errors import InvalidInputError
from tmverify.model.checks import as_bit_matrix, as_bit_vector

ROWS = [[0, 1, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    "dtype",
    [bool, np.uint8, np.int8, np.int64, np.uint64, np.float16, np.float32, np.float64, np.longdouble, ">i4"],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_numeric_dtype_and_layout(dtype: Any, order: Any) -> None:
    matrix = as_bit_matrix(np.array(ROWS, dtype, order=order), 3)
    assert matrix.tolist() == ROWS
    assert matrix.dtype == np.uint8
    assert matrix.flags.c_contiguous


def test_lists_slices_and_read_only_arrays() -> None:
    wide = np.array(ROWS, np.uint8).repeat(2, axis=1)
    frozen = np.array(ROWS, np.uint8)
    frozen.flags.writeable = False
    for given in (ROWS, tuple(map(tuple, ROWS)), wide[:, ::2], frozen, np.array(ROWS)[::-1][::-1]):
        assert as_bit_matrix(given, 3).tolist() == ROWS
    assert as_bit_vector([True, False, 1], 3).tolist() == [1, 0, 1]


def test_negative_zero_is_zero() -> None:
    assert as_bit_vector([-0.0, 1.0], 2).tolist() == [0, 1]


def test_no_rows() -> None:
    assert as_bit_matrix(np.zeros((0, 3)), 3).shape == (0, 3)


def test_a_vector_is_a_fresh_array() -> None:
    x = np.array([0, 1, 1], np.uint8)
    bits = as_bit_vector(x, 3)
    bits[:] = 0
    assert x.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    "value",
    [2, -1, 255, 256, 1 << 40, 0.5, 1 + 1e-12, float("nan"), float("inf"), -float("inf"), 1e-300],
    ids=repr,
)
def test_a_value_that_is_no_bit(value: Any) -> None:
    with pytest.raises(
        InvalidInputError, match=r"must hold only 0 and 1; binarize it first\. Got "
    ) as caught:
        as_bit_matrix([[0, 1, 1], [0, value, value]], 3)
    assert "at index (1, 1)" in str(caught.value)
    with pytest.raises(InvalidInputError, match=r"^point must hold only 0 and 1.*at index \(2,\)"):
        as_bit_vector([0, 1, value], 3, name="point")


@pytest.mark.parametrize(
    "values",
    [
        [["0", "1", "1"]],
        [[b"0", b"1", b"1"]],
        [[0, 1, None]],
        [[0, 1, 1 << 70]],
        [[0j, 1, 1]],
        None,
        {},
        object(),
        "011",
        np.zeros((1, 3), "datetime64[s]"),
        np.zeros((1, 3), [("a", "u1")]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_a_dtype_that_is_no_number(values: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^X must be an array of 0 and 1 .*Got dtype .* instead"):
        as_bit_matrix(values, 3)


def test_ragged_lists() -> None:
    with pytest.raises(InvalidInputError, match="X must be an array of 0 and 1"):
        as_bit_matrix([[0, 1, 1], [0, 1]], 3)


def test_one_input_where_a_matrix_is_due_comes_with_the_remedy() -> None:
    with pytest.raises(
        InvalidInputError, match=r"shape \(n, 3\)\. Got shape \(3,\) instead\. .*pass X\[None, :\]"
    ):
        as_bit_matrix([0, 1, 1], 3)


@pytest.mark.parametrize("shape", [(), (1, 1, 3)])
def test_neither_a_vector_nor_a_matrix(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match=r"matrix of shape \(n, 3\)\. Got shape") as caught:
        as_bit_matrix(np.zeros(shape), 3)
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("width", [0, 2, 4])
def test_a_matrix_of_the_wrong_width(width: int) -> None:
    with pytest.raises(
        InvalidInputError, match=rf"^data must have n_features=3 columns\. Got {width} instead"
    ):
        as_bit_matrix(np.zeros((2, width)), 3, name="data")


@pytest.mark.parametrize("shape", [(), (2,), (4,), (2, 3), (3, 1), (1, 1, 3)])
def test_a_vector_of_the_wrong_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInputError, match=r"one input of shape \(3,\)\. Got shape") as caught:
        as_bit_vector(np.zeros(shape), 3)
    assert str(shape) in str(caught.value)


def test_several_rows_where_one_is_due_come_with_the_remedy() -> None:
    with pytest.raises(InvalidInputError, match=r"Pass one of its rows, such as x\[0\]\."):
        as_bit_vector(np.zeros((2, 3)), 3)


@pytest.mark.parametrize("kind", [np.array, csr_matrix, csr_array, coo_array, csc_array])
def test_a_row_is_one_input_sparse_or_not(kind: Any) -> None:
    x = as_bit_vector(kind([[1, 0, 1]]), 3)
    assert x.dtype == np.uint8
    assert x.tolist() == [1, 0, 1]
    assert as_bit_matrix(kind([[1, 0, 1], [0, 0, 1]]), 3).tolist() == [[1, 0, 1], [0, 0, 1]]


@pytest.mark.parametrize("value", [2, -1, 0.5, 256, 257])
def test_a_sparse_value_that_is_no_bit(value: float) -> None:
    with pytest.raises(InvalidInputError, match=rf"Got {value} at index \(0, 1\)"):
        as_bit_vector(csr_array([[0, value, 1]]), 3)


def test_sparse_entries_that_add_up() -> None:
    """A coordinate that is listed twice is the sum of both."""
    twice = coo_array(([1, 1], ([0, 0], [1, 1])), shape=(1, 3))
    with pytest.raises(InvalidInputError, match=r"Got 2 at index \(0, 1\)"):
        as_bit_vector(twice, 3)
