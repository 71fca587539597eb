"""``tmverify import``: models from other programs' files. Nothing is ever unpickled."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options
from tmverify.cli.output import plain, show
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.subject import open_inputs
from tmverify.data import match_labels
from tmverify.errors import InvalidInputError
from tmverify.interop.clauses import from_clauses
from tmverify.interop.green import from_green
from tmverify.model import Label, Model

StateFile = Annotated[
    Path, typer.Argument(metavar="STATE.npz", help="A state saved by green-tsetlin.", show_default=False)
]
ClauseFile = Annotated[
    Path, typer.Argument(metavar="CLAUSES", help="A clause list, .json or .csv.", show_default=False)
]
OutFile = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="MODEL",
        help="The model file to write. Default: beside the source, ending in .tm, if it is not there yet.",
        show_default=False,
    ),
]
CheckedData = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DATA", help=f"Count what it gets right. {options.DATA_HELP}", show_default=False
    ),
]
Classes = Annotated[
    str | None,
    typer.Option("--classes", help="Labels of its classes, with commas between them.", show_default=False),
]
Names = Annotated[
    Path | None,
    typer.Option(
        "--feature-names", metavar="FILE", help="Names of its features, one a line.", show_default=False
    ),
]


def green(
    source: StateFile,
    output: OutFile = None,
    data: CheckedData = None,
    classes: Classes = None,
    feature_names: Names = None,
) -> None:
    """Read a state that green-tsetlin saved: tm.save_state("state.npz").

    Such a file holds clauses and weights alone: classes and features are named here, if at all.
    Nothing in it is unpickled, and green-tsetlin need not be installed.
    The file does not say what kind of machine it is from: it is read as a plain one, not as a convolutional
    or multi-label one.

    Example: [cyan]tmverify import green state.npz -o model.tm --data test.npz[/cyan]
    """
    target = _target(source, output, data, feature_names)
    model = from_green(source, classes=_labels(classes), feature_names=_names(feature_names))
    _finish(model, source, target, data)


def clauses(source: ClauseFile, output: OutFile = None, data: CheckedData = None) -> None:
    """Read a list of clauses and their votes, from any other trainer or written by hand.

    JSON, as [cyan]tmverify export model.tm -o rules.json[/cyan] writes it, or a table in CSV, one clause a
    line: docs/interop.md has both formats.

    Example: [cyan]tmverify import clauses rules.json -o model.tm[/cyan]
    """
    target = _target(source, output, data)
    _finish(from_clauses(source), source, target, data)


def _target(source: Path, output: Path | None, *others: Path | None) -> Path:
    if source.exists() and not source.is_file():
        raise InvalidInputError(f"{source}: not a regular file.")
    target = source.with_suffix(".tm") if output is None else output
    if output is None and target.exists() and target != source:
        raise InvalidInputError(f"{target} is there already: say where to write with -o MODEL.")
    check_target(target, "--output")
    check_apart([source, *others], [target], "The source, DATA, --feature-names and --output")
    return target


def _labels(text: str | None) -> list[Label] | None:
    if text is None:
        return None
    labels = [label.strip() for label in text.split(",")]
    if "" in labels:
        raise InvalidInputError(f"--classes must be labels with commas between them. Got {text!r} instead.")
    numbers = all(re.fullmatch(r"-?[0-9]{1,18}", label) for label in labels)
    return [int(label) for label in labels] if numbers else [*labels]


def _names(file: Path | None) -> list[str] | None:
    if file is None:
        return None
    if file.exists() and not file.is_file():
        raise InvalidInputError(f"--feature-names {file}: not a regular file.")
    try:
        names = file.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise InvalidInputError(f"--feature-names {file}: not text in UTF-8.") from None
    if "" in names:
        raise InvalidInputError(f"--feature-names {file}: line {names.index('') + 1} is empty.")
    return names


def _finish(model: Model, source: Path, target: Path, data: Path | None) -> None:
    right, known = None, True
    if data is not None:
        inputs = open_inputs(data, [model])
        labels = model.predict(inputs.X).tolist()
        if inputs.y is not None:
            wanted = match_labels(inputs.y, model.classes)
            right = sum(a == b for a, b in zip(labels, wanted, strict=True)), len(labels)
            known = bool(set(wanted) & set(model.classes))
    model.save(target)
    kind = "binary" if model.n_outputs == 1 else f"{model.n_outputs} classes"
    size = f"{model.n_features} features, {model.n_clauses} clauses, {kind}"
    show(f"wrote {plain(target)}: {plain(source.name)}, {size}")
    if right is not None:
        show(f"accuracy {right[0] / right[1]:.2%} on {right[1]} inputs of {plain(data)}")
        if not known:
            show(f"none of the labels in {plain(data)} is a class of the model: --classes names them")
    elif data is not None:
        show(f"{plain(data)} can be read by it, but has no labels to count")
