"""A model's inputs in files: raw rows of the user's table, texts, or bits.

    .csv, .tsv   rows with the columns of the model's space, found by name; or bits, of 0 and 1
    .txt         a text a line, for models of texts
    .npz, .npy   bits X (and, perhaps, y and feature_names); or raw rows of numbers, or pictures

A file that names its columns is matched to a model by these names. If they are the names of the model's
bits, the file holds bits; if they contain all columns of the model's space, it holds raw rows, and other
columns are ignored (``Inputs.ignored``). Labels are in a column named like the space's target, y or label.

An array without names holds raw rows if it has a column for each part of the space. Where bits have that
width too, it does if some value is neither 0 nor 1; else integers are bits, and floats are refused.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.atomic import replacing
from tmverify.data.bit_files import READERS, is_header, is_label, read_csv
from tmverify.data.files import (
    TEXT_FILES,
    Arrays,
    Line,
    RawRows,
    check_labels,
    csv_lines,
    guarded,
    typed_labels,
    wrong_kind,
)
from tmverify.errors import DataFormatError, InvalidInputError, guess, meant, shown
from tmverify.model.checks import as_bit_matrix
from tmverify.model.classifier import Classifier
from tmverify.model.inputs import has_raw_columns
from tmverify.model.names import check_distinct, column_order, default_name, fitting_order
from tmverify.space import Category, Flag, Number, Space, Text
from tmverify.space.rows import lacking, missing_columns
from tmverify.space.text import split_words
from tmverify.space.values import as_number

_SOME = 5
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
    raw : RawRows or None
        The rows as they stand in the user's file, if they are not bits.
    ids : tuple of str, or None
        What the rows are called, if a column says so.
    lines : tuple of int, or None
        The line of each row in its file, if that is text.
    ignored : tuple of str
        Columns of the file that the model does not read.
    notes : tuple of str
        What a reader should know of the rows: categories that the model has never seen, texts without any
        word that it knows.
    """

    X: NDArray[np.uint8]
    y: NDArray[Any] | None = None
    feature_names: tuple[str, ...] | None = None
    raw: RawRows | None = None
    ids: tuple[str, ...] | None = None
    lines: tuple[int, ...] | None = None
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def load_inputs(
    path: str | os.PathLike[str], model: Classifier | None = None, *, id_column: str | None = None
) -> Inputs:
    """Read inputs, and labels if there are any.

    Parameters
    ----------
    path : path
        See the beginning of this module.
    model : Classifier or None
        The model that the inputs are for. Without it, the file must hold bits, and they are not matched.
    id_column : str or None
        A column of a text file that says what each row is called.

    Returns
    -------
    Inputs
        For a model, X has a column for each of its features, in their order.

    Raises
    ------
    DataFormatError
        If the file is missing, damaged, of another kind, or not rectangular.
    InvalidInputError
        If columns are missing, or a value is none that its column can have.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix == ".txt":
        return _read_texts(file, model, id_column)
    if suffix not in READERS:
        raise DataFormatError(wrong_kind(file, [*READERS, ".txt"], "data"))
    if suffix in TEXT_FILES:
        found = guarded(lambda file: _read_table(file, model, id_column), file)
        if found is not None:
            return found
        arrays = guarded(lambda file: read_csv(file, id_column), file)
    elif id_column is not None:
        raise DataFormatError(
            f"{file}: only the rows of .csv and .tsv files have names; leave out --id (id, in a plan)."
        )
    else:
        arrays = guarded(READERS[suffix], file)
    return _matched(_checked(arrays, model, file), model, file)


def _checked(arrays: Arrays, model: Classifier | None, file: Path) -> Inputs:
    """The content of an array file: bits, or pictures if the model reads such."""
    X, y, names, raw, lines, ids = arrays
    ignored: tuple[str, ...] = ()
    shape = None if model is None else model.space.image_shape
    if shape is not None and X.shape == shape and X.shape[-1] != np.prod(shape):
        X = X[None]  # one picture
    if model is not None and shape is not None and X.ndim and X.shape[1:] == shape:
        X, names = _encoded(X, model, file), None
    elif model is not None and X.ndim == 2 and X.size and X.dtype.kind in "buif":
        places = _raw_columns(X, names, model, file)
        if places is not None:
            ignored = () if names is None else tuple(names[i] for i in range(len(names)) if i not in places)
            X, names = _encoded(X, model, file, places), None
    if X.ndim != 2:
        raise DataFormatError(
            f"{file}: X must be a matrix of shape (inputs, features). Found shape {X.shape}; "
            "reshape it, one flat input per row."
        )
    if 0 in X.shape:
        raise DataFormatError(f"{file}: X must have at least one input and one feature. Found {X.shape}.")
    bits = as_bit_matrix(X, X.shape[1], name=f"X of {file}")
    labels = None if y is None else check_labels(y, len(bits), file)
    return Inputs(bits, labels, names, raw, ids, lines if raw is None else raw.lines, ignored)


def _encoded(
    X: NDArray[Any], model: Classifier, file: Path, places: Sequence[int | None] | None = None
) -> NDArray[np.uint8]:
    """The bits of pictures, or of raw rows whose columns are at ``places`` (None: not there, not needed)."""
    space, absent = model.space, np.zeros(len(X))
    try:
        if places is None or space.image_shape is not None:
            return space.encode(X if places is None else X[:, np.array(places)])
        return space.encode_columns([absent if place is None else X[:, place] for place in places])
    except InvalidInputError as error:
        raise InvalidInputError(f"{file}: {error}") from None


def _raw_columns(
    X: NDArray[Any], names: tuple[str, ...] | None, model: Classifier, file: Path
) -> Sequence[int | None] | None:
    """Where the parts of the space, or the pixels, are in a matrix of raw numbers; None if it is bits."""
    space, width = model.space, X.shape[1]
    if not _can_be_numbers(space):
        return None
    if names is not None and space.image_shape is None:
        return _places(names, space) if has_raw_columns(names, model) else None
    counted = tuple(map(default_name, range(width)))
    found: Sequence[int | None]
    if width == (space.n_bits if space.image_shape is not None else len(space.parts)):
        order = None if names is None else fitting_order(names, model)
        found = range(width) if order is None or len(order) != width else order.tolist()
    elif not lacking(counted, space):  # columns were left out in training
        found = _places(counted, space)
    else:
        return None
    if width != space.n_bits or ((X != 0) & (X != 1)).any():
        return found
    if X.dtype.kind == "f" and space.raw_looks_like_bits:
        raise DataFormatError(
            f"{file}: X holds floats, all of them 0 or 1: these could be bits, or raw rows of the model. "
            "Save bits as integers, X.astype(np.uint8); raw rows by model.space.encode(X), or in a .csv file "
            "that names their columns."
        )
    return None


def _places(names: Sequence[str], space: Space) -> list[int | None]:
    place = {name: i for i, name in enumerate(names)}
    return [place.get(part.name) for part in space.parts]


def _can_be_numbers(space: Space) -> bool:
    """Whether raw rows can be an array of numbers that are not the bits."""
    if space.image_shape is not None:
        return True
    columns = space.named and all(isinstance(part, Flag | Number | Category) for part in space.parts)
    return columns and not all(isinstance(part, Flag) for part in space.parts)


def _matched(inputs: Inputs, model: Classifier | None, file: Path) -> Inputs:
    """The bits in the order of the model's features."""
    if model is None:
        return inputs
    X = inputs.X
    if inputs.feature_names is not None:
        order = column_order(inputs.feature_names, model, what=str(file), remedy=_REMEDY)
        X = X[:, order] if len(order) == X.shape[1] else X
    bits = as_bit_matrix(X, model.n_features, name=f"X of {file}")
    raw = None if inputs.raw is None else _own_cells(inputs.raw, model, bits)
    return replace(inputs, X=bits, feature_names=model.feature_names, raw=raw)


