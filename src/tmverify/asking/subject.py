"""The subject of questions: models, rows of a data file, whose decision, what may change; and their tasks.

Commands and plans describe it in the same terms, which are read and checked here before any work starts.

``scope`` says whose decision is meant: that of the whole model (``team``), of one class's own machine (its
label), or for each input that of the machine of its own class (``own``). No class is called ``team`` (a model
refuses the name); if one is called ``own``, that scope is refused.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.asking.allowed import Typed, read_distance, read_rules
from tmverify.asking.bits import pack
from tmverify.asking.rules import KeptRules
from tmverify.asking.task import MOST_CHARS, Task
from tmverify.data import Inputs, load_inputs, match_labels
from tmverify.engines import engine_for
from tmverify.errors import DataFormatError, InvalidInputError, ModelFormatError, guess
from tmverify.model import Classifier, Label, Model
from tmverify.model.classifier import TEAM
from tmverify.model.file import load_classifier
from tmverify.model.names import named_first
from tmverify.properties.questions import DEFAULT_TIMEOUT, Question
from tmverify.properties.region import check_epsilon
from tmverify.properties.scope import comparable
from tmverify.space.parts import ABSENT

OWN = "own"
_MOST_SHOWN = 20
_DATA_FILES = (".csv", ".tsv", ".txt", ".npz", ".npy")
_RANGE = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?", re.ASCII)
_PIXEL = re.compile(r"pixel_(\d{1,5})_(\d{1,5})\b")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a row comes from, as far as it is known: its index, its line, its name, and its true class."""

    index: int | None
    line: int | None = None
    name: str | None = None
    label: Label | None = None

    @property
    def called(self) -> str:
        """What the row is called."""
        return self.name or (f"input {self.index}" if self.line is None else f"line {self.line}")

    def decided(self, decision: Label) -> str:
        """A decision in words, with whether the label says the same."""
        if self.label is None:
            return f"class {decision}"
        agrees = "as labelled" if self.label == decision else f"but labelled {self.label}"
        return f"class {decision}, {agrees}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """One or two models, the inputs asked about (``rows`` of the data file), and what may change.

    ``names`` and ``data`` are the names of the models and of the inputs, for people; ``inputs`` is the file.
    """

    names: tuple[str, ...]
    models: tuple[Classifier, ...]
    scopes: Sequence[Label]
    own: bool = False
    data: str = ""
    rows: Sequence[int | None] = (None,)
    X: NDArray[np.uint8] | None = None
    y: NDArray[Any] | None = None
    rules: KeptRules = KeptRules()  # noqa: RUF009 (it is frozen)
    image: tuple[int, int] | None = None
    inputs: Inputs | None = None

    @property
    def named(self) -> Classifier:
        """The model whose feature names are used."""
        return named_first(self.models)

    def tasks(
        self,
        question: Question,
        epsilons: Sequence[int] = (),
        *,
        margin: int = 0,
        engine: str = "auto",
        timeout: float | None = DEFAULT_TIMEOUT,
        memory: int | None = None,
        certified: bool = False,
        hints: NDArray[np.uint8] | None = None,
    ) -> list[Task]:
        """The question as tasks: one for each epsilon and input, or one about all possible inputs."""
        engine_for(engine, self.models[0])
        for epsilon in epsilons:
            check_epsilon(epsilon, self.models[0].n_features if self.rules.about_bits else None)
        if margin:
            self._check_margin(question, margin)
        return [
            Task(
                question=question.name,
                models=tuple(model.content_hash for model in self.models),
                names=self.names,
                n_features=self.models[0].n_features,
                index=index,
                **self._row(index),
                bits=None if self.X is None else pack(self.X[place]),
                data=self.data,
                label=None if self.y is None else self.y[place].item(),
                image=self.image,
                epsilon=epsilon,
                margin=margin,
                scope=self.scopes[place],
                rules=self.rules,
                engine=engine,
                timeout=timeout,
                memory=memory,
                certified=certified,
                own=self.own,
                hints=None if hints is None or not len(hints) else pack(hints),
            )
            for epsilon in epsilons or (None,)
            for place, index in enumerate(self.rows)
        ]

    def origins(self) -> list[Origin]:
        """Where each row comes from; its label only if that is a class of the model."""
        labels = [None] * len(self.rows) if self.y is None else match_labels(self.y, self.models[0].classes)
        lines = None if self.inputs is None else self.inputs.lines
        names = None if self.inputs is None else self.inputs.ids
        return [
            Origin(
                index,
                None if lines is None or index is None else lines[index],
                None if names is None or index is None else names[index],
                label,
            )
            for index, label in zip(self.rows, labels, strict=True)
        ]

    def _check_margin(self, question: Question, margin: int) -> None:
        """Raise InvalidInputError, before any work, if a decision can't stand by so many votes."""
        if not question.has_margin:
            raise InvalidInputError(f"{question.name} takes no margin.")
        rules = self.rules.rules(self.models[0].n_features)
        for place in {scope: place for place, scope in enumerate(self.scopes)}.values():
            x = None if self.X is None else self.X[place]
            question.query(self.models, x, epsilon=0, scope=self.scopes[place], allowed=rules, margin=margin)

    def _row(self, index: int | None) -> dict[str, Any]:
        """What a row of the file is for people: its line, its name, its cells."""
        if index is None or self.inputs is None:
            return {}
        lines, ids, raw = self.inputs.lines, self.inputs.ids, self.inputs.raw
        return {
            "line": None if lines is None else lines[index],
            "row_name": None if ids is None else ids[index][:MOST_CHARS],
            "raw": None if raw is None else tuple(cell[:MOST_CHARS] for cell in raw.cells[index]),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which inputs, whose decision and what may change, as given in a command or a plan.

    ``n`` rows are drawn by ``seed``, or all are taken; ``index`` chooses rows instead: "3", "0,7-9", and,
    where rows have names, a name.
    """

    n: int | None = None
    seed: int = 0
    index: str | None = None
    scope: str = TEAM
    allowed: Typed = Typed()  # noqa: RUF009 (it is frozen)
    image: tuple[int, int] | None = None


def about_inputs(
    names: tuple[str, ...],
    models: Sequence[Classifier],
    inputs: Inputs,
    chosen: Chosen,
    *,
    data: str = "",
) -> Subject:
    """The subject of a question about ``inputs``, read for these models and called ``data``.

    Raises
    ------
    InvalidInputError, DataFormatError
    """
    named = named_first(models)
    rows = _rows(inputs, chosen)
    X, y = inputs.X[rows], None if inputs.y is None else inputs.y[rows]
    rules = KeptRules.of(read_rules(named, chosen.allowed))
    if not rules.about_bits:
        _check_possible(named, inputs, X, rows)
    return Subject(
        names=names,
        models=tuple(models),
        scopes=_scopes(models[0], chosen.scope, X, y, rows),
        own=chosen.scope == OWN,
        data=data,
        rows=rows,
        X=X,
        y=y,
        rules=rules,
        image=chosen.image or image_of(named),
        inputs=inputs,
    )


def about_everything(
    names: tuple[str, ...], models: Sequence[Classifier], scope: str, distance: str = "columns"
) -> Subject:
    """The subject of a question about all possible inputs; with the distance "bits", about all bits."""
    rules = KeptRules.of(read_distance(named_first(models), distance))
    return Subject(names=names, models=tuple(models), scopes=[read_scope(models[0], scope)], rules=rules)


def open_models(paths: Sequence[Path]) -> tuple[Classifier, ...]:
    """Read one model, or two that can be compared."""
    models = tuple(map(_open_model, paths))
    if len(models) == 2:
        left, right = machines(paths, models)
        comparable(left, right, TEAM)
    return models


def _open_model(path: Path) -> Classifier:
    try:
        return load_classifier(path)
    except ModelFormatError as error:
        if path.suffix.lower() not in _DATA_FILES:
            raise
        raise ModelFormatError(f"{error} It looks like data: the model comes first, then the data.") from None


def open_inputs(path: Path, models: Sequence[Classifier], id_column: str | None = None) -> Inputs:
    """Read inputs for a model, or for two models that read the same."""
    return load_inputs(path, named_first(models), id_column=id_column)


def machines(paths: Iterable[Path | str], models: Iterable[Classifier]) -> tuple[Model, ...]:
    """The models, if all are Tsetlin machines; otherwise InvalidInputError."""
    found = []
    for path, model in zip(paths, models, strict=True):
        if not isinstance(model, Model):
            raise InvalidInputError(
                f"{path} is a binarized network; this is for Tsetlin machines. Networks can be "
                "asked about by robustness, radius, universal-robustness, predict and info."
            )
        found.append(model)
    return tuple(found)


def text_of(name: str | os.PathLike[str]) -> str:
    """A file's name as text; bytes that are not UTF-8 are shown escaped."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def image_of(model: Classifier) -> tuple[int, int] | None:
    """Rows and columns, if the space is an image, or the features are called ``pixel_0_0``, … row by row."""
    shape = model.space.image_shape
    if shape is not None:
        return (shape[0], shape[1]) if len(shape) == 2 else None
    places = [_PIXEL.match(name) for name in model.feature_names or ()]
    pixels = [(int(place[1]), int(place[2])) for place in places if place is not None]
    if not pixels or len(pixels) != len(places):
        return None
    rows, columns = (size + 1 for size in pixels[-1])
    return (rows, columns) if pixels == [(r, c) for r in range(rows) for c in range(columns)] else None


def read_scope(model: Classifier, text: str) -> Label:
    """``team``, or the class that ``text`` names."""
    if text == TEAM:
        return TEAM
    if not model.scopes:
        raise InvalidInputError(f"scope must be team for a {model.kind}. Got {text!r} instead.")
    for label in model.scopes:
        if str(label) == text:
            return label
    raise InvalidInputError(
        f"scope must be team or a class of the model ({_known(model)}). Got {text!r} instead."
        f"{guess(text, [TEAM, OWN, *map(str, model.classes)])}"
    )


def read_class(model: Classifier, text: str, option: str) -> Label:
    """The class that ``text``, given for ``option``, names."""
    for label in model.classes:
        if str(label) == text:
            return label
    raise InvalidInputError(
        f"{option} must be a class of the model ({_known(model)}). Got {text!r} instead."
        f"{guess(text, [*map(str, model.classes)])}"
    )


def draw(n_inputs: int, y: NDArray[Any] | None, n: int | None, seed: int) -> NDArray[np.int64]:
    """Rows to ask about, ascending: all of them, or ``n`` without repetition.

    With labels, each class gives equally many rows, up to one, or all its rows if it has fewer.

    Raises
    ------
    InvalidInputError
        If there are fewer than ``n`` inputs.
    """
    if n is None:
        return np.arange(n_inputs)
    if n > n_inputs:
        raise InvalidInputError(f"n must be at most the number of inputs, {n_inputs}. Got {n} instead.")
    rng = np.random.default_rng(seed)
    if y is None:
        return np.sort(rng.choice(n_inputs, n, replace=False))
    groups = [np.flatnonzero(y == label) for label in np.unique(y)]
    sizes = quotas([len(group) for group in groups], n)
    parts = [rng.choice(group, size, replace=False) for group, size in zip(groups, sizes, strict=True)]
    return np.sort(np.concatenate(parts))


def quotas(sizes: list[int], n: int) -> list[int]:
    """How many to take from each group, ``n`` in total: equal up to one, or all of a small group."""
    taken = [0] * len(sizes)
    remaining = n
    # The smallest group comes first: the larger ones share what it cannot give.
    for done, group in enumerate(sorted(range(len(sizes)), key=lambda g: sizes[g])):
        taken[group] = min(sizes[group], remaining // (len(sizes) - done))
        remaining -= taken[group]
    return taken


def _rows(inputs: Inputs, chosen: Chosen) -> list[int]:
    if chosen.index is None:
        drawn: list[int] = draw(len(inputs.X), inputs.y, chosen.n, chosen.seed).tolist()
        return drawn
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(inputs.ids or ()):
        places[name].append(place)
    parts = [chosen.index] if chosen.index in places else chosen.index.split(",")
    found = [row for part in parts for row in _indices(part.strip(), places, len(inputs.X))]
    return list(dict.fromkeys(found))


def _indices(text: str, places: Mapping[str, list[int]], n_inputs: int) -> Sequence[int]:
    """The rows that an index, a range of them, or a name means. What looks like a number is an index."""
    match = _RANGE.fullmatch(text)
    if text in places and (match is None or match[2] is not None):
        return places[text]
    if match is None:
        hint = guess(text, list(places)) if places else " For names, --id says which column has them."
        raise InvalidInputError(
            f"--index must be rows by index from 0, such as 7 or 0,3,10-19, or by name. Got {text!r} "
            f"instead.{hint}"
        )
    first, last = int(match[1]), int(match[2] or match[1])
    if max(first, last) >= n_inputs:
        raise InvalidInputError(
            f"--index must be below the number of inputs, {n_inputs}. Got {max(first, last)} instead."
        )
    if first > last:
        raise InvalidInputError(f"--index must have the lower end of a range first. Got {text!r} instead.")
    return range(first, last + 1)


def _check_possible(model: Classifier, inputs: Inputs, X: NDArray[np.uint8], rows: Sequence[int]) -> None:
    """Raise DataFormatError if an input is none that the model's columns can have."""
    wrong = np.flatnonzero(~model.space.possible(X))
    if not len(wrong):
        return
    place = int(wrong[0])
    column, said = next(
        (column.name, column.words(X[place]))
        for column in model.space.columns
        if column.part.value_indices(X[place : place + 1, column.bits.start : column.bits.stop])[0] == ABSENT
    )
    line = "" if inputs.lines is None else f" (line {inputs.lines[rows[place]]})"
    more = f", and {len(wrong) - 1} more are none either" if len(wrong) > 1 else ""
    raise DataFormatError(
        f"Input {rows[place]}{line} is no possible input: its column {column!r} is {said}{more}. "
        "--distance bits takes any bits."
    )


def _scopes(
    model: Classifier, scope: str, X: NDArray[np.uint8], y: NDArray[Any] | None, rows: Sequence[int]
) -> list[Label]:
    """Whose decision is asked about, for each of the inputs ``X``, which are ``rows`` of their file."""
    if scope != OWN or not model.scopes:
        return [read_scope(model, scope)] * len(rows)
    if OWN in model.classes:
        raise InvalidInputError("scope own is ambiguous: the model has a class of that name.")
    if y is None:
        predicted: list[Label] = model.predict(X).tolist()
        return predicted
    scopes: list[Label] = []
    for row, given, label in zip(rows, y.tolist(), match_labels(y, model.classes), strict=True):
        if label is None:
            raise DataFormatError(
                f"scope own needs labels that are classes of the model ({_known(model)}). "
                f"Input {row} has the label {given!r} instead."
            )
        scopes.append(label)
    return scopes


def _known(model: Classifier) -> str:
    more = ", …" if len(model.classes) > _MOST_SHOWN else ""
    return ", ".join(map(str, model.classes[:_MOST_SHOWN])) + more
