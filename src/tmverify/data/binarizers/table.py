"""Turn tables of mixed columns into bits; ``fit`` finds the part of a ``Space`` for each column:

    two values, 0 and 1 or such as no and yes     a Flag, unchanged, named like the column
    other numbers                                 a Number, "age > 37.5"
    text                                          a Category, "city = Oslo"
    text, if ``kinds`` says so                    a Text: a bit for each frequent word

A constant column of numbers gives no bit. A category that fit has not seen sets none of its column's bits. A
column in which values were missing in fit has a bit for that (or is refused, with ``missing="refuse"``).
scikit-learn's ColumnTransformer could do this too, but the user would have to list the columns of each kind
first.

A table is an array or a frame; of a frame only ``columns`` and ``frame[name]`` are needed, so that pandas is
not imported. A value that is not a number, a Boolean or text is refused; the error names its row and column.

Numbers that are written so that they are text ("20,5", "1,000", "12 %") and dates would silently become
categories, each value unlike all others. They are reported, in a warning that says what to do.
"""

from __future__ import annotations

import numbers
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted, validate_data

from tmverify.data.binarizers.base import Binarizer, input_names
from tmverify.data.binarizers.thermometer import STRATEGIES, cut_points
from tmverify.data.binarizers.words import frequent_words
from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.estimators.parameters import check_integer, wrong_parameter
from tmverify.space import Category, Flag, Number, Part, Space, Text
from tmverify.space.values import as_text, is_missing, number_text

KINDS = ("number", "category", "text")
_NO_YES = (("no", "yes"), ("false", "true"), ("n", "y"), ("f", "t"), ("off", "on"))
_ENOUGH = 0.8  # of the distinct texts of a column must look alike to be reported
_WRITTEN = {
    "numbers with a decimal comma": re.compile(r"[+-]?\d+,\d{1,2}|[+-]?\d+,\d{4,}"),
    "numbers with marks between thousands": re.compile(r"[+-]?\d{1,3}([,.' ]\d{3})+([.,]\d+)?"),
    "numbers with a unit": re.compile(r"[$€£¥]\s?[+-]?[\d.,]+|[+-]?[\d.,]+\s?[%$€£¥]"),
    "dates": re.compile(
        r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}([T ].*)?"
        r"|(\d{1,2}\.? )?[A-Z][a-z]{2,8}\.? (\d{1,2}, )?\d{4}|\d{1,2}:\d\d(:\d\d)?"
    ),
}
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_MANY_NUMERALS = 10  # so many different numerals as text are hardly codes
_REMEDY = {
    "numbers with a decimal comma": "write them with a point (pandas: read_csv(decimal=','))",
    "numbers with marks between thousands": "write them without (pandas: read_csv(thousands=','))",
    "numbers with a unit": "write the number alone",
    "dates": "make numbers of them, such as the year or the days since a date",
}


class _Column(NamedTuple):
    """A checked column: its values as float64 (NaN: missing), or as objects if it is text (None: missing)."""

    name: str
    values: NDArray[Any]

    @property
    def is_text(self) -> bool:
        return self.values.dtype == object

    @property
    def missing(self) -> NDArray[np.bool_]:
        if self.is_text:
            return np.array([value is None for value in self.values], np.bool_)
        gone: NDArray[np.bool_] = np.isnan(self.values)
        return gone


