"""The machines of the paper's tables: how each is trained, once, and what was measured while it was.

A machine ``name`` is two files in the models folder, ``name.tm`` (the model) and ``name.json`` (what training
it took and reached), and while it is being trained ``name.checkpoint``: a training that was stopped goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from tmverify.atomic import replacing
from tmverify.bnn import BnnModel

Bits = NDArray[np.uint8]
M = TypeVar("M", tv.Model, BnnModel)
R = TypeVar("R", bound=Any)  # a recipe, a dataclass
_BLOCK = 1_000  # rows of a sparse matrix that are made dense at a time


@dataclass(frozen=True)
class Recipe:
    """The paper's settings of a machine, and those that are ours; ``rows`` says what it learns from."""

    data: str
    n_clauses: int
    threshold: int
    specificity: float
    n_epochs: int
    seed: int = 0
    boost: bool = False
    weighted: bool = False
    rows: str = "all"


RECIPES = {
    "mnist-1": Recipe("mnist", 500, 25, 10.0, 400),
    "mnist-2": Recipe("mnist", 1000, 25, 10.0, 400),
    "mnist-3": Recipe("mnist", 2000, 50, 10.0, 400),
    "imdb-1": Recipe("imdb", 1000, 1280, 20.0, 25, boost=True),
    "imdb-2": Recipe("imdb", 1000, 1280, 2.0, 25, boost=True),
    "imdb-3": Recipe("imdb", 1000, 1280, 2.0, 25, seed=1, boost=True),
    # Without weights, 8,000 clauses of one vote each do not come near a threshold of 6,400.
    "mnist-large": Recipe("mnist", 8000, 6400, 5.0, 60, boost=True, weighted=True),
    "back-image": Recipe("back-image", 1000, 25, 10.0, 400),
}


@dataclass(frozen=True)
class Trained:
    """A machine, and what was measured when it was made."""

    name: str
    recipe: Recipe
    model: tv.Model
    path: Path
    seconds: float
    train_accuracy: float
    test_accuracy: float

    @property
    def literals(self) -> float:
        """Literals a clause, on average."""
        return float(np.mean([len(clause) for clause in self.model.clauses]))


def small(recipe: Recipe) -> Recipe:
    """The same for a smoke run: trained in a second or two."""
    threshold = max(10, recipe.threshold // 25)
    return replace(recipe, n_clauses=max(20, recipe.n_clauses // 25), threshold=threshold, n_epochs=3)


def trained(name: str, recipe: Recipe, data: Callable[[], tv.Dataset], folder: Path) -> Trained:
    """The machine of that name, from ``folder`` or trained into it."""
    path = folder / f"{name}.tm"
    model, measured = kept(path, recipe, data, _train, tv.load)
    return Trained(name, recipe, model, path, **measured)


def kept(
    path: Path,
    recipe: R,
    data: Callable[[], tv.Dataset],
    train: Callable[[R, tv.Dataset, Path], tuple[M, dict[str, float]]],
    load: Callable[[Path], M],
) -> tuple[M, dict[str, Any]]:
    """A model and what was measured when it was made; it is trained if ``path`` has no notes beside it.

    ``train`` returns a model and what it measured itself; accuracies are added here.
    """
    notes, plain = path.with_suffix(".json"), json.loads(json.dumps(asdict(recipe)))
    if not notes.exists():
        print(f"training {path.stem}: {recipe}", file=sys.stderr, flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        lesson = data()
        model, measured = train(recipe, lesson, path)
        if lesson.space is not None:
            model = replace(model, space=lesson.space)
        model.save(path)
        measured |= {
            "train_accuracy": accuracy(model, lesson.X_train, lesson.y_train),
            "test_accuracy": accuracy(model, lesson.X_test, lesson.y_test),
        }
        about = {"recipe": plain, **measured, "model": model.content_hash}
        with replacing(notes) as draft:
            draft.write_text(json.dumps(about, indent=2) + "\n")
        path.with_suffix(".checkpoint").unlink(missing_ok=True)
        print(f"{path.stem}: {about}", file=sys.stderr, flush=True)
    about, model = json.loads(notes.read_text()), load(path)
    if about.pop("recipe") != plain or about.pop("model") != model.content_hash:
        raise SystemExit(f"{notes} is about another model; remove it, or choose another --folder.")
    return model, about


def _train(recipe: Recipe, data: tv.Dataset, path: Path) -> tuple[tv.Model, dict[str, float]]:
    machine = tv.TsetlinMachineClassifier(
        n_clauses=recipe.n_clauses,
        threshold=recipe.threshold,
        specificity=recipe.specificity,
        n_epochs=recipe.n_epochs,
        boost_true_positive=recipe.boost,
        weighted=recipe.weighted,
        n_jobs=-1,
        random_state=recipe.seed,
        verbose=sys.stderr.isatty(),
    )
    machine.fit(data.X_train, data.y_train, checkpoint=path.with_suffix(".checkpoint"))
    return machine.model_, {"seconds": sum(line["seconds"] for line in machine.history_)}


def accuracy(model: tv.Model | BnnModel, X: Any, y: NDArray[np.int64]) -> float:
    """Per cent of the rows, dense or sparse, that are classified as labelled."""
    starts = range(0, len(y), _BLOCK)
    right = [model.predict(dense(X[i : i + _BLOCK])) == y[i : i + _BLOCK] for i in starts]
    return 100 * float(np.concatenate(right).mean())


def dense(rows: Any) -> Bits:
    """Rows of an array or of a sparse matrix, as an array."""
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.uint8)
