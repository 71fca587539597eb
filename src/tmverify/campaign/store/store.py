"""Store: tasks and their answers in one SQLite file that other tools can open.

SQLite's write-ahead log makes each answer one transaction: a process that is killed at any moment leaves all
answers that were written before, and a file that opens. One run writes at a time (``file``); any number
may read meanwhile. ``Store.writing`` is for runs, ``Store.reading`` for everything else.

A store lists the tasks of its plans, which are known by title: running a plan again under the same title
replaces its list. Answers are never deleted, and serve every plan that asks the same.

A row is believed only if its question could have this answer (``belief``). An answer that is not believed
counts as none, and its row says why; a task that is not believed is an error, since nobody knows what was
asked. Running the plan again repairs both.

A task is *due* if it has no answer that is believed; or if its answer is unknown and had less time or memory
than is allowed now; or if its certificate is wanted in a folder and is not there.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tmverify.asking.answer import MERGED, UNKNOWN, Asked, TaskAnswer, better, unanswered
from tmverify.asking.task import Task
from tmverify.campaign.store import tables
from tmverify.campaign.store.belief import check_answer, check_task
from tmverify.campaign.store.file import holder, to_read, to_write
from tmverify.campaign.store.tables import (
    ASKED,
    MODEL,
    RESULT,
    TASK,
    Column,
    Kept,
    StoredModel,
    digest,
    written,
)
from tmverify.errors import StoreError, shown
from tmverify.model import Classifier
from tmverify.properties import StopReason

NOT_BELIEVED = "not-believed"  # the stop reason, in tables, of an answer that is refused


class Store:
    """An open store. Use ``with Store.writing(path) as store`` or ``Store.reading(path)``."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._database = connection
        self._models: dict[str, StoredModel] = {}

    @classmethod
    @contextmanager
    def writing(cls, path: str | os.PathLike[str]) -> Iterator[Store]:
        """Open for a run; create the file if it does not exist.

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
        """Open for reading, also while a run is writing.

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
        """Make these the tasks of the plan of that title, and write or overwrite their descriptions."""
        self._models.clear()
        with self._database as database:
            for name, model in models:
                values = written(
                    MODEL, model, hash=model.content_hash, name=name, space=model.space.to_json()
                )
                self._write("model", [values])
            about_inputs = (task for task in tasks if task.bits is not None)
            self._write("input", ((digest(each), each.n_features, each.bits) for each in about_inputs))
            self._write("task", (tables.task_values(task) for task in tasks))
            database.execute("DELETE FROM asked WHERE plan = ?", (title,))
            asked = enumerate(tasks)
            self._write("asked", ((title, place, t.id, *written(ASKED, t)) for place, t in asked))
            database.execute(
                "DELETE FROM task WHERE id NOT IN (SELECT task FROM asked) "
                "AND id NOT IN (SELECT task FROM result)"
            )

    def due(
        self, tasks: Sequence[Task], *, retry_unknown: bool = False, certificates: Path | None = None
    ) -> list[Task]:
        """The tasks that are due, each once."""
        place = None if certificates is None else certificates.resolve()

        def is_due(task: Task) -> bool:
            result = self._result(task)
            try:
                known = None if result is None else self._believed(result, task)
            except ValueError:
                known = None
            return (
                known is None
                or _worth_asking_again(task, known, retry_unknown)
                or (place is not None and _lacks_certificate(task, known.answer, place))
            )

        return [task for task in {task.id: task for task in tasks}.values() if is_due(task)]

    def keep(self, task: Task, answer: TaskAnswer) -> TaskAnswer:
        """Write an answer, combined with the one before, and return the result.

        An answer that would not be believed when it is read is not written.
        """
        before = self.asked(task).answer
        kept = answer if before is None else better(before, answer)
        if kept is before:
            return kept
        values = tables.result_values(task, kept)
        try:
            self._believed(values, task)
        except ValueError as error:
            detail = f"{error}: a bug, please report it"
            kept = unanswered(task, StopReason.REJECTED, detail, max(0.0, answer.seconds))
            values = tables.result_values(task, kept)
        with self._database:
            self._write("result", [values])
        return kept

    def asked(self, task: Task) -> Asked:
        """A task, which may be in any plan, with its answer in the store."""
        return self._asked(task, self._result(task))

    def rows(self) -> Iterator[Asked]:
        """The tasks of all plans, in order, with their answers; one that several plans ask alike comes once.

        Raises
        ------
        StoreError
            If the store does not say what was asked.
        """
        columns = f"{_names(ASKED, 'asked.')}, {_names(TASK, 'task.')}, {_names(RESULT, 'result.')}"
        found = self._database.execute(
            f"SELECT asked.task, input.bits, {columns} FROM asked "
            "LEFT JOIN task ON task.id = asked.task LEFT JOIN input ON input.digest = task.input "
            "LEFT JOIN result ON result.task = task.id ORDER BY asked.rowid"
        )
        seen = set()
        for key, bits, *row in found:
            asked, rest = tuple(row[: len(ASKED)]), row[len(ASKED) :]
            task = self._task(key, rest[: len(TASK)], bits, asked)
            if (task.id, *asked) not in seen:
                seen.add((task.id, *asked))
                result = rest[len(TASK) :]
                yield self._asked(task, None if result[0] is None else result)

    @property
    def n_asked(self) -> int:
        """How many tasks all plans have together: at least as many as there are rows."""
        (n,) = self._database.execute("SELECT count(*) FROM asked").fetchone()
        return int(n)

    def subjects(self) -> set[tuple[str, ...]]:
        """The models, by hash, that tasks are about: one, or two that are compared."""
        (column,) = (column for column in TASK if column.name == "models")
        found = set()
        for (models,) in self._database.execute("SELECT DISTINCT models FROM task"):
            with suppress(ValueError):
                found.add(column.read(models))
        return found

    def models(self) -> dict[str, StoredModel]:
        """The models asked about, by hash, except those whose description in the store is not valid."""
        keys = [key for (key,) in self._database.execute("SELECT hash FROM model ORDER BY rowid")]
        found = {}
        for key in (key for key in keys if isinstance(key, str)):
            with suppress(ValueError):
                found[key] = self._model(key)
        return found

    def _write(self, table: str, rows: Iterable[Sequence[object]]) -> None:
        for values in rows:
            marks = ", ".join("?" for _ in values)
            self._database.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values)

    def _task(self, key: object, values: Sequence[object], bits: object, asked: Sequence[object]) -> Task:
        try:
            task = tables.read_task(values, bits, asked)
            check_task(task)
        except ValueError as error:
            raise StoreError(
                f"{self.path}: the store is damaged, or another program wrote to it: of task {shown(key)}, "
                f"{error}. Run the plan again that asks it: that writes it anew."
            ) from None
        return task

    def _result(self, task: Task) -> Sequence[object] | None:
        found = self._database.execute(f"SELECT {_names(RESULT)} FROM result WHERE task = ?", (task.id,))
        row: Sequence[object] | None = found.fetchone()
        return row

    def _asked(self, task: Task, result: Sequence[object] | None) -> Asked:
        if result is None:
            return Asked(task, None)
        try:
            return Asked(task, self._believed(result, task).answer)
        except ValueError as error:
            return Asked(task, None, str(error))

    def _believed(self, result: Sequence[object], task: Task) -> Kept:
        """The answer to ``task``; ValueError if ``task`` can't have this answer."""
        kept = tables.read_kept(result)
        check_answer(task, kept.answer, [self._model(key) for key in task.models])
        return kept

    def _model(self, key: str) -> StoredModel:
        """The description of a model in the store; ValueError if it is missing or not valid."""
        if key not in self._models:
            found = self._database.execute(f"SELECT {_names(MODEL)} FROM model WHERE hash = ?", (key,))
            values = found.fetchone()
            if values is None:
                raise ValueError(f"there is no model {key[:8]}")
            try:
                self._models[key] = tables.read_model(values)
            except ValueError as error:
                raise ValueError(f"of model {key[:8]}, {error}") from None
        return self._models[key]


def _names(columns: Sequence[Column], table: str = "") -> str:
    return ", ".join(f'{table}"{column.name}"' for column in columns)


def _worth_asking_again(task: Task, known: Kept, retry_unknown: bool) -> bool:
    if known.answer.status != UNKNOWN:
        return False
    hinted = task.hints is not None and task.engine == "auto"  # no other engine looks at hints
    helped = retry_unknown or hinted
    return helped or _more(task.timeout, known.timeout) or _more(task.memory, known.memory)


def _lacks_certificate(task: Task, known: TaskAnswer, wanted: Path) -> bool:
    """Whether a certificate was or could be made, but is not in the folder where it is wanted."""
    if known.status == UNKNOWN or not task.certified:
        return False
    written = known.certificate_path is not None or known.detail == MERGED
    return written and not (wanted / task.file_name).is_file()


def _more(now: float | None, before: float | None) -> bool:
    return before is not None and (now is None or now > before)
