"""Tables with a label column: ``.csv`` with a header line, or ``.npz`` with arrays X and y.

Unlike ``load_inputs`` this takes any numbers and text, for ``TableBinarizer`` to make bits of;
``split_table`` does so, as in ``load_dataset``: the binarizer sees the training part only.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tmverify.data.datasets import Dataset
from tmverify.data.files import check_labels, guarded, read_npz
from tmverify.data.mixed_csv import read_mixed_csv
from tmverify.errors import DataFormatError, InvalidInputError
from tmverify.model.names import default_name


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table, its label column apart.

    Attributes
    ----------
    X : float64 array, (n, n_columns); object array of float and str if a column holds text
        From an npz file, the array as it is.
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
    return Table(*read_mixed_csv(file, target))


def split_table(table: Table, name: str, *, test_size: float = 0.25, random_state: int = 0) -> Dataset:
    """Hold out rows for testing, and turn all into bits by a ``TableBinarizer`` that sees the others only.

    Parameters
    ----------
    table : Table
    name : str
        What it is called, in the dataset and in errors.
    test_size : float, default 0.25
        Share of the rows to hold out, evenly over the labels; with 0 there are no test inputs.
    random_state : int, default 0
        Seed of the draw.

    Raises
    ------
    InvalidInputError
        If the rows can't be split so, or the columns can't be turned into bits.
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
    """``test``, where columns of numbers that are only 0 and 1 in ``train`` are made so by a cut at 1/2.

    A rare value of a nearly constant column may be held out; the binarizer refuses what it has not seen.
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
