"""``features``: a list of names, indices and ranges, read as a mask."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.either import Classifier
from tmverify.errors import InvalidInputError, shown

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


def read_features(model: Classifier, text: str | None) -> NDArray[np.bool_] | None:
    """The features that may change, as a mask, or None for all.

    A token that is one of the model's feature names is that name; any other is a 0-based index, or a range
    ``first-last`` that includes both ends.

    Raises
    ------
    InvalidInputError
    """
    if text is None:
        return None
    position = {name: i for i, name in enumerate(model.feature_names or ())}
    mask = np.zeros(model.n_features, np.bool_)
    tokens = [text] if text in position else text.split(",")  # a name may hold a comma
    for token in (token if token in position else token.strip() for token in tokens):
        mask[_indices(token, position, model.n_features)] = True
    return mask


def _indices(token: str, position: dict[str, int], n_features: int) -> slice:
    if token in position:
        return slice(position[token], position[token] + 1)
    match = _RANGE.fullmatch(token)
    if match is None:
        kind = (
            "a name of the model's features" if position else "an index (the model's features have no names)"
        )
        raise InvalidInputError(
            "features must be names, 0-based indices or ranges such as 3,10-20. "
            f"{shown(token)} is not {kind}."
        )
    first, last = int(match[1]), int(match[2] or match[1])
    if not first <= last < n_features:
        raise InvalidInputError(
            f"features must lie between 0 and {n_features - 1}, ranges rising. Got {shown(token)} instead."
        )
    return slice(first, last + 1)
