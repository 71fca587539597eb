"""MNIST-C: the MNIST test images, in order, under 15 corruptions (Mu and Gilmer 2019); training is clean.

With ``corruption=None`` each test image gets one of the 15, drawn uniformly: image i gets number c_i, and is
corrupted iff u_i < corrupted_share, c and u drawn in this order from numpy's ``default_rng(random_state)``.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.data.datasets.folders import Layout, find_files
from tmverify.data.datasets.mnist import SHAPE, load_mnist
from tmverify.data.datasets.request import Raw, Request
from tmverify.data.reading import read_npy
from tmverify.errors import DataFormatError, InvalidInputError, shown

MNIST_C_CORRUPTIONS = (
    "shot_noise",
    "impulse_noise",
    "glass_blur",
    "motion_blur",
    "shear",
    "scale",
    "rotate",
    "brightness",
    "translate",
    "stripe",
    "fog",
    "spatter",
    "dotted_line",
    "zigzag",
    "canny_edges",
)
_REMEDY = "Get mnist_c.zip at https://zenodo.org/records/3239543 and unpack it in data_dir."


def load_mnist_c(request: Request) -> Raw:
    """Clean MNIST for training, corrupted MNIST for testing."""
    corruption = request.corruption
    if corruption is not None and corruption not in MNIST_C_CORRUPTIONS:
        raise InvalidInputError(
            f"The 'corruption' parameter of load_dataset must be None or one of "
            f"{', '.join(MNIST_C_CORRUPTIONS)}. Got {shown(corruption)} instead."
        )
    names = MNIST_C_CORRUPTIONS if corruption is None else (corruption,)
    files = {name: _find(name, request.folder) for name in names}
    clean = load_mnist(request)
    rng = np.random.default_rng(request.random_state)
    chosen = rng.integers(len(names), size=len(clean.y_test))
    corrupted = rng.random(len(clean.y_test)) < request.corrupted_share
    images = np.array(clean.X_test)
    for number, name in enumerate(names):
        rows = corrupted & (chosen == number)
        images[rows] = _read(files[name], clean.y_test)[rows]
    return replace(clean, X_test=images)


def _find(corruption: str, folder: Path | None) -> list[Path]:
    """The file of one corruption; in the archive's own layout, images and labels."""
    layouts = [
        Layout(Path("mnist_c"), (f"{corruption}.npy",), (".xz", ".gz", "")),
        Layout(Path("mnist_c") / corruption, ("test_images.npy", "test_labels.npy")),
    ]
    return find_files(f"MNIST-C ({corruption})", folder, layouts, _REMEDY)


def _read(files: list[Path], y_test: NDArray[Any]) -> NDArray[np.uint8]:
    n = len(y_test)
    images = read_npy(files[0], ((n, *SHAPE), (n, *SHAPE, 1)), "u")
    if images.dtype != np.uint8:
        raise DataFormatError(f"{files[0]}: images must be uint8. Found {images.dtype}.")
    if len(files) > 1 and not np.array_equal(read_npy(files[1], ((n,),), "ui"), y_test):
        raise DataFormatError(f"{files[1]}: the labels are not those of the MNIST test images, in order.")
    return images.reshape(n, -1)
