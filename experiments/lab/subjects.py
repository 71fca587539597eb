"""Data, machines and networks by name, loaded or trained when first asked for.

In a smoke run the machines are small and learn from few rows; without a data folder the digits stand in, for
IMDB as even against odd ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from lab.arguments import Setting
from lab.back_image import N_TEST, N_TRAIN, load_back_image
from lab.machines import RECIPES, Bits, Trained, dense, small, trained
from lab.networks import NETWORK_RECIPES, TrainedNetwork, small_network, trained_network

_QUICK_ROWS = 2_000


class Subjects:
    """What an experiment is about; ``data("mnist")``, ``"imdb"`` or ``"back-image"``."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.data = cache(self._load)

    def machine(self, name: str) -> Trained:
        recipe = small(RECIPES[name]) if self.setting.quick else RECIPES[name]
        recipe = replace(recipe, rows=self._rows(recipe.data))
        return trained(name, recipe, lambda: self.data(recipe.data), self.setting.folder / "models")

    def network(self, name: str) -> TrainedNetwork:
        recipe = small_network(NETWORK_RECIPES[name]) if self.setting.quick else NETWORK_RECIPES[name]
        recipe = replace(recipe, rows=self._rows(recipe.data))
        return trained_network(name, recipe, lambda: self.data(recipe.data), self.setting.folder / "models")

    def write_inputs(self, name: str, X: Bits, y: NDArray[np.int64]) -> None:
        """Inputs where plans look for them."""
        np.savez_compressed(self.setting.folder / "inputs" / f"{name}.npz", X=X, y=y)

    def write_test_set(self, name: str) -> None:
        """The test set of a dataset, whole."""
        data = self.data(name)
        self.write_inputs(name, dense(data.X_test), data.y_test)

    def _rows(self, name: str) -> str:
        """Which rows are learnt from, in words."""
        quick = self.setting.quick
        if quick and self.setting.data_dir is None:
            return "digits"
        seed = f", seed {self.setting.seed}" if name == "back-image" else ""
        return f"{_QUICK_ROWS if quick else 'all'}{seed}"

    def _load(self, name: str) -> tv.Dataset:
        quick, data_dir = self.setting.quick, self.setting.data_dir
        if quick and data_dir is None:
            return _digits(parity=name == "imdb")
        if name == "back-image":
            sizes = (_QUICK_ROWS, _QUICK_ROWS) if quick else (N_TRAIN, N_TEST)
            return load_back_image(data_dir, seed=self.setting.seed, sizes=sizes)
        data = tv.load_dataset(name, data_dir=data_dir)
        if quick:
            data = replace(data, X_train=data.X_train[:_QUICK_ROWS], y_train=data.y_train[:_QUICK_ROWS])
        return data


def _digits(*, parity: bool) -> tv.Dataset:
    data = tv.load_dataset("digits")
    return replace(data, y_train=data.y_train % 2, y_test=data.y_test % 2) if parity else data
