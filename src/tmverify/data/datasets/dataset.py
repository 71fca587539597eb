"""``load_dataset``: training and test data by name, by default as bits ready to train on.

The binarizer is fitted on the training part only; both parts then pass through it.
"""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.data.datasets.imdb import load_imdb
from tmverify.data.datasets.mnist import load_fashion_mnist, load_mnist, load_mnist_c
from tmverify.data.datasets.sources import Raw, Request, data_folder
from tmverify.data.files import RawRows
from tmverify.errors import InvalidInputError, shown
from tmverify.model.checks import as_bit_matrix
from tmverify.space import Image, Space

# In cross-validation on the 1,347 training digits Tsetlin machines did equally well, within the noise, from
# 5.5 to 7.5.
_DIGITS_THRESHOLD = 5.5


def _load_digits(request: Request) -> Raw:
    """The 1,797 digits of scikit-learn, 8 x 8 grey levels 0..16; the same 450 are always for testing."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    images, labels = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        images.astype(np.uint8), labels.astype(np.int64), test_size=0.25, stratify=labels, random_state=0
    )
    return Raw(X_train, y_train, X_test, y_test, (8, 8))


_LOADERS: Mapping[str, Callable[[Request], Raw]] = {
    "digits": _load_digits,
    "mnist": load_mnist,
    "fashion-mnist": load_fashion_mnist,
    "mnist-c": load_mnist_c,
    "imdb": load_imdb,
}
_ON_OPENML = ("mnist", "fashion-mnist", "mnist-c")


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A dataset, split and usually binarized.

    Attributes
    ----------
    name : str
    X_train, X_test : uint8 array of 0 and 1, (n, n_features); a scipy CSR matrix of such for imdb
        Without binarizer: grey levels, uint8 (n, rows * columns), or a list of str for imdb.
    y_train, y_test : int64 array, (n,)
        Classes 0..9; for imdb 1 is positive and 0 negative.
    image_shape : (rows, columns), or None if the inputs are not images
    binarizer : fitted transformer, or None for raw data
    space : Space, or None for raw data
        What the bits mean; a model trained on them is given it: ``replace(clf.model_, space=data.space)``.
    raw_test : RawRows or None
        The test inputs as they stand in the user's table.
    """

    name: str
    X_train: Any = field(repr=False)
    y_train: NDArray[np.int64] = field(repr=False)
    X_test: Any = field(repr=False)
    y_test: NDArray[np.int64] = field(repr=False)
    image_shape: tuple[int, int] | None
    binarizer: Any
    space: Space | None
    raw_test: RawRows | None = field(default=None, repr=False)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the bits, or of the pixels of raw images; None for raw texts."""
        if self.space is None:
            return None if self.image_shape is None else Image(self.image_shape).bit_names
        return self.space.bit_names


def load_dataset(
    name: str,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    binarizer: Any = "default",
    source: str = "files",
    corruption: str | None = None,
    corrupted_share: float = 1.0,
    random_state: int = 0,
) -> Dataset:
    """Load a dataset by name.

    Parameters
    ----------
    name : {"digits", "mnist", "fashion-mnist", "mnist-c", "imdb"}
    data_dir : path or None, default None
        The folder that holds the data; None means the one that the environment variable TMVERIFY_DATA names.
        Under it, mnist/ or MNIST/raw/ and fashion-mnist/ or FashionMNIST/raw/ hold the idx files (plain or
        .gz), mnist_c/ the corrupted test images, and imdb/ or aclImdb/ the reviews. Digits need none.
    binarizer : "default", None, or a scikit-learn transformer; default "default"
        "default": ThresholdBinarizer(5.5) for digits, AdaptiveGaussianBinarizer() for other images,
        WordBinarizer(5000) for imdb. None: raw data. A transformer is cloned and fitted on the training part.
    source : {"files", "openml"}, default "files"
        "openml" has scikit-learn fetch MNIST or Fashion-MNIST over the network.
    corruption : str or None, default None
        For mnist-c: one of MNIST_C_CORRUPTIONS, or None for a mixture, one drawn for each test image.
    corrupted_share : float, default 1.0
        For mnist-c: the probability that a test image is corrupted at all.
    random_state : int, default 0
        For mnist-c: seed of those draws.

    Returns
    -------
    Dataset

    Raises
    ------
    DataFormatError
        If files are missing, damaged or not what they should be, or the network fails.
    InvalidInputError
        If an argument is wrong, or the binarizer's output is anything but 0 and 1.
    """
    if not isinstance(name, str) or name not in _LOADERS:
        raise _wrong("name", f"one of {', '.join(_LOADERS)}", name)
    default = isinstance(binarizer, str) and binarizer == "default"
    if not (default or binarizer is None or hasattr(binarizer, "fit_transform")):
        raise _wrong("binarizer", "'default', None or a scikit-learn transformer", binarizer)
    _check_options(name, source, corruption, corrupted_share, random_state)
    folder = None if name == "digits" else data_folder(data_dir)
    raw = _LOADERS[name](Request(folder, source, corruption, float(corrupted_share), int(random_state)))
    return _binarized(name, raw, _default_binarizer(name, raw) if default else binarizer)


def _wrong(parameter: str, must: str, value: object) -> InvalidInputError:
    return InvalidInputError(
        f"The {parameter!r} parameter of load_dataset must be {must}. Got {shown(value)} instead."
    )


def _check_options(name: str, source: str, corruption: Any, corrupted_share: Any, random_state: Any) -> None:
    if source not in ("files", "openml"):
        raise _wrong("source", "'files' or 'openml'", source)
    if source == "openml" and name not in _ON_OPENML:
        raise _wrong("source", f"'files' for {name}", source)
    if name != "mnist-c" and corruption is not None:
        raise _wrong("corruption", f"None for {name}: only mnist-c is corrupted", corruption)
    if not isinstance(corrupted_share, numbers.Real) or not 0 <= float(corrupted_share) <= 1:
        raise _wrong("corrupted_share", "a number from 0 to 1", corrupted_share)
    if name != "mnist-c" and corrupted_share != 1:
        raise _wrong("corrupted_share", f"left at 1 for {name}: only mnist-c is corrupted", corrupted_share)
    if not isinstance(random_state, numbers.Integral) or random_state < 0:
        raise _wrong("random_state", "an integer of at least 0", random_state)


def _default_binarizer(name: str, raw: Raw) -> Any:
    from tmverify.data import binarizers

    if name == "digits":
        return binarizers.ThresholdBinarizer(_DIGITS_THRESHOLD, raw.image_shape)
    return binarizers.WordBinarizer() if name == "imdb" else binarizers.AdaptiveGaussianBinarizer()


def _binarized(name: str, raw: Raw, binarizer: Any) -> Dataset:
    if binarizer is None:
        return Dataset(name, raw.X_train, raw.y_train, raw.X_test, raw.y_test, raw.image_shape, None, None)
    from sklearn.base import clone

    fitted = clone(binarizer)
    X_train = _as_bits(fitted.fit_transform(raw.X_train, raw.y_train), "X_train")
    X_test = _as_bits(fitted.transform(raw.X_test), "X_test")
    space = _space_of(fitted, raw, X_train.shape[1])
    return Dataset(name, X_train, raw.y_train, X_test, raw.y_test, raw.image_shape, fitted, space)


def _space_of(binarizer: Any, raw: Raw, n_bits: int) -> Space:
    """The space of a fitted transformer; of one that has none, flags with its names, if it gives any."""
    names = None if raw.image_shape is None else Image(raw.image_shape).bit_names
    if hasattr(binarizer, "space_named"):
        found: Space = binarizer.space_named(names if len(binarizer.space_.parts) > 1 else None)
        return found
    try:
        return Space.flags(map(str, binarizer.get_feature_names_out(names)))
    except AttributeError:
        return Space.flags(n_bits)


def _as_bits(X: Any, part: str) -> Any:
    """A binarizer's output as uint8: an array, or a CSR matrix if it was sparse."""
    from scipy.sparse import issparse

    title = f"The binarizer's output for {part}"
    if not issparse(X):
        array = np.asarray(X)
        return as_bit_matrix(array, array.shape[-1] if array.ndim else 0, name=title)
    X = X.tocsr()
    as_bit_matrix(X.data[None, :], X.nnz, name=f"{title} (its stored values)")
    return X.astype(np.uint8)
