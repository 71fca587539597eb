"""What all readers of data files share: arrays of an ``.npz`` file, lines of a ``.csv`` file, labels.

Every problem with a file raises an exception that names the file, what was found and what is
expected: ``InvalidInputError`` for values that are not 0 and 1, ``DataFormatError`` for everything else.
Nothing is ever unpickled.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TextIO, TypeVar

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import DataFormatError, TmVerifyError
from tmverify.model import Label
from tmverify.model.names import check_distinct
from tmverify.space import Category, Flag, Number, Part
from tmverify.space.values import as_number

LABEL_NAMES = ("y", "label")
TEXT_FILES = (".csv", ".tsv")

_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
_SAMPLE = 1 << 16  # characters that are looked at to find what separates cells
_LINES = 20
_LONGEST_CELL = 1 << 28  # characters
_DECIMAL_COMMA = re.compile(r"\s*[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))\s*", re.ASCII)
_QUOTED = re.compile(r'"(?:[^"]|"")*"')

ReadT = TypeVar("ReadT")
Line = tuple[int, list[str]]
"""The number of a line, and its cells."""


class RawRows(NamedTuple):
    """Rows of a user's table as text, with the names of its columns and the lines of its file."""

    names: tuple[str, ...]
    cells: Sequence[Sequence[str]]
    lines: tuple[int, ...] | None = None

    def column(self, name: str) -> list[str]:
        """The cells of a column; blank ones if there is none, which a part without bits does not need."""
        if name not in self.names:
            return [""] * len(self.cells)
        place = self.names.index(name)
        return [row[place] for row in self.cells]

    def take(self, rows: Iterable[int]) -> RawRows:
        """Some of the rows."""
        chosen = list(rows)
        lines = None if self.lines is None else tuple(self.lines[i] for i in chosen)
        return RawRows(self.names, [self.cells[i] for i in chosen], lines)


class Arrays(NamedTuple):
    """The content of a file. Only the names are checked: they are text, all different."""

    X: NDArray[Any]
    y: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None
    raw: RawRows | None = None
    lines: tuple[int, ...] | None = None
    ids: tuple[str, ...] | None = None


def wrong_kind(path: str | Path, kinds: Sequence[str], what: str) -> str:
    """The message that a file is none that is read, by its ending; for a spreadsheet the way out."""
    suffix = Path(path).suffix
    spreadsheet = suffix.lower() in _SPREADSHEETS
    hint = " It is a spreadsheet: save it there as CSV (UTF-8)." if spreadsheet else ""
    ends = f"{', '.join(kinds[:-1])} or {kinds[-1]}"
    return f"{path}: {what} must be a file that ends in {ends}. Got {suffix or 'no suffix'} instead.{hint}"


def guarded(reader: Callable[[Path], ReadT], file: Path) -> ReadT:
    """Call ``reader``; turn errors of other libraries, as damaged files cause, into DataFormatError."""
    if file.exists() and not file.is_file():
        raise DataFormatError(f"{file}: not a regular file.")
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


# numpy gets an open file, not a name: given a name, it does not close the file if the content is damaged.
def read_npz(file: Path) -> Arrays:
    """The arrays X, y and feature_names, of which only X is required."""
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
            y = archive["y"] if "y" in archive.files else None
            return Arrays(X, y, names, _raw_rows(archive, X, file) if "raw" in archive.files else None)


def _raw_rows(archive: Any, X: NDArray[Any], file: Path) -> RawRows:
    """The arrays raw, raw_ends, raw_names and raw_lines, which ``save_inputs`` writes.

    ``raw`` is the UTF-8 of all cells, row by row, ``raw_ends`` where each ends: an array of texts would take
    as much memory for each as for the longest.
    """
    raw, ends, names = archive["raw"], archive["raw_ends"], archive["raw_names"]
    lines = archive["raw_lines"] if "raw_lines" in archive.files else None
    fits = raw.dtype == np.uint8 and ends.dtype == np.int64 and names.dtype.kind == "U"
    fits = fits and raw.ndim == names.ndim == 1 and ends.shape == (len(X), *names.shape)
    bounds = [0, *ends.ravel().tolist()] if fits else []
    fits = fits and bounds == sorted(bounds) and bounds[-1] == len(raw)
    if not fits or (lines is not None and (lines.shape != (len(X),) or lines.dtype.kind != "i")):
        raise DataFormatError(f"{file}: raw, raw_ends, raw_names and raw_lines do not fit X.")
    text = raw.tobytes()
    cells = [text[start:end].decode() for start, end in pairwise(bounds)]
    width = len(names)
    rows = [cells[i * width : (i + 1) * width] for i in range(len(X))]
    return RawRows(tuple(names.tolist()), rows, None if lines is None else tuple(lines.tolist()))


