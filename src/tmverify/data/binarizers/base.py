"""What all binarizers share: they learn a ``Space`` in fit (``space_``), and their bits are those it encodes.

scikit-learn's ``validate_data`` does the checking (shape, sparse or complex input, number and names of
columns); its ValueErrors become ``InvalidInputError``, which is a ValueError too. We check for missing
values ourselves: our message names the column, which scikit-learn's does not.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tmverify.errors import InvalidInputError, ModelError
from tmverify.space import Space


class Binarizer(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A transformer whose bits are uint8, whatever the type of the input.

    Attributes
    ----------
    space_ : Space
        What the bits mean. ``space_.encode`` is the same as ``transform``.
    """

    space_: Space

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """One name per bit: those of the space, made from the names of the input columns."""
        check_is_fitted(self, "space_")
        return np.array(self.space_named(input_features).bit_names, object)

    def space_named(self, input_features: Any = None) -> Space:
        """The space, with other names for the input columns if they are given."""
        if input_features is None:
            return self.space_
        try:
            return self._make_space([str(name) for name in input_names(self, input_features)])
        except ModelError as error:
            raise InvalidInputError(str(error)) from None

    @abstractmethod
    def _make_space(self, names: list[str]) -> Space:
        """The space that was learnt, its parts called ``names``."""

    def _learn(self, names: Any) -> None:
        try:
            self.space_ = self._make_space([str(name) for name in names])
        except ModelError as error:
            raise InvalidInputError(str(error)) from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


def input_names(estimator: Any, input_features: Any = None) -> NDArray[Any]:
    """The names of the input columns, by scikit-learn's rule: as given, else as in fit, else x0, x1, ..."""
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
        f"X must hold finite numbers for {type(estimator).__name__}; fill in or drop missing values first, "
        f"or take TableBinarizer, which has a bit for them. "
        f"Got {found} in row {row}, column {input_names(estimator)[column]!r}."
    )