def _own_cells(raw: RawRows, model: Classifier, bits: NDArray[np.uint8]) -> RawRows | None:
    """The raw rows with a cell for each part of the model's space; None if they are not those of ``bits``."""
    if not model.space.named or lacking(raw.names, model.space):
        return None
    columns = [raw.column(part.name) for part in model.space.parts]
    try:
        encoded = model.space.encode_columns(columns)
    except InvalidInputError:
        return None
    own = tuple(part.name for part in model.space.parts)
    return (
        RawRows(own, list(zip(*columns, strict=True)), raw.lines) if np.array_equal(encoded, bits) else None
    )


def save_inputs(
    path: Path,
    X: Any,
    y: NDArray[Any],
    feature_names: Sequence[str] | None = None,
    raw: RawRows | None = None,
) -> None:
    """Write bits (perhaps sparse), labels, names and raw rows for ``load_inputs`` as ``.npz``."""
    arrays: dict[str, Any] = {"X": np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.uint8), "y": y}
    if feature_names is not None:
        arrays["feature_names"] = np.array(feature_names, np.str_)
    if raw is not None:
        arrays["raw"] = np.array(raw.cells, np.str_).reshape(-1, len(raw.names))
        arrays["raw_names"] = np.array(raw.names, np.str_)
        arrays |= {} if raw.lines is None else {"raw_lines": np.array(raw.lines, np.int64)}
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(file, **arrays)


