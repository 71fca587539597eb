"""Tables with a label column to train on: ``.csv`` or ``.tsv`` with a header line, or ``.npz`` with X and y.

Unlike ``load_inputs`` this takes any numbers and text. ``split_table`` turns them into bits with a
``TableBinarizer``, which, as in ``load_dataset``, learns its cuts and categories from the training part only.
What *kind* each column is, it learns from the whole table: all rows with a rare value may be held out.

In a text file a column holds numbers iff all its cells are numbers, or all are true or false, which count as
1 and 0; else it holds text. A blank cell is a missing value, and so is a mark such as NA or ? among numbers.
"""

from __future__ import annotations

import os
import warnings
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.data.datasets import Dataset
from tmverify.data.files import (
    LABEL_NAMES,
    TEXT_FILES,
    Line,
    RawRows,
    check_labels,
    csv_lines,
    guarded,
    read_npz,
    typed_labels,
    wrong_kind,
)
from tmverify.errors import DataFormatError, InvalidInputError, guess, shown
from tmverify.model.names import default_name
from tmverify.space import Space
from tmverify.space.rows import lacking, missing_columns
from tmverify.space.values import MISSING_NUMBERS, as_number, is_missing, number_text

_TRUTH = {"true": 1.0, "false": 0.0}
_MANY_ROWS = 20
_FEW = 20
_FEW_NUMBERS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table, with its label column separate from the others.

    Attributes
    ----------
    X : float64 array, (n, n_columns); object array of float, str and None if a column holds text
        None or NaN is a missing value. From an npz file, the unchanged array.
    y : int64 or str array, (n,)
    feature_names : tuple of str
        Names of the columns of X; from an npz file its feature_names, or x0, x1, …
    target : str or None
        Name of the label column.
    lines : tuple of int, or None
        The line of each row in its file.
    file : path or None
        The file that it was read from, if that is text.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    feature_names: tuple[str, ...]
    target: str | None = None
    lines: tuple[int, ...] | None = None
    file: Path | None = None


def load_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    drop: Sequence[str] = (),
    missing: str = "bit",
) -> Table:
    """Read a table whose column ``target`` holds the labels.

    Parameters
    ----------
    path : path
        ``.csv`` or ``.tsv``, text in UTF-8 whose first line names the columns, separated by commas,
        semicolons or tabs; or ``.npz`` with X and y, and perhaps feature_names.
    target : str or None, default None
        Name of the label column; None means the one named y or label. In an npz file it is y.
    drop : names of columns to leave out
    missing : {"bit", "refuse"}
        Whether missing values are kept, as None, or are an error.

    Returns
    -------
    Table

    Raises
    ------
    DataFormatError
        If the file is missing or damaged, has no such column, is not rectangular, or a label is missing.
    """
    file = Path(path)
    if file.suffix.lower() == ".npz":
        return _from_npz(file, target, drop)
    if file.suffix.lower() not in TEXT_FILES:
        raise DataFormatError(wrong_kind(file, [*TEXT_FILES, ".npz"], "a table"))
    return guarded(lambda file: _from_text(file, target, drop, missing), file)


def split_table(
    table: Table,
    name: str,
    *,
    test_size: float = 0.25,
    random_state: int = 0,
    texts: Sequence[str] = (),
    n_words: int = 5000,
    like: Space | None = None,
) -> Dataset:
    """Hold out rows for testing; turn all into bits by a ``TableBinarizer`` that learns from the others.

    Parameters
    ----------
    table : Table
    name : str
        Name of the table, in the dataset and in errors.
    test_size : float, default 0.25
        Share of the rows of each label to hold out; with 0 there are no test inputs.
    random_state : int, default 0
        Seed of the draw.
    texts : names of the columns to cut into words
    n_words : int, default 5000
        How many words to keep of each of them.
    like : Space or None
        The space of another model, to be used instead of learning one; other columns are left out.

    Raises
    ------
    InvalidInputError
        If the rows can't be split this way, or the columns can't be turned into bits.
    """
    from sklearn.model_selection import train_test_split

    from tmverify.data.binarizers import TableBinarizer

    rows = np.arange(len(table.y))
    train, test = rows, rows[:0]
    _check_labels(table, name, alone=not test_size)
    if test_size:
        try:
            train, test = train_test_split(
                rows, test_size=test_size, stratify=table.y, random_state=random_state
            )
        except ValueError as error:
            raise InvalidInputError(
                f"{name}: its rows can't be split into training and test data: {str(error).rstrip('.')}. "
                "Choose another test_size, or 0 to train on everything."
            ) from None
    if like is not None:
        bits, space = _encoded(table, like), like.with_target(table.target)
        return _dataset(name, table, bits, None, space, train, test)
    kinds, missing = _kinds_of(table, texts)
    _report_few_missing(table, [name for name in missing if name not in texts])
    binarizer = TableBinarizer(
        column_names=table.feature_names, kinds=kinds, missing=missing, n_words=n_words
    ).fit(table.X[train])
    space = binarizer.space_.with_target(table.target)
    return _dataset(name, table, binarizer.transform(table.X), binarizer, space, train, test)


