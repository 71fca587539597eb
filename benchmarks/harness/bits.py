"""The data, as 0/1 matrices on disk: made once, the same files for every library.

``mnist``: bit = pixel > 75. ``mnist-adaptive`` (the paper's binarisation) and ``digits``: as
``tmverify.load_dataset`` gives them. ``imdb``: presence of the 5,000 most frequent training words, reviews in
a fixed random order (as stored, all positive ones come first, and not every library shuffles). ``imdb-10k``:
the first 10,000 of these to train on and 5,000 to test on, since peers need minutes for them as it is.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.uint8]
Split = tuple[Matrix, NDArray[np.uint32], Matrix, NDArray[np.uint32]]
SMALL = (1_000, 500)  # rows of the small version: training, test
N_WORDS = 5_000


def prepare(name: str, source: Path | None, folder: Path, *, small: bool) -> Path:
    """Folder with X_train.npy, y_train.npy, X_test.npy, y_test.npy."""
    made = folder / (name + ("-small" if small else ""))
    if not (made / "y_test.npy").exists():
        if source is None and name != "digits":
            raise FileNotFoundError(f"{name} needs a data folder: --data-dir, or TMVERIFY_DATA.")
        X_train, y_train, X_test, y_test = MAKERS[name](source or Path())
        n_train, n_test = SMALL if small else (len(y_train), len(y_test))
        made.mkdir(parents=True, exist_ok=True)
        np.save(made / "X_train.npy", X_train[:n_train])
        np.save(made / "y_train.npy", y_train[:n_train].astype(np.uint32))
        np.save(made / "X_test.npy", X_test[:n_test])
        np.save(made / "y_test.npy", y_test[:n_test].astype(np.uint32))
    return made


def _idx(source: Path, name: str, header: int) -> Matrix:
    raw = gzip.decompress((source / "mnist" / f"{name}-ubyte.gz").read_bytes())
    return np.frombuffer(raw, np.uint8, offset=header)


def _mnist(source: Path) -> Split:
    X, y = [], []
    for part in ("train", "t10k"):
        X.append((_idx(source, f"{part}-images-idx3", 16).reshape(-1, 784) > 75).astype(np.uint8))
        y.append(_idx(source, f"{part}-labels-idx1", 8).astype(np.uint32))
    return X[0], y[0], X[1], y[1]


def _mnist_adaptive(source: Path) -> Split:
    return _by_name("mnist", source)


def _imdb(source: Path) -> Split:
    parts = []
    rng = np.random.default_rng(0)
    with np.load(source / "imdb" / "imdb_bow10k.npz") as file:
        for part in ("train", "test"):
            y, columns = file[f"y_{part}"].astype(np.uint32), file[f"{part}_indices"]
            rows = np.repeat(np.arange(len(y)), np.diff(file[f"{part}_indptr"]))
            X = np.zeros((len(y), N_WORDS), np.uint8)
            X[rows[columns < N_WORDS], columns[columns < N_WORDS]] = 1
            order = rng.permutation(len(y))
            parts.append((X[order], y[order]))
    return parts[0][0], parts[0][1], parts[1][0], parts[1][1]


def _imdb_10k(source: Path) -> Split:
    X_train, y_train, X_test, y_test = _imdb(source)
    return X_train[:10_000], y_train[:10_000], X_test[:5_000], y_test[:5_000]


def _digits(source: Path) -> Split:
    return _by_name("digits", None)


def _by_name(name: str, source: Path | None) -> Split:
    from tmverify import load_dataset

    loaded = load_dataset(name, data_dir=source)
    X = [np.asarray(part, np.uint8) for part in (loaded.X_train, loaded.X_test)]
    y = [np.asarray(part).astype(np.uint32) for part in (loaded.y_train, loaded.y_test)]
    return X[0], y[0], X[1], y[1]


MAKERS: dict[str, Callable[[Path], Split]] = {
    "mnist": _mnist,
    "mnist-adaptive": _mnist_adaptive,
    "imdb": _imdb,
    "imdb-10k": _imdb_10k,
    "digits": _digits,
}