def _names(archive: Any, X: NDArray[Any], file: Path) -> tuple[str, ...]:
    try:
        found = archive["feature_names"]
    except ValueError:  # pandas' columns are saved as objects; for any other cause the remedy is the same
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


def csv_lines(file: Path, values: str, *, skip_spaces: bool = False) -> Iterator[Line]:
    """Each line that is not blank; DataFormatError if one has more or fewer cells than the first.

    Cells are separated by commas, semicolons or tabs, whichever the file uses (``separation``). ``values`` is
    what error messages say is expected; ``skip_spaces`` lets a quoted cell follow a space.

    Cells may be quoted, by the rules of spreadsheets. Between tabs, texts often begin with quotes that are
    their own: if all lines of a file have equally many tabs, each line is a row, and only a cell that is
    quoted as a whole loses its quotes. So what a cell holds does not depend on other cells.
    """
    with open(file, newline="", encoding="utf-8-sig") as text:
        try:
            mark = separation(text.read(_SAMPLE), file.suffix.lower())
            odd = _odd_line(text) if mark == "\t" else None
            text.seek(0)
            if mark == "\t" and odd is None:
                if _reads_in_two_ways(text):
                    raise DataFormatError(
                        f"{file}: some cells begin with a quote that ends in another line: is that one cell, "
                        "with tabs and line ends, or several? Quote all cells of this column, or none."
                    )
                text.seek(0)
                found: Iterable[Line] = _plain_lines(text)
            else:
                found = _csv_lines(text, mark, skip_spaces and mark != "\t")  # a tab is a space, too
            width = 0
            for line, cells in found:
                if "".join(cells).strip():
                    width = width or len(cells)
                    if len(cells) != width:
                        raise DataFormatError(
                            f"{file}, line {line}: {len(cells)} values, where line 1 has {width}."
                        )
                    yield line, cells
        except UnicodeDecodeError:
            raise DataFormatError(
                f"{file}: not a text file in UTF-8 (in a spreadsheet: save as CSV UTF-8); expected {values}."
            ) from None
        except csv.Error as error:
            said = f": not comma-separated text: {error}." if odd is None else f", {odd}."
            raise DataFormatError(f"{file}{said}") from None


def _plain_lines(text: Iterable[str]) -> Iterator[Line]:
    for number, line in enumerate(text, 1):
        cells = line.rstrip("\r\n").split("\t")
        yield number, [_unquoted(cell) if cell[:1] == '"' else cell for cell in cells]


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if _QUOTED.fullmatch(cell) else cell


def _csv_lines(text: Iterable[str], mark: str, skip_spaces: bool) -> Iterator[Line]:
    csv.field_size_limit(_LONGEST_CELL)  # a setting of the process; a text may be long
    strict = mark == "\t"  # a cell that is quoted in part would be read otherwise than by _plain_lines
    reader = csv.reader(text, delimiter=mark, skipinitialspace=skip_spaces, strict=strict)
    start = 1  # a quoted cell may have several lines
    for cells in reader:
        yield start, cells
        start = reader.line_num + 1


def _odd_line(text: TextIO) -> str | None:
    """The first line that has more or fewer tabs than the first one, in words; None if there is none."""
    text.seek(0)
    width = None
    for number, line in enumerate(text, 1):
        if line.strip():
            found = line.count("\t") + 1
            width = width or found
            if found != width:
                return f"line {number}: {found} values, where line 1 has {width}"
    return None


