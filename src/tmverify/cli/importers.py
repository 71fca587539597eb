"""``tmverify import``: models from other programs' files. Nothing is ever unpickled."""

from __future__ import annotations

import re
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tmverify.cli.options import DATA_HELP
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError

if TYPE_CHECKING:
    from tmverify.model import Label, Model

Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="MODEL",
        help="The model file to write. Default: beside the source, ending in .tm, if it is not there yet.",
    ),
]
Data = Annotated[Path | None, typer.Option(metavar="DATA", help=f"Count what it gets right. {DATA_HELP}")]


def green(
    source: Annotated[Path, typer.Argument(metavar="STATE.npz", help="A state saved by green-tsetlin.")],
    output: Output = None,
    data: Data = None,
    classes: Annotated[
        str | None, typer.Option(help="Labels of its classes, with commas between them.")
    ] = None,
    feature_names: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Names of its features, one a line.")
    ] = None,
) -> None:
    """Read a state that green-tsetlin saved: tm.save_state("state.npz").

    Such a file holds clauses and weights alone: classes and features are named here, if at all.
    Nothing in it is unpickled, and green-tsetlin need not be installed.
    The file does not say what kind of machine it is from: it is read as a plain one, not as a convolutional
    or multi-label one.

    Example: [cyan]tmverify import green state.npz -o model.tm --data test.npz[/cyan]
    """
    from tmverify.interop import from_green

    target = _target(source, output, data, feature_names)
    model = from_green(source, classes=_labels(classes), feature_names=_names(feature_names))
    _save(model, source, target, data)


def clauses(
    source: Annotated[Path, typer.Argument(metavar="CLAUSES", help="A clause list, .json or .csv.")],
    output: Output = None,
    data: Data = None,
) -> None:
    """Read a list of clauses and their votes, from any other trainer or written by hand.

    JSON, as [cyan]tmverify export model.tm -o rules.json[/cyan] writes it, or a table in CSV, one clause a
    line: docs/interop.md has both formats.

    Example: [cyan]tmverify import clauses rules.json -o model.tm[/cyan]
    """
    from tmverify.interop import from_clauses

    target = _target(source, output, data)
    _save(from_clauses(source), source, target, data)


def _target(source: Path, output: Path | None, *others: Path | None) -> Path:
    """The path to write the model to, checked."""
    if source.exists() and not source.is_file():
        raise InvalidInputError(f"{source}: not a regular file.")
    target = source.with_suffix(".tm") if output is None else output
    if output is None and target.exists() and target != source:
        raise InvalidInputError(f"{target} is there already: say where to write with -o MODEL.")
    check_target(target, "--output")
    check_apart([source, *others], [target], "The source, DATA, --feature-names and --output")
    return target


def _labels(text: str | None) -> list[Label] | None:
    """``--classes`` as integers if all of them are, else as text."""
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


def _save(model: Model, source: Path, target: Path, data: Path | None) -> None:
    """Write the model, and say what it is and how many of the labels in ``data`` it predicts."""
    from tmverify.asking.subject import open_inputs
    from tmverify.cli.output import plain, show, tell_of_rows
    from tmverify.data import match_labels

    inputs = None if data is None else open_inputs(data, [model])
    if data is not None and inputs is not None:
        tell_of_rows(data, inputs.ignored, inputs.notes)
    model.save(target)
    kind = "binary" if model.n_outputs == 1 else f"{model.n_outputs} classes"
    size = f"{model.n_features} features, {model.n_clauses} clauses, {kind}"
    show(f"wrote {plain(target)}: {plain(source.name)}, {size}")
    if inputs is None:
        return
    if inputs.y is None:
        show(f"{plain(data)} can be read by it, but has no labels to count")
        return
    expected = match_labels(inputs.y, model.classes)
    accuracy = sum(map(eq, model.predict(inputs.X).tolist(), expected)) / len(expected)
    show(f"accuracy {accuracy:.2%} on {len(expected)} inputs of {plain(data)}")
    if not set(expected) & set(model.classes):
        show(f"none of the labels in {plain(data)} is a class of the model: --classes names them")
