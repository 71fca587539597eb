"""Tallies: how many tasks are answered, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from tmverify.asking.answer import EXACT, UNKNOWN, Asked, TaskAnswer
from tmverify.asking.task import Task
from tmverify.properties import Status, StopReason


@dataclass(slots=True)
class Tally:
    """The answers to ``total`` tasks so far; ``seconds`` are those of the solved ones.

    ``failure`` is the error if a certificate could not be written; ``refused`` is how many earlier answers in
    the store were not believed.
    """

    total: int
    counts: Counter[str] = field(default_factory=Counter)
    timeouts: int = 0
    seconds: list[float] = field(default_factory=list, repr=False)
    failure: OSError | None = None
    refused: int = 0

    def add(self, answer: TaskAnswer | None) -> None:
        """Count one more answer; None, for a task without an answer, changes nothing."""
        if answer is not None:
            self.counts[answer.status] += 1
            self.timeouts += answer.stop_reason == StopReason.TIMEOUT
            if answer.solved:
                self.seconds.append(answer.seconds)

    @property
    def done(self) -> int:
        return self.solved + self.unknown

    @property
    def violated(self) -> int:
        return self.counts[Status.VIOLATED.value]

    @property
    def unknown(self) -> int:
        return self.counts[UNKNOWN]

    @property
    def solved(self) -> int:
        return self.positive + self.violated

    @property
    def positive(self) -> int:
        """How many are robust, similar or equivalent; or for radii, exact."""
        return self.counts[Status.HOLDS.value] + self.counts[EXACT]

    @property
    def complete(self) -> bool:
        return self.done == self.total

    @property
    def mean_seconds(self) -> float | None:
        return sum(self.seconds) / len(self.seconds) if self.seconds else None


def line_of(task: Task) -> Task:
    """The table line that a task belongs to: the task without all that differs from input to input.

    Everything else must be equal, or a figure would mix answers to different questions.
    """
    return replace(
        task,
        scope="own" if task.own else str(task.scope),
        index=None,
        line=None,
        row_name=None,
        raw=None,
        bits=None,
        label=None,
        image=None,
        timeout=None,
        memory=None,
        hints=None,
    )


def tally_of(rows: Sequence[Asked]) -> Tally:
    """The answers to all of these tasks."""
    tally = Tally(len(rows))
    for row in rows:
        tally.add(row.answer)
    return tally


def grouped(rows: Iterable[Asked]) -> dict[Task, Tally]:
    """A tally for each line, in the order of their first tasks."""
    lines: dict[Task, list[Asked]] = {}
    for row in rows:
        lines.setdefault(line_of(row.task), []).append(row)
    return {line: tally_of(found) for line, found in lines.items()}
