"""Models and inputs to measure on: real ones where a data folder is given, made ones everywhere.

``TMVERIFY_DATA`` names a folder with ``mnist/`` (the standard idx files, gzipped) and
``tm_models/green_mnist_1k.npz``, a weighted machine of 1,000 shared clauses trained by others on MNIST
(bit = pixel > 75; literal j < 784 is pixel j, literal 784 + j its negation; included where ta_state >= 0).
"""

from __future__ import annotations

import gzip
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import tmverify as tv


@dataclass(frozen=True)
class Workload:
    name: str
    model: tv.Model
    X: NDArray[np.uint8]
    y: NDArray[np.int64]


def workloads(seed: int = 0) -> list[Workload]:
    """What there is to measure on."""
    found = [prototypes(seed)]
    folder = os.environ.get("TMVERIFY_DATA")
    if folder:
        found.append(green_mnist(Path(folder)))
    return found


def prototypes(seed: int, n_features: int = 144, n_classes: int = 4, n_clauses: int = 100) -> Workload:
    """Noisy copies of a random pattern per class; clauses are pieces of copies, for or against a class."""
    rng = np.random.default_rng(seed)
    patterns = rng.integers(0, 2, size=(n_classes, n_features))

    def noisy(c: int) -> NDArray[np.int64]:
        return np.asarray(patterns[c] ^ (rng.random(n_features) < 0.1), np.int64)

    clauses, rows = [], []
    for c in range(n_classes):
        for j in range(n_clauses):
            source = c if j % 2 == 0 else int(rng.choice([k for k in range(n_classes) if k != c]))
            bits, chosen = noisy(source), rng.choice(n_features, int(rng.integers(4, 13)), replace=False)
            clauses.append([int(f) + 1 if bits[f] else -int(f) - 1 for f in chosen])
            rows.append((c, 1 if j % 2 == 0 else -1))
    weights = np.zeros((n_classes, len(clauses)), int)
    for j, (c, sign) in enumerate(rows):
        weights[c, j] = sign
    y = np.arange(200) % n_classes
    X = np.array([noisy(int(c)) for c in y], np.uint8)
    return Workload("prototypes (made)", tv.Model.from_clauses(n_features, clauses, weights), X, y)


def green_mnist(folder: Path) -> Workload:
    """The public green-tsetlin machine and the MNIST test set."""
    with np.load(folder / "tm_models" / "green_mnist_1k.npz") as file:
        included, votes = file["ta_state"] >= 0, file["weights"].astype(int)
    clauses = [[int(j) + 1 if j < 784 else 783 - int(j) for j in np.flatnonzero(row)] for row in included]
    images = gzip.decompress((folder / "mnist" / "t10k-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "mnist" / "t10k-labels-idx1-ubyte.gz").read_bytes())
    X = (np.frombuffer(images, np.uint8, offset=16).reshape(-1, 784) > 75).astype(np.uint8)
    y = np.frombuffer(labels, np.uint8, offset=8).astype(np.int64)
    return Workload("green-tsetlin, MNIST", tv.Model.from_clauses(784, clauses, votes.T), X, y)
