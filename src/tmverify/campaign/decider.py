"""The code of a deciding process: it keeps the models sent to it, and decides one task after another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tmverify.asking.answer import TaskAnswer, decide_task
from tmverify.asking.task import Task
from tmverify.bnn import BnnModel
from tmverify.engines.subprocesses.memory import at_most
from tmverify.model import Classifier, Model
from tmverify.properties.questions import PLANNED, ROBUSTNESS, Question

_MODELS_KEPT = 8
_models: dict[str, Classifier] = {}  # by content hash; the most recently used are last


def decide_sent(task: Task, models: Sequence[Classifier] | None) -> TaskAnswer | None:
    """Decide ``task`` within its memory limit; None if this process lacks a model that it is about.

    Code that is loaded and compiled once does not count towards the memory of a task.
    """
    for model in models or ():
        _models[model.content_hash] = model
    if not all(key in _models for key in task.models):
        return None
    about = [_models.pop(key) for key in dict.fromkeys(task.models)]
    _models.update((model.content_hash, model) for model in about)  # now the last to be dropped
    for key in tuple(_models)[:-_MODELS_KEPT]:
        del _models[key]
    with at_most(task.memory):
        return decide_task(task, [_models[key] for key in task.models])


@cache
def warm_up(engine: str, certified: bool) -> bool:
    """Ask every question once about tiny models, so that all code is loaded and compiled."""
    for n_outputs in (1, 3):
        tiny = Model.from_clauses(2, [[1], [2]], [[1, 1], [1, -1], [-1, 1]][:n_outputs])
        for question in PLANNED.values():
            for n_models in question.models:
                decide_task(_tiny_task(question, [tiny] * n_models, engine, certified), [tiny] * n_models)
    if engine != "paper":
        network = BnnModel.from_layers([([[1, 1], [1, -1]], [1, 1])], [[1, 1], [-1, 1]])
        decide_task(_tiny_task(ROBUSTNESS, [network], engine, certified), [network])
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
