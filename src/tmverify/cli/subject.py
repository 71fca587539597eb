"""What is asked about: models, inputs and region, read and checked before any work starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tmverify.campaign.drawing import draw
from tmverify.campaign.features import read_features
from tmverify.campaign.scopes import TEAM, scopes_for
from tmverify.cli.output import plain
from tmverify.data import Inputs, load_inputs
from tmverify.errors import InvalidInputError
from tmverify.model import Classifier, Label, Model
from tmverify.model.load import load_classifier
from tmverify.model.names import named_first
from tmverify.properties.region import Direction, check_epsilon
from tmverify.properties.scope import comparable


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The options that say what is asked about, as typed."""

    models: tuple[Path, ...]
    data: Path
    n: int | None
    seed: int
    scope: str
    features: str | None
    direction: str | None


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model and where it came from."""

    path: Path
    model: Classifier


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subject:
    """One or two models, the inputs asked about (``rows`` of the file), and what may change."""

    wanted: Wanted
    opened: tuple[OpenModel, ...]
    rows: NDArray[np.int64]
    X: NDArray[np.uint8]
    y: NDArray[Any] | None
    scopes: Sequence[Label]
    features: NDArray[np.bool_] | None
    direction: Direction | None

    @property
    def models(self) -> tuple[Classifier, ...]:
        return tuple(each.model for each in self.opened)

    @property
    def named(self) -> Classifier:
        """The model whose names of features are used."""
        return named_first(self.models)

    @property
    def names(self) -> str:
        """The models' file names, to be shown."""
        return plain(" and ".join(each.path.name for each in self.opened))


def open_models(paths: Iterable[Path]) -> tuple[OpenModel, ...]:
    """Read one model, or two that can be compared."""
    opened = tuple(OpenModel(path, load_classifier(path)) for path in paths)
    if len(opened) == 2:
        left, right = machines(opened)
        comparable(left, right, TEAM)
    return opened


def machines(opened: Iterable[OpenModel]) -> tuple[Model, ...]:
    """The models, if they are Tsetlin machines all: for commands that are about these alone."""
    found = []
    for each in opened:
        if not isinstance(each.model, Model):
            raise InvalidInputError(
                f"{plain(each.path)} is a binarized network; this is for Tsetlin machines. Networks can be "
                "asked about by robustness, radius, universal-robustness, predict and info."
            )
        found.append(each.model)
    return tuple(found)


def open_inputs(path: Path, models: Sequence[Classifier]) -> Inputs:
    """Read the inputs as the model reads them, or two that can be compared."""
    return load_inputs(path).matched(named_first(models), path)


def open_subject(wanted: Wanted, epsilons: Iterable[int]) -> Subject:
    """Read and check everything that a question about inputs needs."""
    opened = open_models(wanted.models)
    model = opened[0].model
    inputs = open_inputs(wanted.data, [each.model for each in opened])
    for epsilon in epsilons:
        check_epsilon(epsilon, model.n_features)
    rows = draw(len(inputs.X), inputs.y, wanted.n, wanted.seed)
    return subject_of(opened, inputs, rows, wanted)


def subject_of(
    opened: tuple[OpenModel, ...], inputs: Inputs, rows: NDArray[np.int64], wanted: Wanted
) -> Subject:
    """What is asked about ``rows`` of ``inputs``."""
    model = opened[0].model
    X, y = inputs.X[rows], None if inputs.y is None else inputs.y[rows]
    return Subject(
        wanted=wanted,
        opened=opened,
        rows=rows,
        X=X,
        y=y,
        scopes=scopes_for(model, wanted.scope, X, y, rows.tolist()),
        features=read_features(named_first([each.model for each in opened]), wanted.features),
        direction=read_direction(wanted.direction),
    )


def read_direction(text: str | None) -> Direction | None:
    """``--direction``, checked."""
    if text not in (None, "add", "remove"):
        raise InvalidInputError(f"--direction must be add or remove. Got {text!r} instead.")
    return cast("Direction | None", text)