def _read_texts(file: Path, model: Classifier | None, id_column: str | None) -> Inputs:
    """A text a line; blank lines are passed over."""
    if model is None or not model.space.is_text:
        reads = "" if model is None else f" This model reads {_reads(model)}."
        raise DataFormatError(
            f"{file}: a .txt file has a text a line, for models that were trained on texts alone.{reads}"
        )
    if id_column is not None:
        raise DataFormatError(
            f"{file}: the lines of a .txt file have no names; leave out --id (id, in a plan)."
        )

    def read(file: Path) -> list[tuple[int, str]]:
        text = file.read_bytes().decode("utf-8-sig")
        return [(i, line.rstrip("\r")) for i, line in enumerate(text.split("\n"), 1) if line.strip()]

    found = guarded(read, file)
    if not found:
        raise DataFormatError(f"{file}: there is no text in it; expected a text a line.")
    lines = tuple(line for line, _ in found)
    raw = RawRows((model.space.parts[0].name,), [[text] for _, text in found], lines)
    return Inputs(
        model.space.encode([text for _, text in found]),
        feature_names=model.feature_names,
        raw=raw,
        lines=lines,
        notes=_notes(model.space, raw),
    )


def _read_table(file: Path, model: Classifier | None, id_column: str | None) -> Inputs | None:
    """The raw rows of a table, or bits by name; None if the columns have no names, or no model knows them."""
    lines = csv_lines(file, "values", skip_spaces=True)
    first = next(lines, None)
    if model is not None and _is_table(model):
        if first is None:
            raise DataFormatError(f"{file}: the file is empty; expected {_reads(model)}.")
        if not (is_header(first[1]) or _has_columns(first[1], model) or _are_bits(first[1])):
            raise DataFormatError(
                f"{file}: line 1 must name the columns; expected {_reads(model)}. "
                f"It begins with {', '.join(map(shown, first[1][:3]))}."
            )
    if first is None or model is None or not (is_header(first[1]) or _has_columns(first[1], model)):
        if id_column is not None:
            raise DataFormatError(f"{file}: there is no line of column names to find {id_column!r} in.")
        return None
    names = _distinct_names(first[1], file)
    target = _target(names, model, file)
    if id_column is not None and id_column not in names:
        raise DataFormatError(
            f"{file}: there is no column {id_column!r} to name the rows; there are {', '.join(names[:20])}."
            f"{guess(id_column, names)}"
        )
    others = [name for name in names if name != target and name != id_column]
    raw_columns = has_raw_columns(others, model) or _has_words(others, model)
    if not raw_columns and fitting_order(others, model) is not None:
        return None  # bits
    if lacking(names, model.space) or not model.space.named:
        if not _is_table(model):
            return None  # the reader of bits says what is wrong
        hint = "Names must be the same letter by letter."
        if len(names) == 1:
            hint = "If that is several columns: commas, semicolons or tabs must separate them."
        raise InvalidInputError(f"{missing_columns(model.space, names, str(file))} {hint}")
    return _raw_inputs(file, model, lines, names, target, id_column)


