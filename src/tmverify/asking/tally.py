"""Tallies: how many tasks are answered, and how."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tmverify.asking.answer import EXACT, UNKNOWN, Asked, TaskAnswer
from tmverify.asking.task import Task
from tmverify.properties import Status, StopReason
from tmverify.properties.questions import QUESTIONS, Question


@dataclass(slots=True)
class Tally:
    """The answers to ``total`` tasks so far; ``seconds`` are those of the solved ones.

    ``failure`` is why a certificate could not be written, if one could not; ``refused`` is how many answers
    the store had before that were not believed.
    """

    total: int
    counts: Counter[str] = field(default_factory=Counter)
    timeouts: int = 0
    seconds: list[float] = field(default_factory=list, repr=False)
    failure: OSError | None = None
    refused: int = 0

    def add(self, answer: TaskAnswer | None) -> None:
        """One answer more; None: not answered."""
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
        """Robust, similar, equivalent; or of radii, exact."""
        return self.counts[Status.HOLDS.value] + self.counts[EXACT]

    @property
    def complete(self) -> bool:
        return self.done == self.total

    @property
    def mean_seconds(self) -> float | None:
        return sum(self.seconds) / len(self.seconds) if self.seconds else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What the tasks of a line in a table have in common: all of it, lest a figure be about nothing."""

    question: str
    names: tuple[str, ...]
    data: str
    scope: str
    epsilon: int | None
    models: tuple[str, ...]
    direction: str | None
    mask: bytes | None
    engine: str
    certified: bool

    @property
    def asks(self) -> Question:
        """What was asked."""
        return QUESTIONS[self.question]

    @property
    def adjective(self) -> str:
        """What an input is that counts as ``positive``."""
        return self.asks.adjective


def group_of(task: Task) -> Group:
    """The group that a task belongs to."""
    return Group(
        question=task.question,
        names=task.names,
        data=task.data,
        scope="own" if task.own else str(task.scope),
        epsilon=task.epsilon,
        models=task.models,
        direction=task.direction,
        mask=task.mask,
        engine=task.engine,
        certified=task.certified,
    )


def grouped(rows: Iterable[Asked]) -> dict[Group, Tally]:
    """A tally for each group, in the order in which they come."""
    found: dict[Group, Tally] = {}
    for row in rows:
        tally = found.setdefault(group_of(row.task), Tally(0))
        tally.total += 1
        tally.add(row.answer)
    return found
