"""``tmverify predict``: a model's decision on each input."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tmverify.atomic import replacing
from tmverify.cli.options import AsJson, DataFile, IdColumn, ModelFile
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tmverify.data import Inputs
    from tmverify.model import Classifier, Label

_MAX_ROWS = 20


def predict(
    model: ModelFile,
    data: DataFile,
    id: IdColumn = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write all predictions: .csv, or .npy."),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Also the scores, before any clamp.")] = False,
    as_json: AsJson = False,
) -> None:
    """What the model says of each input, and how often it is right if the data has labels.

    Shows the first 20; -o and --json give them all. A row is found by its index (from 0), its line in DATA
    and, with --id, its name. If DATA has labels, they are in the column expected.

    Example: [cyan]tmverify predict people.tm people.csv --id customer -o predictions.csv[/cyan]
    """
    from rich.text import Text

    from tmverify.asking.subject import open_inputs, open_models
    from tmverify.cli.output import described, plain, show, show_json, table_of, tell_ignored
    from tmverify.data import match_labels

    if output is not None:
        check_target(output, "--output", [".csv", ".npy"])
        check_apart([model, data], [output], "MODEL, DATA and --output")
        if scores and output.suffix.lower() == ".npy":
            raise InvalidInputError("--scores can't be written to a .npy file; choose --output FILE.csv.")
    (classifier,) = open_models([model])
    inputs = open_inputs(data, [classifier], id)
    tell_ignored(data, inputs)
    labels = classifier.predict(inputs.X).tolist()
    expected = None if inputs.y is None else match_labels(inputs.y, classifier.classes)
    accuracy = None if expected is None else sum(map(eq, labels, expected)) / len(labels)
    lines = _lines(inputs, labels)
    if output is not None:
        _save(output, _with_scores(lines, classifier, inputs.X) if scores else lines)
    if as_json:
        predictions = [dict.fromkeys(("index", "line", "name")) | line for line in lines]
        if scores:
            for line, votes in zip(predictions, classifier.scores(inputs.X), strict=True):
                line["scores"] = votes
        found = {"inputs": len(labels), "accuracy": accuracy, "ignored_columns": inputs.ignored}
        show_json({**described("predict", [model], [classifier]), **found, "predictions": predictions})
        return
    show(Text(f"predictions of {plain(model.name)}", style="bold"))
    shown = lines[:_MAX_ROWS]
    show(table_of(_with_scores(shown, classifier, inputs.X) if scores else shown))
    if len(lines) > _MAX_ROWS:
        show(Text(f"… and {len(lines) - _MAX_ROWS} more", style="dim"))
    if accuracy is not None:
        label, n = Counter(map(str, expected or ())).most_common(1)[0]
        show(f"accuracy {accuracy:.2%} on {len(lines)} inputs (always {plain(label)}: {n / len(lines):.2%})")
    if output is not None:
        show(f"{len(lines)} predictions written to {plain(output)}")


def _lines(inputs: Inputs, labels: Sequence[Label]) -> list[dict[str, Any]]:
    """For each input: index, line and name if they are known, the model's label, and the file's."""
    columns: dict[str, Sequence[Any]] = {"index": range(len(labels))}
    columns |= {} if inputs.lines is None else {"line": inputs.lines}
    columns |= {} if inputs.ids is None else {"name": inputs.ids}
    columns["label"] = labels
    columns |= {} if inputs.y is None else {"expected": inputs.y.tolist()}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def _with_scores(
    lines: Sequence[dict[str, Any]], model: Classifier, X: NDArray[np.uint8]
) -> list[dict[str, Any]]:
    """The lines with a column for each score."""
    header = ["score"] if model.n_outputs == 1 else [f"score {c}" for c in model.classes]
    scores = model.scores(X[: len(lines)]).tolist()
    return [
        {**line, **dict(zip(header, each, strict=True))} for line, each in zip(lines, scores, strict=True)
    ]


def _save(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write all lines as a table, or the labels alone as an array."""
    import numpy as np

    with replacing(path) as draft:
        if path.suffix.lower() == ".npy":
            with open(draft, "xb") as binary:
                np.save(binary, np.array([line["label"] for line in lines]), allow_pickle=False)
            return
        with open(draft, "x", newline="", encoding="utf-8") as text:
            writer = csv.DictWriter(text, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)
