"""What all readers of data files share: arrays of an ``.npz`` file, lines of a ``.csv`` file, labels.

Every problem with a file raises an exception that names the file, what was found and what is
expected: ``InvalidInputError`` for values that are not 0 and 1, ``DataFormatError`` for everything else.
Nothing is ever unpickled.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import DataFormatError, TmVerifyError
from tmverify.model import Label
from tmverify.model.names import check_distinct
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
        place = self.names.index(name)
        return [row[place] for row in self.cells]


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
    """The arrays raw, raw_names and raw_lines, which ``save_inputs`` writes."""
    raw, names = archive["raw"], archive["raw_names"]
    lines = archive["raw_lines"] if "raw_lines" in archive.files else None
    fits = raw.dtype.kind == names.dtype.kind == "U" and raw.shape == (len(X), *names.shape)
    if not fits or (lines is not None and (lines.shape != (len(X),) or lines.dtype.kind != "i")):
        raise DataFormatError(f"{file}: raw, raw_names and raw_lines do not fit X.")
    return RawRows(tuple(names.tolist()), raw.tolist(), None if lines is None else tuple(lines.tolist()))


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

    Cells are separated by commas, semicolons or tabs, whichever the file uses (``separation``). Between
    semicolons, 20,5 is the number 20.5, as spreadsheets write it where a comma is the decimal mark; 1,000
    could be two numbers, and stays as it is. ``values`` is what error messages say is expected;
    ``skip_spaces`` lets a quoted cell follow a space.
    """
    with open(file, newline="", encoding="utf-8-sig") as text:
        try:
            mark, quoting = separation(text.read(_SAMPLE), file.suffix.lower())
        except UnicodeDecodeError:
            raise DataFormatError(
                f"{file}: not a text file in UTF-8 (in a spreadsheet: save as CSV UTF-8); expected {values}."
            ) from None
        text.seek(0)
        skip = skip_spaces and mark != "\t"  # a tab is a space, too
        csv.field_size_limit(_LONGEST_CELL)  # a setting of the process; a text may be long
        reader, width = csv.reader(text, delimiter=mark, quoting=quoting, skipinitialspace=skip), 0
        start = 1  # a quoted cell may have several lines
        try:
            for cells in reader:
                line, start = start, reader.line_num + 1
                if "".join(cells).strip():
                    width = width or len(cells)
                    if len(cells) != width:
                        raise DataFormatError(
                            f"{file}, line {line}: {len(cells)} values, where line 1 has {width}."
                        )
                    yield line, [_with_point(cell) for cell in cells] if mark == ";" else cells
        except UnicodeDecodeError:
            raise DataFormatError(
                f"{file}: not a text file in UTF-8 (in a spreadsheet: save as CSV UTF-8); expected {values}."
            ) from None
        except csv.Error as error:
            raise DataFormatError(f"{file}: not comma-separated text: {error}.") from None


def _with_point(cell: str) -> str:
    return cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


def separation(sample: str, suffix: str) -> tuple[str, Any]:
    """What separates the cells of a file that begins with ``sample``, and whether cells are quoted.

    The mark that cuts the first lines into the most cells, equally many in each line; if there is none, a tab
    in a ``.tsv`` file and else the mark that the first line has most often. Where plain tabs do that, quotes
    are part of the text, unless all cells that have any are quoted as a whole.
    """
    lines = sample.split("\n")[:_LINES]
    if len(sample) == _SAMPLE and len(lines) > 1:
        lines.pop()  # it is cut off
    widths = {line.count("\t") for line in lines if line.strip()}
    if len(widths) == 1 and 0 not in widths:
        cells = [cell.strip("\r") for line in lines for cell in line.split("\t") if '"' in cell]
        quoted = bool(cells) and all(map(_QUOTED.fullmatch, cells))
        return "\t", csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
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
    if (
        most == 1 and suffix != ".tsv" and lines
    ):  # some line is wrong: the first, with the names, is the guide
        names = next((line for line in lines if line.strip()), "")
        best = max(",;\t", key=names.count)
    return best, csv.QUOTE_MINIMAL


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
