"""``tmverify predict``: a model's decision on each input."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from operator import eq
from pathlib import Path
from typing import Annotated, Any

import typer

from tmverify.atomic import replacing
from tmverify.cli.options import AsJson, DataFile, ModelFile
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError

_MAX_ROWS = 20


def predict(
    model: ModelFile,
    data: DataFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write all predictions: .csv, or .npy."),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Also the scores, before any clamp.")] = False,
    as_json: AsJson = False,
) -> None:
    """What the model says of each input, and how often it is right if the data has labels.

    Shows the first 20; -o and --json give them all.

    Example: [cyan]tmverify predict model.tm test.npz -o predictions.csv[/cyan]
    """
    from rich.text import Text

    from tmverify.asking.subject import open_inputs, open_models
    from tmverify.cli.output import described, plain, show, show_json, table_of
    from tmverify.data import match_labels

    if output is not None:
        check_target(output, "--output", [".csv", ".npy"])
        check_apart([model, data], [output], "MODEL, DATA and --output")
        if scores and output.suffix.lower() == ".npy":
            raise InvalidInputError("--scores can't be written to a .npy file; choose --output FILE.csv.")
    (classifier,) = open_models([model])
    inputs = open_inputs(data, [classifier])
    labels = classifier.predict(inputs.X).tolist()
    expected = None if inputs.y is None else match_labels(inputs.y, classifier.classes)
    accuracy = None if expected is None else sum(map(eq, labels, expected)) / len(labels)
    header, rows = ["index", "label"], [[i, label] for i, label in enumerate(labels)]
    predictions: list[dict[str, Any]] = [dict(zip(header, row, strict=True)) for row in rows]
    if scores:
        header += ["score"] if classifier.n_outputs == 1 else [f"score {c}" for c in classifier.classes]
        for row, prediction, votes in zip(rows, predictions, classifier.scores(inputs.X), strict=True):
            row += votes.tolist()
            prediction["scores"] = votes
    if output is not None:
        _save(output, header, rows)
    if as_json:
        found = {"inputs": len(labels), "accuracy": accuracy, "predictions": predictions}
        show_json({**described("predict", [model], [classifier]), **found})
        return
    show(Text(f"predictions of {plain(model.name)}", style="bold"))
    show(table_of([dict(zip(header, row, strict=True)) for row in rows[:_MAX_ROWS]]))
    if len(rows) > _MAX_ROWS:
        show(Text(f"… and {len(rows) - _MAX_ROWS} more", style="dim"))
    if accuracy is not None:
        show(f"accuracy {accuracy:.2%} on {len(rows)} inputs")
    if output is not None:
        show(f"{len(rows)} predictions written to {plain(output)}")


def _save(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Write all rows as a table, or the labels alone as an array."""
    import numpy as np

    with replacing(path) as draft:
        if path.suffix.lower() == ".npy":
            with open(draft, "xb") as binary:
                np.save(binary, np.array([label for _, label in rows]), allow_pickle=False)
            return
        with open(draft, "x", newline="", encoding="utf-8") as text:
            writer = csv.writer(text)
            writer.writerow(header)
            writer.writerows(rows)
