"""The tables of a store, and models, tasks and answers as their values.

``task`` holds all that an answer depends on, ``result`` the answer, ``asked`` which plan asks which task and
under which names of models and inputs, as several may ask the same. A result is written in one transaction.
``answers`` is a view of all this for people.

SQLite allows any value in any column. So every value is checked when it is read: it has the type of its
column, or ValueError names the column and the value. ``belief`` decides whether the values make sense
together. Texts that are not UTF-8 arrive as bytes (``file``), so they do not count as text.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple

from tmverify.asking.answer import TaskAnswer
from tmverify.asking.reason import KeptReason
from tmverify.asking.rules import KeptRules
from tmverify.asking.task import Task
from tmverify.errors import ModelError, shown
from tmverify.model import Label
from tmverify.model.checks import check_classes
from tmverify.model.clauses import MAX_CLAUSES, MAX_FEATURES
from tmverify.space import Space

APPLICATION = 0x746D7673  # "tmvs", in the header of the file
VERSION = 5
TABLES = """
CREATE TABLE model (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, n_features INTEGER NOT NULL, n_clauses INTEGER NOT NULL,
    classes TEXT NOT NULL, space TEXT
);
CREATE TABLE input (digest TEXT PRIMARY KEY, n_features INTEGER NOT NULL, bits BLOB NOT NULL);
CREATE TABLE task (
    id TEXT PRIMARY KEY, question TEXT NOT NULL, models TEXT NOT NULL, n_features INTEGER NOT NULL,
    "index" INTEGER, input TEXT REFERENCES input (digest), epsilon INTEGER, margin INTEGER NOT NULL,
    scope TEXT NOT NULL, rules TEXT, engine TEXT NOT NULL, certified INTEGER NOT NULL
);
CREATE TABLE asked (
    plan TEXT NOT NULL, position INTEGER NOT NULL, task TEXT NOT NULL REFERENCES task (id),
    names TEXT NOT NULL, data TEXT NOT NULL, label TEXT, image TEXT, own INTEGER NOT NULL,
    line INTEGER, row_name TEXT, raw TEXT,
    PRIMARY KEY (plan, position)
);
CREATE TABLE result (
    task TEXT PRIMARY KEY REFERENCES task (id),
    status TEXT NOT NULL CHECK (status IN ('holds', 'violated', 'exact', 'unknown')),
    lower INTEGER, upper INTEGER, witness BLOB, decisions TEXT, leads TEXT, seconds REAL NOT NULL,
    engine TEXT NOT NULL, stop_reason TEXT, detail TEXT NOT NULL, trusts TEXT NOT NULL,
    trusts_alone TEXT NOT NULL, certificate TEXT, attempts INTEGER NOT NULL,
    versions TEXT NOT NULL, reason TEXT, timeout REAL, memory INTEGER, finished TEXT NOT NULL
);
CREATE VIEW answers AS
    SELECT plan, task.id AS task, question, names AS models, data, "index", line, row_name, label, epsilon,
           margin, scope, rules, status, lower, upper, reason, seconds, result.engine, stop_reason, detail,
           certificate, models AS model_hashes, versions, finished
    FROM asked JOIN task ON task.id = asked.task JOIN result ON result.task = task.id ORDER BY asked.rowid;
"""

_MOST = 1 << 17  # characters of a text; no label, name or path is that long
_MOST_NAMES = 1 << 28  # characters of all feature names: a model file's header is at most a quarter of that


@dataclass(frozen=True, slots=True)
class StoredModel:
    """What a store knows of a model."""

    hash: str
    name: str
    n_features: int
    n_clauses: int
    classes: tuple[Label, ...]
    space: Space

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.space.bit_names if self.space.named else None


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer, and the limits within which it was found."""

    answer: TaskAnswer
    timeout: float | None
    memory: int | None


class _Kind(NamedTuple):
    """A kind of column: which values ``fits`` accepts, how ``makes`` converts one, whether it is JSON."""

    fits: Callable[[Any], bool]
    makes: Callable[[Any], Any] | None = None
    json: bool = False


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and math.isfinite(value)


def _all_are(kind: type, value: Any) -> bool:
    return type(value) is list and all(type(each) is kind for each in value)


def _are_labels(value: Any) -> bool:
    return _all_are(int, value) or _all_are(str, value)