def _dataset(
    name: str,
    table: Table,
    bits: NDArray[np.uint8],
    binarizer: Any,
    space: Space,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> Dataset:
    y, raw = table.y, _raw_rows(table, test)
    return Dataset(name, bits[train], y[train], bits[test], y[test], None, binarizer, space, raw)


def _encoded(table: Table, space: Space) -> NDArray[np.uint8]:
    """The bits of all rows in a space that was learnt elsewhere."""
    if lacking(table.feature_names, space):
        raise missing_columns(space, table.feature_names, "The table")
    if table.file is None:
        place = {name: j for j, name in enumerate(table.feature_names)}
        return space.encode_columns(
            [table.X[:, place[part.name]] if part.n_bits else np.zeros(len(table.y)) for part in space.parts]
        )
    raw = _raw_rows(table, np.arange(len(table.y)))  # the cells: what they are is for the space to say
    rows = None if raw.lines is None else [f"line {line}" for line in raw.lines]
    columns = [
        raw.column(part.name) if part.name in raw.names else [""] * len(table.y) for part in space.parts
    ]
    return space.encode_columns(columns, row_names=rows)


def _check_labels(table: Table, name: str, *, alone: bool) -> None:
    """Raise InvalidInputError if the labels are no classes: too many, or one that is there once."""
    labels, counts = np.unique(table.y, return_counts=True)
    what = f"The labels of {name}" if table.target is None else f"Column {table.target!r} of {name}"
    if _are_numbers(labels, len(table.y)):
        first, last = sorted(labels.tolist(), key=float)[:: len(labels) - 1]
        raise InvalidInputError(
            f"{what} must be classes. Got numbers, {len(labels)} different ones in {len(table.y)} rows, from "
            f"{first} to {last}; make classes of them, for example whether they are above the median."
        )
    if len(labels) > max(_FEW, len(table.y) // 5):
        raise InvalidInputError(
            f"{what} must be classes, few of them. Got {len(labels)} different ones in {len(table.y)} rows, "
            f"such as {labels[0]} and {labels[-1]}; make classes of them, such as above and below a limit."
        )
    if not alone and counts.min() == 1 and len(labels) > 1:
        once = labels[int(np.argmin(counts))]
        row = int(np.argmax(table.y == once))
        where = f"row {row}" if table.lines is None else f"line {table.lines[row]}"
        raise InvalidInputError(
            f"{what} has the label {str(once)!r} only once, in {where}: is it a total, or misspelt? Mend or "
            "leave out the row; or choose 0 as test_size to train on everything."
        )


def _are_numbers(labels: NDArray[Any], n_rows: int) -> bool:
    """Whether distinct labels are quantities, not classes: many numbers, with few rows each or fractions."""
    n, numbers = len(labels), [as_number(label) for label in labels.tolist()]
    if n <= _FEW_NUMBERS or any(number is None or not isfinite(number) for number in numbers):
        return False
    whole = all(number is not None and number.is_integer() for number in numbers)
    return 2 * n > n_rows or (n > _FEW and (not whole or n_rows < _FEW * n))


def _report_few_missing(table: Table, missing: Sequence[str]) -> None:
    """Warn of columns in which hardly any value is missing: little can be learnt of such rows."""
    counts = {
        name: sum(map(is_missing, column.tolist()))
        for name, column in zip(table.feature_names, table.X.T, strict=True)
        if name in missing
    }
    limit = max(2, min(_FEW, len(table.y) // 20))
    few = [f"{name} in {n}" for name, n in counts.items() if n < limit]
    if few:
        warnings.warn(
            f"Of {len(table.y)} rows, hardly any lack a value of these columns: {', '.join(few)}. What the "
            "model says of a row without such a value rests on these few.",
            UserWarning,
            stacklevel=2,
        )


def _kinds_of(table: Table, texts: Sequence[str]) -> tuple[Mapping[str, str], Sequence[str]]:
    """What each column is, and the columns with missing values, by all rows of the table."""
    unknown = [name for name in texts if name not in table.feature_names]
    if unknown:
        raise InvalidInputError(
            f"There is no column {shown(unknown[0])} to cut into words; "
            f"there are {_listed(table.feature_names)}.{guess(unknown[0], table.feature_names)}"
        )
    kinds, missing = {}, []
    for name, column in zip(table.feature_names, table.X.T, strict=True):
        present = [value for value in column.tolist() if not is_missing(value)]
        if len(present) < len(column):
            missing.append(name)
        distinct = set(present)
        if name in texts:
            kinds[name] = "text"
        elif any(isinstance(value, str) for value in distinct):
            if len(distinct) != 2:
                kinds[name] = "category"
        elif not distinct <= {0, 1}:
            kinds[name] = "number"
    return kinds, tuple(missing)


def _raw_rows(table: Table, rows: NDArray[np.int64]) -> RawRows:
    """Some rows of the table, as they stand in its file, with the columns that were left out."""
    if table.file is None or table.lines is None or not len(rows):
        return RawRows(table.feature_names, [[_cell(value) for value in row] for row in table.X[rows]])
    lines = iter(guarded(lambda file: list(csv_lines(file, "values", skip_spaces=True)), table.file))
    names = [cell.strip() for cell in next(lines)[1]]
    wanted = {table.lines[i] for i in rows}
    label = names.index(str(table.target))
    found = {
        line: [cell.strip() for j, cell in enumerate(cells) if j != label]
        for line, cells in lines
        if line in wanted
    }
    chosen = tuple(table.lines[i] for i in rows)
    return RawRows(tuple(names[:label] + names[label + 1 :]), [found[line] for line in chosen], chosen)


def _cell(value: Any) -> str:
    if is_missing(value):
        return ""
    return value if isinstance(value, str) else number_text(value)


def _from_npz(file: Path, target: str | None, drop: Sequence[str]) -> Table:
    X, y, names, *_ = guarded(read_npz, file)
    if target is not None:
        raise DataFormatError(f"{file}: the labels of an .npz file are its array y; leave target out.")
    if y is None:
        raise DataFormatError(f"{file}: an array named y with the labels is expected beside X.")
    if X.ndim != 2 or 0 in X.shape:
        raise DataFormatError(f"{file}: X must be a matrix of shape (rows, columns). Found shape {X.shape}.")
    names = names or tuple(map(default_name, range(X.shape[1])))
    kept = _kept(file, names, drop)
    return Table(X[:, kept], check_labels(y, len(X), file), tuple(names[j] for j in kept))


def _kept(file: Path, names: Sequence[str], drop: Sequence[str]) -> list[int]:
    """The places of the columns that are not dropped."""
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise DataFormatError(
            f"{file}: there is no column {shown(unknown[0])} to drop; there are {_listed(names)}."
            f"{guess(unknown[0], names)}"
        )
    kept = [j for j, name in enumerate(names) if name not in drop]
    if not kept:
        raise DataFormatError(f"{file}: no column is left to learn from.")
    return kept


def _from_text(file: Path, target: str | None, drop: Sequence[str], missing: str) -> Table:
    lines = csv_lines(file, "values", skip_spaces=True)
    names, label = _header(lines, target, file)
    labels: list[str] = []
    places: list[int] = []
    numbers = array("d")  # all cells, row by row, while all are numbers, as in most wide tables
    only_numbers = True
    for line, cells in lines:
        said = cells.pop(label).strip()
        if not said:
            raise DataFormatError(f"{file}, line {line}: the label, in column {names[label]!r}, is missing.")
        labels.append(said)
        places.append(line)
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
    answer = names.pop(label)
    if answer in drop:
        raise DataFormatError(f"{file}: {answer!r} holds the labels, and can't be dropped.")
    kept = _kept(file, names, drop)
    if only_numbers:
        X: NDArray[Any] = np.array(numbers, np.float64).reshape(len(labels), -1)
    else:
        X = _mixed_columns(file, names, label, kept, missing)
    X = X[:, kept]
    own = tuple(names[j] for j in kept)
    _report_row_numbers(own, X)
    return Table(X, typed_labels(labels), own, answer, tuple(places), file.resolve())


def _header(lines: Iterator[Line], target: str | None, file: Path) -> tuple[list[str], int]:
    """The names of all columns, and the index of the label column."""
    names = [cell.strip() for cell in next(lines, (0, []))[1]]
    if not names:
        raise DataFormatError(f"{file}: the file is empty; expected a line of column names, then the rows.")
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles or "" in names:
        found = (
            f"{doubles[0]!r} twice" if doubles and doubles[0] else f"no name for column {names.index('') + 1}"
        )
        hint = " (pandas writes its index so: to_csv(index=False) leaves it out)" if "" in names else ""
        raise DataFormatError(
            f"{file}: line 1 must name the columns, each by a name of its own. Found {found}{hint}."
        )
    known = LABEL_NAMES if target is None else (target.strip(),)
    wanted = [i for i, name in enumerate(names) if (name.lower() if target is None else name) in known]
    if len(wanted) != 1:
        what = "named y or label; name the label column as target" if target is None else f"named {target!r}"
        raise DataFormatError(
            f"{file}: expected one column {what}. The columns of line 1 are {_listed(names)}."
            f"{guess(target or '', names)}"
        )
    if len(names) == 1:
        raise DataFormatError(f"{file}: there is no column beside {names[0]!r} to learn from.")
    return names, wanted[0]


def _mixed_columns(
    file: Path, names: Sequence[str], label: int, kept: Sequence[int], missing: str
) -> NDArray[Any]:
    """The columns as numbers or text; the file is read a second time, as text."""
    numbers, rows = zip(*csv_lines(file, "values", skip_spaces=True), strict=True)
    X = np.empty((len(rows) - 1, len(names)), object)
    for row in rows:
        del row[label]
    for j, (_, *cells) in enumerate(zip(*rows, strict=True)):
        values: list[Any] = typed_cells(cells) if j in kept else cells
        if missing == "refuse" and j in kept and None in values:
            line = numbers[1:][values.index(None)]
            raise DataFormatError(
                f"{file}, line {line}, column {names[j]!r}: a value is missing. Fill it in, drop the row, or "
                "have a bit for missing values (missing='bit')."
            )
        X[:, j] = values
    return X


def typed_cells(cells: Sequence[str]) -> list[Any]:
    """The cells of a column as numbers, if they are, or as text; None where a value is missing.

    Infinite numbers stay among the others, for the binarizer to refuse.
    """
    values = [as_number(cell) for cell in cells]
    texts = {
        cell.strip().lower()
        for cell, value in zip(cells, values, strict=True)
        if value is None or isnan(value)
    }
    if texts - {""} and texts - {""} <= _TRUTH.keys() and all(value is None for value in values):
        return [_TRUTH.get(cell.strip().lower()) for cell in cells]
    some = any(value is not None and isfinite(value) for value in values)
    if some and all(not text or text in MISSING_NUMBERS for text in texts):
        return [None if value is None or isnan(value) else value for value in values]
    return [cell.strip() or None for cell in cells]


def _report_row_numbers(names: Sequence[str], X: NDArray[Any]) -> None:
    """Warn of a column that numbers the rows: it says nothing about new ones."""
    if len(X) < _MANY_ROWS:
        return
    for name, column in zip(names, X.T, strict=True):
        if all(isinstance(value, float) for value in column[:2]) and column[1] != column[0]:
            values = np.array([np.nan if not isinstance(value, float) else value for value in column])
            if (np.diff(values) == values[1] - values[0]).all():
                warnings.warn(
                    f"Column {name!r} numbers the rows ({number_text(values[0])}, "
                    f"{number_text(values[1])}, …): it can't help with new rows. Leave it out.",
                    UserWarning,
                    stacklevel=2,
                )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")
