"""Deciding one task: in this process, or in that of a worker, which keeps the models that it was sent."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from tmverify.asking.answer import TaskAnswer, answered, unanswered
from tmverify.asking.task import Task, unpack, unpack_rows
from tmverify.bnn import BnnModel
from tmverify.engines.subprocesses.memory import at_most
from tmverify.model import Classifier, Model
from tmverify.properties import Status, StopReason
from tmverify.properties.query import AnyQuery
from tmverify.properties.questions import PLANNED, ROBUSTNESS, Question
from tmverify.verify import decide, nearest
from tmverify.verify.verdict import replay

_MODELS_KEPT = 8
_models: dict[str, Classifier] = {}  # by their hashes; those used last are last


def answer(task: Task, models: Sequence[Classifier]) -> TaskAnswer:
    """Decide ``task``; its seconds are those from the question to the answer, compiling it included."""
    start = time.perf_counter()
    query = task.query(models)
    if task.hints is not None and task.engine == "auto":
        query = replace(query, hints=unpack_rows(task.hints, task.n_features))  # type: ignore[call-arg]
    ask = nearest if task.asks.is_distance else decide
    found = ask(query, timeout=task.timeout, engine=task.engine, certificate=task.certified)
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


@cache
def warm_up(engine: str, certified: bool) -> bool:
    """Ask every question once about next to nothing: whatever is loaded or compiled at first use is then."""
    for n_outputs in (1, 3):
        tiny = Model.from_clauses(2, [[1], [2]], [[1, 1], [1, -1], [-1, 1]][:n_outputs])
        for question in PLANNED.values():
            for n_models in question.models:
                answer(_tiny_task(question, [tiny] * n_models, engine, certified), [tiny] * n_models)
    if engine != "paper":
        network = BnnModel.from_layers([([[1, 1], [1, -1]], [1, 1])], [[1, 1], [-1, 1]])
        answer(_tiny_task(ROBUSTNESS, [network], engine, certified), [network])
    return True


def _tiny_task(question: Question, models: Sequence[Classifier], engine: str, certified: bool) -> Task:
    return Task(
        question=question.name,
        models=tuple(model.content_hash for model in models),
        names=("tiny",) * len(models),
        n_features=2,
        index=0 if question.about_input else None,
        bits=bytes(1) if question.about_input else None,
        epsilon=1 if question.has_epsilon else None,
        engine=engine,
        certified=certified,
    )
