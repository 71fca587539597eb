"""From a plan to its tasks, by nested loops over questions (outermost), models, inputs and epsilons.

Everything is read and checked here, before the first task runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tmverify.asking.subject import Chosen, Subject, about_everything, about_inputs, machines, open_inputs
from tmverify.asking.task import Task
from tmverify.campaign.plan import Ask, InputSet, Plan
from tmverify.data import Inputs
from tmverify.errors import PlanError, TmVerifyError
from tmverify.model import Classifier
from tmverify.model.classifier import TEAM
from tmverify.model.file import load_classifier
from tmverify.model.names import named_first
from tmverify.properties.questions import QUESTIONS
from tmverify.properties.scope import comparable

_NO_TITLE = "plan"


@dataclass(slots=True)
class Campaign:
    """The tasks of a plan, and the models that they are about, by content hash.

    ``ignored`` are, for each file, the columns that no model reads, ``notes`` what a reader should know of
    its rows (``Inputs.notes``).
    """

    title: str
    tasks: list[Task]
    models: dict[str, Classifier]
    names: dict[str, str] = field(default_factory=dict)
    certificates: Path | None = None
    ignored: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    notes: dict[Path, tuple[str, ...]] = field(default_factory=dict)


def expand(plan: Plan) -> Campaign:
    """Open everything that ``plan`` names, and list its tasks.

    Raises
    ------
    PlanError, DataFormatError, ModelFormatError, OSError
    """
    models = {name: load_classifier(path) for name, path in plan.models.items()}
    inputs: dict[tuple[str, str], Inputs] = {}
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
        _ignored(plan, inputs),
        _notes(plan, inputs),
    )


def _ignored(plan: Plan, inputs: Mapping[tuple[str, str], Inputs]) -> dict[Path, tuple[str, ...]]:
    """For each file, the columns that none of the models reads."""
    found: dict[Path, tuple[str, ...]] = {}
    for (data, _), each in inputs.items():
        file = plan.inputs[data].file
        found[file] = tuple(name for name in found.get(file, each.ignored) if name in each.ignored)
    return {file: names for file, names in found.items() if names}


def _notes(plan: Plan, inputs: Mapping[tuple[str, str], Inputs]) -> dict[Path, tuple[str, ...]]:
    """For each file, what any of the models can't know of its rows."""
    found: dict[Path, tuple[str, ...]] = {}
    for (data, _), each in inputs.items():
        file = plan.inputs[data].file
        found[file] = tuple(dict.fromkeys((*found.get(file, ()), *each.notes)))
    return found


def _tasks(
    plan: Plan, ask: Ask, models: Mapping[str, Classifier], inputs: dict[tuple[str, str], Inputs]
) -> Iterator[Task]:
    question = QUESTIONS[ask.question]
    for names in ask.models:
        chosen = [models[name] for name in names]
        if len(chosen) == 2:
            left, right = machines(names, chosen)
            comparable(left, right, TEAM)
        subjects = (
            [_about(ask, names, chosen, name, plan.inputs[name], inputs) for name in ask.inputs]
            if question.about_input
            else [about_everything(names, chosen, ask.scope, ask.allowed.distance)]
        )
        for subject in subjects:
            yield from subject.tasks(
                question,
                ask.epsilons,
                margin=ask.margin,
                engine=plan.engine,
                timeout=plan.timeout,
                memory=plan.memory,
                certified=plan.certificates is not None,
            )


def _about(
    ask: Ask,
    names: tuple[str, ...],
    models: Sequence[Classifier],
    data: str,
    each: InputSet,
    inputs: dict[tuple[str, str], Inputs],
) -> Subject:
    """The subject of an ask; ``inputs`` keeps what was read, for each file and model."""
    key = data, named_first(models).content_hash
    if key not in inputs:
        inputs[key] = open_inputs(each.file, models, each.id)
    if each.image is not None and math.prod(each.image) != models[0].n_features:
        raise PlanError(f"inputs.{data}.image {list(each.image)} has not {models[0].n_features} pixels.")
    chosen = Chosen(
        n=each.n,
        seed=each.seed,
        scope=ask.scope,
        allowed=ask.allowed,
        image=each.image,
    )
    return about_inputs(names, models, inputs[key], chosen, data=data)
