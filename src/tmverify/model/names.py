"""The names of features: a model's own or, where it has none, x0, x1, … by the index that arrays have.

The number of a feature is its index, counted from 0, wherever it is written or read: ``x43`` is column 43 of
X, 43 among the ``flips`` of an answer, bit 43 of exported code. Only signed literals (``[1, -3]``, as in
DIMACS) count from 1, because 0 has no sign: 1 is x0, and -3 is "not x2".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

_COUNTED = re.compile(r"[xX]?(\d{1,9})", re.ASCII)


class Named(Protocol):
    """Whatever has features, perhaps with names."""

    @property
    def n_features(self) -> int:
        """How many features."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Their names, if they have any."""


NamedT = TypeVar("NamedT", bound=Named)


def default_name(feature: int) -> str:
    """What a feature without a name is called."""
    return f"x{feature}"


def feature_name(model: Named, feature: int) -> str:
    """The name of a feature: its own, or the default."""
    return default_name(feature) if model.feature_names is None else model.feature_names[feature]


def feature_names(model: Named) -> tuple[str, ...]:
    """The names of all features, in order: their own, or the defaults."""
    return model.feature_names or tuple(map(default_name, range(model.n_features)))


def named_first(models: Sequence[NamedT]) -> NamedT:
    """Of models that read the same features, the one whose names are used: the first that has any."""
    return next((model for model in models if model.feature_names is not None), models[0])


def feature_finder(model: Named) -> Callable[[str], int | None]:
    """A function from a name, as ``feature_name`` gives it, to the feature's index; None if there is none."""
    if model.feature_names is not None:
        return {name: i for i, name in enumerate(model.feature_names)}.get
    n_features = model.n_features

    def find(name: str) -> int | None:
        index = counted(name)
        return index if index is not None and index < n_features and name == default_name(index) else None

    return find


def counted(name: str) -> int | None:
    """The index in a name that is one: 43 of ``x43``, ``X43``, ``x043`` and ``43``; None of other names."""
    match = _COUNTED.fullmatch(name)
    return None if match is None else int(match[1])
