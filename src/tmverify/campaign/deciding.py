"""Deciding one task: in this process, or in the process of a worker that keeps the models it has read."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from tmverify.campaign.answers import TaskAnswer, answered
from tmverify.campaign.memory import at_most
from tmverify.campaign.tasks import Task
from tmverify.engines import prepare
from tmverify.errors import ModelError
from tmverify.model import Model
from tmverify.model.file import load
from tmverify.properties import Radius, Verdict
from tmverify.verify import check_equivalence, decide, nearest

SUFFIX = ".tm"
_MODELS_KEPT = 8


def answer(task: Task, models: Sequence[Model]) -> TaskAnswer:
    """Decide ``task``; its seconds are those from the question to the answer, compiling it included."""
    start = time.perf_counter()
    found = _found(task, models)
    return answered(task, replace(found, seconds=time.perf_counter() - start))


def answer_from_files(task: Task, folder: str) -> TaskAnswer:
    """Decide ``task`` within its memory, the models being files in ``folder`` named by their hashes.

    What is loaded and compiled once is no part of a task's memory.
    """
    prepare(task.engine)
    if task.question == "equivalence" and task.engine == "auto":
        from tmverify.engines.everywhere.warming import compile_kernels

        compile_kernels()
    models = [_model(folder, key) for key in task.models]
    with at_most(task.memory):
        return answer(task, models)


def write_models(models: Mapping[str, Model], folder: Path) -> None:
    """What ``answer_from_files`` reads."""
    for key, model in models.items():
        model.save(folder / f"{key}{SUFFIX}")


def _found(task: Task, models: Sequence[Model]) -> Verdict | Radius:
    how: dict[str, Any] = {"timeout": task.timeout, "engine": task.engine, "certificate": task.certified}
    if task.question == "equivalence":
        return check_equivalence(models[0], models[1], scope=task.scope, **how)
    if task.question == "radius":
        return nearest(task.query(models), **how)
    return decide(task.query(models), **how)


@lru_cache(maxsize=_MODELS_KEPT)
def _model(folder: str, key: str) -> Model:
    model = load(Path(folder) / f"{key}{SUFFIX}")
    if model.content_hash != key:
        raise ModelError(f"the model {key} arrived damaged")
    return model
