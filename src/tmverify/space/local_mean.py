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

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d

from tmverify.errors import InvalidInputError

_SMALL_KERNELS = {
    3: (1, 2, 1),
    5: (1, 4, 6, 4, 1),
    7: (2, 7, 14, 18, 14, 7, 2),
    9: (4, 13, 30, 51, 60, 51, 30, 13, 4),
}
_CHUNK_PIXELS = 1 << 21  # two float64 buffers of 16 MB each


def above_local_mean(
    levels: NDArray[Any], shape: tuple[int, int], window: int, offset: float
) -> NDArray[np.uint8]:
    """The bits of flat images of grey levels 0..255, (n, rows * columns).

    Raises
    ------
    InvalidInputError
        If a value is not a grey level.
    """
    check_grey(levels)
    kernel = _gaussian_kernel(window)
    bits = np.empty(levels.shape, np.uint8)
    step = max(1, _CHUNK_PIXELS // levels.shape[1])
    for start in range(0, len(levels), step):
        chunk = levels[start : start + step]
        means = _local_means(chunk.reshape(-1, *shape), kernel)
        bits[start : start + step] = chunk > means.reshape(chunk.shape) - offset
    return bits


def check_grey(images: NDArray[Any]) -> None:
    """Raise InvalidInputError unless all values are whole numbers from 0 to 255."""
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
