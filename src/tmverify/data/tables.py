"""Tables with a label column: ``.csv`` with a header line, or ``.npz`` with arrays X and y.

Unlike ``load_inputs`` this takes any numbers and text, for ``TableBinarizer`` to make bits of.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tmverify.data.files import check_labels, guarded, read_npz
from tmverify.data.mixed_csv import read_mixed_csv
from tmverify.errors import DataFormatError
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
