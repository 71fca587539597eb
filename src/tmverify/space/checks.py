"""What the parts of a space are made of, checked; raw values as arrays; what is wrong with them, in words.

ModelError for the content of a part, InvalidInputError for raw values.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.space.values import as_number, as_text


def check_name(name: object) -> None:
    """Raise ModelError unless ``name`` can be that of a column."""
    if not isinstance(name, str):
        raise ModelError(f"The name of a column must be text. Got {shown(name)} instead.")
    (text,) = texts_in((name,), "The name of a column")
    if not text.strip():
        raise ModelError(f"A column must have a name. Got {shown(name)} instead.")


def texts_in(values: Any, what: str) -> tuple[str, ...]:
    """The values as texts that a file can hold."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ModelError(f"{what} must be a list of texts. Got {shown(values)} instead.")
    found = []
    for value in values:
        text = as_text(value) if not isinstance(value, str) else str(value)
        if text is None:
            raise ModelError(f"{what} must be text. Got {shown(value)} instead.")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ModelError(f"{what} must be valid Unicode. Got {shown(value)} instead.") from None
        found.append(text)
    return tuple(found)


def words_in(values: Any, what: str) -> tuple[str, ...]:
    """Values in words: texts that are not blank, since a blank one is a missing value."""
    found = texts_in(values, what)
    if not all(text.strip() for text in found):
        raise ModelError(f"{what} can't be blank: a blank text is a missing value. Got {shown(found)}.")
    return found


def finite(value: Any, what: str) -> float:
    """A number as float, exactly; minus zero, which compares like zero, is zero."""
    number = None if isinstance(value, str | bool | np.bool_) else as_number(value)
    if number is None or not math.isfinite(number) or number != value:
        raise ModelError(
            f"{what} must be finite numbers that a float holds exactly. Got {shown(value)} instead."
        )
    return number + 0.0


def check_flag(value: object, name: str) -> None:
    """Raise ModelError unless ``value`` is True or False."""
    if type(value) is not bool:
        raise ModelError(f"{name} must be True or False. Got {shown(value)} instead.")


def check_distinct(values: Sequence[str], what: str) -> None:
    """Raise ModelError if a value is there twice."""
    if len(set(values)) != len(values):
        twice = next(value for value, n in Counter(values).items() if n > 1)
        raise ModelError(f"{what} must differ from each other. Got {shown(twice)} twice.")


def is_integer(value: object) -> bool:
    """Whether ``value`` is a whole number, and not a Boolean."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def raw_array(values: Any) -> NDArray[Any]:
    """Raw values of a column as an array; lists of mixed values stay objects."""
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(object), None)
    if hasattr(values, "dtype") or hasattr(values, "__array__"):
        given: NDArray[Any] = np.asarray(values)
        if given.dtype.kind not in "mM":  # their ``tolist`` would make integers of times
            return given
    listed = list(values)
    array = np.empty(len(listed), object)
    for i, value in enumerate(listed):  # an assignment of all would unpack values that are lists
        array[i] = value
    return array


def row_name(row: int, rows: Sequence[str] | None) -> str:
    """What a row is called in an error."""
    return f"row {row}" if rows is None else rows[row]


def wrong_value(name: str, value: Any, row: int, rows: Sequence[str] | None, must: str) -> InvalidInputError:
    return InvalidInputError(
        f"Column {name!r} {must}. Got {plain_value(value)} in {row_name(row, rows)} instead."
    )


def plain_value(value: Any) -> str:
    """A value as an error shows it."""
    return shown(value.item() if isinstance(value, np.generic) else value)


def lacks_value(name: str, value: Any, row: int, rows: Sequence[str] | None) -> InvalidInputError:
    """The error that a value is missing where none may be."""
    return InvalidInputError(
        f"Column {name!r} has a missing value, {plain_value(value)} in {row_name(row, rows)}, and the model "
        "knows none there: it was trained on rows without. Fill it in or leave the row out; or train on "
        f"rows in which it is missing too (in Python, with TableBinarizer(missing=[{name!r}]) if need be)."
    )
