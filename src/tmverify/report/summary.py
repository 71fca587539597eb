"""The summary: a line for each question, subject and epsilon, as the papers print it; the figures above it.

Shares are counts n of m; times are those of solved tasks, since a timeout's time is the limit's, not the
question's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tmverify.campaign import Row, Tally, grouped
from tmverify.report.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line: ``positive`` of ``solved`` tasks are ``adjective``."""

    subject: Subject
    question: str
    epsilon: int | None
    adjective: str
    tally: Tally

    @property
    def whole(self) -> int:
        """What the positive answers are a share of: the solved ones; of radii, all answers."""
        return self.tally.done if self.question == "radius" else self.tally.solved

    @property
    def median_seconds(self) -> float | None:
        return median(self.tally.seconds) if self.tally.seconds else None

    @property
    def max_seconds(self) -> float | None:
        return max(self.tally.seconds, default=None)


@dataclass(frozen=True, slots=True)
class Share:
    """``part`` of the ``whole`` solved tasks of a question (at ``epsilon``, or at all of them) hold."""

    epsilon: int | None
    part: int
    whole: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """The whole store in a few figures: ``shares`` by adjective, first of all epsilons, then of each."""

    tally: Tally
    median_seconds: float | None
    shares: Mapping[str, tuple[Share, ...]]


def summarise(subjects: Mapping[Subject, Sequence[Row]]) -> tuple[Line, ...]:
    """All lines, subject by subject."""
    return tuple(
        Line(
            subject=subject,
            question=group.question,
            epsilon=group.epsilon,
            adjective=group.adjective,
            tally=tally,
        )
        for subject, rows in subjects.items()
        for group, tally in grouped(rows).items()
    )


def headline(rows: Sequence[Row], lines: Sequence[Line]) -> Headline:
    """The figures above the summary."""
    tally = Tally(len(rows))
    for row in rows:
        tally.add(row.answer)
    adjectives = dict.fromkeys(line.adjective for line in lines if line.question != "radius")
    return Headline(
        tally=tally,
        median_seconds=median(tally.seconds) if tally.seconds else None,
        shares={adjective: _shares(lines, adjective) for adjective in adjectives},
    )


def _shares(lines: Sequence[Line], adjective: str) -> tuple[Share, ...]:
    chosen = [line for line in lines if line.adjective == adjective]
    epsilons = sorted({line.epsilon for line in chosen if line.epsilon is not None})
    each = (_share(epsilon, [line for line in chosen if line.epsilon == epsilon]) for epsilon in epsilons)
    return (_share(None, chosen), *each)


def _share(epsilon: int | None, lines: Sequence[Line]) -> Share:
    part, whole = (sum(getattr(line.tally, key) for line in lines) for key in ("positive", "solved"))
    return Share(epsilon, part, whole)
