"""Shares: which part of the inputs is robust (or decided alike) at each epsilon that was asked about.

Unknown answers are neither: of ``done`` answers between ``holds`` and ``holds + unknown`` hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tmverify.campaign import Row, grouped
from tmverify.report.radii import Radii
from tmverify.report.subjects import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The answers at one epsilon."""

    epsilon: int
    holds: int
    solved: int
    unknown: int

    @property
    def done(self) -> int:
        return self.solved + self.unknown


@dataclass(frozen=True, slots=True)
class Curve:
    """All that is known of a subject: points that were asked, and radii, or None."""

    subject: Subject
    points: tuple[Point, ...]
    radii: Radii | None

    @property
    def greatest(self) -> int:
        """The greatest epsilon of interest."""
        asked = max((point.epsilon for point in self.points), default=0)
        return max(asked, 0 if self.radii is None else self.radii.greatest)


def curves_of(subjects: Mapping[Subject, Sequence[Row]], radii: Sequence[Radii]) -> tuple[Curve, ...]:
    """Of each subject of which something is known."""
    known = {each.subject: each for each in radii}
    found = (Curve(subject, _points(rows), known.get(subject)) for subject, rows in subjects.items())
    return tuple(curve for curve in found if curve.points or curve.radii)


def _points(rows: Sequence[Row]) -> tuple[Point, ...]:
    found = [
        Point(epsilon=group.epsilon, holds=tally.positive, solved=tally.solved, unknown=tally.unknown)
        for group, tally in grouped(rows).items()
        if group.epsilon is not None and tally.done
    ]
    return tuple(sorted(found, key=lambda point: point.epsilon))
