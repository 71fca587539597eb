"""Inputs from comma-separated text: 0/1 values, and at most one column of labels.

The first line is a header iff it names a column ``y`` or ``label``, holds nothing but names, or numbers the
columns: 0, 1, 2, … in any order. (``0,1`` alone is a row: two columns can't be numbered so.) A line such as
``0,1,cat`` is none of these, nor data, and is refused rather than skipped: no row is lost silently.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import DataFormatError, InvalidInputError, shown
from tmverify.model.names import check_distinct, default_name

LABEL_NAMES = ("y", "label")
_BITS = frozenset("01")
_HINT = "Drop a column that is no feature; labels are in a column called y or label."
Line = tuple[int, list[str]]
Read = tuple[NDArray[np.uint8], NDArray[Any] | None, tuple[str, ...] | None]


def read_csv(file: Path) -> Read:
    """The inputs, (n, n_features), the labels or None, and the columns' names or None.

    Raises
    ------
    DataFormatError
        If the text is not a rectangle of numbers, or the header has a name twice.
    InvalidInputError
        If a number is neither 0 nor 1.
    """
    try:
        with open(file, newline="", encoding="utf-8-sig") as text:
            return _table(numbered_lines(csv.reader(text)), file)
    except UnicodeDecodeError:
        raise DataFormatError(
            f"{file}: not a text file in UTF-8; expected comma-separated 0 and 1."
        ) from None


def _table(lines: Iterator[Line], file: Path) -> Read:
    first = next(lines, None)
    if first is None:
        raise DataFormatError(f"{file}: the file is empty; expected lines of comma-separated 0 and 1.")
    width, label_column, names = len(first[1]), None, None
    pending: list[Line] = [first]
    if _is_header(first[1]):
        label_column, pending = _label_column(first[1], file), []
        names = tuple(cell.strip() for i, cell in enumerate(first[1]) if i != label_column)
        check_distinct(names, DataFormatError, f"Line 1 of {file}")
        if "" in names:
            raise DataFormatError(
                f"{file}: the header has a column without a name, number {names.index('')}. (pandas writes "
                "its index so; to_csv(index=False) leaves it out.)"
            )
    rows: list[NDArray[np.uint8]] = []
    labels: list[str] = []
    for number, cells in _chain(pending, lines):
        if len(cells) != width:
            raise DataFormatError(f"{file}, line {number}: {len(cells)} values, where line 1 has {width}.")
        if label_column is not None:
            labels.append(cells.pop(label_column).strip())
        rows.append(_bits(cells, number, names, file))
    if not rows:
        raise DataFormatError(
            f"{file}: there is a header line but no input below it. Values are 0 or 1, separated by commas."
        )
    return np.stack(rows), None if label_column is None else typed_labels(labels), names


def numbered_lines(reader: Any) -> Iterator[Line]:
    """Each line that is not blank, with its number."""
    for cells in reader:
        if len(cells) > 1 or "".join(cells).strip():
            yield reader.line_num, cells


def _chain(pending: list[Line], lines: Iterator[Line]) -> Iterator[Line]:
    yield from pending
    yield from lines


def _is_header(cells: list[str]) -> bool:
    if any(_is_label(cell) for cell in cells):
        return True
    numbers = [number for number in map(as_number, cells) if number is not None]
    return not numbers or (len(cells) > 2 and sorted(numbers) == list(range(len(cells))))


def _label_column(cells: list[str], file: Path) -> int | None:
    columns = [i for i, cell in enumerate(cells) if _is_label(cell)]
    if len(columns) > 1:
        raise DataFormatError(f"{file}: {len(columns)} columns are named y or label; expected one at most.")
    return columns[0] if columns else None


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


def as_number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def typed_labels(labels: list[str]) -> NDArray[Any]:
    """Integers if every label is written as one, else text."""
    try:
        numbers = np.array([int(label) for label in labels], np.int64)
    except (ValueError, OverflowError):
        return np.array(labels)
    return numbers if all(map(str.__eq__, map(str, numbers.tolist()), labels)) else np.array(labels)
