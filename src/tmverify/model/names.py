"""The names of features: a model's own or, if it has none, x0, x1, … by their index.

A feature's number is always its index, counted from 0: ``x43`` is column 43 of X, 43 among the ``flips`` of
an answer, bit 43 of exported code. Only signed literals (``[1, -3]``, as in DIMACS) count from 1, because 0
has no sign: 1 is x0, and -3 is "not x2".

Data are matched to the features of a model by column names, if there are any:

- Columns with the names of the model's features are put in the order of the model.
- Columns that are numbered, all of 0 … n-1 or x0 … x{n-1}, are put in the order of the numbers, whatever the
  model calls its features.
- Columns with other names are taken by position if the model has no names, and refused if it has some. An
  incomplete numbering, such as x1 … xn, is refused for every model: it is ambiguous.
- Columns without names are taken by position.

Names come from files (``data.files``) and from frames (``in_order``). Two models that are compared read the
same data: their names must be the same, in the same order, or one has none (``check_same_features``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, shown, some
from tmverify.space import Category, Flag, Number, Part, Space
from tmverify.space.rows import column_labels

_SOME = 3
_RETRAIN = (
    "Train the second on the columns of the first: TsetlinMachineClassifier(binarize=first.space), or "
    "tmverify train --like FIRST."
)
_COUNTED = re.compile(r"[xX]?(\d{1,9})", re.ASCII)


class Named(Protocol):
    """Anything that has features, perhaps with names."""

    @property
    def n_features(self) -> int:
        """How many features."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Their names, if they have any."""


NamedT = TypeVar("NamedT", bound=Named)


def default_name(feature: int) -> str:
    """The name used for a feature without one."""
    return f"x{feature}"


def default_index(name: str, n_features: int) -> int | None:
    """The feature whose ``default_name`` this is; None if there is none."""
    index = counted(name)
    return index if index is not None and index < n_features and name == default_name(index) else None


def feature_name(model: Named, feature: int) -> str:
    """The name of a feature: its own, or the default."""
    return default_name(feature) if model.feature_names is None else model.feature_names[feature]


def feature_names(model: Named) -> tuple[str, ...]:
    """The names of all features, in order: their own, or the defaults."""
    return model.feature_names or tuple(map(default_name, range(model.n_features)))


def named_first(models: Sequence[NamedT]) -> NamedT:
    """Of models that read the same features, the one whose names are used: the one that knows most of them.

    That is the first with columns of several bits, else the first that has names.
    """
    wide = [model for model in models if not getattr(getattr(model, "space", None), "only_flags", True)]
    named = [model for model in models if model.feature_names is not None]
    return [*wide, *named, *models][0]


def feature_finder(model: Named) -> Callable[[str], int | None]:
    """A function from a name, as ``feature_name`` gives it, to the feature's index; None if there is none."""
    if model.feature_names is not None:
        return {name: i for i, name in enumerate(model.feature_names)}.get
    return partial(default_index, n_features=model.n_features)


def counted(name: str) -> int | None:
    """The index that a numbered name stands for: 43 for ``x43``, ``X43``, ``x043``, ``43``; else None."""
    match = _COUNTED.fullmatch(name)
    return None if match is None else int(match[1])


def column_order(columns: Sequence[str], model: Named, *, what: str, remedy: str) -> NDArray[np.intp]:
    """The index in ``columns`` of each feature of ``model``; 0, 1, 2, … if they are taken by position.

    Parameters
    ----------
    columns : names, all different
    what, remedy : str
        For the message: what has these columns, and how to have them matched by position.

    Raises
    ------
    InvalidInputError
        If the names do not fit the model's.
    """
    order = fitting_order(columns, model)
    if order is not None:
        return order
    if model.feature_names is None:  # then the columns are numbered, but not completely
        columns = [default_name(number) for number in _numbers(columns)]
    own = feature_names(model)
    lacking, unknown = _only(own, columns), _only(columns, own)
    said = [f"it lacks {some(lacking, _SOME)}"] if lacking else []
    said += [f"the model has no {some(unknown, _SOME)}"] if unknown else []
    raise InvalidInputError(
        f"{what} must have columns that are named like the model's features: "
        f"{', and '.join(said) or 'it has some of them twice'}. Rename or drop columns, or {remedy}."
    )


def check_distinct(columns: Iterable[str], error: type[Exception], what: str) -> None:
    """Raise ``error`` if two columns have the same name."""
    twice = [name for name, n in Counter(columns).items() if n > 1]
    if twice:
        raise error(f"{what} must name each column once. Got {some(twice, _SOME)} twice or more.")


