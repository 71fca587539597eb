"""MNIST and Fashion-MNIST: 28 x 28 grey levels, classes 0..9, from their four idx files or from OpenML.

Any number of images is accepted, as long as there are as many labels: subsets are useful.
"""

from __future__ import annotations

from http.client import HTTPException
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.data.datasets.folders import Layout, find_files
from tmverify.data.datasets.request import Raw, Request
from tmverify.data.reading import read_idx
from tmverify.errors import DataFormatError

SHAPE = (28, 28)
N_CLASSES = 10
N_TRAIN, N_TEST = 60_000, 10_000
_NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)


def load_mnist(request: Request) -> Raw:
    """MNIST, training and test."""
    if request.source == "openml":
        return _fetch("MNIST", "mnist_784")
    layouts = [_layout("mnist"), _layout("MNIST/raw")]
    remedy = _remedy("mnist", "https://ossci-datasets.s3.amazonaws.com/mnist/ (<name>.gz)")
    return _read(find_files("MNIST", request.folder, layouts, remedy))


def load_fashion_mnist(request: Request) -> Raw:
    """Fashion-MNIST, training and test."""
    if request.source == "openml":
        return _fetch("Fashion-MNIST", "Fashion-MNIST")
    debian = "/usr/share/datasets/fashion-mnist"
    layouts = [_layout("fashion-mnist"), _layout("FashionMNIST/raw"), _layout(debian)]
    where = "https://github.com/zalandoresearch/fashion-mnist or in Debian's package dataset-fashion-mnist"
    return _read(find_files("Fashion-MNIST", request.folder, layouts, _remedy("fashion-mnist", where)))


def _layout(folder: str) -> Layout:
    return Layout(Path(folder), _NAMES, ("", ".gz"))


def _remedy(name: str, where: str) -> str:
    return f"Get them at {where}, or have them fetched: load_dataset({name!r}, source='openml')."


def _read(files: list[Path]) -> Raw:
    X_train, y_train = _read_part(files[0], files[1])
    X_test, y_test = _read_part(files[2], files[3])
    return Raw(X_train, y_train, X_test, y_test, SHAPE)


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
    """From OpenML by way of scikit-learn, which keeps a copy: the first 60,000 rows are for training."""
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
