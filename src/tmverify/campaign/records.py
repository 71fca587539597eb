"""Models, tasks and answers as rows of the store's tables, and back.

SQLite puts anything into any column. So reading looks at every value before it is used: what comes back has
the types that it should have, or ValueError says which column holds what. Whether it makes sense is for
``believing`` to say. Texts that are no UTF-8 come as bytes (``opening``), and so are no texts here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

from tmverify.campaign.answers import TaskAnswer
from tmverify.campaign.tasks import Task
from tmverify.errors import ModelError, shown
from tmverify.model import Classifier, Label
from tmverify.model.checks import check_classes, check_feature_names
from tmverify.model.clauses import MAX_CLAUSES, MAX_FEATURES

MODEL = ("hash", "name", "n_features", "n_clauses", "classes", "feature_names")
TASK = (
    "id", "question", "models", "n_features", '"index"', "input", "epsilon", "scope", "mask", "direction",
    "engine", "certified",
)  # fmt: skip
ASKED = ("names", "data", "label", "image", "own")  # without plan, position and task
RESULT = (
    "task", "status", "lower", "upper", "witness", "decisions", "seconds", "engine", "stop_reason", "detail",
    "trusts", "trusts_alone", "certificate", "attempts", "versions", "timeout", "memory", "finished",
)  # fmt: skip

_MOST = 1 << 17  # characters of a text; no label, name or path is as long
_MOST_NAMES = 1 << 28  # of all features together: a model file's header is at most a quarter of that


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a store knows of a model."""

    hash: str
    name: str
    n_features: int
    n_clauses: int
    classes: tuple[Label, ...]
    feature_names: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, and the limits within which it was found."""

    answer: TaskAnswer
    timeout: float | None
    memory: int | None


def digest(task: Task) -> str:
    """What an input is called in the store."""
    return sha256(f"{task.n_features}:".encode() + (task.bits or b"")).hexdigest()[:32]


def model_row(name: str, model: Classifier) -> tuple[Any, ...]:
    names = _json_or_none(model.feature_names)
    return (model.content_hash, name, model.n_features, model.n_clauses, json.dumps(model.classes), names)


def read_model(row: Sequence[object]) -> StoredModel:
    """The model of a row, if it describes one."""
    key, name, n_features, n_clauses, classes, names = row
    model = StoredModel(
        _text(key, "hash"),
        _text(name, "name"),
        _integer(n_features, "n_features"),
        _integer(n_clauses, "n_clauses"),
        _labels(classes, "classes"),
        None if names is None else _listed(_json(names, "feature_names", _MOST_NAMES), str, "feature_names"),
    )
    if not (1 <= model.n_features <= MAX_FEATURES and 0 <= model.n_clauses <= MAX_CLAUSES):
        raise ValueError(f"no model has {model.n_features} features and {model.n_clauses} clauses")
    try:
        check_classes(model.classes, max(2, len(model.classes)))
        if model.feature_names is not None:
            check_feature_names(model.feature_names, model.n_features)
    except ModelError as error:
        raise ValueError(str(error)) from None
    return model


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
    return (json.dumps(task.names), task.data, _json_or_none(task.label), _json_or_none(task.image), task.own)


def read_task(row: Sequence[object], bits: object, asked: Sequence[object]) -> Task:
    """The task of a row of each table; it must have the id that its content has."""
    key, question, models, n_features, index, _, epsilon, scope, mask, direction, engine, certified = row
    names, data, label, image, own = asked
    task = Task(
        question=_text(question, "question"),
        models=_texts(models, "models"),
        n_features=_integer(n_features, "n_features"),
        index=None if index is None else _integer(index, "index"),
        epsilon=None if epsilon is None else _integer(epsilon, "epsilon"),
        scope=_label(scope, "scope"),
        mask=None if mask is None else _bytes(mask, "mask"),
        direction=None if direction is None else _text(direction, "direction"),  # type: ignore[arg-type]
        engine=_text(engine, "engine"),
        certified=_flag(certified, "certified"),
        bits=None if bits is None else _bytes(bits, "input"),
        names=_texts(names, "names"),
        data=_text(data, "data"),
        label=None if label is None else _label(label, "label"),
        image=None if image is None else _image(image),
        own=_flag(own, "own"),
    )
    if task.id != key:
        raise ValueError(f"task {shown(key)} is not what it was")
    return task


def result_row(answer: TaskAnswer, timeout: float | None, memory: int | None) -> tuple[Any, ...]:
    return (
        answer.task,
        answer.status,
        _number(answer.lower),
        _number(answer.upper),
        answer.witness,
        _json_or_none(answer.decisions),
        answer.seconds,
        answer.engine,
        answer.stop_reason,
        answer.detail[:_MOST],
        json.dumps(answer.trusts),
        json.dumps(answer.trusts_alone),
        answer.certificate_path,
        answer.attempts,
        json.dumps(dict(answer.versions)),
        timeout,
        memory,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def read_kept(row: Sequence[object]) -> Kept:
    """The answer of a row."""
    key, status, lower, upper, witness, decisions, seconds, engine, stop_reason, detail, *rest = row
    trusts, trusts_alone, certificate, attempts, versions, timeout, memory, finished = rest
    datetime.fromisoformat(_text(finished, "finished"))
    answer = TaskAnswer(
        task=_text(key, "task"),
        status=_text(status, "status"),
        lower=_bound(lower, "lower"),
        upper=_bound(upper, "upper"),
        witness=None if witness is None else _bytes(witness, "witness"),
        decisions=None if decisions is None else _pair(decisions),
        seconds=_float(seconds, "seconds"),
        engine=_text(engine, "engine"),
        stop_reason=None if stop_reason is None else _text(stop_reason, "stop_reason"),
        detail=_text(detail, "detail"),
        trusts=_texts(trusts, "trusts"),
        trusts_alone=_texts(trusts_alone, "trusts_alone"),
        certificate_path=None if certificate is None else _text(certificate, "certificate"),
        attempts=_integer(attempts, "attempts"),
        versions=_versions(versions),
    )
    return Kept(
        answer,
        None if timeout is None else _limit(timeout, "timeout"),
        None if memory is None else int(_limit(memory, "memory")),
    )


def _bound(value: object, column: str) -> float | None:
    if value is None or isinstance(value, int):
        return value
    if value != math.inf:
        raise _wrong(column, value)
    return math.inf


def _limit(value: object, column: str) -> float:
    if not isinstance(value, int | float) or not 0 < value < math.inf:
        raise _wrong(column, value)
    return value


def _float(value: object, column: str) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise _wrong(column, value)
    return float(value)


def _integer(value: object, column: str) -> int:
    if type(value) is not int:
        raise _wrong(column, value)
    return value


def _flag(value: object, column: str) -> bool:
    if type(value) is not int or value not in (0, 1):
        raise _wrong(column, value)
    return bool(value)


def _text(value: object, column: str) -> str:
    if type(value) is not str or len(value) > _MOST:
        raise _wrong(column, value)
    return value


def _bytes(value: object, column: str) -> bytes:
    if type(value) is not bytes:
        raise _wrong(column, value)
    return value


@lru_cache(maxsize=1 << 8)  # names, hashes and trusts are mostly the same
def _texts(value: object, column: str) -> tuple[str, ...]:
    return _listed(_json(value, column), str, column)


def _labels(value: object, column: str) -> tuple[Label, ...]:
    found = _json(value, column, _MOST_NAMES)
    numbers = type(found) is list and found and type(found[0]) is int
    return _listed(found, int if numbers else str, column)


def _listed(found: Any, kind: type, column: str) -> tuple[Any, ...]:
    if type(found) is not list or not all(type(each) is kind for each in found):
        raise _wrong(column, found)
    return tuple(found)


def _label(value: object, column: str) -> Label:
    found = _json(value, column)
    if type(found) not in (int, str):
        raise _wrong(column, found)
    return found  # type: ignore[no-any-return]


def _pair(value: object) -> tuple[Label, Label]:
    found = _json(value, "decisions")
    if type(found) is not list or [type(each) for each in found] not in ([int, int], [str, str]):
        raise _wrong("decisions", found)
    return found[0], found[1]


def _image(value: object) -> tuple[int, int]:
    found = _json(value, "image")
    if type(found) is not list or [type(each) for each in found] != [int, int] or min(found) < 1:
        raise _wrong("image", found)
    return found[0], found[1]


def _versions(value: object) -> dict[str, str]:
    found = _json(value, "versions")
    if type(found) is not dict or not all(type(each) is str for each in found.values()):
        raise _wrong("versions", found)
    return dict(found)


def _json(value: object, column: str, most: int = _MOST) -> Any:
    """The value of a JSON text; not to be changed, since others may be given the same."""
    if type(value) is not str or len(value) > most:
        raise _wrong(column, value)
    try:
        return _parsed(value) if len(value) <= _MOST else json.loads(value)
    except (ValueError, RecursionError):
        raise _wrong(column, value) from None


_parsed = lru_cache(maxsize=1 << 8)(json.loads)


def _wrong(column: str, value: object) -> ValueError:
    return ValueError(f"its {column} can't be {shown(value)}")


def _number(value: float | None) -> Any:
    """SQLite has an infinity: any tool shows it as Inf."""
    return value if value is None or value == math.inf else int(value)


def _json_or_none(value: Any) -> str | None:
    return None if value is None else json.dumps(value)