def _reads_in_two_ways(text: TextIO) -> bool:
    """Whether lines with equally many tabs are rows, but with their quotes other rows, just as regular."""
    text.seek(0)
    quoted = (line for line in text if line[:1] == '"' or '\t"' in line)
    cells = (cell for line in quoted for cell in line.rstrip("\r\n").split("\t") if cell[:1] == '"')
    if all(_QUOTED.fullmatch(cell) for cell in cells):
        return False
    text.seek(0)
    try:
        widths = {len(cells) for _, cells in _csv_lines(text, "\t", False) if "".join(cells).strip()}
    except csv.Error:
        return False
    return len(widths) == 1


def has_decimal_commas(file: Path) -> bool:
    """Whether 20,5 is a number in this file: between semicolons, as spreadsheets write it."""
    with open(file, newline="", encoding="utf-8-sig") as text:
        return separation(text.read(_SAMPLE), file.suffix.lower()) == ";"


def with_points(cells: Iterable[str]) -> list[str]:
    """Numbers with a decimal comma with a point; 1,000 could be two numbers, and stays as it is."""
    return [cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell for cell in cells]


def cells_of(part: Part, cells: Sequence[str], decimal_commas: bool) -> Sequence[str]:
    """The cells of a column of a file as ``part`` encodes them: only numbers have decimal commas."""
    bits = isinstance(part, Category) and {*part.categories} <= {"0", "1"}  # numbers, some of them missing
    return with_points(cells) if decimal_commas and (bits or isinstance(part, Number | Flag)) else cells


def separation(sample: str, suffix: str) -> str:
    """What separates the cells of a file that begins with ``sample``.

    The mark that cuts the first lines into the most cells, equally many in each line; if there is none, a tab
    in a ``.tsv`` file and else the mark that the first line has most often. Tabs come first.
    """
    lines = sample.split("\n")[:_LINES]
    if len(sample) == _SAMPLE and len(lines) > 1:
        lines.pop()  # it is cut off
    widths = {line.count("\t") for line in lines if line.strip()}
    if len(widths) == 1 and 0 not in widths:
        return "\t"
    best, most = ("\t" if suffix == ".tsv" else ","), 1
    for mark in ";\t,":
        try:
            rows = [
                cells for cells in csv.reader(io.StringIO(sample), delimiter=mark) if "".join(cells).strip()
            ]
        except csv.Error:
            continue
        if len(sample) == _SAMPLE and len(rows) > 1:
            rows.pop()
        cut = [len(cells) for cells in rows[:_LINES]]
        if cut and min(cut) == max(cut) > most:
            best, most = mark, max(cut)
    if most == 1 and suffix != ".tsv" and lines:  # some line is wrong: the names in the first are the guide
        names = next((line for line in lines if line.strip()), "")
        best = max(",;\t", key=names.count)
    return best


def typed_labels(labels: list[str]) -> NDArray[Any]:
    """Integers if every label is written as one, else text."""
    try:
        numbers = np.array([int(label) for label in labels], np.int64)
    except (ValueError, OverflowError):
        return np.array(labels)
    return numbers if all(map(str.__eq__, map(str, numbers.tolist()), labels)) else np.array(labels)


def check_labels(y: NDArray[Any], n_inputs: int, file: Path) -> NDArray[Any]:
    """The labels of an array file as int64 or str, one for each input."""
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
        raise DataFormatError(
            f"{file}: labels must be integers or strings. Found fractions or NaN; make classes of "
            "numbers, for example whether they are above the median."
        )
    if y.dtype.kind == "u" and (y > np.iinfo(np.int64).max).any():
        raise DataFormatError(f"{file}: integer labels must fit 64 signed bits. Found {y.max()}.")
    return y.astype(np.int64)


def match_labels(y: NDArray[Any], classes: Sequence[Label]) -> list[Label | None]:
    """The class that each label stands for; None where the model has no such class.

    A file may say 3 where the model says "3", or 3.0 in text. Classes are all int or all str, so comparing
    their written forms is never ambiguous.
    """
    by_text = {str(label): label for label in classes}
    known: dict[Any, Label | None] = {}
    for value in set(y.tolist()):
        number = as_number(str(value))
        whole = str(int(number)) if number is not None and number.is_integer() else None
        known[value] = by_text.get(str(value), None if whole is None else by_text.get(whole))
    return [known[value] for value in y.tolist()]
