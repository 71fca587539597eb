"""What a network is to learn from, and how: checked once, before any work."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from tmverify.bnn.model import MAX_LAYERS, MAX_WIDTH
from tmverify.errors import InvalidInputError, ModelError
from tmverify.estimators.parameters import check_integer, is_number, wrong_parameter
from tmverify.model import Label
from tmverify.model.checks import check_classes, check_feature_names
from tmverify.model.inputs import as_bit_matrix


def check_parameters(estimator: Any) -> None:
    """Raise InvalidInputError that names the first parameter that is wrong."""
    hidden = estimator.hidden
    if (
        not isinstance(hidden, (tuple, list))
        or not 1 <= len(hidden) <= MAX_LAYERS
        or not all(is_number(n, numbers.Integral) and 1 <= n <= MAX_WIDTH for n in hidden)
    ):
        widths = f"1 to {MAX_LAYERS} widths, each an integer from 1 to {MAX_WIDTH}"
        raise wrong_parameter(estimator, "hidden", f"a tuple of {widths}")
    for name, least in (("n_epochs", 1), ("batch_size", 2)):
        check_integer(estimator, name, least)
    if not is_number(estimator.learning_rate) or not 0 < estimator.learning_rate <= 1:
        raise wrong_parameter(estimator, "learning_rate", "a number above 0 and of at most 1")
    for name in ("input_noise", "dropout"):
        if not is_number(getattr(estimator, name)) or not 0 <= getattr(estimator, name) < 1:
            raise wrong_parameter(estimator, name, "a number of at least 0 and below 1")


def check_bits(X: Any) -> NDArray[np.uint8]:
    """A matrix of 0 and 1 to learn from, (n, n_features), as uint8."""
    try:
        shape = np.shape(X)
    except ValueError as error:
        raise InvalidInputError(f"X must be an array of 0 and 1: {error}.") from None
    if len(shape) != 2:
        raise InvalidInputError(f"X must be a matrix of shape (n, n_features). Got shape {shape} instead.")
    bits = as_bit_matrix(X, shape[1])
    if len(bits) < 2 or not 1 <= bits.shape[1] <= MAX_WIDTH:
        raise InvalidInputError(
            f"X must have at least two rows, and from 1 to {MAX_WIDTH} columns. Got shape {shape} instead."
        )
    return bits


def check_labels(y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The labels in order, and the index of each row's."""
    if y is None:
        raise InvalidInputError("y must be given: one label for each row of X.")
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise InvalidInputError(
            f"y must have one label for each of the {n} rows of X. Got shape {labels.shape} instead."
        )
    try:
        check_classification_targets(labels)
        classes, targets = np.unique(labels, return_inverse=True)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"y must be labels, integers or text: {error}") from None
    if len(classes) < 2:
        raise InvalidInputError("y must hold at least two classes. Got one class instead.")
    return classes, targets.astype(np.int64)


def model_labels(classes: NDArray[Any], feature_names: tuple[str, ...] | None) -> tuple[Label, ...]:
    """Labels as a BnnModel takes them: integers if they are whole numbers, else text. Names are checked."""
    labels = classes.tolist()
    whole = all(isinstance(label, (bool, int, float)) and float(label).is_integer() for label in labels)
    found = tuple(int(label) if whole else str(label) for label in labels)
    try:
        check_classes(found, len(found))
        if feature_names is not None:
            check_feature_names(feature_names, len(feature_names))
    except ModelError as error:
        raise InvalidInputError(str(error)) from None
    return found
