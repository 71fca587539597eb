"""What was in doubt when conditions were rounded, and whether a counterexample rests on it.

A constant between two cuts divides an interval that the model takes for one. Rounded *outer*, a comparison
with it has, in this interval, the truth that makes violations possible. A counterexample there is one of the
property as it was written, too, if some number of the interval gives every comparison in doubt that truth:
the model decides that number as it decides all of them. There is none for ``age > 50 and age < 45``.

So it is with two columns of the same cuts that are compared, and are in the same interval: they may have any
order, and need not have two.

Around a row that is not enough: the row has a number of its own, and the model does not know it.
"""

from __future__ import annotations

import math
import operator
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tmverify.properties.formula import Facts
from tmverify.space import Number

_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
}
Place = tuple[int, int]  # an input and a column


@dataclass(frozen=True, slots=True)
class Doubt:
    """A comparison with a constant that some intervals leave open, and the truth that it was given there."""

    operator: str
    constant: int | float
    truth: bool
    intervals: frozenset[int]

    def fits(self, number: float) -> bool:
        """Whether the comparison has that truth for a number."""
        return _COMPARE[self.operator](number, self.constant) == self.truth


@dataclass(slots=True)
class Doubts:
    """All that was in doubt in a property: comparisons with constants, and of two numbers with each other."""

    parts: dict[Place, Number] = field(default_factory=dict)
    constants: dict[Place, list[Doubt]] = field(default_factory=lambda: defaultdict(list))
    compared: list[tuple[Place, Place]] = field(default_factory=list)  # each two once

    def add(self, place: Place, part: Number, doubt: Doubt) -> None:
        """A comparison with a constant."""
        self.parts[place] = part
        self.constants[place].append(doubt)

    @property
    def about_first(self) -> bool:
        """Whether something about the first input, or about what both share, was in doubt."""
        constants = any(of == 0 for of, _ in self.constants)
        return constants or any(a[0] == b[0] == 0 for a, b in self.compared)

    def unsettled(self, facts: Facts, *, around: bool) -> bool:
        """Whether the one input of ``facts``, a counterexample, may be none of the property as written.

        ``around``: it is one around a row.
        """
        touched: list[Place] = []
        for place, doubts in self.constants.items():
            interval = int(facts.values(*place)[0])
            open_here = [doubt for doubt in doubts if interval in doubt.intervals]
            if open_here:
                touched.append(place)
                if around or not any(_numbers(self.parts[place], interval, open_here)):
                    return True
        # Two numbers in one interval have any order; but one that is compared twice can't be chosen freely.
        for pair in self.compared:
            if facts.values(*pair[0])[0] == facts.values(*pair[1])[0]:
                touched += pair
        return len(set(touched)) < len(touched)


def _numbers(part: Number, interval: int, doubts: Sequence[Doubt]) -> Iterator[bool]:
    """Whether numbers fit all doubts, among which there is one that does if there is any in the interval.

    What fits lies between the constants and the ends, so next to one of them there is some.
    """
    ends = (-math.inf, *part.cuts, math.inf)
    low, high = ends[interval], ends[interval + 1]
    for end in (low, high, *(_float(doubt.constant) for doubt in doubts)):
        for number in (end, math.nextafter(end, -math.inf), math.nextafter(end, math.inf)):
            inside = low < number <= high and math.isfinite(number)
            yield inside and all(doubt.fits(number) for doubt in doubts)


def _float(number: int | float) -> float:
    """The number as a float, infinite if it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf
