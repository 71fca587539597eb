"""Tables with a label column: ``.csv`` with a header line, or ``.npz`` with arrays X and y.

Unlike ``load_inputs`` this takes any numbers and text. ``split_table`` turns them into bits with a
``TableBinarizer``, which, as in ``load_dataset``, is fitted on the training part only.

In a ``.csv`` file a column holds numbers iff all its cells are numbers, or all are true or false, which count
as 1 and 0; else it holds text. If the only cells of a column that are not numbers mark missing values (NA, ?,
...), the file is refused rather than read as text.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.data.datasets import Dataset
from tmverify.data.files import (
    LABEL_NAMES,
    Line,
    as_number,
    check_labels,
    csv_lines,
    guarded,
    read_npz,
    typed_labels,
)
from tmverify.errors import DataFormatError, InvalidInputError
from tmverify.model.names import default_name

_MISSING = frozenset(("", "na", "n/a", "null", "none", "nil", "?", "-", "."))
_TRUTH = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table, with its label column separate from the others.

    Attributes
    ----------
    X : float64 array, (n, n_columns); object array of float and str if a column holds text
        From an npz file, the unchanged array.
    y : int64 or str array, (n,)
    feature_names : tuple of str
        Names of the columns of X; from an npz file its feature_names, or x0, x1, …
    """

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]


def load_table(path: str | os.PathLike[str], target: str | None = None) -> Table:
    """Read a table whose column ``target`` holds the labels.

    Parameters
    ----------
    path : path
        ``.csv``, comma-separated UTF-8 whose first line names the columns; or ``.npz`` with X and y, and
        perhaps feature_names.
    target : str or None, default None
        Name of the label column; None means the one named y or label. In an npz file it is y.

    Returns
    -------
    Table

    Raises
    ------
    DataFormatError
        If the file is missing or damaged, has no such column, is not rectangular, or a value is missing.
    """
    file = Path(path)
    if file.suffix.lower() == ".npz":
        return _from_npz(file, target)
    if file.suffix.lower() != ".csv":
        raise DataFormatError(
            f"{file}: a table must be a .csv or .npz file. Got {file.suffix or 'no suffix'} instead."
        )
    return guarded(lambda file: _from_csv(file, target), file)


def split_table(table: Table, name: str, *, test_size: float = 0.25, random_state: int = 0) -> Dataset:
    """Hold out rows for testing; turn all into bits by a ``TableBinarizer`` fitted on the others only.

    Parameters
    ----------
    table : Table
    name : str
        Name of the table, in the dataset and in errors.
    test_size : float, default 0.25
        Share of the rows of each label to hold out; with 0 there are no test inputs.
    random_state : int, default 0
        Seed of the draw.

    Raises
    ------
    InvalidInputError
        If the rows can't be split this way, or the columns can't be turned into bits.
    """
    from sklearn.model_selection import train_test_split

    from tmverify.data.binarizers import TableBinarizer

    X_train, X_test, y_train, y_test = table.X, table.X[:0], table.y, table.y[:0]
    if test_size:
        try:
            X_train, X_test, y_train, y_test = train_test_split(
                table.X, table.y, test_size=test_size, stratify=table.y, random_state=random_state
            )
        except ValueError as error:
            raise InvalidInputError(
                f"{name}: its rows can't be split into training and test data: {str(error).rstrip('.')}. "
                "Choose another test_size, or 0 to train on everything."
            ) from None
    binarizer = TableBinarizer(column_names=table.feature_names).fit(X_train)
    train_bits = binarizer.transform(X_train)
    test_bits = binarizer.transform(_as_in_training(X_train, X_test)) if test_size else train_bits[:0]
    names = tuple(map(str, binarizer.get_feature_names_out()))
    return Dataset(name, train_bits, y_train, test_bits, y_test, names, None, binarizer)


def _as_in_training(train: NDArray[Any], test: NDArray[Any]) -> NDArray[Any]:
    """``test``, with number columns that are only 0 and 1 in ``train`` turned into 0 and 1 by a cut at 1/2.

    All rows with a rare value of a column may be held out, and the binarizer refuses unseen values.
    """
    test = test.copy()
    for j, column in enumerate(train.T):
        if not isinstance(column[0], str) and ((column == 0) | (column == 1)).all():
            test[:, j] = test[:, j] > 0.5
    return test


def _from_npz(file: Path, target: str | None) -> Table:
    if target not in (None, "y"):
        raise DataFormatError(f"{file}: the labels of an npz file are its array y. Got target={target!r}.")
    X, y, names = guarded(read_npz, file)
    if y is None:
        raise DataFormatError(f"{file}: an array named y with the labels is expected beside X.")
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "buifU":
        raise DataFormatError(
            f"{file}: X must be a matrix of numbers or text, shape (inputs, columns). "
            f"Found {X.dtype} of shape {X.shape}."
        )
    names = names or tuple(map(default_name, range(X.shape[1])))
    return Table(X, check_labels(y, len(X), file), names)


def _from_csv(file: Path, target: str | None) -> Table:
    lines = csv_lines(file, "values", skip_spaces=True)
    names, label = _header(lines, target, file)
    labels: list[str] = []
    numbers = array("d")  # all cells, row by row, while all are numbers, as in most wide tables
    only_numbers = True
    for line, cells in lines:
        if "" in cells:
            raise _missing(file, line, names[cells.index("")], "")
        labels.append(cells.pop(label).strip())
        if only_numbers:
            try:
                values = list(map(float, cells))
            except ValueError:
                only_numbers = False
            else:
                only_numbers = all(map(isfinite, values))
                numbers.extend(values)
    if not labels:
        raise DataFormatError(f"{file}: there is a header line but no row below it.")
    del names[label]
    if only_numbers:
        X: NDArray[Any] = np.array(numbers, np.float64).reshape(len(labels), -1)
    else:
        X = _mixed_columns(file, names, label)
    return Table(X, typed_labels(labels), tuple(names))


def _header(lines: Iterator[Line], target: str | None, file: Path) -> tuple[list[str], int]:
    """The names of all columns, and the index of the label column."""
    names = [cell.strip() for cell in next(lines, (0, []))[1]]
    if not names:
        raise DataFormatError(f"{file}: the file is empty; expected a line of column names, then the rows.")
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles or "" in names:
        found = f"{doubles[0]!r} twice" if doubles and doubles[0] else "an empty name"
        raise DataFormatError(
            f"{file}: line 1 must name the columns, each by a name of its own. Found {found}."
        )
    known = LABEL_NAMES if target is None else (target.strip(),)
    wanted = [i for i, name in enumerate(names) if (name.lower() if target is None else name) in known]
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    if len(wanted) != 1:
        what = "named y or label; name the label column as target" if target is None else f"named {target!r}"
        raise DataFormatError(f"{file}: expected one column {what}. The columns of line 1 are {listed}.")
    if len(names) == 1:
        raise DataFormatError(f"{file}: there is no column beside {names[0]!r} to learn from.")
    return names, wanted[0]


def _mixed_columns(file: Path, names: Sequence[str], label: int) -> NDArray[Any]:
    """The columns as numbers or text; the file is read a second time, as text."""
    numbers, rows = zip(*csv_lines(file, "values", skip_spaces=True), strict=True)
    X = np.empty((len(rows) - 1, len(names)), object)
    for row in rows:
        del row[label]
    for j, (name, (_, *cells)) in enumerate(zip(names, zip(*rows, strict=True), strict=True)):
        X[:, j] = _column(file, name, cells, numbers[1:])
    return X


def _column(file: Path, name: str, cells: Sequence[str], lines: Sequence[int]) -> list[Any]:
    """The cells of a column as numbers or as text; DataFormatError if one marks a missing value."""
    values = [as_number(cell) for cell in cells]
    is_finite = [value is not None and isfinite(value) for value in values]
    texts = [cell.strip().lower() for cell, value in zip(cells, values, strict=True) if value is None]
    if not texts and not all(is_finite):
        wrong = is_finite.index(False)
        raise _missing(file, lines[wrong], name, cells[wrong])
    if not texts:
        return values
    if any(is_finite) and all(text in _MISSING for text in texts):
        wrong = values.index(None)
        raise _missing(file, lines[wrong], name, cells[wrong])
    if len(texts) == len(cells) and all(text in _TRUTH for text in texts):
        return [_TRUTH[text] for text in texts]
    return [cell.strip() for cell in cells]


def _missing(file: Path, line: int, name: str, cell: str) -> DataFormatError:
    found = f"{cell.strip()[:40]!r}" if cell else "an empty cell"
    return DataFormatError(
        f"{file}, line {line}, column {name!r}: a value is missing. Fill it in, or drop the row. "
        f"Found {found}."
    )
