"""Radii: how far the inputs of a subject are from a change, and so what share is safe at any epsilon.

An input is robust at epsilon exactly if its radius is greater. Of a radius that is open only
lower <= radius <= upper is known, so the share lies between two curves::

    proved(epsilon)   = #{lower > epsilon} / n        possible(epsilon) = #{upper > epsilon} / n

which coincide if no radius is open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tmverify.campaign import Row
from tmverify.report.subjects import Subject


@dataclass(frozen=True, slots=True)
class Radii:
    """The bounds (lower, upper) of each answered radius."""

    subject: Subject
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
        """How many are certainly robust at ``epsilon``."""
        return sum(low > epsilon for low, _ in self.bounds)

    def possible(self, epsilon: int) -> int:
        """How many may be."""
        return sum(high > epsilon for _, high in self.bounds)

    @property
    def median(self) -> tuple[float, float] | None:
        """The median, or bounds of it: those of all lower and of all upper bounds."""
        if not self.bounds:
            return None
        return median(low for low, _ in self.bounds), median(high for _, high in self.bounds)

    @property
    def greatest(self) -> int:
        """The greatest number that is a bound."""
        return max((int(bound) for pair in self.bounds for bound in pair if bound != math.inf), default=0)


def radii_of(subjects: Mapping[Subject, Sequence[Row]]) -> tuple[Radii, ...]:
    """Of each subject that has some."""
    found = (Radii(subject, _bounds(rows)) for subject, rows in subjects.items())
    return tuple(radii for radii in found if radii.bounds)


def _bounds(rows: Sequence[Row]) -> tuple[tuple[float, float], ...]:
    answers = (row.answer for row in rows if row.task.question == "radius" and row.answer is not None)
    return tuple((a.lower, a.upper) for a in answers if a.lower is not None and a.upper is not None)