def _raw_inputs(
    file: Path,
    model: Classifier,
    lines: Iterator[Line],
    names: Sequence[str],
    target: str | None,
    id_column: str | None,
) -> Inputs:
    """The rows of a table that has all columns of the model."""
    numbers, rows = [], []
    for line, cells in lines:
        numbers.append(line)
        rows.append([cell.strip() for cell in cells])
    if not rows:
        raise DataFormatError(f"{file}: there is a header line but no row below it.")
    place = {name: i for i, name in enumerate(names)}
    own = [part.name for part in model.space.parts]
    own_cells = [[row[place[name]] if name in place else "" for name in own] for row in rows]
    raw = RawRows(tuple(own), own_cells, tuple(numbers))
    try:
        X = model.space.encode_columns(
            [raw.column(name) for name in own], row_names=[f"line {line}" for line in numbers]
        )
    except InvalidInputError as error:
        raise InvalidInputError(f"{file}: {error}") from None
    read = {*own, target, id_column}
    return Inputs(
        X,
        None if target is None else typed_labels([row[place[target]] for row in rows]),
        model.feature_names,
        raw,
        None if id_column is None else tuple(row[place[id_column]] for row in rows),
        raw.lines,
        tuple(name for name in names if name not in read),
        _notes(model.space, raw),
    )


def _notes(space: Space, raw: RawRows) -> tuple[str, ...]:
    """What the model can't know of these rows."""
    found = []
    for part in space.parts:
        cells = raw.column(part.name)
        if isinstance(part, Category) and part.other:
            for value, places in _unseen(part, cells).items():
                other, where = part.values[len(part.categories)], _lines_text(raw, places)
                near = meant(value, part.categories)
                found.append(
                    f"{where}: {shown(value)} in column {part.name} was not seen in training, and is read as "
                    f"{shown(other)}" + ("" if near is None else f" (is {shown(near)} meant?)")
                )
        elif isinstance(part, Text):
            known = part.places.keys()
            blank = [i for i, text in enumerate(cells) if known.isdisjoint(split_words(text))]
            if blank:
                found.append(f"the model knows no word of {_lines_text(raw, blank)}")
    return tuple(found)


def _unseen(part: Category, cells: Sequence[str]) -> dict[str, list[int]]:
    """The values that are not among the categories, and the rows that have them."""
    found: dict[str, list[int]] = {}
    for i, cell in enumerate(cells):
        if cell:
            found.setdefault(cell, []).append(i)
    values = list(found)
    bits = part.encode(values) if values else np.ones((0, 1), np.uint8)
    return {value: found[value] for value, row in zip(values, bits, strict=True) if not row.any()}


def _lines_text(raw: RawRows, places: Sequence[int]) -> str:
    lines = places if raw.lines is None else [raw.lines[i] for i in places]
    more = f" and {len(lines) - _SOME} more" if len(lines) > _SOME else ""
    return f"line{'s' * (len(lines) > 1)} {', '.join(map(str, lines[:_SOME]))}{more}"


def _is_table(model: Classifier) -> bool:
    """Whether a row of the model's raw input has columns that are not bits: numbers, categories, texts."""
    space = model.space
    return space.named and any(part.kind in ("number", "category", "text") for part in space.parts)


def _reads(model: Classifier) -> str:
    """What a file for the model holds, in words."""
    if not _is_table(model):
        return f"rows of {model.n_features} bits"
    names = [part.name for part in model.space.parts]
    more = f", … ({len(names)} columns)" if len(names) > _SOME else ""
    return f"a .csv table with the columns {', '.join(map(shown, names[:_SOME]))}{more}"


def _are_bits(cells: Sequence[str]) -> bool:
    return all(as_number(cell) in (0, 1) for cell in cells)


def _has_columns(cells: Sequence[str], model: Classifier) -> bool:
    return model.space.named and not lacking([cell.strip() for cell in cells], model.space)


def _has_words(names: Sequence[str], model: Classifier) -> bool:
    """Whether all columns are flags, and some have words for 0 and 1."""
    flags = [part for part in model.space.parts if isinstance(part, Flag)] if model.space.named else []
    words = any(flag.values != ("0", "1") for flag in flags)
    return words and len(flags) == len(model.space.parts) and not lacking(names, model.space)


def _target(names: Sequence[str], model: Classifier, file: Path) -> str | None:
    """The column of the labels: the model's own, or the one called y or label."""
    if model.space.target in names:
        return model.space.target
    columns = {part.name for part in model.space.parts} if model.space.named else set()
    called = [name for name in names if is_label(name) and name not in columns]
    if len(called) > 1:
        raise DataFormatError(f"{file}: {len(called)} columns are named y or label; expected one at most.")
    return called[0] if called else None


def _distinct_names(cells: Sequence[str], file: Path) -> list[str]:
    names = [cell.strip() for cell in cells]
    check_distinct([name for name in names if name], DataFormatError, f"Line 1 of {file}")
    return names
