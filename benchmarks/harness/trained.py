"""The machines that verification is measured on: trained by our own trainer, once, and kept as files."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import tmverify as tv

BINARIZERS = {"mnist": "default", "imdb": "default"}


@dataclass(frozen=True)
class Recipe:
    data: str
    n_clauses: int
    threshold: int
    specificity: float
    epochs: int
    seed: int = 0


RECIPES = {
    "mnist-500": Recipe("mnist", 500, 25, 10.0, 100),
    "mnist-1000": Recipe("mnist", 1000, 25, 10.0, 60),
    "mnist-2000": Recipe("mnist", 2000, 50, 10.0, 60),
    "imdb-s20": Recipe("imdb", 1000, 1280, 20.0, 10),
    "imdb-s2-a": Recipe("imdb", 1000, 1280, 2.0, 10),
    "imdb-s2-b": Recipe("imdb", 1000, 1280, 2.0, 10, seed=1),
}


def trained(name: str, data: tv.Dataset, folder: Path) -> tv.Model:
    """The machine of that name, from ``folder`` or trained into it."""
    path = folder / f"{name}.tm"
    if path.exists():
        return tv.load(path)
    recipe = RECIPES[name]
    print(f"training {name}: {recipe}", flush=True)
    start = time.perf_counter()
    machine = tv.TsetlinMachineClassifier(
        n_clauses=recipe.n_clauses,
        threshold=recipe.threshold,
        specificity=recipe.specificity,
        n_epochs=recipe.epochs,
        n_jobs=2,
        random_state=recipe.seed,
    )
    folder.mkdir(parents=True, exist_ok=True)
    machine.fit(data.X_train, data.y_train, checkpoint=folder / f"{name}.checkpoint")
    accuracy = machine.score(data.X_test, data.y_test)
    print(f"{name}: {100 * accuracy:.2f} % in {time.perf_counter() - start:.0f} s", flush=True)
    machine.model_.save(path)
    return machine.model_
