"""One fixed threshold: bit = value > threshold."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from tmverify.data.binarizers.base import Binarizer, input_names, number_text, numeric_matrix
from tmverify.errors import InvalidInputError
from tmverify.estimators.parameters import is_number, wrong_parameter


class ThresholdBinarizer(Binarizer):
    """Bit j of an input is 1 iff its value j is greater than the threshold.

    Parameters
    ----------
    threshold : float or array-like of float, (n_features,), default 75
        One for all columns, or one per column. 75 is a common choice for grey levels 0..255.

    Attributes
    ----------
    thresholds_ : float64 array, (n_features,)
        The threshold of each column.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : object array, (n_features_in_,)
        Their names, if X was a frame with names.

    Examples
    --------
    >>> from tmverify.data import ThresholdBinarizer
    >>> binarizer = ThresholdBinarizer(threshold=75)
    >>> binarizer.fit_transform([[0, 75, 76]])
    array([[0, 0, 1]], dtype=uint8)
    >>> binarizer.get_feature_names_out().tolist()
    ['x0 > 75', 'x1 > 75', 'x2 > 75']
    """

    def __init__(self, threshold: float | ArrayLike = 75) -> None:
        self.threshold = threshold

    def fit(self, X: Any, y: Any = None) -> ThresholdBinarizer:
        """Check the threshold against the number of columns; nothing is learnt from the values.

        Raises
        ------
        InvalidInputError
            If X is not a matrix of finite numbers or the threshold does not fit it.
        """
        matrix = numeric_matrix(self, X, fitting=True)
        self.thresholds_ = self._one_per_column(matrix.shape[1])
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """The bits of each input, uint8 (n, n_features)."""
        check_is_fitted(self, "thresholds_")
        matrix = numeric_matrix(self, X, fitting=False)
        bits: NDArray[np.uint8] = (matrix > self.thresholds_).view(np.uint8)
        return bits

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """One name per bit, such as ``pixel_3_4 > 75``."""
        check_is_fitted(self, "thresholds_")
        names = zip(input_names(self, input_features), self.thresholds_, strict=True)
        return np.array([f"{name} > {number_text(cut)}" for name, cut in names], object)

    def _one_per_column(self, n_features: int) -> NDArray[np.float64]:
        if isinstance(self.threshold, numbers.Number):
            if not is_number(self.threshold) or not math.isfinite(self.threshold):
                raise wrong_parameter(self, "threshold", "a finite number, or one per column")
            return np.full(n_features, float(self.threshold))
        try:
            cuts = np.asarray(self.threshold, np.float64)
        except (TypeError, ValueError):
            raise wrong_parameter(self, "threshold", "a finite number, or one per column") from None
        if cuts.shape != (n_features,) or not np.isfinite(cuts).all():
            raise InvalidInputError(
                "The 'threshold' parameter of ThresholdBinarizer must be a finite number, or one per column, "
                f"shape ({n_features},). Got an array of shape {cuts.shape}"
                f"{'' if np.isfinite(cuts).all() else ' with NaN or inf'} instead."
            )
        return cuts
