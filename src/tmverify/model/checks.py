"""Checks of arguments: ModelError for the parts of a model, InvalidInputError for inputs.

A value that passes reaches the model or the engine unchanged: an integer is kept exactly or refused.
Inputs are 0 and 1 of any type, dense or sparse; one row may be a vector or a matrix of one row.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.space import Space

if TYPE_CHECKING:
    from tmverify.model.classifier import Label
    from tmverify.model.machine import Model

MAX_WEIGHT = (1 << 31) - 1
# predict returns a NumPy array of strings, each as wide as the longest label.
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
    """``value`` as an int, or ModelError if it is not an integer within the bounds."""
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
    """The values, or ModelError if they are not a list; a string or a set is not one."""
    if isinstance(values, (str, bytes, Set)) or not isinstance(values, Iterable):
        raise ModelError(f"{name} must be a list. Got {shown(values)} instead.")
    return values


def labels_of(classes: Iterable[Any]) -> tuple[Label, ...]:
    """Labels as Python values."""
    return tuple(c.item() if isinstance(c, np.generic) else c for c in classes)


def learnt_labels(classes: NDArray[Any]) -> tuple[Label, ...]:
    """An estimator's labels in the form for a model: integers if all are whole numbers, else text."""
    labels = classes.tolist()
    whole = all(isinstance(label, (bool, int, float)) and float(label).is_integer() for label in labels)
    return tuple(int(label) if whole else str(label) for label in labels)


def check_options(model: Model) -> None:
    """Raise ModelError unless tie, clamp, empty_clause, classes and space are valid."""
    _check_choice("tie", model.tie, ("positive", "negative"))
    _check_choice("empty_clause", model.empty_clause, ("silent", "fires"))
    if model.clamp is not None:
        clamp = integer(model.clamp, "clamp", 1, MAX_WEIGHT, "a positive integer or None")
        object.__setattr__(model, "clamp", clamp)
    check_classes(model.classes, max(2, len(model.weights)))
    check_space(model.space, model.n_features)


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


def check_space(space: object, n_features: int) -> None:
    """Raise ModelError unless ``space`` has a bit for each feature."""
    if not isinstance(space, Space):
        raise ModelError(f"space must be a tmverify.Space. Got {shown(space)} instead.")
    if space.n_bits != n_features:
        raise ModelError(f"space must have n_features={n_features} bits. Got {space.n_bits} instead.")


def space_of(feature_names: Sequence[str] | None, space: Space | None, n_features: int) -> Space:
    """The space given; or a flag for each name, or for each feature, if there are no names."""
    if feature_names is None:
        return Space.flags(n_features) if space is None else space
    if space is not None:
        raise ModelError("Give feature_names or a space, not both: a space names its bits.")
    names = tuple(listed(feature_names, "feature_names"))
    if len(names) != n_features:
        raise ModelError(f"feature_names must have n_features={n_features} names. Got {len(names)} instead.")
    _check_texts(names, "feature_names")
    return Space.flags(names)


def _check_texts(texts: Sequence[str], name: str) -> None:
    for text in texts:
        if not isinstance(text, str):
            raise ModelError(f"{name} must be strings. Got {shown(text)} instead.")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ModelError(f"{name} must be valid Unicode. Got {shown(text)} instead.") from None


BYTE = np.dtype(np.uint8)


def as_rows(X: ArrayLike, n_features: int) -> NDArray[np.uint8]:
    """``as_bit_matrix`` for kernels that check the values themselves: bytes are not checked here.

    A second pass over the bytes would cost as much as evaluating a small model.
    """
    if (
        type(X) is np.ndarray
        and X.dtype == BYTE
        and X.ndim == 2
        and X.shape[1] == n_features
        and X.flags.c_contiguous
    ):
        return X
    return as_bit_matrix(X, n_features)


def as_bit_matrix(X: ArrayLike, n_features: int, *, name: str = "X") -> NDArray[np.uint8]:
    """Check a matrix of inputs, shape (n, n_features), and return it as uint8.

    Raises
    ------
    InvalidInputError
        If the shape is wrong or a value is anything but 0 or 1 (NaN included).
    """
    bits = _as_bits(X, name)
    if bits.ndim != 2:
        hint = f" For one input, pass {name}[None, :]." if bits.ndim == 1 and bits.size else ""
        raise InvalidInputError(
            f"{name} must be a matrix of shape (n, {n_features}). Got shape {bits.shape} instead.{hint}"
        )
    if bits.shape[1] != n_features:
        raise InvalidInputError(
            f"{name} must have n_features={n_features} columns. Got {bits.shape[1]} instead."
        )
    return bits


def as_bit_vector(x: ArrayLike, n_features: int, *, name: str = "x") -> NDArray[np.uint8]:
    """Check one input, shape (n_features,) or (1, n_features), and return it as a fresh uint8 vector."""
    bits = _as_bits(x, name)
    if bits.shape not in ((n_features,), (1, n_features)):
        rows = bits.ndim == 2 and bits.shape[1] == n_features and len(bits)
        remedy = f" Pass one of its rows, such as {name}[0]." if rows else ""
        raise InvalidInputError(
            f"{name} must be one input of shape ({n_features},). Got shape {bits.shape} instead.{remedy}"
        )
    return bits.flatten()


def _as_bits(values: ArrayLike, name: str) -> NDArray[np.uint8]:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise InvalidInputError(f"{name} must hold only 0 and 1; some of its values are masked.")
    try:
        array = np.asarray(_dense(values))
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} must be an array of 0 and 1: {error}.") from None
    if array.dtype.kind not in "buif":
        raise InvalidInputError(
            f"{name} must be an array of 0 and 1 (bool, integer or float). Got dtype {array.dtype} instead."
        )
    if array.dtype.kind != "b":
        wrong = (array != 0) & (array != 1)
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            raise InvalidInputError(
                f"{name} must hold only 0 and 1; binarize it first. "
                f"Got {array[place]} at index {place} instead."
            )
    return np.asarray(array, dtype=np.uint8, order="C")


def _dense(values: ArrayLike) -> ArrayLike:
    """A sparse matrix as an array, uint8 if all values are 0 or 1; anything else unchanged."""
    sparse = sys.modules.get("scipy.sparse")  # if it is not imported, no sparse matrix exists
    if sparse is None or not sparse.issparse(values):
        return values
    matrix = sparse.csr_array(values)
    matrix.sum_duplicates()
    bits = bool(np.isin(matrix.data, (0, 1)).all())
    dense: NDArray[Any] = (matrix.astype(np.uint8) if bits else matrix).toarray()
    return dense
