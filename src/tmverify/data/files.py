"""Inputs from files: ``.npz`` (arrays X and, perhaps, y and feature_names), ``.npy`` (X) or ``.csv``.

A file that names its columns is matched to a model by these names: ``Inputs.matched`` makes data for a model.

Whatever is wrong with a file becomes one exception that names the file, what was found and what is
expected: ``InvalidInputError`` for values that are not 0 and 1, ``DataFormatError`` for everything else.
Nothing is ever unpickled.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tmverify.atomic import replacing
from tmverify.data.csv_table import read_csv
from tmverify.errors import DataFormatError, TmVerifyError
from tmverify.model.inputs import as_bit_matrix
from tmverify.model.names import Named, check_distinct, column_order

ReadT = TypeVar("ReadT")


class Arrays(NamedTuple):
    """What stands in a file, not checked yet but for the names: text, all different."""

    X: NDArray[Any]
    y: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None


_REMEDY = (
    "leave the names out to have the columns taken by position; labels are a column named y or label, or the "
    "array y of an .npz file"
)


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """What a data file holds.

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
        """These inputs as ``model`` reads them: columns in the order of its features, as many as it has.

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
    if file.exists() and not file.is_file():
        raise DataFormatError(f"{file}: data must be a regular file.")
    X, y, names = guarded(reader, file)
    bits = _check_inputs(X, file)
    return Inputs(bits, None if y is None else check_labels(y, len(bits), file), names)


def save_inputs(path: Path, X: Any, y: NDArray[Any], feature_names: Sequence[str] | None = None) -> None:
    """Write bits (an array or a sparse matrix), labels and names as an ``.npz`` file for ``load_inputs``."""
    arrays: dict[str, Any] = {"X": np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.uint8), "y": y}
    if feature_names is not None:
        arrays["feature_names"] = np.array(feature_names, np.str_)
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(file, **arrays)


def guarded(reader: Callable[[Path], ReadT], file: Path) -> ReadT:
    """Call ``reader``, and turn whatever a hostile or damaged file provokes into one error."""
    try:
        return reader(file)
    except TmVerifyError:
        raise
    except FileNotFoundError:
        raise DataFormatError(f"{file}: there is no such file.") from None
    except PermissionError:
        raise DataFormatError(f"{file}: the file may not be read (permission denied).") from None
    except MemoryError:
        raise DataFormatError(f"{file}: an array is too large for this machine's memory.") from None
    except Exception as error:  # zipfile, zlib and numpy's header parser raise a dozen kinds
        reason = " ".join(str(error).split()) or type(error).__name__
        if "allow_pickle" in reason:
            reason = "it holds Python objects, which are never loaded; save a plain 0/1 array instead"
        raise DataFormatError(f"{file}: the file can't be read: {reason[:200].rstrip('.')}.") from None


# numpy gets an open file, not a name: with a name it forgets to close the file when the content is damaged.
def read_npz(file: Path) -> Arrays:
    with open(file, "rb") as stream:
        archive = np.load(stream, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise DataFormatError(f"{file}: a single array, not an archive; rename it to end in .npy.")
        with archive:
            if "X" not in archive.files:
                found = ", ".join(sorted(archive.files)[:10]) or "no array at all"
                raise DataFormatError(
                    f"{file}: an array named X is expected, and y for labels. Found {found}."
                )
            X = archive["X"]
            names = _names(archive, X, file) if "feature_names" in archive.files else None
            return Arrays(X, archive["y"] if "y" in archive.files else None, names)


def _names(archive: Any, X: NDArray[Any], file: Path) -> tuple[str, ...]:
    try:
        found = archive["feature_names"]
    except ValueError:  # as pandas' columns are saved; whatever else is wrong, the remedy is the same
        found = np.empty(0)
    if found.dtype.kind == "S":
        found = np.char.decode(found, "utf-8", "replace")
    if found.dtype.kind != "U":
        raise DataFormatError(f"{file}: feature_names must be text: save np.array(names, dtype=str).")
    if X.ndim == 2 and found.shape != X.shape[1:]:
        raise DataFormatError(
            f"{file}: feature_names must have a name for each of the {X.shape[1]} columns of X. "
            f"Found shape {found.shape}."
        )
    names: tuple[str, ...] = tuple(found.ravel().tolist())
    check_distinct(names, DataFormatError, f"feature_names of {file}")
    return names


def _read_npy(file: Path) -> Arrays:
    with open(file, "rb") as stream:
        array = np.load(stream, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            array.close()
            raise DataFormatError(f"{file}: an archive, not a single array; rename it to end in .npz.")
        return Arrays(array)


def _read_csv(file: Path) -> Arrays:
    return Arrays(*read_csv(file))


_READERS: Mapping[str, Callable[[Path], Arrays]] = {".npz": read_npz, ".npy": _read_npy, ".csv": _read_csv}


def _check_inputs(X: NDArray[Any], file: Path) -> NDArray[np.uint8]:
    if X.ndim != 2:
        raise DataFormatError(
            f"{file}: X must be a matrix of shape (inputs, features). Found shape {X.shape}; "
            "reshape it, one flat input per row."
        )
    if 0 in X.shape:
        raise DataFormatError(f"{file}: X must have at least one input and one feature. Found {X.shape}.")
    return as_bit_matrix(X, X.shape[1], name=f"X of {file}")


def check_labels(y: NDArray[Any], n_inputs: int, file: Path) -> NDArray[Any]:
    if y.shape != (n_inputs,):
        raise DataFormatError(
            f"{file}: y must have one label per input, shape ({n_inputs},). Found {y.shape}."
        )
    if y.dtype.kind == "S":
        y = np.char.decode(y, "utf-8", "replace")
    if y.dtype.kind == "U":
        return y
    if y.dtype.kind not in "buif":
        raise DataFormatError(f"{file}: labels must be integers or strings. Found dtype {y.dtype}.")
    if y.dtype.kind == "f" and not (np.isfinite(y) & (np.floor(y) == y) & (np.abs(y) < 2**53)).all():
        raise DataFormatError(f"{file}: labels must be integers or strings. Found fractions or NaN.")
    if y.dtype.kind == "u" and (y > np.iinfo(np.int64).max).any():
        raise DataFormatError(f"{file}: integer labels must fit 64 signed bits. Found {y.max()}.")
    return y.astype(np.int64)