def in_order(values: ArrayLike, model: Named, *, name: str = "X") -> ArrayLike:
    """Rows, or one row, with their columns in the order of the model's features.

    Only data with names are reordered: frames, series, and lists of series. Anything else is returned
    unchanged.

    Raises
    ------
    InvalidInputError
        If the names do not fit the model's.
    """
    if isinstance(values, np.ndarray):
        return values
    labels = column_labels(values)
    if labels is None:
        if isinstance(values, list | tuple) and any(column_labels(row) is not None for row in values):
            rows: Any = [in_order(row, model, name=name) for row in values]
            return np.asarray(rows)
        return values
    columns = [str(label) for label in labels]
    check_distinct(columns, InvalidInputError, name)
    remedy = f"pass {name}.to_numpy() to have them taken by position"
    order = column_order(columns, model, what=name, remedy=remedy)
    array = np.asarray(values)
    return array[..., order] if len(order) == len(columns) else array


def check_same_features(a: Named, b: Named) -> None:
    """Raise InvalidInputError unless two models can be asked about the same inputs."""
    if a.n_features != b.n_features:
        raise InvalidInputError(
            f"Two models can be compared only if they read the same features. "
            f"Got n_features={a.n_features} and n_features={b.n_features} instead. {_RETRAIN}"
        )
    if a.feature_names == b.feature_names:
        _check_same_reading(a, b)
        return
    named, other = (b, a) if a.feature_names is None else (a, b)
    order = fitting_order(feature_names(named), other) if other.feature_names is None else None
    if order is not None and (order == np.arange(len(order))).all():
        return
    first, second = feature_names(a), feature_names(b)
    place = next(i for i in range(a.n_features) if first[i] != second[i])
    spaces = [space for model in (a, b) if (space := getattr(model, "space", None)) is not None]
    remedy = _RETRAIN
    if all(not space.named or _is_plain(space) for space in spaces):
        remedy += " Or, if their features are the same by position, give both the same feature_names."
    raise InvalidInputError(
        "Two models can be compared only if they read the same features in the same order. Feature "
        f"{place} is {shown(first[place])} to the one and {shown(second[place])} to the other. {remedy}"
    )


def _check_same_reading(a: Named, b: Named) -> None:
    """Raise InvalidInputError if the same raw row is other bits to the one than to the other."""
    first, second = (getattr(model, "space", None) for model in (a, b))
    if first is None or second is None or not (first.named and second.named):
        return
    if _is_plain(first) or _is_plain(second):
        return
    for one, other in zip(*map(_reading, (first, second)), strict=False):
        if one != other:
            raise InvalidInputError(
                "Two models can be compared only if they read raw rows in the same way. "
                f"{shown(one.name)} becomes bits by one rule in the first, and by another in the second. "
                f"{_RETRAIN}"
            )


def _reading(space: Space) -> list[Part]:
    """The parts that make bits; the name of a part does not matter where it is the only one."""
    parts = [part for part in space.parts if part.n_bits]
    alone = len(space.parts) == 1 and not isinstance(parts[0], Flag | Number | Category)
    return [replace(parts[0], name=parts[0].kind)] if alone else parts  # type: ignore[type-var]


def _is_plain(space: Space) -> bool:
    """Whether all that is known of the bits is their names."""
    return all(part == Flag(part.name) for part in space.parts)


def fitting_order(columns: Sequence[str], model: Named) -> NDArray[np.intp] | None:
    """The column of each feature, or None if the names do not fit."""
    own = model.feature_names or ()
    place = {name: i for i, name in enumerate(columns)}
    if place.keys() == set(own):
        return np.array([place[name] for name in own], np.intp)
    numbers = _numbers(columns)
    if len(numbers) == len(columns):
        complete = sorted(numbers) == list(range(model.n_features))
        # Names of the model that are numbers too must agree, however they are spelt.
        agree = all(counted(name) in (None, i) for i, name in enumerate(own))
        return np.argsort(numbers) if complete and agree and place.keys().isdisjoint(own) else None
    return None if own else np.arange(model.n_features)


def _numbers(columns: Sequence[str]) -> list[int]:
    """The indices that these names stand for."""
    return [number for number in map(counted, columns) if number is not None]


def _only(names: Iterable[str], others: Iterable[str]) -> list[str]:
    known = set(others)
    return [name for name in names if name not in known]


def printable(label: object) -> str:
    """The label without line breaks and terminal codes, since names come from files."""
    text = str(label)
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def printable_name(model: Named, feature: int) -> str:
    """The name of a feature, safe to print."""
    return printable(feature_name(model, feature))
