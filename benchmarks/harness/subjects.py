"""What verification is measured on: the machines, and inputs drawn from the test sets by a seed.

In a smoke run the machines are small, and without a data folder the digits stand in: for MNIST as they are,
for IMDB as even against odd ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from harness.cores import all_cores
from harness.trained import RECIPES, Recipe, small, trained

Bits = NDArray[np.uint8]
SMALL = 2_000  # training rows of a smoke run


class Subjects:
    """The data and the machines, each loaded (or trained) when first asked for."""

    def __init__(self, data_dir: Path | None, models_dir: Path, *, quick: bool, seed: int) -> None:
        self.data_dir, self.models_dir, self.quick, self.seed = data_dir, models_dir, quick, seed
        self.data = cache(self._load)
        self.model = cache(self._model)

    def recipe(self, name: str) -> Recipe:
        return small(RECIPES[name]) if self.quick else RECIPES[name]

    def test_input(self, data: str, row: int) -> Bits:
        x: Bits = dense(self.data(data).X_test[row : row + 1])[0]
        return x

    def test_label(self, data: str, row: int) -> int:
        return int(self.data(data).y_test[row])

    def accuracy(self, name: str, part: str) -> float:
        """Per cent, on the "train" or the "test" part."""
        data = self.data(RECIPES[name].data)
        X, y = (data.X_train, data.y_train) if part == "train" else (data.X_test, data.y_test)
        starts = range(0, len(y), 1_000)  # a sparse matrix would be large as a whole
        right = [self.model(name).predict(dense(X[i : i + 1_000])) == y[i : i + 1_000] for i in starts]
        return 100 * float(np.concatenate(right).mean())

    def shuffled(self, data: str) -> list[int]:
        """All rows of the test set, in an order of the seed's: whoever wants n takes the first n."""
        return [int(row) for row in self._rng().permutation(len(self.data(data).y_test))]

    def of_each_class(self, data: str, n: int) -> list[int]:
        """The paper's draw: n random test rows of each class, whatever the machines make of them."""
        order, labels = np.array(self.shuffled(data)), self.data(data).y_test
        ordered = labels[order]
        return [int(row) for c in np.unique(labels) for row in order[ordered == c][:n]]

    def that_all_classify(self, data: str, models: Sequence[str], n: int) -> list[int]:
        """The first n shuffled test rows that each of the machines puts into the right class."""
        chosen: list[int] = []
        for row in self.shuffled(data):
            x, y = self.test_input(data, row)[None, :], self.test_label(data, row)
            if all(self.model(name).predict(x)[0] == y for name in models):
                chosen.append(row)
                if len(chosen) == n:
                    break
        return chosen

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def _load(self, name: str) -> tv.Dataset:
        if self.quick and self.data_dir is None:
            data = tv.load_dataset("digits")
            if name == "imdb":
                return replace(data, name="parity", y_train=data.y_train % 2, y_test=data.y_test % 2)
            return data
        if self.data_dir is None:
            raise FileNotFoundError(f"{name} needs a data folder: --data-dir, or TMVERIFY_DATA.")
        data = tv.load_dataset(name, data_dir=self.data_dir)
        if self.quick:
            rows = self._rng().permutation(len(data.y_train))[:SMALL]
            data = replace(data, X_train=data.X_train[rows], y_train=data.y_train[rows])
        return data

    def _model(self, name: str) -> tv.Model:
        recipe = self.recipe(name)
        if (self.models_dir / f"{name}.tm").exists() and not self.quick:
            return tv.load(self.models_dir / f"{name}.tm")  # the data may not be needed
        data = self.data(recipe.data)
        folder = self.models_dir / data.name if self.quick else self.models_dir
        with all_cores() as n_jobs:
            return trained(name, recipe, data, folder, n_jobs=n_jobs)


def dense(rows: object) -> Bits:
    """Rows of an array or of a sparse matrix, as an array."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.uint8)
