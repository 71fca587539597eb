"""Checks of the parts that a model is built from: numbers, labels, names.

Integers are bounded so that arithmetic is exact: 2**24 clauses times a weight below 2**31 stay within 2**55,
so every score and every difference of two scores fits int64.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import ModelError, shown

if TYPE_CHECKING:
    from tmverify.model.classifier import Label
    from tmverify.model.machine import Model

MAX_WEIGHT = (1 << 31) - 1
# predict answers with a NumPy array of strings, which is as wide as the longest label.
MAX_LABEL_CHARS = 1000


def integers(values: NDArray[Any], name: str) -> NDArray[np.int64]:
    """A copy as int64, or ModelError if a value is not an integer within ±MAX_WEIGHT."""
    values = np.asarray(values)
    if values.size == 0:
        return np.zeros(values.shape, np.int64)
    if values.dtype.kind not in "iu":
        raise ModelError(f"{name} must be integers. Got dtype {values.dtype} instead.")
    for extreme in (values.max(), values.min()):
        if not -MAX_WEIGHT <= extreme <= MAX_WEIGHT:
            raise ModelError(f"{name} must be between -{MAX_WEIGHT} and {MAX_WEIGHT}. Got {extreme} instead.")
    return np.array(values, np.int64)


def integer(value: object, name: str, least: int, most: int, kind: str = "an integer") -> int:
    """``value`` as an int, or ModelError if it is none, or not within the bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise ModelError(f"{name} must be {kind}. Got {shown(value)} instead.")
    if not least <= value <= most:
        raise ModelError(f"{name} must be between {least} and {most}. Got {shown(int(value))} instead.")
    return int(value)


def as_array(values: ArrayLike, name: str) -> NDArray[Any]:
    """``np.asarray``, or ModelError if the values are ragged."""
    try:
        return np.asarray(values)
    except (ValueError, TypeError) as error:
        raise ModelError(f"{name} must be an array of integers: {error}.") from None


def listed(values: Sequence[Any], name: str) -> Iterable[Any]:
    """The values, or ModelError if they are no list, as a string or a set is none."""
    if isinstance(values, (str, bytes, Set)) or not isinstance(values, Iterable):
        raise ModelError(f"{name} must be a list. Got {shown(values)} instead.")
    return values


def labels_of(classes: Iterable[Any]) -> tuple[Label, ...]:
    """Labels as Python values."""
    return tuple(c.item() if isinstance(c, np.generic) else c for c in classes)


def learnt_labels(classes: NDArray[Any]) -> tuple[Label, ...]:
    """An estimator's labels as a model takes them: integers if all are whole numbers, else text."""
    labels = classes.tolist()
    whole = all(isinstance(label, (bool, int, float)) and float(label).is_integer() for label in labels)
    return tuple(int(label) if whole else str(label) for label in labels)


def check_options(model: Model) -> None:
    """Raise ModelError unless tie, clamp, empty_clause, classes and feature_names are valid."""
    _check_choice("tie", model.tie, ("positive", "negative"))
    _check_choice("empty_clause", model.empty_clause, ("silent", "fires"))
    if model.clamp is not None:
        clamp = integer(model.clamp, "clamp", 1, MAX_WEIGHT, "a positive integer or None")
        object.__setattr__(model, "clamp", clamp)
    check_classes(model.classes, max(2, len(model.weights)))
    if model.feature_names is not None:
        check_feature_names(model.feature_names, model.n_features)


def _check_choice(name: str, value: object, allowed: tuple[str, str]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise ModelError(f"{name} must be {allowed[0]!r} or {allowed[1]!r}. Got {shown(value)} instead.")


def check_classes(classes: tuple[Label, ...], expected: int) -> None:
    """Raise ModelError unless there are ``expected`` labels, all different."""
    if len(classes) != expected:
        raise ModelError(f"classes must name {expected} classes. Got {len(classes)} instead.")
    kinds = {type(label) for label in classes}
    if kinds != {int} and kinds != {str}:
        raise ModelError(f"classes must be all int or all str. Got {shown(classes)} instead.")
    if len(set(classes)) != expected:
        raise ModelError(f"classes must differ from each other. Got {shown(classes)} instead.")
    if kinds == {int} and not all(-(2**63) <= int(label) < 2**63 for label in classes):
        raise ModelError(f"Integer classes must fit 64 bits. Got {shown(classes)} instead.")
    texts = [label for label in classes if isinstance(label, str)]
    _check_texts(texts, "classes")
    if "team" in texts:
        raise ModelError(
            "A class may not be called 'team': as a scope, that word means all classes together."
        )
    for text in texts:
        if len(text) > MAX_LABEL_CHARS or text.endswith("\0"):
            raise ModelError(
                f"A class label may have at most {MAX_LABEL_CHARS} characters and not end in NUL. "
                f"Got {shown(text)} instead."
            )


def check_feature_names(names: tuple[str, ...], n_features: int) -> None:
    """Raise ModelError unless every feature has a name of its own."""
    if len(names) != n_features:
        raise ModelError(f"feature_names must have n_features={n_features} names. Got {len(names)} instead.")
    _check_texts(names, "feature_names")
    if len(set(names)) != len(names):
        twice = next(name for name, n in Counter(names).items() if n > 1)
        raise ModelError(f"feature_names must differ from each other. Got {shown(twice)} twice.")


def _check_texts(texts: Sequence[str], name: str) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise ModelError(f"{name} must be strings. Got {shown(text)} instead.")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ModelError(f"{name} must be valid Unicode. Got {shown(text)} instead.") from None
