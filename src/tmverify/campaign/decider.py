"""Deciding one task: in this process, or in that of a worker, which keeps the models that it was sent."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from tmverify.bnn import BnnModel
from tmverify.bnn.either import Classifier
from tmverify.campaign.answers import TaskAnswer, answered, unanswered
from tmverify.campaign.tasks import Task, unpack
from tmverify.engines.subprocesses.memory import at_most
from tmverify.model import Model
from tmverify.properties import Radius, Status, StopReason, Verdict
from tmverify.properties.network import AnyQuery
from tmverify.properties.scope import check_model
from tmverify.verify import (
    check_equivalence,
    check_robustness,
    check_similarity,
    decide,
    nearest,
    robustness_radius,
)
from tmverify.verify.verdict import replay

_MODELS_KEPT = 8
_models: dict[str, Classifier] = {}  # by their hashes; those used last are last


def answer(task: Task, models: Sequence[Classifier]) -> TaskAnswer:
    """Decide ``task``; its seconds are those from the question to the answer, compiling it included."""
    start = time.perf_counter()
    found = _found(task, models)
    return answered(task, replace(found, seconds=time.perf_counter() - start))


def replayed(task: Task, answer: TaskAnswer, models: Mapping[str, Classifier]) -> TaskAnswer:
    """The answer, if its counterexample is one here too: it may have been found on another machine."""
    if answer.witness is None or replays(task.query([models[key] for key in task.models]), task, answer):
        return answer
    detail = "the counterexample of a worker does not replay here"
    return unanswered(task, StopReason.REJECTED, detail, answer.seconds)


def replays(query: AnyQuery, task: Task, answer: TaskAnswer) -> bool:
    """Whether the answer's witness and decisions, or that it has none, are what the answer says."""
    seen = None if answer.witness is None else replay(query, unpack(answer.witness, task.n_features))
    if answer.decisions != (None if seen is None else seen.decisions):
        return False
    if answer.upper is None:
        return (seen is not None) == (answer.status == Status.VIOLATED.value)
    return answer.upper == (math.inf if seen is None or seen.flips is None else len(seen.flips))


def decide_task(task: Task, models: Sequence[Classifier] | None) -> TaskAnswer | None:
    """Decide ``task`` within its memory; None if it is about models that this process has not been sent.

    What is loaded and compiled once is no part of a task's memory.
    """
    for model in models or ():
        _models[model.content_hash] = model
    if not all(key in _models for key in task.models):
        return None
    about = [_models.pop(key) for key in dict.fromkeys(task.models)]
    _models.update((model.content_hash, model) for model in about)  # now the last to go
    for key in tuple(_models)[:-_MODELS_KEPT]:
        del _models[key]
    with at_most(task.memory):
        return answer(task, [_models[key] for key in task.models])


def _found(task: Task, models: Sequence[Classifier]) -> Verdict | Radius:
    how: dict[str, Any] = {"timeout": task.timeout, "engine": task.engine, "certificate": task.certified}
    if task.question == "equivalence":
        left, right = (check_model(model, "model") for model in models)
        return check_equivalence(left, right, scope=task.scope, **how)
    if task.question == "radius":
        return nearest(task.query(models), **how)
    return decide(task.query(models), **how)


@cache
def warm_up(engine: str, certified: bool) -> bool:
    """Ask every question once about next to nothing: whatever is loaded or compiled at first use is then."""
    how: dict[str, Any] = {"engine": engine, "certificate": certified}
    for rows in ([[1, 1]], [[1, 1], [1, -1], [-1, 1]]):
        tiny = Model.from_clauses(2, [[1], [2]], rows)
        check_robustness(tiny, [0, 0], 1, **how)
        robustness_radius(tiny, [0, 0], **how)
        check_similarity(tiny, tiny, [0, 0], 1, **how)
        check_equivalence(tiny, tiny, **how)
    if engine != "paper":
        network = BnnModel.from_layers([([[1, 1], [1, -1]], [1, 1])], [[1, 1], [-1, 1]])
        check_robustness(network, [0, 0], 1, **how)
    return True
