"""Store: tasks and their answers in one SQLite file that any tool opens.

SQLite's write-ahead log makes each answer one transaction: a process that is killed at any moment leaves all
answers that were written before, and a file that opens. One run writes at a time (``locking``); any number
may read meanwhile. ``Store.writing`` is for runs, ``Store.reading`` for everybody else.

A task is *due* if it has no answer, or an unknown one that was given less time or memory than is allowed now.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from tmverify.campaign.answers import UNKNOWN, TaskAnswer
from tmverify.campaign.locking import Lock, holder
from tmverify.campaign.schema import APPLICATION, TABLES, VERSION
from tmverify.campaign.tasks import Task
from tmverify.errors import StoreError
from tmverify.model import Label, Model

_WAIT = 30.0  # seconds for a reader's or a checkpoint's lock to go
Result = TypeVar("Result")


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
class Row:
    """A task and its answer, or None while it has none."""

    task: Task
    answer: TaskAnswer | None


class Store:
    """An open store. Use ``with Store.writing(path) as store`` or ``Store.reading(path)``."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._database = connection

    @classmethod
    @contextmanager
    def writing(cls, path: str | os.PathLike[str]) -> Iterator[Store]:
        """Open for a run, made if it is not there.

        Raises
        ------
        StoreError
            If it is another kind of file, or another run is writing to it.
        """
        place = Path(path)
        if not place.resolve().parent.is_dir():
            raise StoreError(f"{place}: there is no folder {place.resolve().parent}; make it first.")
        lock = Lock(Path(os.path.realpath(place)))
        try:
            with _connected(place, "rwc") as connection:
                _checked(place, lambda: _prepare(place, connection))
                yield cls(place, connection)
        finally:
            lock.release()

    @classmethod
    @contextmanager
    def reading(cls, path: str | os.PathLike[str]) -> Iterator[Store]:
        """Open to look, also while a run is writing.

        Raises
        ------
        StoreError
        """
        place = Path(path)
        if not place.is_file():
            raise StoreError(f"{place}: there is no such store.")
        # Not "ro": the log of a run that was killed may have to be played back first.
        with _connected(place, "rw" if os.access(place, os.W_OK) else "ro") as connection:
            _checked(place, lambda: _check_kind(place, connection))
            yield cls(place, connection)

    @property
    def writer(self) -> int | None:
        """The process that is writing now, if any."""
        return holder(Path(os.path.realpath(self.path)))

    def plan(self, tasks: Sequence[Task], models: Iterable[tuple[str, Model]]) -> None:
        """Make these the tasks of the store; of earlier ones, those stay that have an answer."""
        with self._database:
            self._database.execute("DELETE FROM task WHERE id NOT IN (SELECT task FROM result)")
            self._database.executemany(
                "INSERT OR REPLACE INTO model VALUES (?, ?, ?, ?, ?, ?)", map(_model_row, models)
            )
            asked = {digest(task): task for task in tasks if task.bits is not None}
            self._database.executemany(
                "INSERT OR IGNORE INTO input VALUES (?, ?, ?)",
                ((key, task.n_features, task.bits) for key, task in asked.items()),
            )
            older = self._database.execute("SELECT id FROM task ORDER BY position").fetchall()
            asked_now = {task.id for task in tasks}
            kept = [identity for (identity,) in older if identity not in asked_now]
            self._database.executemany("UPDATE task SET position = ? WHERE id = ?", enumerate(kept))
            self._database.executemany(
                f"INSERT INTO task VALUES ({', '.join('?' * 17)}) ON CONFLICT (id) DO UPDATE SET "
                "position = excluded.position, names = excluded.names, data = excluded.data, "
                "label = excluded.label, image = excluded.image",
                (_task_row(place, task) for place, task in enumerate(tasks, start=len(kept))),
            )

    def due(self, tasks: Sequence[Task], *, retry_unknown: bool = False) -> list[Task]:
        """Those that are to be asked, each once."""
        rows = self._database.execute("SELECT task, status, timeout, memory FROM result")
        known = {task: (status, timeout, memory) for task, status, timeout, memory in rows}
        return [
            task
            for task in {task.id: task for task in tasks}.values()
            if task.id not in known or _worth_asking_again(task, *known[task.id], retry_unknown)
        ]

    def keep(self, task: Task, answer: TaskAnswer) -> None:
        """Write an answer down, for good."""
        with self._database:
            self._database.execute(
                f"INSERT OR REPLACE INTO result VALUES ({', '.join('?' * 17)})", _result_row(task, answer)
            )

    def answer(self, task: Task) -> TaskAnswer | None:
        """What is known of a task."""
        row = self._database.execute("SELECT * FROM result WHERE task = ?", (task.id,)).fetchone()
        return None if row is None else _answer(row)

    def rows(self) -> Iterator[Row]:
        """All tasks in the order of their plans, with their answers."""
        found = self._database.execute(
            "SELECT task.*, input.bits, result.* FROM task LEFT JOIN input ON input.digest = task.input "
            "LEFT JOIN result ON result.task = task.id ORDER BY task.position"
        )
        for row in found:
            task, rest = _task(row[:18]), row[18:]
            yield Row(task, None if rest[0] is None else _answer(rest))

    def models(self) -> dict[str, StoredModel]:
        """The models asked about, by hash."""
        rows = self._database.execute("SELECT * FROM model")
        return {
            key: StoredModel(
                key,
                name,
                n_features,
                n_clauses,
                tuple(json.loads(classes)),
                None if names is None else tuple(json.loads(names)),
            )
            for key, name, n_features, n_clauses, classes, names in rows
        }


