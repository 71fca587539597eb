"""``tmverify import``: models from other programs' files. Nothing is ever unpickled."""

from __future__ import annotations

import re
from pathlib import Path

from tmverify.cli.output import plain, show
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.subject import open_inputs
from tmverify.data import match_labels
from tmverify.errors import InvalidInputError
from tmverify.interop.clauses import from_clauses
from tmverify.interop.green import from_green
from tmverify.model import Label, Model


def import_green(
    source: Path, output: Path | None, data: Path | None, classes: str | None, feature_names: Path | None
) -> None:
    """Read a state of green-tsetlin, and write the model."""
    target = _target(source, output, data, feature_names)
    model = from_green(source, classes=_labels(classes), feature_names=_names(feature_names))
    _finish(model, source, target, data)


def import_clauses(source: Path, output: Path | None, data: Path | None) -> None:
    """Read a clause list, and write the model."""
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
