"""The columns of a table, of an array or a frame, each as numbers or as text.

Works without importing pandas: of a frame it needs only ``columns`` and ``frame[name]``. What is neither
number, Boolean nor text, or missing (None, NaN, NA), is refused by row and column.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from tmverify.errors import InvalidInputError, shown


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One checked column.

    Attributes
    ----------
    name : str
        For messages and the names of bits.
    values : float64 array or object array of str, (n,)
    is_text : bool
    """

    name: str
    values: NDArray[Any]
    is_text: bool


def columns_of(X: Any, names: NDArray[Any]) -> Iterator[Column]:
    """Each column of ``X``, a frame or a matrix with ``len(names)`` columns.

    Raises
    ------
    InvalidInputError
        If a value is missing, infinite, or neither number nor text, or a column mixes both.
    """
    raw = (np.asarray(X[label]) for label in X.columns) if hasattr(X, "columns") else iter(X.T)
    for name, values in zip(names, raw, strict=True):
        yield _checked(str(name), values)


def as_table(X: Any) -> Any:
    """``X`` itself if it is a frame, else a matrix with at least one row and column.

    Nested lists of numbers and text become an array of objects: numpy would turn the numbers into text.
    """
    if issparse(X):
        raise TypeError("Sparse data was passed, but dense data is required. Use '.toarray()' first.")
    if not hasattr(X, "columns"):
        X = _matrix(X)
    if len(X.shape) != 2:
        raise InvalidInputError(
            f"Expected 2D array, a table with rows and columns. Got shape {X.shape} instead. "
            "Reshape your data: array.reshape(-1, 1) for a single column, array.reshape(1, -1) for one row."
        )
    for size, what in zip(X.shape, ("sample", "feature"), strict=True):
        if size == 0:
            raise InvalidInputError(
                f"Found array with 0 {what}(s) (shape={tuple(X.shape)}) while a minimum of 1 is required."
            )
    return X


def _matrix(X: Any) -> NDArray[Any]:
    if isinstance(X, np.ndarray):
        return X
    try:
        array = np.asarray(X)
        return np.asarray(X, object) if array.dtype.kind in "US" and not hasattr(X, "dtype") else array
    except ValueError as error:
        raise InvalidInputError(f"X must be a table: {error}.") from None


def _checked(name: str, values: NDArray[Any]) -> Column:
    if values.ndim != 1:
        raise InvalidInputError(f"Column names must be distinct. Got {name!r} more than once.")
    if values.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: column {name!r} holds complex numbers.")
    if values.dtype.kind == "U":
        return Column(name, values.astype(object), True)
    if values.dtype.kind not in "buif":
        values = values.astype(object)
        if _holds_text(name, values):
            return Column(name, values, True)
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        found = "NaN" if np.isnan(values[row]) else "infinity (inf)"
        raise InvalidInputError(
            f"A table must hold finite numbers; fill in or drop missing values first. "
            f"Got {found} in row {row}, column {name!r}."
        )
    return Column(name, values, False)


def _holds_text(name: str, values: NDArray[Any]) -> bool:
    """Whether a column of objects is all text (True) or all numbers (False)."""
    kinds: dict[bool, int] = {}
    for row, value in enumerate(values):
        if _is_missing(value):
            raise InvalidInputError(
                f"A table must hold no missing values (NaN, None); fill in or drop them first. "
                f"Got {shown(value)} in row {row}, column {name!r}."
            )
        if not isinstance(value, str | numbers.Real | np.bool_):
            raise InvalidInputError(
                f"A table must hold numbers, Booleans and text only. "
                f"Got {shown(value)} in row {row}, column {name!r} instead."
            )
        kinds.setdefault(isinstance(value, str), row)
    if len(kinds) > 1:
        raise InvalidInputError(
            f"Column {name!r} mixes numbers and text: {shown(values[kinds[False]])} in row {kinds[False]}, "
            f"{shown(values[kinds[True]])} in row {kinds[True]}. Make it all text, or all numbers."
        )
    return True in kinds


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return True
