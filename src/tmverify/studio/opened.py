"""Opened: the models and the rows that a studio shows, as they were named when it was started.

Two models that are compared read the same bits; the one that knows more of them says what they mean. That is
the *space* of the studio: columns and values are called as it calls them, whichever model is asked. So a
model that knows nothing of its bits is asked as if it knew (``OpenModel.asked``), and no question about it is
answered with an input that no row can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.asking.subject import image_of, open_inputs, open_models, text_of
from tmverify.data import Inputs, match_labels
from tmverify.errors import InvalidInputError
from tmverify.model import Classifier, Label, Model
from tmverify.model.inputs import input_rows
from tmverify.model.names import named_first, printable
from tmverify.properties.scope import check_model, comparable
from tmverify.space import Space

MOST_FEATURES = 1 << 16
"""A page draws that many; and a request with one input stays short."""


@dataclass(frozen=True, slots=True, eq=False)
class OpenModel:
    """A model of a studio.

    Attributes
    ----------
    file : str
        What its file is called, without folders.
    model : Model
        As it stands in the file.
    asked : Model
        The same clauses and votes, with the space of the studio: what questions are put to.
    which : {"", "first", "second"}
        Tells two files apart that are called the same.
    """

    file: str
    model: Model
    asked: Model
    which: str = ""

    @property
    def title(self) -> str:
        return (self.file.removesuffix(".tm") or self.file) + (f" ({self.which})" if self.which else "")

    @property
    def certifiable(self) -> bool:
        """Whether what is asked can be said of its file too: that it knows the same columns."""
        return self.model.space.only_flags == self.asked.space.only_flags


class Data:
    """The rows of a studio.

    Attributes
    ----------
    file : str
        What their file is called, without folders.
    inputs : Inputs
    labels : list of label or None
        The class of each row, if it has one that the models know.
    """

    def __init__(self, file: str, inputs: Inputs, models: Sequence[OpenModel]) -> None:
        self.file, self.inputs, self._models = file, inputs, models
        classes = models[0].model.classes
        y = inputs.y
        self.labels: Sequence[Label | None] = (
            [None] * len(inputs.X) if y is None else match_labels(y, classes)
        )

    def __len__(self) -> int:
        return len(self.inputs.X)

    @cached_property
    def decisions(self) -> tuple[tuple[Label, ...], ...]:
        """How each model decides each row."""
        return tuple(tuple(each.model.predict(self.inputs.X).tolist()) for each in self._models)

    @property
    def accuracy(self) -> float | None:
        """The share of labelled rows that the first model decides as labelled; None if no row is labelled."""
        known = [
            (own, said) for own, said in zip(self.labels, self.decisions[0], strict=True) if own is not None
        ]
        return sum(own == said for own, said in known) / len(known) if known else None

    def name(self, row: int) -> str | None:
        return None if self.inputs.ids is None else self.inputs.ids[row]

    def line(self, row: int) -> int | None:
        return None if self.inputs.lines is None else self.inputs.lines[row]

    def cells(self, row: int) -> dict[str, str] | None:
        """The cells of the user's file, by the names of the model's parts."""
        raw = self.inputs.raw
        return None if raw is None else dict(zip(raw.names, map(str, raw.cells[row]), strict=True))

    @cached_property
    def searched(self) -> tuple[str, ...]:
        """What can be searched in each row, in lower case: its name and its cells."""
        raw, ids = self.inputs.raw, self.inputs.ids
        found = []
        for row in range(len(self)):
            texts = [] if raw is None else [str(cell) for cell in raw.cells[row]]
            found.append("\n".join([*([] if ids is None else [ids[row]]), *texts]).lower())
        return tuple(found)


@dataclass(frozen=True, eq=False)
class Opened:
    """What a studio shows: one or two models, and perhaps rows."""

    models: tuple[OpenModel, ...]
    data: Data | None = None

    @property
    def named(self) -> Model:
        """A model with the space of the studio."""
        return self.models[0].asked

    @property
    def space(self) -> Space:
        return self.named.space

    @property
    def hashes(self) -> tuple[str, ...]:
        """The content hashes of the models."""
        return tuple(each.model.content_hash for each in self.models)

    @cached_property
    def image(self) -> tuple[int, ...] | None:
        """The shape of the picture, if an input is one."""
        return self.space.image_shape or image_of(self.named)

    @cached_property
    def start(self) -> NDArray[np.uint8]:
        """What is shown first: the first row, else the first value of every column."""
        if self.data is not None:
            first: NDArray[np.uint8] = self.data.inputs.X[0]
            return first
        blank = np.zeros(self.named.n_features, np.uint8)
        for place in self.space.wide_columns:
            column = self.space.columns[place]
            blank[column.bits.start : column.bits.stop] = column.part.patterns[0]
        return blank

    def impossible(self, bits: NDArray[np.uint8]) -> list[int]:
        """The columns, by number, whose bits are the pattern of no value."""
        if self.space.only_flags or self.space.possible(bits[None, :])[0]:
            return []
        columns = self.space.columns
        return [
            place
            for place in self.space.wide_columns
            if (own := columns[place]).part.value_indices(bits[None, own.bits.start : own.bits.stop])[0] < 0
        ]


def open_files(paths: Sequence[Path], data: Path | None = None, id_column: str | None = None) -> Opened:
    """Read one model file, or two that can be compared, and rows.

    Raises
    ------
    InvalidInputError, ModelFormatError, DataFormatError
    """
    models = _machines(paths)
    found = together([(_called(path), model) for path, model in zip(paths, models, strict=True)])
    if data is None:
        return Opened(found)
    known = [each.asked for each in found]
    return Opened(found, Data(_called(data), open_inputs(data, known, id_column), found))


def open_objects(models: Sequence[Any], rows: Any, labels: Any, id_column: str | None) -> Opened:
    """The same for models and rows that are already in memory; rows may be a path, too."""
    checked = [check_model(model, name) for model, name in zip(models, ("model", "against"), strict=False)]
    if len(checked) == 2:
        comparable(checked[0], checked[1], "team")
    found = together([(f"model{i + 1 if i else ''}.tm", model) for i, model in enumerate(checked)])
    if rows is None:
        return Opened(found)
    known = named_first([each.asked for each in found])
    if isinstance(rows, Path) or (isinstance(rows, str) and not known.space.is_text):
        path = Path(rows)
        inputs, name = open_inputs(path, [known], id_column), _called(path)
    else:
        bits = input_rows(rows, known, name="data")
        inputs, name = Inputs(bits, None if labels is None else np.asarray(labels)), "data"
    return Opened(found, Data(name, inputs, found))


def together(models: Sequence[tuple[str, Model]]) -> tuple[OpenModel, ...]:
    """Models by the names of their files, each with the space of the one that knows most.

    Raises
    ------
    InvalidInputError
        If one has more features than a page shows.
    """
    for name, model in models:
        if model.n_features > MOST_FEATURES:
            raise InvalidInputError(
                f"The studio shows models of up to {MOST_FEATURES:,} features. {name} has "
                f"{model.n_features:,}; the commands, such as tmverify radius and explain, take it."
            )
    space = named_first([model for _, model in models]).space
    which = ("first", "second") if len({name for name, _ in models}) < len(models) else ("", "")
    return tuple(
        OpenModel(name, model, model if model.space == space else replace(model, space=space), place)
        for (name, model), place in zip(models, which, strict=False)
    )


def _called(path: Path) -> str:
    """What a file is called, without folders, safe to print."""
    return printable(text_of(path.name))


def _machines(paths: Sequence[Path]) -> tuple[Model, ...]:
    """The models in these files, if all are Tsetlin machines."""
    opened: tuple[Classifier, ...] = open_models(paths)
    found = []
    for path, model in zip(paths, opened, strict=True):
        if not isinstance(model, Model):
            raise InvalidInputError(
                f"{path} is a {model.kind}. The studio shows Tsetlin machines: only these have clauses that "
                "can be read. tmverify radius and robustness ask about networks."
            )
        found.append(model)
    return tuple(found)
