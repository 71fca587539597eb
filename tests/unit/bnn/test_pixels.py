"""Grey levels and bits: the cut of each pixel, both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tmverify import InvalidInputError, ModelError
from tmverify.bnn import PixelCuts

LEVELS = np.array([0, 0, 1, 1, 100, 100, 255, 255, 256, 256, 7, 200])
RISING = np.array([True, False] * 6)


@pytest.fixture
def cuts() -> PixelCuts:
    return PixelCuts(LEVELS, RISING)


def bit(level: int, rising: bool, grey: int) -> int:
    return int(grey >= level) if rising else int(grey < level)


def test_every_grey_level(cuts: PixelCuts) -> None:
    bits = cuts.bits(np.repeat(np.arange(256)[:, None], 12, axis=1))
    assert bits.dtype == np.uint8
    for grey in range(256):
        assert bits[grey].tolist() == [bit(level, up, grey) for level, up in zip(LEVELS, RISING, strict=True)]
    changes = (bits != bits[0]).any(axis=0)
    assert (
        cuts.flippable.tolist() == changes.tolist() == [False, False, *[True] * 6, False, False, True, True]
    )


@pytest.mark.parametrize("shape", [(12,), (3, 4), (4, 3), (2, 12), (2, 3, 4), (0, 12), (0, 3, 4), (2, 1, 12)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_shapes(cuts: PixelCuts, shape: tuple[int, ...], dtype: Any) -> None:
    images = np.random.default_rng(0).integers(0, 256, size=shape).astype(dtype)
    bits = cuts.bits(images)
    pixels = shape if shape[-1] == 12 else (*shape[:-2], 12)
    assert bits.shape == pixels
    flat = images.reshape(-1, 12).tolist()
    expected = [[bit(*each) for each in zip(LEVELS, RISING, image, strict=True)] for image in flat]
    assert bits.reshape(-1, 12).tolist() == expected


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([0.5] * 12, "grey levels, integers from 0 to 255. Got dtype float64"),
        ([True] * 12, "Got dtype bool"),
        (["0"] * 12, "Got dtype"),
        ([*range(11), 256], "from 0 to 255. Got 0 to 256"),
        ([*range(11), -1], "Got -1 to 10"),
        ([0] * 11, r"12 pixels each. Got shape \(11,\)"),
        (7, r"12 pixels each. Got shape \(\)"),
        (np.zeros((2, 5), int), r"12 pixels each. Got shape \(2, 5\)"),
        (np.zeros((12, 2), int), r"12 pixels each. Got shape \(12, 2\)"),
        (np.zeros((2, 2, 6, 1), int), r"12 pixels each"),
    ],
)
def test_images_that_are_none(cuts: PixelCuts, images: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        cuts.bits(images)


def test_the_nearest_image_that_has_some_bits(cuts: PixelCuts) -> None:
    """Least change of every pixel, by looking at all grey levels."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        image = rng.integers(0, 256, size=12).astype(np.uint8)
        now = cuts.bits(image)
        bits = np.where(cuts.flippable & (rng.random(12) < 0.5), 1 - now, now).astype(np.uint8)
        near = cuts.nearest_grey(image, bits)
        assert near.dtype == np.uint8
        assert (cuts.bits(near) == bits).all()
        for i, (level, up) in enumerate(zip(LEVELS, RISING, strict=True)):
            least = min(abs(g - int(image[i])) for g in range(256) if bit(level, up, g) == bits[i])
            assert abs(int(near[i]) - int(image[i])) == least


def test_the_nearest_image_keeps_its_shape_and_the_given_one_its_values(cuts: PixelCuts) -> None:
    image = np.full((3, 4), 99, np.uint8)
    bits = cuts.bits(image)
    bits[4] ^= 1
    near = cuts.nearest_grey(image, bits)
    assert near.tolist() == [[99] * 4, [100, 99, 99, 99], [99] * 4]
    assert (image == 99).all()
    assert cuts.nearest_grey(image.tolist(), cuts.bits(image)).tolist() == image.tolist()


@pytest.mark.parametrize("pixel", [0, 1, 8, 9])
def test_a_bit_that_no_grey_level_gives(cuts: PixelCuts, pixel: int) -> None:
    image = np.full(12, 50)
    bits = cuts.bits(image)
    bits[pixel] ^= 1
    with pytest.raises(InvalidInputError, match="No grey level"):
        cuts.nearest_grey(image, bits)


@pytest.mark.parametrize("bits", [[0] * 11, [2] * 12, [[0] * 12] * 2, [0.5] * 12], ids=str)
def test_bits_that_are_none(cuts: PixelCuts, bits: Any) -> None:
    with pytest.raises(InvalidInputError, match="bits"):
        cuts.nearest_grey(np.full(12, 50), np.array(bits))


def test_the_nearest_image_is_that_of_one(cuts: PixelCuts) -> None:
    with pytest.raises(InvalidInputError, match="one image"):
        cuts.nearest_grey(np.full((2, 12), 50), np.zeros(12, np.uint8))


@pytest.mark.parametrize(
    ("levels", "rising", "message"),
    [
        ([1, 2], [True], r"the same pixels. Got \(2,\), \(1,\)"),
        ([[1]], [[True]], "the same pixels"),
        ([-1], [True], "levels must be between 0 and 256"),
        ([257], [True], "levels must be between 0 and 256"),
        ([0.5], [True], "levels must be integers"),
        ([[1], [1, 2]], [True], "levels must be an array"),
    ],
)
def test_cuts_that_are_none(levels: Any, rising: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        PixelCuts(levels, rising)


def test_cuts_stay_as_they_are() -> None:
    levels, rising = np.array([1, 2]), np.array([True, False])
    cuts = PixelCuts(levels, rising)
    levels[:], rising[:] = 0, False
    assert (cuts.levels.tolist(), cuts.rising.tolist()) == ([1, 2], [True, False])
    for array in (cuts.levels, cuts.rising):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