def digest(task: Task) -> str:
    """What an input is called in the store."""
    return sha256(f"{task.n_features}:".encode() + (task.bits or b"")).hexdigest()[:32]


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    address = f"file:{_quoted(path)}?mode={mode}"
    connection = _checked(path, lambda: sqlite3.connect(address, timeout=_WAIT, uri=True))
    try:
        yield connection
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}.") from None
    finally:
        connection.close()


def _quoted(path: Path) -> str:
    from urllib.parse import quote

    return quote(os.path.abspath(path))


def _checked(path: Path, step: Callable[[], Result]) -> Result:
    try:
        return step()
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: not a store of results, or damaged ({error}).") from None


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if n_tables or application:
        _check_kind(path, connection)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    if not n_tables:  # all of it or, if this is killed, nothing
        marks = f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION};"
        connection.executescript(f"BEGIN; {TABLES} {marks} COMMIT;")


def _check_kind(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(f"{path}: a database, but no store of tmverify's.")
    if number != VERSION:
        raise StoreError(f"{path}: a store of format {number}; this tmverify reads format {VERSION}.")


def _worth_asking_again(
    task: Task, status: str, timeout: float | None, memory: int | None, retry_unknown: bool
) -> bool:
    if status != UNKNOWN:
        return False
    return retry_unknown or _more(task.timeout, timeout) or _more(task.memory, memory)


def _more(now: float | None, before: float | None) -> bool:
    return before is not None and (now is None or now > before)


def _text(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _model_row(named: tuple[str, Model]) -> tuple[Any, ...]:
    name, model = named
    return (
        model.content_hash,
        name,
        model.n_features,
        model.n_clauses,
        json.dumps(list(model.classes)),
        _text(model.feature_names),
    )


def _task_row(position: int, task: Task) -> tuple[Any, ...]:
    return (
        task.id,
        position,
        task.question,
        json.dumps(task.models),
        json.dumps(task.names),
        task.n_features,
        task.index,
        None if task.bits is None else digest(task),
        task.data,
        _text(task.label),
        _text(task.image),
        task.epsilon,
        json.dumps(task.scope),
        task.mask,
        task.direction,
        task.engine,
        task.certified,
    )


def _task(row: Sequence[Any]) -> Task:
    label, image = (None if text is None else json.loads(text) for text in row[9:11])
    return Task(
        question=row[2],
        models=tuple(json.loads(row[3])),
        names=tuple(json.loads(row[4])),
        n_features=row[5],
        index=row[6],
        data=row[8],
        label=label,
        image=None if image is None else (image[0], image[1]),
        epsilon=row[11],
        scope=json.loads(row[12]),
        mask=row[13],
        direction=row[14],
        engine=row[15],
        certified=bool(row[16]),
        bits=row[17],
    )


def _result_row(task: Task, answer: TaskAnswer) -> tuple[Any, ...]:
    return (
        answer.task,
        answer.status,
        _stored_bound(answer.lower),
        _stored_bound(answer.upper),
        answer.witness,
        _text(answer.decisions),
        answer.seconds,
        answer.engine,
        answer.stop_reason,
        answer.detail,
        json.dumps(answer.trusts),
        answer.certificate_path,
        task.timeout,
        task.memory,
        answer.attempts,
        json.dumps(dict(answer.versions)),
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _answer(row: Sequence[Any]) -> TaskAnswer:
    decisions = None if row[5] is None else json.loads(row[5])
    return TaskAnswer(
        task=row[0],
        status=row[1],
        lower=_bound(row[2]),
        upper=_bound(row[3]),
        witness=row[4],
        decisions=None if decisions is None else (decisions[0], decisions[1]),
        seconds=row[6],
        engine=row[7],
        stop_reason=row[8],
        detail=row[9],
        trusts=tuple(json.loads(row[10])),
        certificate_path=row[11],
        attempts=row[14],
        versions=json.loads(row[15]),
    )


def _stored_bound(value: float | None) -> Any:
    """SQLite has an infinity: any tool shows it as Inf."""
    return value if value is None or value == math.inf else int(value)


def _bound(value: float | None) -> float | None:
    return value if value is None or value == math.inf else int(value)
