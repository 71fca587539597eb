"""What came out of a training, as text or as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from tmverify.cli.output import STYLE, described, plain, show, show_facts, show_json
from tmverify.data import Dataset
from tmverify.model import Model
from tmverify.properties.verdict import Status

_HASH_CHARS = 12
_MAX_CLASSES = 20


@dataclass(slots=True, eq=False)
class Outcome:
    """A training and what has come out of it so far; ``reported`` are the parameters that are shown."""

    data: Dataset
    estimator: Any
    reported: Collection[str]
    output: Path
    checkpoint: Path | None
    epochs_before: int
    model: Model = field(init=False)
    test_file: Path | None = None
    seconds: float = 0.0
    accuracy_train: float | None = None
    accuracy_test: float | None = None
    interrupted: bool = False

    def save_model(self) -> None:
        """Write the model of the finished epochs, with the names of the features."""
        self.model = replace(self.estimator.model_, feature_names=self.data.feature_names)
        self.model.save(self.output)


def announce(data: Dataset) -> None:
    """Say what there is to learn from."""
    held_out = f"{len(data.y_test)} test inputs" if len(data.y_test) else "no test inputs"
    n_features, n_classes = data.X_train.shape[1], len(np.unique(data.y_train))
    sizes = f"{len(data.y_train)} training and {held_out}, {n_features} features, {n_classes} classes"
    show(Text().append(plain(data.name), style="bold").append(f": {sizes}"))


def report(outcome: Outcome, *, as_json: bool) -> None:
    """Print the outcome."""
    if as_json:
        show_json(_document(outcome))
        return
    if outcome.interrupted:
        line = Text().append("INTERRUPTED", style=STYLE[Status.UNKNOWN])
        done, wanted = outcome.estimator.n_epochs_, outcome.estimator.n_epochs
        line.append(f"  the model of {done} of {wanted} epochs was saved")
        show(line if outcome.checkpoint is None else line.append("; the same command goes on from there"))
    show_facts(_facts(outcome))
    if outcome.test_file is not None:
        files = shlex.join([str(outcome.output), str(outcome.test_file)])
        show(Text(f"now try: tmverify robustness {plain(files)} --epsilon 1 --n 20", style="dim"))


def _facts(outcome: Outcome) -> dict[str, object]:
    clauses, data = _clause_facts(outcome.model), outcome.data
    literals = clauses["literals_per_clause"]
    accuracy = "not measured"
    if outcome.accuracy_train is not None:
        accuracy = f"{outcome.accuracy_train:.2%} of {len(data.y_train)} training inputs"
    if outcome.accuracy_test is not None:
        accuracy += f", {outcome.accuracy_test:.2%} of {len(data.y_test)} test inputs"
    facts: dict[str, object] = {
        "epochs": _epochs(outcome),
        "accuracy": accuracy,
        "clauses": f"{outcome.model.n_clauses} ({_per_class(clauses['clauses_per_class'])})",
        "literals per clause": f"{literals['mean']:.1f} mean, {literals['median']:g} median, "
        f"{literals['max']} max",
        "empty clauses": clauses["empty_clauses"],
        "contradictory clauses": clauses["contradictory_clauses"],
        "model": f"{outcome.output} (sha256 {outcome.model.content_hash[:_HASH_CHARS]}…)",
    }
    if outcome.test_file is not None:
        facts["test data"] = f"{outcome.test_file} ({len(data.y_test)} inputs)"
    return facts


def _epochs(outcome: Outcome) -> str:
    estimator, before = outcome.estimator, outcome.epochs_before
    text = f"{estimator.n_epochs_}, in {outcome.seconds:.1f} s"
    if before >= estimator.n_epochs:
        text += f" (all of them before, from {outcome.checkpoint}; more only with a larger --epochs)"
    elif before:
        text += f" ({before} of them before, from {outcome.checkpoint})"
    measured = [line for line in estimator.history_ if line["accuracy"] is not None]
    if estimator.early_stopping and measured:
        best = max(measured, key=lambda line: line["accuracy"])
        text += f"; the best, {best['epoch']}, was kept ({best['accuracy']:.2%} of the validation part)"
    return text


def _per_class(counts: dict[str, int]) -> str:
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))} for each of {len(counts)} classes"
    listed = [f"{n} for {label}" for label, n in list(counts.items())[:_MAX_CLASSES]]
    return ", ".join(listed) + (", …" if len(counts) > _MAX_CLASSES else "")


def _clause_facts(model: Model) -> dict[str, Any]:
    """What the clauses are like. Of two classes, a clause belongs to the one that it votes for."""
    lengths, weights = model.clauses.lengths, model.weights
    if model.n_outputs == 1:
        voters = [int((weights < 0).sum()), int((weights > 0).sum())]
    else:
        voters = (weights != 0).sum(axis=1).tolist()
    literals = {"mean": float(lengths.mean()), "median": float(np.median(lengths)), "max": int(lengths.max())}
    return {
        "clauses": model.n_clauses,
        "clauses_per_class": dict(zip(map(str, model.classes), voters, strict=True)),
        "literals_per_clause": literals,
        "empty_clauses": int((lengths == 0).sum()),
        "contradictory_clauses": int(model.clauses.contradictory.sum()),
    }


def _document(outcome: Outcome) -> dict[str, Any]:
    data, parameters = outcome.data, outcome.estimator.get_params()
    return {
        **described("train", [outcome.output], [outcome.model]),
        "data": {
            "source": data.name,
            "train": len(data.y_train),
            "test": len(data.y_test),
            "features": data.X_train.shape[1],
            "classes": list(outcome.model.classes),
        },
        "settings": {name: value for name, value in parameters.items() if name in outcome.reported},
        "epochs": outcome.estimator.n_epochs_,
        "epochs_before": outcome.epochs_before,
        "seconds": outcome.seconds,
        "interrupted": outcome.interrupted,
        "accuracy": {"train": outcome.accuracy_train, "test": outcome.accuracy_test},
        **_clause_facts(outcome.model),
        "test_file": None if outcome.test_file is None else str(outcome.test_file),
        "history": outcome.estimator.history_,
    }
