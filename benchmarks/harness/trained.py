"""The machines that verification is measured on: trained by our own trainer, once, and kept as files."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import tmverify as tv


@dataclass(frozen=True)
class Recipe:
    """How a machine is trained, and what the paper's machine of that size reached."""

    data: str
    n_clauses: int
    threshold: int
    specificity: float
    epochs: int
    seed: int = 0
    boost: bool = False
    papers_accuracy: float | None = None


# Boosting true positives makes no difference to accuracy on MNIST after this many epochs, but some to IMDB.
RECIPES = {
    "mnist-500": Recipe("mnist", 500, 25, 10.0, 100, papers_accuracy=97.41),
    "mnist-1000": Recipe("mnist", 1000, 25, 10.0, 60, papers_accuracy=98.22),
    "mnist-2000": Recipe("mnist", 2000, 50, 10.0, 60, papers_accuracy=98.25),
    "imdb-s20": Recipe("imdb", 1000, 1280, 20.0, 10, boost=True, papers_accuracy=76.65),
    "imdb-s2-a": Recipe("imdb", 1000, 1280, 2.0, 10, boost=True, papers_accuracy=82.53),
    "imdb-s2-b": Recipe("imdb", 1000, 1280, 2.0, 10, seed=1, boost=True, papers_accuracy=82.53),
}
MNIST = tuple(name for name in RECIPES if name.startswith("mnist"))


def small(recipe: Recipe) -> Recipe:
    """The same for a smoke run: trained in a second or two."""
    threshold = max(10, recipe.threshold // 25)
    n_clauses = recipe.n_clauses // 25
    return replace(recipe, n_clauses=n_clauses, threshold=threshold, epochs=3, papers_accuracy=None)


def trained(name: str, recipe: Recipe, data: tv.Dataset, folder: Path, *, n_jobs: int) -> tv.Model:
    """The machine of that name, from ``folder`` or trained into it; a training that was stopped goes on."""
    path = folder / f"{name}.tm"
    if path.exists():
        return tv.load(path)
    print(f"training {name}: {recipe}", file=sys.stderr, flush=True)
    start = time.perf_counter()
    machine = tv.TsetlinMachineClassifier(
        n_clauses=recipe.n_clauses,
        threshold=recipe.threshold,
        specificity=recipe.specificity,
        n_epochs=recipe.epochs,
        boost_true_positive=recipe.boost,
        n_jobs=n_jobs,
        random_state=recipe.seed,
    )
    folder.mkdir(parents=True, exist_ok=True)
    machine.fit(data.X_train, data.y_train, checkpoint=folder / f"{name}.checkpoint")
    machine.model_.save(path)
    print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return machine.model_
