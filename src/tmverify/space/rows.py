"""Raw rows in the forms in which people have them, as the values of each part of a space.

- Frames (pandas, polars, pyarrow), mappings, series and named tuples: columns are found by name, in any
  order; other columns are ignored; one that is not there is an error.
- Arrays and nested lists: a column for each part, in order.
- Texts, where the space is one text; pictures, where it is one image.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, meant, shown, some
from tmverify.space.checks import row_name

if TYPE_CHECKING:
    from tmverify.space.space import Space

_SOME = 5


def values_by_part(space: Space, rows: Any, row_names: Sequence[str] | None = None) -> list[Any]:
    """For each part of ``space``, its values in the rows, at least one.

    Raises
    ------
    InvalidInputError
        If a column is missing, or the rows have another form.
    """
    if isinstance(rows, str | bytes | Mapping):
        raise InvalidInputError(f"Rows must be a list, even if there is only one. Got {shown(rows)} instead.")
    labels = column_labels(rows)
    if labels is not None and not isinstance(rows, tuple) and len(getattr(rows, "shape", (0, 0))) == 2:
        return _from_frame(space, rows, list(labels))
    if space.image_shape is not None and not _are_named(rows):
        return [rows]
    if labels is not None and not space.is_text:  # a series or a named tuple is one row
        raise InvalidInputError("Rows must be a table. Got one row; put it into a list.")
    if space.is_text and not _are_named(rows):
        return [_texts_in(rows)]
    if isinstance(rows, np.ndarray):
        return _from_array(space, rows)
    listed = _listed(rows)
    if any(named_row(row) is not None for row in listed):
        return _from_mappings(space, listed, row_names)
    return _from_lists(space, listed, row_names)


def is_mapping(value: Any) -> bool:
    """Whether it is a mapping from names; sparse matrices that are dictionaries of cells are not."""
    return isinstance(value, Mapping) and not hasattr(value, "shape")


def column_labels(values: Any) -> Iterable[Any] | None:
    """The names of the columns of a frame, of the values of a series, or of the fields of a named tuple."""
    axes = getattr(values, "axes", None)  # pandas; unlike ``columns``, a label of a series can't hide it
    if isinstance(axes, list) and axes:
        labels: Iterable[Any] = axes[-1]
        return labels
    fields = getattr(values, "_fields", None)  # named tuples
    if isinstance(values, tuple) and isinstance(fields, tuple):
        return fields
    for attribute in ("column_names", "columns"):  # pyarrow, polars
        columns = getattr(values, attribute, None)
        if isinstance(columns, list) and all(isinstance(name, str) for name in columns):
            return columns
    return None


def named_row(row: Any) -> Mapping[str, Any] | None:
    """One row by the names of its columns: a mapping, a series, a named tuple; None if it has no names."""
    if isinstance(row, Mapping):
        return _by_name(row.keys(), row.values())
    if isinstance(row, np.ndarray):
        return None
    labels = column_labels(row)
    if labels is None or len(getattr(row, "shape", (0,))) != 1:
        return None
    return _by_name(labels, row)


def _by_name(labels: Iterable[Any], values: Iterable[Any]) -> Mapping[str, Any]:
    names = [str(label) for label in labels]
    _check_once(names, "A row")
    return dict(zip(names, values, strict=True))


def _check_once(names: Sequence[str], what: str) -> None:
    twice = [name for name, n in Counter(names).items() if n > 1]
    if twice:
        raise InvalidInputError(f"{what} must name each column once. Got {some(twice, _SOME)} twice or more.")


def lacking(names: Sequence[str], space: Space) -> list[str]:
    """The parts of ``space`` that are not among ``names``; those without bits are not needed."""
    known = set(names)
    return [part.name for part in space.parts if part.name not in known and part.n_bits]


def missing_columns(space: Space, found: Sequence[str], what: str) -> InvalidInputError:
    """The error that says which columns are not there, which are, and which may be misspelt."""
    lacks, own = lacking(found, space), {part.name for part in space.parts}
    others = [name for name in found if name not in own]
    near = [(name, meant(name, others)) for name in lacks]
    said = [f"{shown(other)} for {shown(name)}" for name, other in near if other is not None]
    if len(lacks) == len(said) == 1:
        said = [shown(near[0][1])]
    spelt = f" Is {' and '.join(said[:_SOME])} meant?" if said else ""
    return InvalidInputError(
        f"{what} must have all columns of the model. "
        f"It lacks {some(lacks, _SOME)}; it has {some(found, _SOME)}.{spelt}"
    )


def _from_frame(space: Space, frame: Any, labels: list[Any]) -> list[Any]:
    names = [str(label) for label in labels]
    _check_once(names, "A table")
    if lacking(names, space):
        raise missing_columns(space, names, "A table")
    if not frame.shape[0]:
        raise InvalidInputError("A table must have at least one row. Got none.")
    place = dict(zip(names, labels, strict=True))
    n, absent = frame.shape[0], {part.name for part in space.parts if part.name not in place}
    return [
        np.zeros(n) if part.name in absent else np.asarray(frame[place[part.name]]) for part in space.parts
    ]


def _from_mappings(space: Space, rows: list[Any], row_names: Sequence[str] | None) -> list[Any]:
    found = []
    for i, row in enumerate(rows):
        named = named_row(row)
        if named is None:
            raise InvalidInputError(
                f"Rows must all be mappings, or none. {row_name(i, row_names).capitalize()} is {shown(row)}."
            )
        if lacking(list(named), space):
            raise missing_columns(space, list(named), row_name(i, row_names).capitalize())
        found.append(named)
    return [[row.get(part.name) for row in found] for part in space.parts]


def _from_array(space: Space, rows: NDArray[Any]) -> list[Any]:
    if rows.ndim != 2 or not len(rows) or rows.shape[1] != len(space.parts):
        raise InvalidInputError(
            f"An array of rows must have a column for each of the {len(space.parts)} columns of the model "
            f"({some([part.name for part in space.parts], _SOME)}). Got shape {rows.shape} instead."
        )
    return list(rows.A.T if isinstance(rows, np.matrix) else rows.T)


def _from_lists(space: Space, rows: list[Any], row_names: Sequence[str] | None) -> list[Any]:
    width = len(space.parts)
    for i, row in enumerate(rows):
        listed = hasattr(row, "__len__") and not isinstance(row, str | bytes | Set)
        if not listed or len(row) != width:
            said = f"{len(row)} values" if listed else shown(row)
            raise InvalidInputError(
                f"A row must have a value for each of the {width} columns ("
                f"{some([part.name for part in space.parts], _SOME)}). "
                f"Got {said} in {row_name(i, row_names)} instead."
            )
    return [list(column) for column in zip(*rows, strict=True)]


def _listed(rows: Any) -> list[Any]:
    if not isinstance(rows, Iterable) or isinstance(rows, Set):
        raise InvalidInputError(
            f"Rows must be a frame, a list of mappings or an array. Got {shown(rows)} instead."
        )
    listed = list(rows)
    if not listed:
        raise InvalidInputError("There must be at least one row. Got none.")
    return listed


def _texts_in(rows: Any) -> list[Any]:
    if isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] == 1:
        rows = rows[:, 0]
    listed = [row[0] if isinstance(row, np.ndarray) and row.shape == (1,) else row for row in rows]
    if not listed:
        raise InvalidInputError("There must be at least one text. Got none.")
    return listed


def _are_named(rows: Any) -> bool:
    return isinstance(rows, list | tuple) and bool(rows) and named_row(rows[0]) is not None
