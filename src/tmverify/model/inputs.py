"""Inputs: 0/1 vectors and matrices, checked once at the door.

Everything behind these functions may rely on: uint8, C-contiguous, values 0 and 1 only, the right width.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError

BYTE = np.dtype(np.uint8)


def as_rows(X: ArrayLike, n_features: int) -> NDArray[np.uint8]:
    """``as_bit_matrix`` for kernels that look at the values themselves: bytes are let through unread.

    A second pass over the bytes would cost as much as evaluating a small model.
    """
    if (
        type(X) is np.ndarray
        and X.dtype == BYTE
        and X.ndim == 2
        and X.shape[1] == n_features
        and X.flags.c_contiguous
    ):
        return X
    return as_bit_matrix(X, n_features)


def as_bit_matrix(X: ArrayLike, n_features: int, *, name: str = "X") -> NDArray[np.uint8]:
    """Check a matrix of inputs, shape (n, n_features), and return it as uint8.

    Raises
    ------
    InvalidInputError
        If the shape is wrong or a value is anything but 0 or 1 (NaN included).
    """
    bits = _as_bits(X, name)
    if bits.ndim != 2:
        hint = f" For one input, pass {name}[None, :]." if bits.ndim == 1 and bits.size else ""
        raise InvalidInputError(
            f"{name} must be a matrix of shape (n, {n_features}). Got shape {bits.shape} instead.{hint}"
        )
    if bits.shape[1] != n_features:
        raise InvalidInputError(
            f"{name} must have n_features={n_features} columns. Got {bits.shape[1]} instead."
        )
    return bits


def as_bit_vector(x: ArrayLike, n_features: int, *, name: str = "x") -> NDArray[np.uint8]:
    """Check one input, shape (n_features,) or (1, n_features), and return it as a fresh uint8 vector."""
    bits = _as_bits(x, name)
    if bits.shape not in ((n_features,), (1, n_features)):
        rows = bits.ndim == 2 and bits.shape[1] == n_features and len(bits)
        remedy = f" Pass one of its rows, such as {name}[0]." if rows else ""
        raise InvalidInputError(
            f"{name} must be one input of shape ({n_features},). Got shape {bits.shape} instead.{remedy}"
        )
    return bits.flatten()


def _as_bits(values: ArrayLike, name: str) -> NDArray[np.uint8]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInputError(f"{name} must hold only 0 and 1; some of its values are masked.")
    try:
        array = np.asarray(_dense(values))
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} must be an array of 0 and 1: {error}.") from None
    if array.dtype.kind not in "buif":
        raise InvalidInputError(
            f"{name} must be an array of 0 and 1 (bool, integer or float). Got dtype {array.dtype} instead."
        )
    if array.dtype.kind != "b":
        wrong = (array != 0) & (array != 1)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise InvalidInputError(
                f"{name} must hold only 0 and 1; binarize it first. "
                f"Got {array[place]} at index {place} instead."
            )
    return np.asarray(array, dtype=np.uint8, order="C")


def _dense(values: ArrayLike) -> ArrayLike:
    """A sparse matrix as an array, as small as its values allow; anything else as it is."""
    sparse = sys.modules.get("scipy.sparse")  # nobody has one who has not imported it
    if sparse is None or not sparse.issparse(values):
        return values
    matrix = sparse.csr_array(values)
    matrix.sum_duplicates()
    bits = bool(np.isin(matrix.data, (0, 1)).all())
    dense: NDArray[Any] = (matrix.astype(np.uint8) if bits else matrix).toarray()
    return dense
