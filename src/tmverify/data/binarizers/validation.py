"""What every binarizer checks at the door, and how it words what is wrong.

scikit-learn's ``validate_data`` does the checking (shape, sparse or complex input, number and names of
columns); its ValueErrors become ``InvalidInputError``, which is a ValueError too. Missing values are ours:
the message names the column, which scikit-learn's does not.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import validate_data

from tmverify.errors import InvalidInputError, shown


def parameter_error(estimator: object, name: str, must: str) -> InvalidInputError:
    """The error for a constructor parameter; ``must`` completes "must be ..."."""
    return InvalidInputError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {must}. "
        f"Got {shown(getattr(estimator, name))} instead."
    )


def check_integer(estimator: object, name: str, minimum: int) -> int:
    """The parameter as an int of at least ``minimum``."""
    value = getattr(estimator, name)
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < minimum:
        raise parameter_error(estimator, name, f"an integer of at least {minimum}")
    return int(value)


def is_finite_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)


def number_text(value: float) -> str:
    """The shortest text that reads back as ``value``: 75, 37.5, 1e-07."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def input_names(estimator: Any, input_features: Any = None) -> NDArray[Any]:
    """The names of the input columns, by scikit-learn's rule: given, else as seen in fit, else x0, x1, ..."""
    try:
        return np.asarray(OneToOneFeatureMixin.get_feature_names_out(estimator, input_features), object)
    except ValueError as error:
        if isinstance(error, AttributeError):  # NotFittedError is both
            raise
        raise InvalidInputError(str(error)) from None


def numeric_matrix(estimator: Any, X: Any, *, fitting: bool, min_samples: int = 1) -> NDArray[Any]:
    """``X`` as a dense matrix of finite numbers; in fit also records the number and names of columns.

    Raises
    ------
    InvalidInputError
        If X is not such a matrix, or not as wide as the one seen in fit.
    """
    try:
        matrix: NDArray[Any] = validate_data(
            estimator, X, reset=fitting, ensure_all_finite=False, ensure_min_samples=min_samples
        )
    except ValueError as error:
        raise InvalidInputError(str(error)) from None
    if matrix.dtype.kind == "f" and not np.isfinite(matrix).all():
        raise _not_finite(estimator, matrix)
    return matrix


def _not_finite(estimator: Any, matrix: NDArray[Any]) -> InvalidInputError:
    row, column = (int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
    found = "NaN" if np.isnan(matrix[row, column]) else "infinity (inf)"
    return InvalidInputError(
        f"X must hold finite numbers for {type(estimator).__name__}; fill in or drop missing values first. "
        f"Got {found} in row {row}, column {input_names(estimator)[column]!r}."
    )
