"""Files of bits: ``.npz``, ``.npy``, and text files of 0 and 1.

The first line of a text file is a header iff it names a column ``y`` or ``label``, holds nothing but names,
or numbers the columns: 0, 1, 2, … in any order. (``0,1`` alone is read as a row, so two columns can't be
numbered this way.) A line such as ``0,1,cat`` is neither a header nor data, and is refused rather than
skipped: no row is lost silently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tmverify.data.files import (
    LABEL_NAMES,
    Arrays,
    Line,
    csv_lines,
    has_decimal_commas,
    read_npz,
    typed_labels,
    with_points,
)
from tmverify.errors import DataFormatError, InvalidInputError, shown
from tmverify.model.names import check_distinct, default_name
from tmverify.space.values import as_number, truth

_BITS = frozenset("01")
_HINT = "Drop a column that is no feature; labels are in a column called y or label."


def _read_npy(file: Path) -> Arrays:
    with open(file, "rb") as stream:
        array = np.load(stream, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            array.close()
            raise DataFormatError(f"{file}: an archive, not a single array; rename it to end in .npz.")
        return Arrays(array)


def read_csv(file: Path, id_column: str | None = None) -> Arrays:
    """Bits, with the labels in a column called y or label, and the names of the rows in ``id_column``."""
    lines = csv_lines(file, "0 and 1")
    if file.stat().st_size and has_decimal_commas(file):
        lines = ((line, with_points(cells)) for line, cells in lines)
    first = next(lines, None)
    if first is None:
        raise DataFormatError(f"{file}: the file is empty; expected lines of comma-separated 0 and 1.")
    id_place = None
    if id_column is not None:
        id_place = [cell.strip() for cell in first[1]].index(id_column)  # _read_table found it
        del first[1][id_place]
    ids: list[str] = []
    label_column, names = None, None
    pending: list[Line] = [first]
    if is_header(first[1]):
        label_column, names, pending = *_header(first[1], file), []
    rows: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    numbers: list[int] = []
    for number, cells in chain(pending, lines):
        numbers.append(number)
        if id_place is not None:
            ids.append(cells.pop(id_place).strip())
        if label_column is not None:
            labels.append(cells.pop(label_column).strip())
        rows.append(_bits(cells, number, names, file))
    if not rows:
        raise DataFormatError(
            f"{file}: there is a header line but no input below it. Values are 0 or 1, separated by commas."
        )
    y = None if label_column is None else typed_labels(labels)
    named = None if id_place is None else tuple(ids)
    return Arrays(np.stack(rows), y, names, lines=tuple(numbers), ids=named)


READERS: Mapping[str, Callable[[Path], Arrays]] = {
    ".npz": read_npz,
    ".npy": _read_npy,
    ".csv": read_csv,
    ".tsv": read_csv,
}


def is_header(cells: list[str]) -> bool:
    """Whether a line names the columns."""
    if any(is_label(cell) for cell in cells):
        return True
    if all(truth(cell) is not None for cell in cells):
        return False
    numbers = [number for number in map(as_number, cells) if number is not None]
    return not numbers or (len(cells) > 2 and sorted(numbers) == list(range(len(cells))))


def _header(cells: list[str], file: Path) -> tuple[int | None, tuple[str, ...]]:
    """The column of the labels, if there is one, and the names of the others."""
    labels = [i for i, cell in enumerate(cells) if is_label(cell)]
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


def is_label(cell: str) -> bool:
    """Whether a column of that name holds the labels."""
    return cell.strip().lower() in LABEL_NAMES


def _bits(cells: list[str], number: int, names: tuple[str, ...] | None, file: Path) -> NDArray[np.uint8]:
    joined = "".join(cells)
    if len(joined) == len(cells) and set(joined) <= _BITS and "" not in cells:
        return np.frombuffer(joined.encode(), np.uint8) - np.uint8(ord("0"))
    named = map(default_name, range(len(cells))) if names is None else map(shown, names)
    places = [f"{file}, line {number}, column {name}" for name in named]
    return np.array([_bit(cell, number, place) for cell, place in zip(cells, places, strict=True)], np.uint8)


def _bit(cell: str, number: int, place: str) -> int:
    value = as_number(cell) if truth(cell) is None else truth(cell)
    if value is None:
        hint = "A header line must hold names only, or name a column y or label." if number == 1 else _HINT
        raise DataFormatError(f"{place}: expected 0 or 1, separated by commas. Found {cell[:40]!r}. {hint}")
    if value not in (0, 1):
        found = cell.strip()
        raise InvalidInputError(f"{place}: expected 0 or 1; binarize the data first. Found {found}. {_HINT}")
    return int(value)
