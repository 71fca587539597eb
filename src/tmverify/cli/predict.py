"""``tmverify predict``: a model's decision on each input."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tmverify.atomic import replacing
from tmverify.cli.options import AsJson, DataFile, IdColumn, ModelFile
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError, meant, shown, some

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tmverify.data import Inputs
    from tmverify.model import Classifier, Label

_MAX_ROWS = 20
_MAX_LABELS = 5


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
    from tmverify.cli.output import (
        counted,
        described,
        plain,
        print_note,
        show,
        show_json,
        table_of,
        tell_of_rows,
    )
    from tmverify.data import match_labels

    if output is not None:
        check_target(output, "--output", [".csv", ".npy"])
        check_apart([model, data], [output], "MODEL, DATA and --output")
        if scores and output.suffix.lower() == ".npy":
            raise InvalidInputError("--scores can't be written to a .npy file; choose --output FILE.csv.")
    (classifier,) = open_models([model])
    inputs = open_inputs(data, [classifier], id)
    tell_of_rows(data, inputs.ignored, inputs.notes)
    labels = classifier.predict(inputs.X).tolist()
    expected = None if inputs.y is None else match_labels(inputs.y, classifier.classes)
    known = [(said, label) for said, label in zip(labels, expected or (), strict=False) if label is not None]
    accuracy = sum(said == label for said, label in known) / len(known) if known else None
    lines = _lines(inputs, labels)
    for note in [] if inputs.y is None or expected is None else _strange(inputs.y, expected, classifier):
        print_note(f"{plain(data)}: {plain(note)}")
    if output is not None:
        _save(output, _with_scores(lines, classifier, inputs.X) if scores else lines)
    if as_json:
        predictions = [dict.fromkeys(("index", "line", "name")) | line for line in lines]
        if scores:
            for line, votes in zip(predictions, classifier.scores(inputs.X), strict=True):
                line["scores"] = votes
        found = {"inputs": len(labels), "labelled": len(known), "accuracy": accuracy}
        found["ignored_columns"] = inputs.ignored
        show_json({**described("predict", [model], [classifier]), **found, "predictions": predictions})
        return
    show(Text(f"predictions of {plain(model.name)}", style="bold"))
    first = lines[:_MAX_ROWS]
    show(table_of(_with_scores(first, classifier, inputs.X) if scores else first))
    if len(lines) > _MAX_ROWS:
        show(Text(f"… and {len(lines) - _MAX_ROWS} more", style="dim"))
    if accuracy is not None:
        label, n = Counter(label for _, label in known).most_common(1)[0]
        always = f"always {plain(label)}: {n / len(known):.2%}"
        unlabelled = "" if len(known) == len(lines) else f"; {len(lines) - len(known)} have no known label"
        show(f"accuracy {accuracy:.2%} on {counted(len(known))} ({always}){unlabelled}")
    elif expected is not None:
        show("accuracy unknown: no input has a label that is a class of the model")
    if output is not None:
        show(f"{counted(len(lines), 'prediction')} written to {plain(output)}")


def _strange(y: NDArray[Any], expected: Sequence[Label | None], model: Classifier) -> Iterator[str]:
    """A sentence for each label that is no class of the model, and for the rows without any."""
    from tmverify.cli.output import counted
    from tmverify.space.values import MISSING_NUMBERS, as_number, is_missing

    classes = [str(label) for label in model.classes]
    given = [str(label) for label, known in zip(y.tolist(), expected, strict=True) if known is None]
    counts = Counter(given)
    gaps = sum(
        counts.pop(label) for label in set(given) if is_missing(label) or label.lower() in MISSING_NUMBERS
    )
    for label, n in counts.most_common(_MAX_LABELS):
        near = meant(label, classes) if as_number(label) is None else None
        guess = f"is {shown(near)} meant?" if near is not None else f"they are {some(classes, _MAX_LABELS)}"
        yield f"the label {shown(label)}, of {counted(n)}, is no class of the model ({guess})"
    if len(counts) > _MAX_LABELS:
        yield f"… and {len(counts) - _MAX_LABELS} more such labels"
    if gaps:
        yield f"{counted(gaps)} {'has' if gaps == 1 else 'have'} no label"


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
