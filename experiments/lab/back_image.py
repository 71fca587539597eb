"""MNIST-back-image, made anew: the original is not to be had, but its recipe is published.

Larochelle, Erhan, Courville, Bergstra, Bengio (ICML 2007): the background of a digit is a patch cut at random
from one of 20 pictures; patches of little texture are left out; digit and patch are combined by the pixelwise
maximum. 12,000 rows for training and 50,000 for testing, of digits drawn from all 70,000 of MNIST.

Ours: the 20 pictures are photographs and micrographs that come with scikit-image, in grey; the limit of
texture, which was never published, is a standard deviation of 33, the least on the 20 real pictures at hand.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from tmverify.extras import need

PICTURES = (
    "astronaut.png", "brick.png", "camera.png", "cell.png", "chelsea.png", "clock_motion.png", "coffee.png",
    "coins.png", "grass.png", "gravel.png", "hubble_deep_field.jpg", "ihc.png", "microaneurysms.png",
    "moon.png", "motorcycle_left.png", "motorcycle_right.png", "page.png", "retina.jpg", "rocket.jpg",
    "text.png",
)  # fmt: skip
LEAST_DEVIATION = 33.0
SIDE = 28
N_TRAIN, N_TEST = 12_000, 50_000

Grey = NDArray[np.uint8]


def load_back_image(data_dir: Path | None, *, seed: int, sizes: tuple[int, int]) -> tv.Dataset:
    """The dataset as bits, by the same adaptive threshold as MNIST; so many rows to train on and to test."""
    n_train, n_test = sizes
    mnist = tv.load_dataset("mnist", data_dir=data_dir, binarizer=None)
    digits = np.concatenate([mnist.X_train, mnist.X_test]).reshape(-1, SIDE, SIDE)
    labels = np.concatenate([mnist.y_train, mnist.y_test])
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(digits))[: n_train + n_test]
    images = np.maximum(digits[chosen], patches(rng, len(chosen))).reshape(len(chosen), -1)
    binarizer = tv.AdaptiveGaussianBinarizer()
    bits = binarizer.fit_transform(images)
    y = labels[chosen]
    return tv.Dataset(
        "back-image",
        bits[:n_train],
        y[:n_train],
        bits[n_train:],
        y[n_train:],
        (SIDE, SIDE),
        binarizer,
        binarizer.space_,
    )


def patches(rng: np.random.Generator, n: int) -> Grey:
    """``n`` patches with enough texture."""
    pictures = _pictures()
    found = np.empty((n, SIDE, SIDE), np.uint8)
    for place in range(n):
        while True:
            picture = pictures[rng.integers(len(pictures))]
            row, column = (rng.integers(size - SIDE + 1) for size in picture.shape)
            patch = picture[row : row + SIDE, column : column + SIDE]
            if patch.std() >= LEAST_DEVIATION:
                found[place] = patch
                break
    return found


def real_pictures(data_dir: Path | None) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The 20 real pictures of the original test set, as bits, and their labels."""
    folder = Path(data_dir or os.environ["TMVERIFY_DATA"])
    with np.load(folder / "mnist_variations" / "real60.npz") as real:
        rows = real["dataset"] == "mnist_back_image"
        images, labels = real["images"][rows], real["labels"][rows]
    bits = tv.AdaptiveGaussianBinarizer().fit_transform(images.reshape(len(images), -1))
    return bits, labels.astype(np.int64)


def _pictures() -> list[Grey]:
    skimage = need("skimage", extra="experiments", what="making MNIST-back-image")
    from skimage.io import imread

    folder = Path(skimage.__file__).parent / "data"
    return [_grey(imread(folder / name)) for name in PICTURES]


def _grey(picture: NDArray[np.uint8]) -> Grey:
    if picture.ndim == 2:
        return picture
    weights = np.array([0.2125, 0.7154, 0.0721])  # of red, green and blue, as scikit-image has them
    grey: Grey = np.rint(picture[..., :3] @ weights).astype(np.uint8)
    return grey
