"""Tasks and answers as rows of the store's tables, and back.

What comes back is checked: a task must have the id that its content has, an answer must be one that could
have been given. What is not so raises ValueError or a relative, for the store to say that it is damaged.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from tmverify.bnn.either import Classifier
from tmverify.campaign.answers import EXACT, UNKNOWN, TaskAnswer
from tmverify.campaign.tasks import Task
from tmverify.model import Model
from tmverify.properties import Status, StopReason

TASK_COLUMNS = 12
ASKED_COLUMNS = 5  # without plan, position and task
RESULT_COLUMNS = 18


def digest(task: Task) -> str:
    """What an input is called in the store."""
    return sha256(f"{task.n_features}:".encode() + (task.bits or b"")).hexdigest()[:32]


def model_row(name: str, model: Classifier) -> tuple[Any, ...]:
    n_clauses = model.n_clauses if isinstance(model, Model) else 0
    names = _text(model.feature_names)
    return (model.content_hash, name, model.n_features, n_clauses, json.dumps(model.classes), names)


def task_row(task: Task) -> tuple[Any, ...]:
    return (
        task.id,
        task.question,
        json.dumps(task.models),
        task.n_features,
        task.index,
        None if task.bits is None else digest(task),
        task.epsilon,
        json.dumps(task.scope),
        task.mask,
        task.direction,
        task.engine,
        task.certified,
    )


def asked_row(task: Task) -> tuple[Any, ...]:
    return (json.dumps(task.names), task.data, _text(task.label), _text(task.image), task.own)


def read_task(task: Sequence[Any], bits: bytes | None, asked: Sequence[Any]) -> Task:
    """The task of a row of each table."""
    names, data, label, image, own = asked
    shape = None if image is None else json.loads(image)
    found = Task(
        question=task[1],
        models=tuple(json.loads(task[2])),
        n_features=task[3],
        index=task[4],
        epsilon=task[6],
        scope=json.loads(task[7]),
        mask=task[8],
        direction=task[9],
        engine=task[10],
        certified=bool(task[11]),
        bits=bits,
        names=tuple(json.loads(names)),
        data=data,
        label=None if label is None else json.loads(label),
        image=None if shape is None else (shape[0], shape[1]),
        own=bool(own),
    )
    if found.id != task[0]:
        raise ValueError(f"task {task[0]} is not what it was")
    return found


def result_row(answer: TaskAnswer, timeout: float | None, memory: int | None) -> tuple[Any, ...]:
    return (
        answer.task,
        answer.status,
        _bound(answer.lower),
        _bound(answer.upper),
        answer.witness,
        _text(answer.decisions),
        answer.seconds,
        answer.engine,
        answer.stop_reason,
        answer.detail,
        json.dumps(answer.trusts),
        json.dumps(answer.trusts_alone),
        answer.certificate_path,
        answer.attempts,
        json.dumps(dict(answer.versions)),
        timeout,
        memory,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def read_answer(row: Sequence[Any], n_features: int) -> TaskAnswer:
    """The answer of a row, if it is one."""
    decisions = None if row[5] is None else json.loads(row[5])
    first_and_second = None if decisions is None else (decisions[0], decisions[1])
    answer = TaskAnswer(
        task=row[0],
        status=row[1],
        lower=_bound(row[2]),
        upper=_bound(row[3]),
        witness=row[4],
        decisions=first_and_second,
        seconds=float(row[6]),
        engine=row[7],
        stop_reason=None if row[8] is None else StopReason(row[8]).value,
        detail=row[9],
        trusts=tuple(json.loads(row[10])),
        trusts_alone=tuple(json.loads(row[11])),
        certificate_path=row[12],
        attempts=row[13],
        versions=dict(json.loads(row[14])),
    )
    _check(answer, n_features)
    return answer


def _check(answer: TaskAnswer, n_features: int) -> None:
    has_witness = answer.witness is not None
    if answer.lower is None or answer.upper is None:
        fits = answer.status in tuple(Status) and has_witness == (answer.status == Status.VIOLATED.value)
    else:
        right = EXACT if answer.lower == answer.upper else UNKNOWN
        fits = answer.status == right and answer.lower <= answer.upper
        fits = fits and has_witness == (answer.upper != math.inf)
    whole = answer.witness is None or len(answer.witness) == (n_features + 7) // 8
    if not (fits and whole and math.isfinite(answer.seconds) and answer.seconds >= 0):
        raise ValueError(f"the answer to task {answer.task} is none that can be given")


def _bound(value: float | None) -> Any:
    """SQLite has an infinity: any tool shows it as Inf."""
    return value if value is None or value == math.inf else int(value)


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value)
