"""One fixed threshold: bit = value > threshold."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from tmverify.data.binarizers.base import Binarizer, input_names, numeric_matrix
from tmverify.errors import InvalidInputError
from tmverify.estimators.parameters import is_number, wrong_parameter
from tmverify.space import Image, Number, Space


class ThresholdBinarizer(Binarizer):
    """Bit j of an input is 1 iff its value j is greater than the threshold.

    Parameters
    ----------
    threshold : float or array-like of float, (n_features,), default 75
        One for all columns, or one per column. 75 is a common choice for grey levels 0..255.
    image_shape : (int, int) or None, default None
        If each row is a picture, flat: its rows and columns. Its bits are then pixels, called pixel_0_0, …

    Attributes
    ----------
    space_ : Space
        A number with one cut for each column; or an image, if ``image_shape`` is given.
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

    def __init__(self, threshold: float | ArrayLike = 75, image_shape: tuple[int, int] | None = None) -> None:
        self.threshold = threshold
        self.image_shape = image_shape

    def fit(self, X: Any, y: Any = None) -> ThresholdBinarizer:
        """Check the threshold against the number of columns; nothing is learnt from the values.

        Raises
        ------
        InvalidInputError
            If X is not a matrix of finite numbers or the threshold does not fit it.
        """
        matrix = numeric_matrix(self, X, fitting=True)
        self.thresholds_ = self._one_per_column(matrix.shape[1])
        self._learn(input_names(self))
        if self.space_.n_bits != matrix.shape[1]:
            raise InvalidInputError(
                f"X must have {self.space_.n_bits} columns for image_shape={self.image_shape}. "
                f"Got {matrix.shape[1]} instead."
            )
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """The bits of each input, uint8 (n, n_features)."""
        check_is_fitted(self, "space_")
        matrix = numeric_matrix(self, X, fitting=False)
        bits: NDArray[np.uint8] = (matrix.astype(np.float64) > self.thresholds_).view(np.uint8)
        return bits

    def _make_space(self, names: list[str]) -> Space:
        if self.image_shape is not None:
            return Space([Image(self.image_shape, tuple(self.thresholds_.tolist()))])
        return Space(
            [Number(name, (cut,)) for name, cut in zip(names, self.thresholds_.tolist(), strict=True)]
        )

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
