"""Pictures: each pixel is on or off, by a threshold or by its surroundings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.space.checks import (
    check_name,
    finite,
    is_integer,
)
from tmverify.space.parts import Part

_MAX_SIDE = 1 << 14


@dataclass(frozen=True)
class Image(Part):
    """A picture of grey levels: each pixel is on or off.

    Parameters
    ----------
    shape : (rows, columns) or (rows, columns, channels)
    threshold : number, or one for each pixel in row order; optional
        A pixel is on iff its level is above it.
    window, offset : int and number, instead of a threshold
        A pixel is on iff its level is above the Gaussian mean of the ``window`` x ``window`` pixels around
        it, minus ``offset`` (``space.local_mean``). Not every pattern of bits is then a picture's, but
        ``Space.possible`` takes all of them for possible.
    name : str, default "image"

    Without threshold and window the picture is given as bits: nothing is known of how they were made.
    """

    kind: ClassVar[str] = "image"

    shape: tuple[int, ...]
    threshold: float | Sequence[float] | None = None
    window: int | None = None
    offset: float = 0.0
    name: str = "image"

    def __post_init__(self) -> None:
        check_name(self.name)
        shape = self.shape
        if not isinstance(shape, tuple | list) or len(shape) not in (2, 3):
            raise ModelError(f"shape must be (rows, columns), or with channels. Got {shown(shape)} instead.")
        if not all(is_integer(side) and 1 <= side <= _MAX_SIDE for side in shape):
            raise ModelError(
                f"The sides of shape must be between 1 and {_MAX_SIDE}. Got {shown(shape)} instead."
            )
        object.__setattr__(self, "shape", tuple(int(side) for side in shape))
        if self.threshold is not None:
            object.__setattr__(self, "threshold", self._thresholds())
        if self.window is not None:
            if self.threshold is not None or len(shape) != 2:
                raise ModelError("An image has a threshold or, if it has no channels, a window; not both.")
            if (
                not is_integer(self.window)
                or self.window < 3
                or self.window % 2 == 0
                or self.window > _MAX_SIDE
            ):
                raise ModelError(
                    f"window must be an odd number of at least 3. Got {shown(self.window)} instead."
                )
            object.__setattr__(self, "window", int(self.window))
        elif self.offset != 0:
            raise ModelError("offset goes with window.")
        object.__setattr__(self, "offset", finite(self.offset, "offset"))

    @property
    def n_bits(self) -> int:
        return math.prod(self.shape)

    @cached_property
    def bit_names(self) -> tuple[str, ...]:
        return tuple("pixel_" + "_".join(map(str, place)) for place in np.ndindex(self.shape))

    def encode(self, values: Any, rows: Sequence[str] | None = None) -> NDArray[np.uint8]:
        """The bits of pictures, (n, *shape) or (n, n_pixels): grey levels, or Booleans for bits."""
        try:
            pictures = np.asarray(values)
            if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
                raise InvalidInputError("A picture must be complete. Some of its pixels are masked.")
        except InvalidInputError:
            raise
        except ValueError:
            raise InvalidInputError(f"Pictures must all have the shape {self.shape}.") from None
        if pictures.dtype.kind not in "buif" or pictures.shape[1:] not in (self.shape, (self.n_bits,)):
            raise InvalidInputError(
                f"A picture must be an array of numbers, of shape {self.shape} or ({self.n_bits},). "
                f"Got dtype {pictures.dtype} and shape {pictures.shape[1:]} instead."
            )
        levels = pictures.reshape(len(pictures), self.n_bits)
        if levels.dtype.kind == "b":
            return levels.astype(np.uint8)
        if not np.isfinite(levels).all():
            raise InvalidInputError("A picture must hold finite numbers. Got NaN or infinity.")
        only_bits = bool(((levels == 0) | (levels == 1)).all())
        if self.threshold is None and self.window is None:
            if not only_bits:
                raise InvalidInputError(
                    "The model does not know how grey levels become bits: give the picture as 0 and 1."
                )
            return levels.astype(np.uint8)
        bits = self._bits(levels)
        if only_bits and (levels == 1).any() and (bits != levels).any():
            raise InvalidInputError(
                "A picture must hold grey levels; this one has 0 and 1 alone. If these are bits, give them "
                "as Booleans (picture.astype(bool)), or flat as a row of 0 and 1."
            )
        return bits

    def _bits(self, levels: NDArray[Any]) -> NDArray[np.uint8]:
        if self.window is not None:
            from tmverify.space.local_mean import above_local_mean

            return above_local_mean(levels, (self.shape[0], self.shape[1]), self.window, self.offset)
        return (levels.astype(np.float64) > np.array(self.threshold)).astype(np.uint8)

    def _thresholds(self) -> float | tuple[float, ...]:
        given = self.threshold
        if isinstance(given, np.ndarray):
            given = given.ravel().tolist() if given.ndim else given.item()
        if isinstance(given, Iterable):
            found = tuple(finite(each, "threshold") for each in given)
            if len(found) != self.n_bits:
                raise ModelError(f"threshold must be one number, or {self.n_bits}. Got {len(found)} instead.")
            return found[0] if len(set(found)) == 1 else found
        return finite(given, "threshold")

    def to_json(self) -> dict[str, Any]:
        threshold = list(self.threshold) if isinstance(self.threshold, tuple) else self.threshold
        return {
            "kind": self.kind,
            "name": self.name,
            "shape": list(self.shape),
            "threshold": threshold,
            "window": self.window,
            "offset": self.offset,
        }