_KINDS = {
    "anything": _Kind(lambda value: True),
    "text": _Kind(lambda value: type(value) is str and len(value) <= _MOST),
    "time": _Kind(lambda value: type(value) is str and len(value) <= _MOST, datetime.fromisoformat),
    "blob": _Kind(lambda value: type(value) is bytes),
    "integer": _Kind(lambda value: type(value) is int),
    "flag": _Kind(lambda value: type(value) is int and value in (0, 1), bool),
    "number": _Kind(_is_number, float),
    "limit": _Kind(lambda value: _is_number(value) and value > 0),
    # SQLite has infinity; tools show it as Inf.
    "bound": _Kind(lambda value: type(value) is int or value == math.inf),
    "texts": _Kind(lambda value: _all_are(str, value), tuple, json=True),
    "label": _Kind(lambda value: type(value) in (int, str), json=True),
    "labels": _Kind(_are_labels, tuple, json=True),
    "numbers": _Kind(lambda value: _all_are(int, value), tuple, json=True),
    "pair": _Kind(lambda value: _are_labels(value) and len(value) == 2, tuple, json=True),
    "size": _Kind(
        lambda value: _all_are(int, value) and len(value) == 2 and min(value) > 0, tuple, json=True
    ),
    "space": _Kind(lambda value: type(value) is dict, json=True),
    "rules": _Kind(lambda value: type(value) is dict, KeptRules.from_json, json=True),
    "reason": _Kind(lambda value: type(value) is dict, KeptReason.from_json, json=True),
    "versions": _Kind(
        lambda value: type(value) is dict and _all_are(str, [*value.values()]), dict, json=True
    ),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; ``null``: whether it may be empty."""

    name: str
    kind: _Kind
    null: bool = False

    def read(self, value: Any) -> Any:
        """The Python value for a value of the database, or ValueError."""
        if value is None and self.null:
            return None
        found = self._parsed(value) if self.kind.json else value
        if not self.kind.fits(found):
            raise self._wrong(found)
        return found if self.kind.makes is None else self.kind.makes(found)

    def written(self, value: Any) -> Any:
        return json.dumps(value) if self.kind.json and value is not None else value

    def _parsed(self, text: Any) -> Any:
        """The JSON value in a text. Callers must not change it, because it may be shared."""
        most = _MOST_NAMES if self.name in ("classes", "space", "raw", "rules", "reason") else _MOST
        if type(text) is not str or len(text) > most:
            raise self._wrong(text)
        try:
            return _loads(text) if len(text) <= _MOST else json.loads(text)
        except (ValueError, RecursionError):
            raise self._wrong(text) from None

    def _wrong(self, value: object) -> ValueError:
        return ValueError(f"its {self.name} can't be {shown(value)}")


_loads = lru_cache(maxsize=1 << 8)(json.loads)  # names, hashes and trusts are mostly repeated


def _columns(text: str) -> tuple[Column, ...]:
    """Names and kinds; those with a question mark may be empty."""
    pairs = (each.split() for each in text.split(","))
    return tuple(Column(name, _KINDS[kind.rstrip("?")], kind.endswith("?")) for name, kind in pairs)


MODEL = _columns("hash text, name text, n_features integer, n_clauses integer, classes labels, space space?")
# "input" is a digest, by which the bits are found; the bits are checked themselves.
TASK = _columns(
    "id text, question text, models texts, n_features integer, index integer?, input anything, "
    "epsilon integer?, margin integer, scope label, rules rules?, engine text, certified flag"
)
ASKED = _columns(
    "names texts, data text, label label?, image size?, own flag, line integer?, row_name text?, raw texts?"
)  # and plan, position, task
RESULT = _columns(
    "task text, status text, lower bound?, upper bound?, witness blob?, decisions pair?, leads numbers?, "
    "seconds number, engine text, stop_reason text?, detail text, trusts texts, trusts_alone texts, "
    "certificate text?, attempts integer, versions versions, reason reason?, timeout limit?, memory limit?, "
    "finished time"
)
(_BITS,) = _columns("input blob?")


def digest(task: Task) -> str | None:
    """The key of a task's input in the store; None if the task is about no input."""
    if task.bits is None:
        return None
    return sha256(f"{task.n_features}:".encode() + task.bits).hexdigest()[:32]


def written(columns: Sequence[Column], source: object, **more: Any) -> tuple[Any, ...]:
    """The values of the columns: those in ``more``, the others from attributes of ``source``."""
    values = (more[each.name] if each.name in more else getattr(source, each.name) for each in columns)
    return tuple(column.written(value) for column, value in zip(columns, values, strict=True))


def task_values(task: Task) -> tuple[Any, ...]:
    """The row of a task."""
    return written(TASK, task, input=digest(task), rules=task.rules.to_json())


def result_values(task: Task, answer: TaskAnswer) -> tuple[Any, ...]:
    """The row of an answer, with the limits that its task had."""
    return written(
        RESULT,
        answer,
        lower=_whole(answer.lower),
        upper=_whole(answer.upper),
        detail=answer.detail[:_MOST],
        certificate=answer.certificate_path,
        versions=dict(answer.versions),
        reason=None if answer.reason is None else answer.reason.to_json(),
        timeout=task.timeout,
        memory=task.memory,
        finished=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def read_model(values: Sequence[object]) -> StoredModel:
    """The model that the values describe; ValueError if they are not valid."""
    found = _read(MODEL, values)
    n_features, n_clauses = found["n_features"], found["n_clauses"]
    if not (1 <= n_features <= MAX_FEATURES and 0 <= n_clauses <= MAX_CLAUSES):
        raise ValueError(f"no model has {n_features} features and {n_clauses} clauses")
    try:
        check_classes(found["classes"], max(2, len(found["classes"])))
        found["space"] = Space.from_json(found["space"], n_features)
    except ModelError as error:
        raise ValueError(str(error)) from None
    return StoredModel(**found)


def read_task(values: Sequence[object], bits: object, asked: Sequence[object]) -> Task:
    """The task from its values in each table; the stored id must be that of its content."""
    found = _read(TASK, values) | _read(ASKED, asked)
    key, _, rules = found.pop("id"), found.pop("input"), found.pop("rules")
    task = Task(bits=_BITS.read(bits), rules=KeptRules() if rules is None else rules, **found)
    if task.id != key:
        raise ValueError(f"task {shown(key)} is not what it was")
    return task


def read_kept(values: Sequence[object]) -> Kept:
    """The answer that the values describe."""
    found = _read(RESULT, values)
    timeout, memory, _ = (found.pop(name) for name in ("timeout", "memory", "finished"))
    answer = TaskAnswer(certificate_path=found.pop("certificate"), **found)
    return Kept(answer, timeout, None if memory is None else int(memory))


def _read(columns: Sequence[Column], values: Sequence[object]) -> dict[str, Any]:
    return {column.name: column.read(value) for column, value in zip(columns, values, strict=True)}


def _whole(bound: float | None) -> float | None:
    return bound if bound is None or bound == math.inf else int(bound)
