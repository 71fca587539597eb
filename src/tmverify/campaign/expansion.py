"""From a plan to its tasks: models, inputs, epsilons and questions, the questions outermost.

Everything is read and checked here, before the first task runs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.either import Classifier, load_classifier
from tmverify.campaign.drawing import draw
from tmverify.campaign.features import read_features
from tmverify.campaign.plan import Ask, InputSet, Plan
from tmverify.campaign.scopes import OWN, TEAM, read_scope, scopes_for
from tmverify.campaign.tasks import Task, pack
from tmverify.data import Inputs, load_inputs
from tmverify.engines import engine_for
from tmverify.errors import PlanError, TmVerifyError
from tmverify.model.names import named_first
from tmverify.properties.region import Direction, check_epsilon
from tmverify.properties.scope import check_model, comparable

_NO_TITLE = "plan"
_PIXEL = re.compile(r"pixel_(\d{1,5})_(\d{1,5})\b")


@dataclass(slots=True)
class Campaign:
    """The tasks of a plan, and the models that they are about, by content hash."""

    title: str
    tasks: list[Task]
    models: dict[str, Classifier]
    names: dict[str, str] = field(default_factory=dict)
    certificates: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows of an input set that are asked about."""

    rows: NDArray[np.int64]
    X: NDArray[np.uint8]
    y: NDArray[Any] | None


def expand(plan: Plan) -> Campaign:
    """Open everything that ``plan`` names, and list its tasks.

    Raises
    ------
    PlanError, DataFormatError, ModelFormatError, OSError
    """
    models = {name: load_classifier(path) for name, path in plan.models.items()}
    inputs = {name: load_inputs(each.file) for name, each in plan.inputs.items()}
    tasks: list[Task] = []
    for place, ask in enumerate(plan.asks, start=1):
        try:
            tasks.extend(_tasks(plan, ask, models, inputs))
        except TmVerifyError as error:
            source = "" if plan.file is None else f"{plan.file}: "
            raise PlanError(f"{source}ask number {place} ({ask.question}): {error}") from None
    asked = {key for task in tasks for key in task.models}
    by_hash = {model.content_hash: (name, model) for name, model in models.items()}
    return Campaign(
        plan.title or _NO_TITLE,
        list(dict.fromkeys(tasks)),
        {key: by_hash[key][1] for key in asked},
        {key: by_hash[key][0] for key in asked},
        plan.certificates,
    )


def image_of(model: Classifier) -> tuple[int, int] | None:
    """Rows and columns, if the features are called ``pixel_0_0``, ``pixel_0_1 > 5.5``, … row by row."""
    places = [_PIXEL.match(name) for name in model.feature_names or ()]
    pixels = [(int(place[1]), int(place[2])) for place in places if place is not None]
    if not pixels or len(pixels) != len(places):
        return None
    rows, columns = (size + 1 for size in pixels[-1])
    return (rows, columns) if pixels == [(r, c) for r in range(rows) for c in range(columns)] else None


def _tasks(
    plan: Plan, ask: Ask, models: Mapping[str, Classifier], inputs: Mapping[str, Inputs]
) -> Iterator[Task]:
    for names in ask.models:
        chosen = [models[name] for name in names]
        engine_for(plan.engine, chosen[0])
        if len(chosen) == 2:
            left, right = (check_model(model, name) for model, name in zip(chosen, names, strict=True))
            comparable(left, right, TEAM)
        task = partial(
            Task,
            question=ask.question,
            models=tuple(model.content_hash for model in chosen),
            names=names,
            n_features=chosen[0].n_features,
            engine=plan.engine,
            timeout=plan.timeout,
            memory=plan.memory,
            certified=plan.certificates is not None,
        )
        if ask.question == "equivalence":
            yield task(scope=read_scope(chosen[0], ask.scope))
            continue
        for name in ask.inputs:
            yield from _about_inputs(task, ask, chosen, name, plan.inputs[name], inputs[name])


def _about_inputs(
    task: Any, ask: Ask, models: Sequence[Classifier], name: str, chosen: InputSet, inputs: Inputs
) -> Iterator[Task]:
    model, named = models[0], named_first(models)
    inputs = inputs.matched(named, chosen.file)
    for epsilon in ask.epsilons:
        check_epsilon(epsilon, model.n_features)
    if chosen.image is not None and math.prod(chosen.image) != model.n_features:
        raise PlanError(f"inputs.{name}.image {list(chosen.image)} has not {model.n_features} pixels.")
    rows = _rows(inputs, chosen)
    scopes = scopes_for(model, ask.scope, rows.X, rows.y, rows.rows.tolist())
    mask = read_features(named, ask.features)
    about = partial(
        task,
        data=name,
        own=ask.scope == OWN,
        image=chosen.image or image_of(named),
        mask=None if mask is None else pack(mask),
        direction=cast("Direction | None", ask.direction),
    )
    for within in ask.epsilons or (None,):
        for place, index in enumerate(rows.rows.tolist()):
            label = None if rows.y is None else rows.y[place].item()
            yield about(
                index=index, bits=pack(rows.X[place]), label=label, epsilon=within, scope=scopes[place]
            )


def _rows(inputs: Inputs, chosen: InputSet) -> _Rows:
    rows = draw(len(inputs.X), inputs.y, chosen.n, chosen.seed)
    return _Rows(rows, inputs.X[rows], None if inputs.y is None else inputs.y[rows])
