"""Tables of mixed columns as bits, each column by its own rule, found in fit:

    Boolean (all values 0 or 1)   one bit, as it is, named like the column
    other numbers                 thermometer bits, "age > 37.5"
    text                          one bit per category, "city = Oslo"

Boolean columns stay even if constant, so that a table of bits passes unchanged; any other constant number
gives no bit. A category that fit has not seen sets none of its column's bits. scikit-learn's
ColumnTransformer could be put together to do this, at the price of naming the columns of each kind first.

A table is an array or a frame; of a frame only ``columns`` and ``frame[name]`` are needed, so that pandas is
not imported. What is neither number, Boolean nor text, or is missing (None, NaN, NA), is refused by row and
column.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from tmverify.data.binarizers.base import Binarizer, input_names, number_text
from tmverify.data.binarizers.thermometer import STRATEGIES, above, cut_points
from tmverify.errors import InvalidInputError, shown
from tmverify.estimators.parameters import check_integer, wrong_parameter


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
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


@dataclass(frozen=True, slots=True)
class _Bit:
    """The bit is the value."""

    def endings(self) -> list[str]:
        return [""]

    def bits(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        return values.astype(np.uint8)[:, None]


@dataclass(frozen=True, slots=True)
class _Thermometer:
    cuts: NDArray[np.float64]

    def endings(self) -> list[str]:
        return [f" > {number_text(cut)}" for cut in self.cuts]

    def bits(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        return above(values, self.cuts)


@dataclass(frozen=True, slots=True)
class _OneHot:
    categories: tuple[str, ...]

    def endings(self) -> list[str]:
        return [f" = {category}" for category in self.categories]

    def bits(self, values: NDArray[Any]) -> NDArray[np.uint8]:
        equal: NDArray[np.bool_] = values[:, None] == np.array(self.categories, object)
        return equal.astype(np.uint8)


class TableBinarizer(Binarizer):
    """Bits for tables whose columns are Booleans, numbers or categories.

    Parameters
    ----------
    n_bins : int, default 8
        As in ThermometerBinarizer, for columns of numbers.
    strategy : {"quantile", "uniform"}, default "quantile"
        As in ThermometerBinarizer.
    max_categories : int, default 64
        A text column with more distinct values is refused: it is rather an identifier or free text.
    column_names : sequence of str or None, default None
        Names for the columns of arrays, which have none of their own; None means x0, x1, ...

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : object array, (n_features_in_,)
        Their names, if X was a frame with names.

    Examples
    --------
    >>> from tmverify.data import TableBinarizer
    >>> binarizer = TableBinarizer(column_names=("owner", "age", "city"))
    >>> binarizer = binarizer.fit([[1, 20, "Oslo"], [0, 30, "Bergen"]])
    >>> binarizer.get_feature_names_out().tolist()
    ['owner', 'age > 25', 'city = Bergen', 'city = Oslo']
    >>> binarizer.transform([[1, 40, "Oslo"]])
    array([[1, 1, 0, 1]], dtype=uint8)
    """

    def __init__(
        self,
        n_bins: int = 8,
        strategy: str = "quantile",
        max_categories: int = 64,
        column_names: Sequence[str] | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.strategy = strategy
        self.max_categories = max_categories
        self.column_names = column_names

    def fit(self, X: Any, y: Any = None) -> TableBinarizer:
        """Find each column's kind, cuts and categories.

        Parameters
        ----------
        X : frame or array-like, (n, n_columns)
            Numbers, Booleans and text, nothing missing.
        y : ignored

        Raises
        ------
        InvalidInputError
            If a value is missing, a column has too many categories or mixes kinds, a parameter is wrong, or
            no column gives a bit.
        """
        check_integer(self, "n_bins", 2)
        check_integer(self, "max_categories", 1)
        if self.strategy not in STRATEGIES:
            raise wrong_parameter(self, "strategy", "'quantile' or 'uniform'")
        columns = self._columns(X, fitting=True)
        self.rules_ = [self._rule(column) for column in columns]
        if not any(rule.endings() for rule in self.rules_):
            raise InvalidInputError(
                f"X gives no bit: all of its {len(columns)} columns are constant "
                f"(n_samples={len(columns[0].values)})."
            )
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """The bits of each row, uint8 (n, n_bits), column by column."""
        check_is_fitted(self, "rules_")
        columns = zip(self._columns(X, fitting=False), self.rules_, strict=True)
        return np.concatenate([_bits(column, rule) for column, rule in columns], axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """One name per bit: ``owner``, ``age > 37.5``, ``city = Oslo``."""
        check_is_fitted(self, "rules_")
        columns = zip(self._names(input_features), self.rules_, strict=True)
        return np.array([f"{name}{ending}" for name, rule in columns for ending in rule.endings()], object)

    def _columns(self, X: Any, *, fitting: bool) -> list[_Column]:
        X = _as_table(X)
        try:
            validate_data(self, X, reset=fitting, skip_check_array=True)
        except ValueError as error:
            raise InvalidInputError(str(error)) from None
        return list(_columns_of(X, self._names()))

    def _names(self, input_features: Any = None) -> NDArray[Any]:
        if (
            input_features is None
            and self.column_names is not None
            and not hasattr(self, "feature_names_in_")
        ):
            names = np.array([str(name) for name in self.column_names], object)
            if len(names) != self.n_features_in_:
                raise InvalidInputError(
                    f"The 'column_names' parameter of TableBinarizer must have one name per column of X "
                    f"({self.n_features_in_}). Got {len(names)} instead."
                )
            return names
        return input_names(self, input_features)

    def _rule(self, column: _Column) -> _Bit | _Thermometer | _OneHot:
        if column.is_text:
            categories = sorted(set(column.values))
            if len(categories) > self.max_categories:
                raise InvalidInputError(
                    f"Column {column.name!r} has {len(categories)} distinct texts, such as "
                    f"{shown(categories[0])} and {shown(categories[-1])}; at most "
                    f"max_categories={self.max_categories} are taken. Drop or group the column, or raise it."
                )
            return _OneHot(tuple(categories))
        if ((column.values == 0) | (column.values == 1)).all():
            return _Bit()
        return _Thermometer(cut_points(column.values, self.n_bins, self.strategy))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def _bits(column: _Column, rule: _Bit | _Thermometer | _OneHot) -> NDArray[np.uint8]:
    """Apply a rule to a column, which must be of the kind that the rule was made for."""
    expected = "text" if isinstance(rule, _OneHot) else "numbers"
    if column.is_text != isinstance(rule, _OneHot):
        found = "text" if column.is_text else "numbers"
        raise InvalidInputError(f"Column {column.name!r} held {expected} in fit. Got {found} instead.")
    if isinstance(rule, _Bit):
        wrong = (column.values != 0) & (column.values != 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidInputError(
                f"Column {column.name!r} held only 0 and 1 in fit. Got {number_text(column.values[row])} "
                f"in row {row} instead."
            )
    return rule.bits(column.values)


def _columns_of(X: Any, names: NDArray[Any]) -> Iterator[_Column]:
    """Each column of ``X``, a frame or a matrix with ``len(names)`` columns.

    Raises
    ------
    InvalidInputError
        If a value is missing, infinite, or neither number nor text, or a column mixes both.
    """
    raw = (np.asarray(X[label]) for label in X.columns) if hasattr(X, "columns") else iter(X.T)
    for name, values in zip(names, raw, strict=True):
        yield _checked(str(name), values)


def _as_table(X: Any) -> Any:
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


def _checked(name: str, values: NDArray[Any]) -> _Column:
    if values.ndim != 1:
        raise InvalidInputError(f"Column names must be distinct. Got {name!r} more than once.")
    if values.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: column {name!r} holds complex numbers.")
    if values.dtype.kind == "U":
        return _Column(name, values.astype(object), True)
    if values.dtype.kind not in "buif":
        values = values.astype(object)
        if _holds_text(name, values):
            return _Column(name, values, True)
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        found = "NaN" if np.isnan(values[row]) else "infinity (inf)"
        raise InvalidInputError(
            f"A table must hold finite numbers; fill in or drop missing values first. "
            f"Got {found} in row {row}, column {name!r}."
        )
    return _Column(name, values, False)


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
