"""What a model says of each input: ``tmverify predict``."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from rich.text import Text

from tmverify.atomic import replacing
from tmverify.cli.documents import document
from tmverify.cli.output import plain, show, show_json
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.subject import open_inputs, open_models
from tmverify.data import match_labels
from tmverify.errors import InvalidInputError
from tmverify.model import Classifier, Label

_MAX_ROWS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Labels of all inputs, their scores if asked for, and the share that is right if that is known."""

    labels: Sequence[Label]
    scores: NDArray[np.int64] | None
    score_names: Sequence[str]
    accuracy: float | None


def show_predictions(
    model: Path, data: Path, output: Path | None, *, with_scores: bool, as_json: bool
) -> None:
    """Predict every input; show the first ones, write or print all."""
    if output is not None:
        check_target(output, "--output", [".csv", ".npy"])
        check_apart([model, data], [output], "MODEL, DATA and --output")
        if with_scores and output.suffix.lower() == ".npy":
            raise InvalidInputError("--scores can't be written to a .npy file; choose --output FILE.csv.")
    opened = open_models((model,))
    inputs = open_inputs(data, [opened[0].model])
    result = _predict(opened[0].model, inputs.X, inputs.y, with_scores=with_scores)
    if output is not None:
        _save(output, result)
    if as_json:
        show_json({**document("predict", opened), **_json(result)})
    else:
        _report(result, plain(model.name), output)


def _predict(
    model: Classifier, X: NDArray[np.uint8], y: NDArray[Any] | None, *, with_scores: bool
) -> Predictions:
    labels: list[Label] = model.predict(X).tolist()
    accuracy = None
    if y is not None:
        right = sum(a == b for a, b in zip(labels, match_labels(y, model.classes), strict=True))
        accuracy = right / len(labels)
    names = ["score"] if model.n_outputs == 1 else [f"score {label}" for label in model.classes]
    return Predictions(labels, model.scores(X) if with_scores else None, names, accuracy)


def _rows(result: Predictions) -> list[list[Any]]:
    if result.scores is None:
        return [[i, label] for i, label in enumerate(result.labels)]
    return [
        [i, label, *row]
        for i, (label, row) in enumerate(zip(result.labels, result.scores.tolist(), strict=True))
    ]


def _headers(result: Predictions) -> list[str]:
    return ["index", "label", *([] if result.scores is None else result.score_names)]


def _report(result: Predictions, name: str, output: Path | None) -> None:
    table = Table()
    for header in _headers(result):
        table.add_column(Text(plain(header)), justify="right")
    rows = _rows(result)
    for row in rows[:_MAX_ROWS]:
        table.add_row(*(Text(plain(cell)) for cell in row))
    show(Text(f"predictions of {name}", style="bold"), table)
    if len(rows) > _MAX_ROWS:
        show(Text(f"… and {len(rows) - _MAX_ROWS} more", style="dim"))
    if result.accuracy is not None:
        show(f"accuracy {result.accuracy:.2%} on {len(rows)} inputs")
    if output is not None:
        show(f"{len(rows)} predictions written to {plain(output)}")


def _json(result: Predictions) -> dict[str, Any]:
    rows = [{"index": i, "label": label} for i, label in enumerate(result.labels)]
    if result.scores is not None:
        rows = [{**row, "scores": scores} for row, scores in zip(rows, result.scores.tolist(), strict=True)]
    return {"inputs": len(rows), "accuracy": result.accuracy, "predictions": rows}


def _save(path: Path, result: Predictions) -> None:
    with replacing(path) as draft:
        if path.suffix.lower() == ".npy":
            with open(draft, "xb") as binary:
                np.save(binary, np.array(result.labels), allow_pickle=False)
            return
        with open(draft, "x", newline="", encoding="utf-8") as text:
            writer = csv.writer(text)
            writer.writerow(_headers(result))
            writer.writerows(_rows(result))
