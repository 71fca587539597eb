"""Turn tables of mixed columns into bits; ``fit`` finds the rule for each column:

    Boolean (all values 0 or 1)   one bit, unchanged, named like the column
    other numbers                 thermometer bits, "age > 37.5"
    text                          one bit per category, "city = Oslo"

Boolean columns stay even if constant, so that a table of bits passes unchanged; any other constant column of
numbers gives no bit. A category that fit has not seen sets none of its column's bits. scikit-learn's
ColumnTransformer could do this too, but the user would have to list the columns of each kind first.

A table is an array or a frame; of a frame only ``columns`` and ``frame[name]`` are needed, so that pandas is
not imported. A value that is not a number, Boolean or text, or is missing (None, NaN, NA), is refused; the
error names its row and column.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from tmverify.data.binarizers.base import Binarizer, input_names, number_text
from tmverify.data.binarizers.thermometer import STRATEGIES, above, cut_points
from tmverify.errors import InvalidInputError, shown
from tmverify.estimators.parameters import check_integer, wrong_parameter


class _Column(NamedTuple):
    """One checked column: its name, and its values as float64 or, if it is text, as objects."""

    name: str
    values: NDArray[Any]

    @property
    def is_text(self) -> bool:
        return self.values.dtype == object


class _Rule(NamedTuple):
    """How a column becomes bits: the kind of its values in fit, and the cuts or categories of its bits."""

    kind: Literal["bit", "numbers", "text"]
    marks: NDArray[Any]

    def endings(self) -> list[str]:
        """The text after the column name in the name of each bit."""
        if self.kind == "bit":
            return [""]
        if self.kind == "text":
            return [f" = {category}" for category in self.marks]
        return [f" > {number_text(cut)}" for cut in self.marks]

    def bits(self, column: _Column) -> NDArray[np.uint8]:
        """The bits of a column, which must be of the kind that the rule was made for."""
        name, values = column
        kinds = ("numbers", "text")
        if column.is_text != (self.kind == "text"):
            found, expected = kinds[column.is_text], kinds[self.kind == "text"]
            raise InvalidInputError(f"Column {name!r} held {expected} in fit. Got {found} instead.")
        if self.kind == "text":
            return np.asarray(values[:, None] == self.marks, np.uint8)
        if self.kind == "numbers":
            return above(values, self.marks)
        wrong = (values != 0) & (values != 1)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InvalidInputError(
                f"Column {name!r} held only 0 and 1 in fit. "
                f"Got {number_text(values[row])} in row {row} instead."
            )
        return values.astype(np.uint8)[:, None]


class TableBinarizer(Binarizer):
    """Bits for tables whose columns are Booleans, numbers or categories.

    Parameters
    ----------
    n_bins : int, default 8
        As in ThermometerBinarizer, for columns of numbers.
    strategy : {"quantile", "uniform"}, default "quantile"
        As in ThermometerBinarizer.
    max_categories : int, default 64
        A text column with more distinct values is refused: it is probably an identifier or free text.
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
        return np.concatenate([rule.bits(column) for column, rule in columns], axis=1)

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
        raw = (np.asarray(X[label]) for label in X.columns) if hasattr(X, "columns") else iter(X.T)
        return [_checked(str(name), values) for name, values in zip(self._names(), raw, strict=True)]

    def _names(self, input_features: Any = None) -> NDArray[Any]:
        if input_features is not None or self.column_names is None or hasattr(self, "feature_names_in_"):
            return input_names(self, input_features)
        names = np.array([str(name) for name in self.column_names], object)
        if len(names) != self.n_features_in_:
            raise InvalidInputError(
                f"The 'column_names' parameter of TableBinarizer must have one name per column of X "
                f"({self.n_features_in_}). Got {len(names)} instead."
            )
        return names

    def _rule(self, column: _Column) -> _Rule:
        if column.is_text:
            categories = sorted(set(column.values))
            if len(categories) > self.max_categories:
                raise InvalidInputError(
                    f"Column {column.name!r} has {len(categories)} distinct texts, such as "
                    f"{shown(categories[0])} and {shown(categories[-1])}; at most "
                    f"max_categories={self.max_categories} are taken. Drop or group the column, or raise it."
                )
            return _Rule("text", np.array(categories, object))
        if ((column.values == 0) | (column.values == 1)).all():
            return _Rule("bit", np.empty(0))
        return _Rule("numbers", cut_points(column.values, self.n_bins, self.strategy))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def _as_table(X: Any) -> Any:
    """``X`` itself if it is a frame, else a matrix with at least one row and column.

    Nested lists of numbers and text become an array of objects: numpy would turn the numbers into text.
    """
    if issparse(X):
        raise TypeError("Sparse data was passed, but dense data is required. Use '.toarray()' first.")
    if not hasattr(X, "columns") and not isinstance(X, np.ndarray):
        try:
            array = np.asarray(X)
            X = np.asarray(X, object) if array.dtype.kind in "US" and not hasattr(X, "dtype") else array
        except ValueError as error:
            raise InvalidInputError(f"X must be a table: {error}.") from None
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


def _checked(name: str, values: NDArray[Any]) -> _Column:
    if values.ndim != 1:
        raise InvalidInputError(f"Column names must be distinct. Got {name!r} more than once.")
    if values.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: column {name!r} holds complex numbers.")
    if values.dtype.kind == "U":
        return _Column(name, values.astype(object))
    if values.dtype.kind not in "buif":
        values = values.astype(object)
        if _holds_text(name, values):
            return _Column(name, values)
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        row = int(np.argmin(np.isfinite(values)))
        found = "NaN" if np.isnan(values[row]) else "infinity (inf)"
        raise InvalidInputError(
            f"A table must hold finite numbers; fill in or drop missing values first. "
            f"Got {found} in row {row}, column {name!r}."
        )
    return _Column(name, values)


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
