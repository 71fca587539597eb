"""What the runners of recourse tools share: a table and its rows in, answers out.

A runner is ``python recourse_<tool>.py <job as JSON>``, in the environment of its tool. The job names a table
(``Table.write``), a model and the rows; each row makes one line of output, ``answers``: the seconds that
the tool's own call took, its answers as rows of the table, and of each whether the tool proved that nothing
nearer exists. Nothing is judged here: the benchmark does that, in another process.

Not timed: reading the table and the model, preparing the tool.
"""

from __future__ import annotations

import json
import platform
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from frame import emit
from recourse_table import Subject, Table


class Answer(NamedTuple):
    """A row that should be decided otherwise, as values of the table's columns."""

    values: list[Any]
    proved: bool = False


class OutOfTimeError(Exception):
    """A row took too long."""


@dataclass(frozen=True)
class Job:
    table: str
    model: str
    subject: str
    k: int
    limit: float  # seconds a row
    rows: int  # how many of those that are to be asked
    total: float  # seconds for all rows: those that do not fit are not asked
    seed: int = 0
    threads: int = 1
    options: dict[str, Any] = field(default_factory=dict)


Ask = Callable[[int], list[Answer]]
"""The answers for the row at a place of the table."""


def run(packages: tuple[str, ...], prepare: Callable[[Job, Table, Subject], Ask]) -> None:
    """Do the job named on the command line."""
    job = Job(**json.loads(sys.argv[1]))
    warnings.simplefilter("ignore")  # tools warn about rows that they can't answer; that is measured
    emit("start", versions={name: version(name) for name in packages}, python=platform.python_version())
    table = Table.read(job.table)
    subject = Subject(job.subject, job.model, table)
    subject.predict_proba(table.frame(table.rows[:1]))  # compiles
    ask = prepare(job, table, subject)
    begun = time.perf_counter()
    for row in table.ask[: job.rows]:
        if time.perf_counter() - begun > job.total:
            return
        answers: list[Answer] = []
        problem = None
        started = time.perf_counter()
        try:
            with time_limit(job.limit):
                answers = ask(row)
        except OutOfTimeError:
            problem = "time limit"
        except Exception as error:
            # Whatever a tool raises on a row is its answer to that row.
            problem = type(error).__name__
            print(f"row {row}: {error!r:.300}", file=sys.stderr)
        seconds = time.perf_counter() - started
        emit(
            "answers",
            row=row,
            seconds=seconds,
            problem=problem,
            answers=[[plain(value) for value in answer.values] for answer in answers],
            proved=[answer.proved for answer in answers],
        )


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTimeError in what runs inside, after so many seconds; compiled code ends its call first."""

    def stop(_signal: int, _frame: object) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, str | int | float) or value is None else str(value)
