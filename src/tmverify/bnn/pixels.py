"""How grey levels become bits, in a network whose first step is a batch normalisation and a sign.

    bit_i = 1  iff  grey_i >= levels[i]   (rising[i])
    bit_i = 1  iff  grey_i <  levels[i]   (otherwise)

with ``levels`` between 0 and 256, so a bit may be the same for all 256 grey levels: then no change of that
pixel reaches the network.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, ModelError
from tmverify.model.checks import as_array, integers
from tmverify.model.inputs import as_bit_vector

N_LEVELS = 256


@dataclass(frozen=True, slots=True, eq=False)
class PixelCuts:
    """For each pixel, where its bit changes and which way."""

    levels: NDArray[np.int64]
    rising: NDArray[np.bool_]

    def __post_init__(self) -> None:
        levels = integers(as_array(self.levels, "levels"), "levels").copy()
        rising = np.array(self.rising)
        if rising.dtype.kind not in "biu" or not np.isin(rising, (0, 1)).all():
            raise ModelError("rising must hold only true and false.")
        rising = rising.astype(np.bool_)
        if levels.ndim != 1 or levels.shape != rising.shape:
            raise ModelError(
                f"levels and rising must be of the same pixels. Got {levels.shape}, {rising.shape}."
            )
        if levels.min(initial=0) < 0 or levels.max(initial=0) > N_LEVELS:
            raise ModelError(f"levels must be between 0 and {N_LEVELS}.")
        for name, array in (("levels", levels), ("rising", rising)):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    @property
    def flippable(self) -> NDArray[np.bool_]:
        """The pixels that some change of grey level flips."""
        flips: NDArray[np.bool_] = (self.levels > 0) & (self.levels < N_LEVELS)
        return flips

    def bits(self, images: ArrayLike) -> NDArray[np.uint8]:
        """The bits of images; one image gives one row of bits, several a matrix."""
        grey = np.asarray(images)
        n = len(self.levels)
        if grey.dtype.kind not in "iu" or (grey.size and (grey.min() < 0 or grey.max() >= N_LEVELS)):
            raise InvalidInputError(
                f"images must hold grey levels, integers from 0 to 255. Got dtype {grey.dtype} instead."
                if grey.dtype.kind not in "iu"
                else f"images must hold grey levels from 0 to 255. Got {grey.min()} to {grey.max()} instead."
            )
        if grey.shape[-1:] != (n,):
            if grey.ndim < 2 or grey.shape[-1] * grey.shape[-2] != n:
                raise InvalidInputError(f"images must have {n} pixels each. Got shape {grey.shape} instead.")
            grey = grey.reshape(*grey.shape[:-2], n)
        bits: NDArray[np.uint8] = ((grey >= self.levels) == self.rising).astype(np.uint8)
        return bits

    def nearest_grey(self, image: ArrayLike, bits: ArrayLike) -> NDArray[np.uint8]:
        """The image with the least change of grey levels that has these bits; one image, one row of bits.

        Raises
        ------
        InvalidInputError
            If it is not one image, they are no bits, or a pixel can't have the bit asked for.
        """
        now = self.bits(image)
        if now.ndim != 1:
            raise InvalidInputError(f"image must be one image. Got shape {np.shape(image)} instead.")
        grey = np.asarray(image).reshape(now.shape).astype(np.int64)
        change = now != as_bit_vector(bits, len(now), name="bits")
        if (change & ~self.flippable).any():
            raise InvalidInputError("No grey level gives some pixel the bit asked for.")
        # Just on the other side of the cut.
        grey[change] = np.where(grey >= self.levels, self.levels - 1, self.levels)[change]
        return grey.astype(np.uint8).reshape(np.shape(image))