class TableBinarizer(Binarizer):
    """Bits for tables whose columns are Booleans, numbers, categories or texts.

    Parameters
    ----------
    n_bins : int, default 8
        As in ThermometerBinarizer, for columns of numbers.
    strategy : {"quantile", "uniform"}, default "quantile"
        As in ThermometerBinarizer.
    max_categories : int, default 64
        A text column with more distinct values is refused: it is probably an identifier or free text.
    missing : {"bit", "refuse"} or names of columns, default "bit"
        What to do with missing values (None, NaN, NA): a column that has some in fit gets a bit that says so,
        or they are an error. Or the columns that get such a bit, whatever fit sees; the others get none.
    kinds : mapping from column names to {"number", "category", "text"}, optional
        How to take these columns, whatever they look like: codes such as 1, 2, 3 as categories, free text
        as words.
    n_words : int, default 5000
        How many of the most frequent words of a text to keep.
    column_names : sequence of str or None, default None
        Names for the columns of arrays, which have none of their own; None means x0, x1, ...

    Attributes
    ----------
    space_ : Space
        A part for each column.
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
        missing: str | Sequence[str] = "bit",
        kinds: Mapping[str, str] | None = None,
        n_words: int = 5000,
        column_names: Sequence[str] | None = None,
    ) -> None:
        self.n_bins = n_bins
        self.strategy = strategy
        self.max_categories = max_categories
        self.missing = missing
        self.kinds = kinds
        self.n_words = n_words
        self.column_names = column_names

    def fit(self, X: Any, y: Any = None) -> TableBinarizer:
        """Find each column's kind, cuts and categories.

        Parameters
        ----------
        X : frame or array-like, (n, n_columns)
            Numbers, Booleans and text.
        y : ignored

        Raises
        ------
        InvalidInputError
            If a value is missing and shall not be, a column has too many categories or mixes kinds, a
            parameter is wrong, or no column gives a bit.
        """
        self._check_parameters()
        columns = self._columns(X, fitting=True)
        kinds = self._kinds([column.name for column in columns])
        self._parts = [self._part(column, kinds.get(column.name)) for column in columns]
        if not any(part.n_bits for part in self._parts):
            raise InvalidInputError(
                f"X gives no bit: all of its {len(columns)} columns are constant "
                f"(n_samples={len(columns[0].values)})."
            )
        self._learn(self._names())
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """The bits of each row, uint8 (n, n_bits), column by column."""
        check_is_fitted(self, "space_")
        columns = self._columns(X, fitting=False)
        for column, part in zip(columns, self.space_.parts, strict=True):
            if isinstance(part, Number) and column.is_text:
                row = next(i for i, value in enumerate(column.values) if value is not None)
                raise InvalidInputError(
                    f"Column {column.name!r} held numbers in fit. "
                    f"Got {shown(column.values[row])} in row {row} instead."
                )
        return self.space_.encode_columns([column.values for column in columns])

    def _make_space(self, names: list[str]) -> Space:
        return Space([_renamed(part, name) for part, name in zip(self._parts, names, strict=True)])

    def _check_parameters(self) -> None:
        check_integer(self, "n_bins", 2)
        check_integer(self, "max_categories", 1)
        check_integer(self, "n_words", 1)
        if self.strategy not in STRATEGIES:
            raise wrong_parameter(self, "strategy", "'quantile' or 'uniform'")
        if isinstance(self.missing, str) and self.missing not in ("bit", "refuse"):
            raise wrong_parameter(self, "missing", "'bit', 'refuse' or names of columns")

    def _kinds(self, names: Sequence[str]) -> Mapping[str, str]:
        kinds = self.kinds if self.kinds is not None else {}
        if not isinstance(kinds, Mapping) or not all(kind in KINDS for kind in kinds.values()):
            raise wrong_parameter(self, "kinds", f"a mapping from column names to {', '.join(KINDS)}")
        unknown = [name for name in kinds if name not in names]
        if unknown:
            raise InvalidInputError(
                f"The 'kinds' parameter of TableBinarizer must name columns of X ({_some(names)}). "
                f"Got {shown(unknown[0])} instead."
            )
        return kinds

    def _columns(self, X: Any, *, fitting: bool) -> list[_Column]:
        X = _as_table(X)
        try:
            validate_data(self, X, reset=fitting, skip_check_array=True)
        except ValueError as error:
            raise InvalidInputError(str(error)) from None
        is_frame = hasattr(X, "columns")
        if fitting:
            self._labels = [str(label) for label in X.columns] if is_frame else None
        raw = (_values(X[label]) for label in X.columns) if is_frame else iter(X.T)
        return [_checked(str(name), values) for name, values in zip(self._names(), raw, strict=True)]

    def _names(self) -> NDArray[Any]:
        if self._labels is not None:
            return np.array(self._labels, object)
        if self.column_names is None:
            return input_names(self)
        names = np.array([str(name) for name in self.column_names], object)
        if len(names) != self.n_features_in_:
            raise InvalidInputError(
                f"The 'column_names' parameter of TableBinarizer must have one name per column of X "
                f"({self.n_features_in_}). Got {len(names)} instead."
            )
        return names

    def _part(self, column: _Column, kind: str | None) -> Part:
        """The part of a space for a column that is to be taken as ``kind``, or as what it looks like."""
        gone = column.missing
        listed = not isinstance(self.missing, str)
        if gone.any() and (column.name not in self.missing if listed else self.missing == "refuse"):
            raise InvalidInputError(
                f"A table must hold no missing values (NaN, None) with missing='refuse'; fill in or drop "
                f"them first, or have a bit for them with missing='bit'. "
                f"Got one in row {int(np.argmax(gone))}, column {column.name!r}."
            )
        present = column.values[~gone]
        missing = column.name in self.missing if listed else bool(gone.any())
        if kind == "text":
            return self._text(column)
        if kind == "number" and column.is_text and len(present):
            row = int(np.argmin(gone))
            raise InvalidInputError(
                f"Column {column.name!r} can't be taken as numbers: row {row} holds {shown(present[0])}."
            )
        if column.is_text:
            flag = None if missing or kind else _no_yes(column.name, present)
            return flag or self._category(column.name, present.tolist(), missing)
        bits = bool(((present == 0) | (present == 1)).all()) and len(present) > 0
        if kind == "category" or (bits and missing and kind is None):
            return self._category(column.name, [number_text(value) for value in present], missing)
        if bits and kind is None:
            return Flag(column.name)
        return Number(column.name, tuple(cut_points(present, self.n_bins, self.strategy).tolist()), missing)

    def _category(self, name: str, values: Sequence[str], missing: bool) -> Category:
        categories = sorted({value.strip() for value in values})
        report = _written_as_text(name, categories)
        if len(categories) > self.max_categories:
            raise InvalidInputError(
                f"Column {name!r} has {len(categories)} distinct texts, such as {shown(categories[0])} and "
                f"{shown(categories[-1])}; at most max_categories={self.max_categories} are taken. "
                + (f"{report} " if report else "")
                + "If it is free text, have it cut into words with "
                f"binarize=tv.TableBinarizer(kinds={{{name!r}: 'text'}}); if it names the row, "
                "drop the column; or group its values, or raise max_categories."
            )
        if report:
            warnings.warn(report, UserWarning, stacklevel=2)
        return Category(name, tuple(categories), other=True, missing=missing)

    def _text(self, column: _Column) -> Text:
        if not column.is_text:
            raise InvalidInputError(f"Column {column.name!r} can't be cut into words: it holds numbers.")
        texts = ["" if value is None else value for value in column.values]
        words = frequent_words(texts, int(self.n_words))[0]
        return Text(tuple(words), column.name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def _renamed(part: Part, name: str) -> Part:
    from dataclasses import replace

    try:
        return replace(part, name=name)  # type: ignore[type-var]
    except ModelError as error:
        raise InvalidInputError(str(error)) from None


def _no_yes(name: str, values: NDArray[Any]) -> Flag | None:
    """A flag, if the column holds both words of a pair such as no and yes, and nothing else."""
    found = sorted(set(values), key=str.lower)
    spelt = tuple(value.strip().lower() for value in found)
    return Flag(name, (found[0], found[1])) if spelt in _NO_YES else None


def _written_as_text(name: str, categories: Sequence[str]) -> str:
    """A warning, if these texts are numbers or dates as people write them; else nothing."""
    plain = [text for text in categories if _PLAIN.fullmatch(text.strip())]
    for what, pattern in _WRITTEN.items():
        alike = [text for text in categories if pattern.fullmatch(text.strip())]
        both = len(alike) + (0 if what == "dates" else len({*plain} - {*alike}))
        if "thousands" in what and any("." in text for text in plain):
            what = next(iter(_WRITTEN))  # 1.5 beside 2,125: the comma is a decimal one
        if alike and both > 1 and both >= _ENOUGH * len(categories):
            return (
                f"Column {name!r} holds {what} as text, such as {shown(alike[0])}: each would be a category "
                f"of its own, unlike all others. To have them as numbers, {_REMEDY[what]}."
            )
    if len(plain) > _MANY_NUMERALS and len(plain) >= _ENOUGH * len(categories):
        odd = [text for text in categories if text not in set(plain)]
        besides = f", and besides {', '.join(map(shown, odd[:3]))}" if odd else ""
        return (
            f"Column {name!r} holds numbers as text, such as {shown(plain[0])}{besides}: each would be a "
            "category of its own, unlike all others. Make numbers of them (pandas: to_numeric), and gaps "
            "where there is none."
        )
    return ""


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


def _values(column: Any) -> NDArray[Any]:
    """The values of a column of a frame; those of a column of categories are texts, whatever they are."""
    values = np.asarray(column)
    if str(getattr(column, "dtype", "")) != "category":
        return values
    return np.array([None if is_missing(value) else as_text(value) for value in values.tolist()], object)


def _checked(name: str, values: NDArray[Any]) -> _Column:
    if values.ndim != 1:
        raise InvalidInputError(f"Column names must be distinct. Got {name!r} more than once.")
    if values.dtype.kind == "c":
        raise InvalidInputError(f"Complex data not supported: column {name!r} holds complex numbers.")
    if values.dtype.kind in "mM":
        raise InvalidInputError(f"Column {name!r} holds dates or times: {_REMEDY['dates']}.")
    if values.dtype.kind not in "buif":
        values = np.array([None if is_missing(value) else value for value in values.astype(object)], object)
        if _holds_text(name, values):
            return _Column(name, values)
    values = values.astype(np.float64)
    if np.isinf(values).any():
        raise InvalidInputError(
            f"A table must hold finite numbers. "
            f"Got infinity (inf) in row {int(np.argmax(np.isinf(values)))}, column {name!r}."
        )
    return _Column(name, values)


def _holds_text(name: str, values: NDArray[Any]) -> bool:
    """Whether a column of objects is all text (True) or all numbers (False), where it is not None."""
    kinds: dict[bool, int] = {}
    for row, value in enumerate(values):
        if value is None:
            continue
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


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:10])) + (", …" if len(names) > 10 else "")
