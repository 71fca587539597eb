"""What came out of a training, as text or as JSON."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from tmverify.cli.documents import document
from tmverify.cli.output import STYLE, plain, show, show_json
from tmverify.cli.subject import OpenModel
from tmverify.cli.train_data import Examples
from tmverify.model import Model
from tmverify.properties.verdict import Status

_HASH_CHARS = 12
_MAX_CLASSES = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """A finished or interrupted training, its model written to ``output``."""

    examples: Examples
    model: Model
    output: Path
    test_file: Path | None
    checkpoint: Path | None
    settings: dict[str, Any]
    history: list[dict[str, Any]]
    epochs: int
    epochs_before: int
    seconds: float
    accuracy_train: float | None
    accuracy_test: float | None
    interrupted: bool


def announce(examples: Examples) -> None:
    """Say what there is to learn from."""
    held_out = f"{examples.n_test} test inputs" if examples.n_test else "no test inputs"
    n_features, n_classes = examples.X_train.shape[1], len(examples.classes)
    sizes = f"{len(examples.y_train)} training and {held_out}, {n_features} features, {n_classes} classes"
    show(Text().append(plain(examples.source), style="bold").append(f": {sizes}"))


def report(outcome: Outcome, *, as_json: bool) -> None:
    """Print the outcome."""
    if as_json:
        show_json(_document(outcome))
        return
    if outcome.interrupted:
        line = Text().append("INTERRUPTED", style=STYLE[Status.UNKNOWN])
        show(line.append(f"  {_interruption(outcome)}"))
    for name, value in _lines(outcome).items():
        show(Text().append(f"{name:>21}  ", style="cyan").append(plain(value)))
    if outcome.test_file is not None:
        files = shlex.join([str(outcome.output), str(outcome.test_file)])
        show(Text(f"now try: tmverify robustness {plain(files)} --epsilon 1 --n 20", style="dim"))


def _interruption(outcome: Outcome) -> str:
    done, wanted = outcome.epochs, outcome.settings["n_epochs"]
    saved = f"the model of {done} of {wanted} epochs was saved"
    return saved if outcome.checkpoint is None else f"{saved}; the same command goes on from there"


def _lines(outcome: Outcome) -> dict[str, str]:
    facts, examples = clause_facts(outcome.model), outcome.examples
    literals = facts["literals_per_clause"]
    accuracy = "not measured"
    if outcome.accuracy_train is not None:
        accuracy = f"{outcome.accuracy_train:.2%} of {len(examples.y_train)} training inputs"
    if outcome.accuracy_test is not None:
        accuracy += f", {outcome.accuracy_test:.2%} of {examples.n_test} test inputs"
    lines = {
        "epochs": _epochs(outcome),
        "accuracy": accuracy,
        "clauses": f"{outcome.model.n_clauses} ({_per_class(facts['clauses_per_class'])})",
        "literals per clause": f"{literals['mean']:.1f} mean, {literals['median']:g} median, "
        f"{literals['max']} max",
        "empty clauses": str(facts["empty_clauses"]),
        "contradictory clauses": str(facts["contradictory_clauses"]),
        "model": f"{outcome.output} (sha256 {outcome.model.content_hash[:_HASH_CHARS]}…)",
    }
    if outcome.test_file is not None:
        lines["test data"] = f"{outcome.test_file} ({examples.n_test} inputs)"
    return lines


def _epochs(outcome: Outcome) -> str:
    text = f"{outcome.epochs}, in {outcome.seconds:.1f} s"
    if outcome.epochs_before >= outcome.settings["n_epochs"]:
        text += f" (all of them before, from {outcome.checkpoint}; more only with a larger --epochs)"
    elif outcome.epochs_before:
        text += f" ({outcome.epochs_before} of them before, from {outcome.checkpoint})"
    if outcome.settings["early_stopping"]:
        measured = [line for line in outcome.history if line["accuracy"] is not None]
        if not measured:
            return text
        best = max(measured, key=lambda line: line["accuracy"])
        text += f"; the best, {best['epoch']}, was kept ({best['accuracy']:.2%} of the validation part)"
    return text


def _per_class(counts: dict[str, int]) -> str:
    if len(set(counts.values())) == 1:
        return f"{next(iter(counts.values()))} for each of {len(counts)} classes"
    listed = [f"{n} for {label}" for label, n in list(counts.items())[:_MAX_CLASSES]]
    return ", ".join(listed) + (", …" if len(counts) > _MAX_CLASSES else "")


def clause_facts(model: Model) -> dict[str, Any]:
    """What the clauses are like. Of two classes, a clause belongs to the one that it votes for."""
    lengths, weights = model.clauses.lengths, model.weights
    if model.n_outputs == 1:
        voters = [int((weights < 0).sum()), int((weights > 0).sum())]
    else:
        voters = (weights != 0).sum(axis=1).tolist()
    return {
        "clauses": model.n_clauses,
        "clauses_per_class": dict(zip(map(str, model.classes), voters, strict=True)),
        "literals_per_clause": {
            "mean": float(lengths.mean()),
            "median": float(np.median(lengths)),
            "max": int(lengths.max()),
        },
        "empty_clauses": int((lengths == 0).sum()),
        "contradictory_clauses": int(model.clauses.contradictory().sum()),
    }


def _document(outcome: Outcome) -> dict[str, Any]:
    examples = outcome.examples
    return {
        **document("train", [OpenModel(outcome.output, outcome.model)]),
        "data": {
            "source": examples.source,
            "train": len(examples.y_train),
            "test": examples.n_test,
            "features": examples.X_train.shape[1],
            "classes": list(outcome.model.classes),
        },
        "settings": outcome.settings,
        "epochs": outcome.epochs,
        "epochs_before": outcome.epochs_before,
        "seconds": outcome.seconds,
        "interrupted": outcome.interrupted,
        "accuracy": {"train": outcome.accuracy_train, "test": outcome.accuracy_test},
        **clause_facts(outcome.model),
        "test_file": None if outcome.test_file is None else str(outcome.test_file),
        "history": outcome.history,
    }
