"""Comma-separated text whose columns hold numbers or text, one of them the labels.

The first line names the columns. A column holds numbers iff all its cells are numbers, or all are true or
false, which count as 1 and 0; else it holds text. Where the only cells that are no numbers say that a
value is missing (NA, ?, ...), the file is refused rather than read as text.
"""

from __future__ import annotations

import csv
import io
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.data.csv_table import LABEL_NAMES, Line, as_number, numbered_lines, typed_labels
from tmverify.data.reading import opened
from tmverify.errors import DataFormatError

_MISSING = frozenset(("", "na", "n/a", "null", "none", "nil", "?", "-", "."))
_TRUTH = {"true": 1.0, "false": 0.0}


def read_mixed_csv(file: Path, target: str | None) -> tuple[NDArray[Any], NDArray[Any], tuple[str, ...]]:
    """The values, the labels (column ``target``, or the one named y or label) and the columns' names.

    Raises
    ------
    DataFormatError
        If the text is not such a rectangle, or a value is missing.
    """
    with _rows(file) as rows:
        names, label = _header(rows, target, file)
        survey = _survey(rows, names, label, file)
    X = _mixed(file, survey, label) if survey.numbers is None else _plain(survey)
    return X, typed_labels(survey.labels), tuple(column.name for column in survey.columns)


@dataclass(slots=True)
class _Column:
    """What the cells of a column have been so far; places are (line, cell)."""

    name: str
    has_number: bool = False
    first_text: tuple[int, str] | None = None
    first_not_finite: tuple[int, str] | None = None
    only_missing: bool = True
    only_truth: bool = True

    def see(self, cell: str, line: int) -> None:
        number = as_number(cell)
        if number is None:
            self.first_text = self.first_text or (line, cell)
            self.only_missing &= cell.strip().lower() in _MISSING
            self.only_truth &= cell.strip().lower() in _TRUTH
            return
        self.only_truth = False
        if isfinite(number):
            self.has_number = True
        else:
            self.first_not_finite = self.first_not_finite or (line, cell)

    def converter(self, file: Path) -> Callable[[str], Any]:
        """What makes a value of each cell."""
        wrong = self.first_not_finite if self.first_text is None else None
        if self.first_text is not None and self.has_number and self.only_missing:
            wrong = self.first_text
        if wrong is not None:
            raise _missing(file, wrong[0], self.name, wrong[1])
        if self.first_text is None:
            return float
        return _truth if self.only_truth and not self.has_number else str.strip


@dataclass(slots=True)
class _Survey:
    """What a first reading finds.

    ``numbers`` holds all cells, row by row, until a row comes that is not all numbers; then it is None.
    """

    columns: list[_Column]
    labels: list[str] = field(default_factory=list)
    numbers: array[float] | None = field(default_factory=lambda: array("d"))

    def see(self, cells: list[str], line: int) -> bool:
        """Take in a row; whether it is all numbers, as in most wide tables."""
        try:
            values = list(map(float, cells))
        except ValueError:
            values = []
        if values and all(map(isfinite, values)):
            if self.numbers is not None:
                self.numbers.extend(values)
            return True
        self.numbers = None
        for column, cell in zip(self.columns, cells, strict=True):
            column.see(cell, line)
        return False


@contextmanager
def _rows(file: Path) -> Iterator[Iterator[Line]]:
    with opened(file) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
        try:
            yield numbered_lines(csv.reader(text, skipinitialspace=True))
        except UnicodeDecodeError:
            raise DataFormatError(
                f"{file}: not a text file in UTF-8; expected comma-separated values."
            ) from None
        except csv.Error as error:
            raise DataFormatError(f"{file}: not comma-separated text: {error}.") from None


def _header(rows: Iterator[Line], target: str | None, file: Path) -> tuple[list[str], int]:
    """The names of all columns, and which one is the label."""
    names = [cell.strip() for cell in next(rows, (0, []))[1]]
    if not names:
        raise DataFormatError(f"{file}: the file is empty; expected a line of column names, then the rows.")
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles or "" in names:
        found = f"{doubles[0]!r} twice" if doubles and doubles[0] else "an empty name"
        raise DataFormatError(
            f"{file}: line 1 must name the columns, each by a name of its own. Found {found}."
        )
    wanted = [i for i, name in enumerate(names) if _is_target(name, target)]
    listed = ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
    if len(wanted) != 1:
        what = "named y or label; name the label column as target" if target is None else f"named {target!r}"
        raise DataFormatError(f"{file}: expected one column {what}. The columns of line 1 are {listed}.")
    if len(names) == 1:
        raise DataFormatError(f"{file}: there is no column beside {names[0]!r} to learn from.")
    return names, wanted[0]


def _is_target(name: str, target: str | None) -> bool:
    return name.lower() in LABEL_NAMES if target is None else name == target.strip()


def _survey(rows: Iterator[Line], names: list[str], label: int, file: Path) -> _Survey:
    survey = _Survey([_Column(name) for i, name in enumerate(names) if i != label])
    any_plain = False
    for line, cells in rows:
        if len(cells) != len(names):
            raise DataFormatError(f"{file}, line {line}: {len(cells)} values, where line 1 has {len(names)}.")
        if "" in cells:
            raise _missing(file, line, names[cells.index("")], "")
        survey.labels.append(cells.pop(label).strip())
        any_plain |= survey.see(cells, line)
    if not survey.labels:
        raise DataFormatError(f"{file}: there is a header line but no row below it.")
    for column in survey.columns:
        column.has_number |= any_plain
    return survey


def _missing(file: Path, line: int, name: str, cell: str) -> DataFormatError:
    found = f"{cell.strip()[:40]!r}" if cell else "an empty cell"
    return DataFormatError(
        f"{file}, line {line}, column {name!r}: a value is missing. Fill it in, or drop the row. "
        f"Found {found}."
    )


def _truth(cell: str) -> float:
    return _TRUTH[cell.strip().lower()]


def _plain(survey: _Survey) -> NDArray[np.float64]:
    return np.array(survey.numbers, np.float64).reshape(len(survey.labels), -1)


def _mixed(file: Path, survey: _Survey, label: int) -> NDArray[Any]:
    """Numbers and text; the file is read again, for which cells are text shows only at its end."""
    converters = [column.converter(file) for column in survey.columns]
    X = np.empty((len(survey.labels), len(converters)), object)
    with _rows(file) as rows:
        next(rows)
        for row, (_, cells) in enumerate(rows):
            del cells[label]
            X[row] = [convert(cell) for convert, cell in zip(converters, cells, strict=True)]
    return X
