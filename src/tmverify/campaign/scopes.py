"""Whose decision: what ``scope`` stands for, per input.

No class is called ``team`` (a model refuses it); with a class called ``own``, ``own`` is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.data import match_labels
from tmverify.errors import DataFormatError, InvalidInputError
from tmverify.model import Classifier, Label

OWN = "own"
TEAM = "team"


def read_scope(model: Classifier, text: str) -> Label:
    """``team``, or the class that ``text`` names."""
    if text == TEAM:
        return TEAM
    if not model.scopes:
        raise InvalidInputError(f"scope must be team for a {model.kind}. Got {text!r} instead.")
    for label in model.scopes:
        if str(label) == text:
            return label
    known = ", ".join(map(str, model.classes[:20])) + (", …" if len(model.classes) > 20 else "")
    raise InvalidInputError(f"scope must be team or a class of the model ({known}). Got {text!r} instead.")


def scopes_for(
    model: Classifier, scope: str, X: NDArray[np.uint8], y: NDArray[Any] | None, rows: Sequence[int]
) -> Sequence[Label]:
    """Whose decision is asked about, for each of the inputs ``X``, which are ``rows`` of their file."""
    if scope == OWN and model.scopes:
        return own_scopes(model, X, y, rows)
    return [read_scope(model, scope)] * len(rows)


def own_scopes(
    model: Classifier, X: NDArray[np.uint8], y: NDArray[Any] | None, rows: Sequence[int]
) -> list[Label]:
    """The class of each input: its label, or what ``model`` predicts where the data has no labels."""
    if OWN in model.classes:
        raise InvalidInputError("scope own is ambiguous: the model has a class of that name.")
    if y is None:
        predicted: list[Label] = model.predict(X).tolist()
        return predicted
    scopes: list[Label] = []
    for row, given, label in zip(rows, y.tolist(), match_labels(y, model.classes), strict=True):
        if label is None:
            known = ", ".join(map(str, model.classes[:20]))
            raise DataFormatError(
                f"scope own needs labels that are classes of the model ({known}). "
                f"Input {row} has the label {given!r} instead."
            )
        scopes.append(label)
    return scopes
