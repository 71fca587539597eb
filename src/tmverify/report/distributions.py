"""Distributions: how many changes inputs withstand, what share is unaffected at each epsilon, times.

An input is robust at epsilon exactly if its radius is greater. An open radius is known only by its bounds,
lower <= radius <= upper, so the share of robust inputs lies between two curves::

    proved(epsilon)   = #{lower > epsilon} / n        possible(epsilon) = #{upper > epsilon} / n

which coincide if no radius is open. Robustness that was asked at one epsilon gives a single point of the
curve. There, unknown answers are neither robust nor violated.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tmverify.campaign import Asked, Tally, grouped
from tmverify.report.series import Series

_STEPS = (1, 2, 5)  # times spread over many powers of ten: bins begin at 1, 2, 5, 10, 20, 50, …
_MIN_BINS = 5
_SHORTEST = 1e-3  # seconds: shorter times share the first bin


@dataclass(frozen=True, slots=True)
class Radii:
    """The bounds (lower, upper) of each answered radius of a series; there is at least one."""

    series: Series
    bounds: tuple[tuple[float, float], ...]

    @property
    def exact(self) -> Counter[int]:
        """How often each finite radius occurs."""
        return Counter(int(low) for low, high in self.bounds if low == high != math.inf)

    @property
    def infinite(self) -> int:
        return sum(low == math.inf for low, _ in self.bounds)

    @property
    def open(self) -> int:
        return sum(low != high for low, high in self.bounds)

    def proved(self, epsilon: int) -> int:
        """How many inputs are certainly robust at ``epsilon``."""
        return sum(low > epsilon for low, _ in self.bounds)

    def possible(self, epsilon: int) -> int:
        """How many inputs may be robust at ``epsilon``."""
        return sum(high > epsilon for _, high in self.bounds)

    @property
    def median(self) -> tuple[float, float]:
        """Bounds of the median: the medians of all lower and of all upper bounds."""
        return median(low for low, _ in self.bounds), median(high for _, high in self.bounds)

    @property
    def least(self) -> tuple[float, float]:
        """Bounds of the least radius."""
        return min(low for low, _ in self.bounds), min(high for _, high in self.bounds)

    @property
    def greatest(self) -> int:
        """The greatest finite bound."""
        return max((int(bound) for pair in self.bounds for bound in pair if bound != math.inf), default=0)


@dataclass(frozen=True, slots=True)
class Curve:
    """What is known of a series by epsilon: the tallies at those asked about, and radii, or None."""

    series: Series
    points: Mapping[int, Tally]
    radii: Radii | None

    @property
    def greatest(self) -> int:
        """The greatest epsilon of interest."""
        return max(max(self.points, default=0), 0 if self.radii is None else self.radii.greatest)


@dataclass(frozen=True, slots=True)
class Bin:
    """Counts of the tasks with start <= seconds < end."""

    start: float
    end: float
    solved: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Times:
    """The seconds that the tasks of a question took, in rising order: solved ones and unknown ones."""

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
        """From the first bin that is not empty to the last such bin, and at least ``_MIN_BINS``."""
        solved, unknown = Counter(map(_place, self.solved)), Counter(map(_place, self.unknown))
        places = solved.keys() | unknown.keys()
        first = min(places)
        last = max(*places, first + _MIN_BINS - 1)
        return tuple(
            Bin(_start(place), _edge(place + 1), solved[place], unknown[place])
            for place in range(first, last + 1)
        )


def radii_of(by_series: Mapping[Series, Sequence[Asked]]) -> tuple[Radii, ...]:
    """The radii of each series that has some."""
    found = []
    for series, rows in by_series.items():
        answers = [row.answer for row in rows if row.answer is not None]
        bounds = [(a.lower, a.upper) for a in answers if a.lower is not None and a.upper is not None]
        if bounds:
            found.append(Radii(series, tuple(bounds)))
    return tuple(found)


def curves_of(by_series: Mapping[Series, Sequence[Asked]], radii: Sequence[Radii]) -> tuple[Curve, ...]:
    """The curve of each series of which a point or a radius is known."""
    known = {each.series: each for each in radii}
    found = []
    for series, rows in by_series.items():
        asked = (item for item in grouped(rows).items() if not item[0].asks.gives_reason)
        tallies = {group.epsilon: tally for group, tally in asked if tally.done}
        points = {epsilon: tallies[epsilon] for epsilon in sorted(e for e in tallies if e is not None)}
        if points or series in known:
            found.append(Curve(series, points, known.get(series)))
    return tuple(found)


def times_of(rows: Iterable[Asked]) -> tuple[Times, ...]:
    """The times of each question that has answers."""
    seconds: dict[str, tuple[list[float], list[float]]] = {}
    for row in rows:
        if row.answer is not None:
            solved, unknown = seconds.setdefault(row.task.question, ([], []))
            (solved if row.answer.solved else unknown).append(row.answer.seconds)
    return tuple(Times(question, *map(tuple, map(sorted, both))) for question, both in seconds.items())


def _place(seconds: float) -> int:
    """The number of the bin that holds a time."""
    seconds = max(seconds, _SHORTEST)
    place = len(_STEPS) * math.floor(math.log10(seconds))
    edges = [_edge(place + step) for step in range(len(_STEPS) + 1)]
    return place + bisect_right(edges, seconds) - 1


def _start(place: int) -> float:
    """Where a bin begins; the first begins at 0, as it holds all shorter times."""
    return 0.0 if place == _place(0.0) else _edge(place)


def _edge(place: int) -> float:
    power, step = divmod(place, len(_STEPS))
    return float(f"{_STEPS[step]}e{power}")
