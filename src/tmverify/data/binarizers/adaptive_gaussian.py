"""Adaptive Gaussian thresholding: compare a pixel with the weighted mean of its neighbourhood.

For a window of w x w pixels (w odd) and offset C,

    mean(r, c) = round( sum_ij k_i k_j v(r + i, c + j) ),   |i|, |j| <= (w - 1) / 2
    bit(r, c)  = v(r, c) > mean(r, c) - C

with v grey levels 0..255, the edge pixels repeated outside, and k Gaussian weights of sum 1 with
sigma = 0.3 ((w - 1) / 2 - 1) + 0.8. This is OpenCV's ``adaptiveThreshold`` with ADAPTIVE_THRESH_GAUSSIAN_C
and THRESH_BINARY, which for windows up to 9 takes k from a table. Where all pixels of a window are
equal and C > 0 the bit is 1: a black background becomes ones.

OpenCV adds in single precision and this file in double, so a mean that equals a half to seven digits may
round differently: 2 bits in 70,000 MNIST images with window 11, none with windows 3 to 9, 13 and 31.
"""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d
from sklearn.utils.validation import check_is_fitted

from tmverify.data.binarizers.base import Binarizer, input_names, number_text, numeric_matrix
from tmverify.errors import InvalidInputError
from tmverify.estimators.parameters import check_integer, is_number, wrong_parameter

_SMALL_KERNELS = {
    3: (1, 2, 1),
    5: (1, 4, 6, 4, 1),
    7: (2, 7, 14, 18, 14, 7, 2),
    9: (4, 13, 30, 51, 60, 51, 30, 13, 4),
}
_CHUNK_PIXELS = 1 << 21  # two float64 buffers of 16 MB each


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
        _check_grey(images)
        return self

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """The bits of each image, uint8 (n, rows * columns)."""
        check_is_fitted(self, "image_shape_")
        images = numeric_matrix(self, X, fitting=False)
        _check_grey(images)
        kernel = _gaussian_kernel(self.window)
        bits = np.empty(images.shape, np.uint8)
        step = max(1, _CHUNK_PIXELS // images.shape[1])
        for start in range(0, len(images), step):
            chunk = images[start : start + step]
            means = _local_means(chunk.reshape(-1, *self.image_shape_), kernel)
            bits[start : start + step] = chunk > means.reshape(chunk.shape) - self.offset
        return bits

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """One name per bit, such as ``pixel_3_4 > local mean - 2``."""
        check_is_fitted(self, "image_shape_")
        sign = "-" if self.offset >= 0 else "+"
        rule = f"> local mean {sign} {number_text(abs(self.offset))}"
        return np.array([f"{name} {rule}" for name in input_names(self, input_features)], object)

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


def _check_grey(images: NDArray[Any]) -> None:
    if images.dtype == np.uint8:
        return
    wrong = (images < 0) | (images > 255)
    if images.dtype.kind == "f":
        wrong |= np.floor(images) != images
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InvalidInputError(
            f"X must hold grey levels, whole numbers from 0 to 255; scale and round it first. "
            f"Got {images[place]} at index {place} instead."
        )


def _gaussian_kernel(window: int) -> NDArray[np.float64]:
    if window in _SMALL_KERNELS:
        weights = np.array(_SMALL_KERNELS[window], np.float64)
    else:
        radius = (window - 1) / 2
        sigma = 0.3 * (radius - 1) + 0.8
        weights = np.exp(-((np.arange(window) - radius) ** 2) / (2 * sigma**2))
    return np.asarray(weights / weights.sum())


def _local_means(images: NDArray[Any], kernel: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rounded mean of each pixel's window, (n, rows, columns); halves are rounded to even."""
    rows = correlate1d(images, kernel, axis=1, output=np.float64, mode="nearest")
    means: NDArray[np.float64] = np.rint(correlate1d(rows, kernel, axis=2, output=np.float64, mode="nearest"))
    return means
