"""MNIST, Fashion-MNIST and MNIST-C: 28 x 28 grey levels, classes 0..9, from files or from OpenML.

Any number of images is accepted, as long as there are as many labels, so subsets can be used.

MNIST-C has the MNIST test images, in order, under 15 corruptions (Mu and Gilmer 2019); its training images
are those of MNIST. With ``corruption=None`` each test image gets one of the 15, drawn uniformly: image i gets
number c_i, and is corrupted iff u_i < corrupted_share, where c and then u are drawn from numpy's
``default_rng(random_state)``.
"""

from __future__ import annotations

from dataclasses import replace
from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.data.datasets.binary_files import read_idx, read_npy
from tmverify.data.datasets.sources import Layout, Raw, Request, find_files
from tmverify.errors import DataFormatError, InvalidInputError, shown

SHAPE = (28, 28)
N_CLASSES = 10
N_TRAIN, N_TEST = 60_000, 10_000
_NAMES = tuple(
    f"{part}-{what}-ubyte" for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1")
)
_CORRUPTIONS = """
shot_noise impulse_noise glass_blur motion_blur shear scale rotate brightness
translate stripe fog spatter dotted_line zigzag canny_edges
"""
MNIST_C_CORRUPTIONS = tuple(_CORRUPTIONS.split())
_REMEDY_C = "Get mnist_c.zip at https://zenodo.org/records/3239543 and unpack it in data_dir."


def load_mnist(request: Request) -> Raw:
    """MNIST, training and test."""
    if request.source == "openml":
        return _fetch("MNIST", "mnist_784")
    layouts = [_layout("mnist"), _layout("MNIST/raw")]
    remedy = _remedy("mnist", "https://ossci-datasets.s3.amazonaws.com/mnist/ (<name>.gz)")
    return _read(*find_files("MNIST", request.folder, layouts, remedy))


def load_fashion_mnist(request: Request) -> Raw:
    """Fashion-MNIST, training and test."""
    if request.source == "openml":
        return _fetch("Fashion-MNIST", "Fashion-MNIST")
    debian = "/usr/share/datasets/fashion-mnist"
    layouts = [_layout("fashion-mnist"), _layout("FashionMNIST/raw"), _layout(debian)]
    where = "https://github.com/zalandoresearch/fashion-mnist or in Debian's package dataset-fashion-mnist"
    return _read(*find_files("Fashion-MNIST", request.folder, layouts, _remedy("fashion-mnist", where)))


def load_mnist_c(request: Request) -> Raw:
    """Clean MNIST for training, corrupted MNIST for testing."""
    corruption = request.corruption
    if corruption is not None and corruption not in MNIST_C_CORRUPTIONS:
        raise InvalidInputError(
            f"The 'corruption' parameter of load_dataset must be None or one of "
            f"{', '.join(MNIST_C_CORRUPTIONS)}. Got {shown(corruption)} instead."
        )
    names = MNIST_C_CORRUPTIONS if corruption is None else (corruption,)
    files = {name: _find_corrupted(name, request.folder) for name in names}
    clean = load_mnist(request)
    rng = np.random.default_rng(request.random_state)
    chosen = rng.integers(len(names), size=len(clean.y_test))
    corrupted = rng.random(len(clean.y_test)) < request.corrupted_share
    images = np.array(clean.X_test)
    for number, name in enumerate(names):
        rows = corrupted & (chosen == number)
        images[rows] = _read_corrupted(files[name], clean.y_test)[rows]
    return replace(clean, X_test=images)


def _layout(folder: str) -> Layout:
    return Layout(Path(folder), _NAMES, ("", ".gz"))


def _remedy(name: str, where: str) -> str:
    return f"Get them at {where}, or have them fetched: load_dataset({name!r}, source='openml')."


def _read(X_train: Path, y_train: Path, X_test: Path, y_test: Path) -> Raw:
    return Raw(*_read_part(X_train, y_train), *_read_part(X_test, y_test), SHAPE)


def _read_part(images: Path, labels: Path) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    X, y = read_idx(images, SHAPE), read_idx(labels, ())
    if len(X) != len(y):
        raise DataFormatError(
            f"{images} has {len(X)} images and {labels} {len(y)} labels; they do not belong together."
        )
    if y.max() >= N_CLASSES:
        raise DataFormatError(f"{labels}: labels must be 0 to {N_CLASSES - 1}. Found {y.max()}.")
    return X.reshape(len(X), -1), y.astype(np.int64)


def _fetch(title: str, openml_name: str) -> Raw:
    """Fetch from OpenML through scikit-learn, which keeps a copy; the first 60,000 rows are for training."""
    from sklearn.datasets import fetch_openml

    parser = "pandas" if find_spec("pandas") else "liac-arff"
    try:
        bunch = fetch_openml(openml_name, version=1, as_frame=False, parser=parser)
    except (OSError, HTTPException, ValueError) as error:  # a failed checksum is a ValueError
        reason = " ".join(str(error).split())[:200].rstrip(".") or type(error).__name__
        raise DataFormatError(
            f"{title} can't be fetched from OpenML: {reason}. Check the network connection, or put the files "
            f"{', '.join(_NAMES)} into a data folder and leave out source='openml'."
        ) from None
    X, y = _grey(bunch.data, title), _class_numbers(bunch.target, title)
    return Raw(X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:], SHAPE)


def _grey(data: Any, title: str) -> NDArray[np.uint8]:
    X = np.asarray(data)
    expected = (N_TRAIN + N_TEST, SHAPE[0] * SHAPE[1])
    fits = X.shape == expected and X.dtype.kind in "uif" and bool(((X >= 0) & (X <= 255)).all())
    if not fits or not np.array_equal(X, X.astype(np.uint8)):
        raise DataFormatError(
            f"{title} from OpenML: expected {expected} grey levels 0..255. Found {X.shape}."
        )
    return X.astype(np.uint8)


def _class_numbers(target: Any, title: str) -> NDArray[np.int64]:
    try:
        y = np.asarray(target).astype(np.int64)
    except ValueError:
        y = np.full(1, -1)
    if y.shape != (N_TRAIN + N_TEST,) or y.min() < 0 or y.max() >= N_CLASSES:
        raise DataFormatError(f"{title} from OpenML: expected {N_TRAIN + N_TEST} labels 0..{N_CLASSES - 1}.")
    return y


def _find_corrupted(corruption: str, folder: Path | None) -> list[Path]:
    """The file of one corruption; in the archive's own layout, the images and the labels."""
    layouts = [
        Layout(Path("mnist_c"), (f"{corruption}.npy",), (".xz", ".gz", "")),
        Layout(Path("mnist_c") / corruption, ("test_images.npy", "test_labels.npy")),
    ]
    return find_files(f"MNIST-C ({corruption})", folder, layouts, _REMEDY_C)


def _read_corrupted(files: list[Path], y_test: NDArray[Any]) -> NDArray[np.uint8]:
    n = len(y_test)
    images = read_npy(files[0], ((n, *SHAPE), (n, *SHAPE, 1)), "u")
    if images.dtype != np.uint8:
        raise DataFormatError(f"{files[0]}: images must be uint8. Found {images.dtype}.")
    if len(files) > 1 and not np.array_equal(read_npy(files[1], ((n,),), "ui"), y_test):
        raise DataFormatError(f"{files[1]}: the labels are not those of the MNIST test images, in order.")
    return images.reshape(n, -1)
