"""``features``: a list of names, indices and ranges, read as a mask.

An index counts from 0, as in arrays, and may be written 43 or x43, unless some feature has such a name. If
the name of one feature is the index of another, the text is ambiguous and is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, shown
from tmverify.model import Classifier
from tmverify.model.names import counted, default_name, feature_finder

_RANGE = re.compile(r"(x?)(\d{1,9})(?:-\1(\d{1,9}))?", re.ASCII)
_SOME = 5


def read_features(model: Classifier, text: str | None) -> NDArray[np.bool_] | None:
    """The features that may change, as a mask, or None for all.

    A token is the name of a feature, a 0-based index, or a range ``first-last`` of indices that includes
    both ends.

    Raises
    ------
    InvalidInputError
    """
    if text is None:
        return None
    find = feature_finder(model)
    tokens = [token if find(token) is not None else token.strip() for token in text.split(",")]
    whole = find(text)
    if whole is not None and len(tokens) > 1:  # a name may hold a comma
        if all(find(token) is not None or _range(token, model) for token in tokens):
            raise InvalidInputError(
                f"features: {shown(text)} can be read in two ways, as a name and as a list. Write "
                f"{whole}-{whole} for the feature of that name, or spaces behind the commas for the list."
            )
        tokens = [text]
    mask = np.zeros(model.n_features, np.bool_)
    for token in tokens:
        mask[_indices(token, model, _called(token, find))] = True
    return mask


def _called(token: str, find: Callable[[str], int | None]) -> int | None:
    """The feature of that name; a number 1 also finds the name x1, as the model may count from 1."""
    named = find(token)
    if named is None and re.fullmatch(r"\d{1,9}", token, re.ASCII):
        return find(default_name(int(token)))
    return named


def _indices(token: str, model: Classifier, named: int | None) -> slice:
    """The features that ``token`` stands for; ``named`` is the feature of that name, if there is one."""
    indices = _range(token, model)
    if named is None:
        if indices is None:
            raise _wrong(token, model)
        return indices
    if indices is not None and indices != slice(named, named + 1):
        raise InvalidInputError(
            f"features: {shown(token)} can be read in two ways: feature {named} is called so, and "
            f"feature {indices.start} has that index. Write {named}-{named} for the one, "
            f"{indices.start}-{indices.start} for the other."
        )
    return slice(named, named + 1)


def _range(token: str, model: Classifier) -> slice | None:
    """The features that an index or a range stands for, if it is one and lies within the model."""
    match = _RANGE.fullmatch(token)
    if match is None or (match[1] and _has_counted_names(model)):
        return None
    first, last = int(match[2]), int(match[3] or match[2])
    return slice(first, last + 1) if first <= last < model.n_features else None


def _has_counted_names(model: Classifier) -> bool:
    """Whether the model itself names a feature like x1: it may then count from 1."""
    return any(counted(name) is not None for name in model.feature_names or ())


def _wrong(token: str, model: Classifier) -> InvalidInputError:
    if _RANGE.fullmatch(token) and not (token.startswith("x") and _has_counted_names(model)):
        return InvalidInputError(
            f"features must lie between 0 and {model.n_features - 1}, ranges rising. "
            f"Got {shown(token)} instead."
        )
    kind, hint = "a name of the model's features", ""
    if model.feature_names is None:
        names = f"{default_name(0)} to {default_name(model.n_features - 1)}"
        kind = f"an index (the model's features have no names; they are called {names})"
    else:
        alike = [str(i) for i, name in enumerate(model.feature_names) if token and name.startswith(token)]
        more = f" and {len(alike) - _SOME} more" if len(alike) > _SOME else ""
        hint = f" The names of {', '.join(alike[:_SOME])}{more} begin with it." if alike else ""
    return InvalidInputError(
        "features must be names, 0-based indices or ranges such as 3,10-20. "
        f"{shown(token)} is not {kind}.{hint}"
    )
