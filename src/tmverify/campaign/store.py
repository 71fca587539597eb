"""Store: tasks and their answers in one SQLite file that any tool opens.

SQLite's write-ahead log makes each answer one transaction: a process that is killed at any moment leaves all
answers that were written before, and a file that opens. One run writes at a time (``locking``); any number
may read meanwhile. ``Store.writing`` is for runs, ``Store.reading`` for everybody else.

A store shows what its plans ask, by their titles: a plan that is run again under its title replaces what it
asked before. Answers stay for good, and serve every plan that asks the same.

A task is *due* if it has no answer; or an unknown one that was given less time or memory than is allowed now;
or if its certificate is wanted in a folder where it is not.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tmverify.bnn.either import Classifier
from tmverify.campaign.answers import MERGED, UNKNOWN, TaskAnswer, better
from tmverify.campaign.locking import holder
from tmverify.campaign.opening import to_read, to_write
from tmverify.campaign.records import (
    ASKED_COLUMNS,
    RESULT_COLUMNS,
    TASK_COLUMNS,
    asked_row,
    digest,
    model_row,
    read_answer,
    read_task,
    result_row,
    task_row,
)
from tmverify.campaign.tasks import Task
from tmverify.errors import StoreError
from tmverify.model import Label

_DAMAGE = (ValueError, TypeError, KeyError, IndexError, OverflowError, AttributeError)


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
        with to_write(Path(path)) as connection:
            yield cls(Path(path), connection)

    @classmethod
    @contextmanager
    def reading(cls, path: str | os.PathLike[str]) -> Iterator[Store]:
        """Open to look, also while a run is writing.

        Raises
        ------
        StoreError
        """
        with to_read(Path(path)) as connection:
            yield cls(Path(path), connection)

    @property
    def writer(self) -> int | None:
        """The process that is writing now, if any."""
        return holder(Path(os.path.realpath(self.path)))

    def plan(
        self, tasks: Sequence[Task], models: Iterable[tuple[str, Classifier]], *, title: str = ""
    ) -> None:
        """Make these what the plan of that title asks."""
        with self._database as database:
            database.executemany(
                f"INSERT OR REPLACE INTO model VALUES ({_marks(6)})",
                (model_row(name, model) for name, model in models),
            )
            database.executemany(
                f"INSERT OR IGNORE INTO input VALUES ({_marks(3)})",
                ((digest(task), task.n_features, task.bits) for task in tasks if task.bits is not None),
            )
            database.executemany(
                f"INSERT OR IGNORE INTO task VALUES ({_marks(TASK_COLUMNS)})", map(task_row, tasks)
            )
            database.execute("DELETE FROM asked WHERE plan = ?", (title,))
            database.executemany(
                f"INSERT INTO asked VALUES (?, ?, ?, {_marks(ASKED_COLUMNS)})",
                ((title, place, task.id, *asked_row(task)) for place, task in enumerate(tasks)),
            )
            database.execute(
                "DELETE FROM task WHERE id NOT IN (SELECT task FROM asked) "
                "AND id NOT IN (SELECT task FROM result)"
            )

    def due(
        self, tasks: Sequence[Task], *, retry_unknown: bool = False, certificates: Path | None = None
    ) -> list[Task]:
        """Those that are to be asked, each once."""
        rows = self._database.execute("SELECT task, status, timeout, memory, certificate, detail FROM result")
        known = {row[0]: row[1:] for row in rows}
        place = None if certificates is None else certificates.resolve()
        return [
            task
            for task in {task.id: task for task in tasks}.values()
            if task.id not in known
            or _worth_asking_again(task, known[task.id], retry_unknown)
            or (place is not None and _lacks_certificate(task, known[task.id], place))
        ]

    def keep(self, task: Task, answer: TaskAnswer) -> TaskAnswer:
        """Write an answer down, for good; returns what is known now, which may be more."""
        with self._database as database:
            row = database.execute("SELECT * FROM result WHERE task = ?", (task.id,)).fetchone()
            before = None if row is None else self._answer(row, task)
            kept = answer if before is None else better(before, answer)
            if kept is not before:
                values = result_row(kept, task.timeout, task.memory)
                database.execute(f"INSERT OR REPLACE INTO result VALUES ({_marks(RESULT_COLUMNS)})", values)
        return kept

    def answer(self, task: Task) -> TaskAnswer | None:
        """What is known of a task."""
        row = self._database.execute("SELECT * FROM result WHERE task = ?", (task.id,)).fetchone()
        return None if row is None else self._answer(row, task)

    def rows(self) -> Iterator[Row]:
        """What the plans ask, in their order, with the answers; what several ask alike comes once."""
        found = self._database.execute(
            "SELECT names, data, label, image, own, task.*, input.bits, result.* "
            "FROM asked JOIN task ON task.id = asked.task LEFT JOIN input ON input.digest = task.input "
            "LEFT JOIN result ON result.task = task.id ORDER BY asked.rowid"
        )
        seen = set()
        for row in found:
            asked, rest = row[:ASKED_COLUMNS], row[ASKED_COLUMNS:]
            try:
                task = read_task(rest[:TASK_COLUMNS], rest[TASK_COLUMNS], asked)
            except _DAMAGE as error:
                raise self._damaged(error) from None
            if (task.id, *asked) not in seen:
                seen.add((task.id, *asked))
                result = rest[TASK_COLUMNS + 1 :]
                yield Row(task, None if result[0] is None else self._answer(result, task))

    def models(self) -> dict[str, StoredModel]:
        """The models asked about, by hash."""
        rows = self._database.execute("SELECT * FROM model")
        try:
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
        except _DAMAGE as error:
            raise self._damaged(error) from None

    def _answer(self, row: Sequence[object], task: Task) -> TaskAnswer:
        try:
            return read_answer(row, task.n_features)
        except _DAMAGE as error:
            raise self._damaged(error) from None

    def _damaged(self, error: Exception) -> StoreError:
        return StoreError(f"{self.path}: the store is damaged, or another program wrote to it ({error}).")


def _marks(n: int) -> str:
    return ", ".join("?" * n)


def _worth_asking_again(task: Task, known: Sequence[Any], retry_unknown: bool) -> bool:
    status, timeout, memory, *_ = known
    if status != UNKNOWN:
        return False
    return retry_unknown or _more(task.timeout, timeout) or _more(task.memory, memory)


def _lacks_certificate(task: Task, known: Sequence[Any], wanted: Path) -> bool:
    """Whether a certificate was made, or could be, and is not where it is wanted."""
    status, _, _, certificate, detail = known
    if status == UNKNOWN or not task.certified:
        return False
    return (certificate is not None or detail == MERGED) and not (wanted / task.file_name).is_file()


def _more(now: float | None, before: float | None) -> bool:
    return before is not None and (now is None or now > before)
