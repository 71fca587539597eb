"""What was in doubt when conditions were rounded, and whether a counterexample rests on it.

A constant between two cuts divides an interval that the model takes for one. Rounded *outer*, a comparison
with it has, in this interval, the truth that makes violations possible. A counterexample there is one of the
property as it was written, too, if some number of the interval gives every comparison in doubt that truth:
the model decides that number as it decides all of them. There is none for ``age > 50 and age < 45``.

So it is with two columns that are compared and look alike, in one interval or both unseen: they may have any
order. But only if nothing else is asked of them; and around a row that is not enough, because the row has a
number of its own, which the model does not know.

One comparison needs no such luck: a column of a with the same column of b, if the two may be equal
(``a.age <= b.age``). Then b may have the very number of a. Such a comparison is *diagonal*.
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


@dataclass(frozen=True, slots=True)
class Compared:
    """Two columns that were compared, and the values that look alike and need not be equal."""

    left: Place
    right: Place
    alike: range
    diagonal: bool

    def is_open(self, facts: Facts) -> bool:
        """Whether the two look alike in an input."""
        value = int(facts.values(*self.left)[0])
        return value == int(facts.values(*self.right)[0]) and value in self.alike


@dataclass(slots=True)
class Doubts:
    """All that was in doubt in a property: comparisons with constants, and of two columns with each other.

    A column that both inputs share is one of the first.
    """

    parts: dict[Place, Number] = field(default_factory=dict)
    constants: dict[Place, list[Doubt]] = field(default_factory=lambda: defaultdict(list))
    compared: list[Compared] = field(default_factory=list)  # what is compared twice is there twice

    def add(self, place: Place, part: Number, doubt: Doubt) -> None:
        """A comparison with a constant."""
        self.parts[place] = part
        self.constants[place].append(doubt)

    def __bool__(self) -> bool:
        """Whether anything but diagonal comparisons was in doubt."""
        return bool(self.constants) or not all(each.diagonal for each in self.compared)

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
        pairs = [each for each in self.compared if each.is_open(facts)]
        if around and any(not pair.diagonal and 0 in (pair.left[0], pair.right[0]) for pair in pairs):
            return True
        # What is asked of a column twice can't be chosen freely; equal columns satisfy all that is diagonal.
        diagonal = {frozenset((pair.left, pair.right)) for pair in pairs if pair.diagonal}
        touched += [place for two in diagonal for place in two]
        touched += [place for pair in pairs if not pair.diagonal for place in (pair.left, pair.right)]
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
