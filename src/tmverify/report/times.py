"""Times: how long the tasks of a question took, solved ones and unknown ones apart.

They spread over many powers of ten, so they are counted in bins that grow as 1, 2, 5, 10, 20, 50, …
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tmverify.campaign import Row

_STEPS = (1, 2, 5)
_FEWEST = 5


@dataclass(frozen=True, slots=True)
class Bin:
    """Tasks with start <= seconds < end."""

    start: float
    end: float
    solved: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds, rising."""

    question: str
    solved: tuple[float, ...]
    unknown: tuple[float, ...]

    def quantile(self, share: float) -> float | None:
        """The least time within which this share of the solved tasks was solved."""
        if not self.solved:
            return None
        return self.solved[max(math.ceil(share * len(self.solved)) - 1, 0)]

    @property
    def bins(self) -> tuple[Bin, ...]:
        """From the first that is not empty to the last, and some more if these are few."""
        solved, unknown = Counter(map(_place, self.solved)), Counter(map(_place, self.unknown))
        places = solved.keys() | unknown.keys()
        first = min(places)
        last = max(*places, first + _FEWEST - 1)
        return tuple(
            Bin(_edge(place), _edge(place + 1), solved[place], unknown[place])
            for place in range(first, last + 1)
        )


def times_of(rows: Sequence[Row]) -> tuple[Times, ...]:
    """Of each question that has answers."""
    questions = dict.fromkeys(row.task.question for row in rows if row.answer is not None)
    return tuple(
        Times(question, _seconds(rows, question, solved=True), _seconds(rows, question, solved=False))
        for question in questions
    )


def _seconds(rows: Iterable[Row], question: str, *, solved: bool) -> tuple[float, ...]:
    answers = (row.answer for row in rows if row.task.question == question)
    return tuple(sorted(a.seconds for a in answers if a is not None and a.solved is solved))


def _place(seconds: float) -> int:
    """The number of the bin; times below a millisecond are told apart by nobody."""
    power = math.floor(math.log10(max(seconds, 1e-3)))
    place = len(_STEPS) * power
    edges = [_edge(place + step) for step in range(len(_STEPS) + 1)]
    return place + bisect_right(edges, max(seconds, 1e-3)) - 1


def _edge(place: int) -> float:
    power, step = divmod(place, len(_STEPS))
    return float(f"{_STEPS[step]}e{power}")
