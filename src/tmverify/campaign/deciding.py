"""Deciding one task: in this process, or in the process of a worker that keeps the models it has read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tmverify.campaign.answers import TaskAnswer, answered
from tmverify.campaign.tasks import Task
from tmverify.errors import ModelError
from tmverify.model import Model
from tmverify.model.file import load
from tmverify.verify import decide
from tmverify.verify.radius import nearest

SUFFIX = ".tm"
_MODELS_KEPT = 8


def answer(task: Task, models: Sequence[Model]) -> TaskAnswer:
    """Decide ``task``."""
    query = task.query(models)
    solve = nearest if task.question == "radius" else decide
    return answered(task, solve(query, timeout=task.timeout, engine=task.engine, certificate=task.certified))


def answer_from_files(task: Task, folder: str) -> TaskAnswer:
    """Decide ``task``, the models being files in ``folder``, called by their content hashes."""
    return answer(task, [_model(folder, key) for key in task.models])


def write_models(models: Mapping[str, Model], folder: Path) -> None:
    """What ``answer_from_files`` reads."""
    for key, model in models.items():
        model.save(folder / f"{key}{SUFFIX}")


@lru_cache(maxsize=_MODELS_KEPT)
def _model(folder: str, key: str) -> Model:
    model = load(Path(folder) / f"{key}{SUFFIX}")
    if model.content_hash != key:
        raise ModelError(f"the model {key} arrived damaged")
    return model
