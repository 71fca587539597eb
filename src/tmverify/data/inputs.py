"""A model's inputs in files: ``.npz`` (arrays X and, perhaps, y and feature_names), ``.npy`` (X) or ``.csv``.

A file that names its columns is matched to a model by these names: ``Inputs.matched`` makes data for a model.

The first line of a ``.csv`` file is a header iff it names a column ``y`` or ``label``, holds nothing but
names, or numbers the columns: 0, 1, 2, … in any order. (``0,1`` alone is read as a row, so two columns can't
be numbered this way.) A line such as ``0,1,cat`` is neither a header nor data, and is refused rather than
skipped: no row is lost silently.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.atomic import replacing
from tmverify.data.files import (
    LABEL_NAMES,
    Arrays,
    Line,
    as_number,
    check_labels,
    csv_lines,
    guarded,
    read_npz,
    typed_labels,
)
from tmverify.errors import DataFormatError, InvalidInputError, shown
from tmverify.model.checks import as_bit_matrix
from tmverify.model.names import Named, check_distinct, column_order, default_name

_BITS = frozenset("01")
_HINT = "Drop a column that is no feature; labels are in a column called y or label."
_REMEDY = (
    "leave the names out to have the columns taken by position; labels are a column named y or label, or the "
    "array y of an .npz file"
)


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The content of a data file.

    Attributes
    ----------
    X : uint8 array, (n, n_features)
        Zeros and ones, at least one row and one column.
    y : int64 or str array, (n,), or None
        Labels, if the file has them.
    feature_names : tuple of str, or None
        Names of the columns of X, if the file has them.
    """

    X: NDArray[np.uint8]
    y: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None

    def matched(self, model: Named, file: str | os.PathLike[str]) -> Inputs:
        """These inputs for ``model``: one column for each of its features, in their order.

        Raises
        ------
        InvalidInputError
            If the names or the number of the columns do not fit; the message names ``file``.
        """
        X = self.X
        if self.feature_names is not None:
            order = column_order(self.feature_names, model, what=str(file), remedy=_REMEDY)
            X = X[:, order] if len(order) == X.shape[1] else X
        return Inputs(as_bit_matrix(X, model.n_features, name=f"X of {file}"), self.y, model.feature_names)


def load_inputs(path: str | os.PathLike[str]) -> Inputs:
    """Read inputs, and labels if there are any.

    Parameters
    ----------
    path : path
        ``.npz`` with an array X and optionally y and feature_names (text); ``.npy`` with X; or ``.csv`` with
        0/1 values and optionally a header line, in which a column named y or label holds the labels.

    Returns
    -------
    Inputs

    Raises
    ------
    DataFormatError
        If the file is missing, damaged, of another kind, or not rectangular.
    InvalidInputError
        If a value is anything but 0 or 1.
    """
    file = Path(path)
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise DataFormatError(
            f"{file}: data must be a file that ends in {', '.join(_READERS)}. "
            f"Got {file.suffix or 'no suffix'} instead."
        )
    X, y, names = guarded(reader, file)
    if X.ndim != 2:
        raise DataFormatError(
            f"{file}: X must be a matrix of shape (inputs, features). Found shape {X.shape}; "
            "reshape it, one flat input per row."
        )
    if 0 in X.shape:
        raise DataFormatError(f"{file}: X must have at least one input and one feature. Found {X.shape}.")
    bits = as_bit_matrix(X, X.shape[1], name=f"X of {file}")
    return Inputs(bits, None if y is None else check_labels(y, len(bits), file), names)


def save_inputs(path: Path, X: Any, y: NDArray[Any], feature_names: Sequence[str] | None = None) -> None:
    """Write bits (an array or a sparse matrix), labels and names as an ``.npz`` file for ``load_inputs``."""
    arrays: dict[str, Any] = {"X": np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.uint8), "y": y}
    if feature_names is not None:
        arrays["feature_names"] = np.array(feature_names, np.str_)
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(file, **arrays)


def _read_npy(file: Path) -> Arrays:
    with open(file, "rb") as stream:
        array = np.load(stream, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            array.close()
            raise DataFormatError(f"{file}: an archive, not a single array; rename it to end in .npz.")
        return Arrays(array)


def _read_csv(file: Path) -> Arrays:
    lines = csv_lines(file, "0 and 1")
    first = next(lines, None)
    if first is None:
        raise DataFormatError(f"{file}: the file is empty; expected lines of comma-separated 0 and 1.")
    label_column, names = None, None
    pending: list[Line] = [first]
    if _is_header(first[1]):
        label_column, names, pending = *_header(first[1], file), []
    rows: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    for number, cells in chain(pending, lines):
        if label_column is not None:
            labels.append(cells.pop(label_column).strip())
        rows.append(_bits(cells, number, names, file))
    if not rows:
        raise DataFormatError(
            f"{file}: there is a header line but no input below it. Values are 0 or 1, separated by commas."
        )
    return Arrays(np.stack(rows), None if label_column is None else typed_labels(labels), names)


_READERS: Mapping[str, Callable[[Path], Arrays]] = {".npz": read_npz, ".npy": _read_npy, ".csv": _read_csv}


def _is_header(cells: list[str]) -> bool:
    if any(_is_label(cell) for cell in cells):
        return True
    numbers = [number for number in map(as_number, cells) if number is not None]
    return not numbers or (len(cells) > 2 and sorted(numbers) == list(range(len(cells))))


def _header(cells: list[str], file: Path) -> tuple[int | None, tuple[str, ...]]:
    """The column of the labels, if there is one, and the names of the others."""
    labels = [i for i, cell in enumerate(cells) if _is_label(cell)]
    if len(labels) > 1:
        raise DataFormatError(f"{file}: {len(labels)} columns are named y or label; expected one at most.")
    names = tuple(cell.strip() for i, cell in enumerate(cells) if i not in labels)
    check_distinct(names, DataFormatError, f"Line 1 of {file}")
    if "" in names:
        raise DataFormatError(
            f"{file}: the header has a column without a name, number {names.index('')}. (pandas writes "
            "its index so; to_csv(index=False) leaves it out.)"
        )
    return labels[0] if labels else None, names


def _is_label(cell: str) -> bool:
    return cell.strip().lower() in LABEL_NAMES


def _bits(cells: list[str], number: int, names: tuple[str, ...] | None, file: Path) -> NDArray[np.uint8]:
    joined = "".join(cells)
    if len(joined) == len(cells) and set(joined) <= _BITS and "" not in cells:
        return np.frombuffer(joined.encode(), np.uint8) - np.uint8(ord("0"))
    named = map(default_name, range(len(cells))) if names is None else map(shown, names)
    places = [f"{file}, line {number}, column {name}" for name in named]
    return np.array([_bit(cell, number, place) for cell, place in zip(cells, places, strict=True)], np.uint8)


def _bit(cell: str, number: int, place: str) -> int:
    value = as_number(cell)
    if value is None:
        hint = "A header line must hold names only, or name a column y or label." if number == 1 else _HINT
        raise DataFormatError(f"{place}: expected 0 or 1, separated by commas. Found {cell[:40]!r}. {hint}")
    if value not in (0, 1):
        found = cell.strip()
        raise InvalidInputError(f"{place}: expected 0 or 1; binarize the data first. Found {found}. {_HINT}")
    return int(value)
