"""Grey images as bits by their surroundings: ``space.local_mean`` has the rule."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tmverify.data.binarizers.base import Binarizer, numeric_matrix
from tmverify.errors import InvalidInputError
from tmverify.estimators.parameters import check_integer, is_number, wrong_parameter
from tmverify.space import Image, Space
from tmverify.space.local_mean import above_local_mean, check_grey


class AdaptiveGaussianBinarizer(Binarizer):
    """Bit of a pixel is 1 iff its grey level is above the local Gaussian mean minus the offset.

    Parameters
    ----------
    image_shape : (int, int) or None, default None
        Rows and columns of an image; None means square.
    window : int, default 11
        Side of the neighbourhood, odd and at least 3.
    offset : float, default 2
        Subtracted from the mean.

    Attributes
    ----------
    space_ : Space
        An image.
    image_shape_ : (int, int)
        The shape used.
    n_features_in_ : int
        Number of pixels seen in fit.
    feature_names_in_ : object array, (n_features_in_,)
        Their names, if X was a frame with names.

    Examples
    --------
    >>> from tmverify.data import AdaptiveGaussianBinarizer
    >>> AdaptiveGaussianBinarizer(window=3).fit_transform([[0, 0, 90, 0, 0, 90, 0, 0, 90]])
    array([[1, 0, 1, 1, 0, 1, 1, 0, 1]], dtype=uint8)
    """

    def __init__(
        self, image_shape: tuple[int, int] | None = None, window: int = 11, offset: float = 2
    ) -> None:
        self.image_shape = image_shape
        self.window = window
        self.offset = offset

    def fit(self, X: Any, y: Any = None) -> AdaptiveGaussianBinarizer:
        """Check the parameters against the number of pixels; nothing is learnt from the values.

        Parameters
        ----------
        X : array-like, (n, rows * columns)
            Grey levels, whole numbers 0..255, one flat image per row.
        y : ignored

        Raises
        ------
        InvalidInputError
            If X is not a matrix of grey levels or a parameter does not fit it.
        """
        if check_integer(self, "window", 3) % 2 == 0:
            raise wrong_parameter(self, "window", "an odd integer of at least 3")
        if not is_number(self.offset) or not math.isfinite(self.offset):
            raise wrong_parameter(self, "offset", "a finite number")
        images = numeric_matrix(self, X, fitting=True)
        self.image_shape_ = self._shape_for(images.shape[1])
        check_grey(images)
        self._learn(())
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """The bits of each image, uint8 (n, rows * columns)."""
        check_is_fitted(self, "space_")
        images = numeric_matrix(self, X, fitting=False)
        return above_local_mean(images, self.image_shape_, self.window, self.offset)

    def _make_space(self, names: list[str]) -> Space:
        return Space([Image(self.image_shape_, window=int(self.window), offset=float(self.offset))])

    def _shape_for(self, n_features: int) -> tuple[int, int]:
        if self.image_shape is None:
            side = math.isqrt(n_features)
            if side * side != n_features:
                raise InvalidInputError(
                    f"X must have a square number of columns when image_shape is None. Got {n_features}; "
                    "pass image_shape=(rows, columns)."
                )
            return side, side
        shape = self.image_shape
        is_pair = isinstance(shape, tuple | list) and len(shape) == 2
        if not is_pair or not all(isinstance(side, numbers.Integral) and int(side) > 0 for side in shape):
            raise wrong_parameter(self, "image_shape", "None or a pair of positive integers")
        if shape[0] * shape[1] != n_features:
            raise InvalidInputError(
                f"X must have {shape[0] * shape[1]} columns for image_shape={tuple(shape)}. "
                f"Got {n_features} instead."
            )
        return int(shape[0]), int(shape[1])
