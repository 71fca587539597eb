"""Reasons: columns that make a decision what it is, around one input x.

A *sufficient* reason has, for each of its columns c, a set V_c of options with the present value in it: no
input of the region that has values of these sets in all of them violates the property. A *contrastive* reason
is a set of columns: some input that differs from x in these alone violates the property.

That nothing in some ``part`` of the region violates it is shown as ever, by refutations or shells. The rest
is shown by witnesses, violating inputs of the whole region:

    suffices      none
    minimal       for each c, one with values of the sets in all other columns of the reason, but not in c
    widest        for each c and each value that could be added to V_c, one of these with this value
    smallest      some, of which no fewer columns have one in which each of them differs from x: a plain
                  reason (V_c is the present value alone) has a column in which each witness differs
    contrastive   one that differs from x in columns of the reason alone

To V_c of a flag or a category, any other option could be added. V_c of a number is a run of neighbours among
those options that are intervals, and perhaps missing: what could be added is the next option on either side
(any, if the run is empty), and missing. As V_c never has all options, something always could be; so a widest
reason is minimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tmcheck import limits
from tmcheck.errors import Refused
from tmcheck.hitting import is_hit
from tmcheck.region import Region
from tmcheck.space import NUMBER, Column

REASONS = ("suffices", "minimal", "widest", "smallest", "contrastive")
SUFFICES, MINIMAL, WIDEST, SMALLEST, CONTRASTIVE = REASONS


class Reason:
    """What a claim says of one input, and what witnesses have shown of it.

    ``part`` is the part of the region in which nothing violates the property. ``by_flips`` says that it is
    shown by numbers of flips: then the proper subsets of a contrastive reason are those of fewer flips.
    """

    def __init__(self, answer: str, reason: list[list[Any]], region: Region, *, by_flips: bool) -> None:
        self.answer, self.region = answer, region
        self.columns = [number for number, _ in reason]
        if self.columns and self.columns[-1] >= region.space.n_columns:
            raise Refused(f"the reason has column {self.columns[-1]}, which is not there")
        self.values: dict[int, frozenset[int]] = {}
        self.unbroken: set[int] = set()  # columns of a minimal reason without a witness
        self.missing: dict[int, set[int]] = {}  # of each column of a widest one: values without a witness
        self.differing: list[tuple[int, ...]] = []  # of a smallest reason: the columns of each witness
        self._kept, self._n_options, self._shown = 0, 0, False
        for number, values in reason:
            self._take_column(number, region.options(number).values, values)
        if answer != CONTRASTIVE:
            self.part = region.among(self.values)
        elif by_flips:
            fewer = len(self.columns) - 1
            self.part = region.only(
                self.columns, fewer if region.budget is None else min(fewer, region.budget)
            )
        else:
            self.part = region.only(self.columns, region.budget, [self.columns])

    def _take_column(self, number: int, options: list[int], values: list[int] | None) -> None:
        if len(options) == 1:
            raise Refused(f"the reason has column {number}, which can't change")
        self._n_options += len(options)
        if self._n_options > limits.MOST_OPTIONS:
            raise Refused("the columns of the reason have too many values")
        if values is None:
            return
        chosen = self.values[number] = frozenset(values)
        column = self.region.space.column(number)
        if not chosen < set(options):
            raise Refused(f"the reason has values of column {number} that are no options, or all of them")
        if self.region.present(column) not in chosen:
            raise Refused(f"the reason has not the value that column {number} has")
        if self.answer == WIDEST:
            self.missing[number] = could_be_added(column, options, chosen)
        elif self.answer == MINIMAL:
            self.unbroken.add(number)

    @property
    def what_holds(self) -> str:
        """What is shown without witnesses, in words."""
        if self.answer == CONTRASTIVE:
            return "nothing changes the decision while a column of the reason keeps its value"
        return "the reason suffices"

    def take(self, z: bytes) -> None:
        """A witness: it lies in the region and violates the property."""
        changed = self.region.changed(z)
        if self.answer == SMALLEST:
            self._kept += 8 + len(changed)
            if self._kept > limits.MOST_DIFFERING:
                raise Refused("there are more witnesses than this checker keeps")
            self.differing.append(tuple(changed))
            return
        if self.answer == CONTRASTIVE:
            if not set(changed) <= set(self.columns):
                raise Refused("the witness differs in a column that is not in the reason")
            self._shown = True
            return
        outside = [(c, value) for c, value in self._values_of(changed, z) if value not in self.values[c]]
        if self.answer == SUFFICES or len(outside) != 1:
            raise Refused("the witness shows nothing of the reason: one column, and no other, is to break it")
        ((c, value),) = outside
        if self.answer == MINIMAL:
            self.unbroken.discard(c)
        else:
            self.missing[c].discard(value)

    def _values_of(self, changed: Sequence[int], z: bytes) -> list[tuple[int, int]]:
        """The columns of the reason among those that have changed, and what they are now."""
        found = []
        for c in changed:
            if c in self.values:
                value = self.region.space.column(c).value_of(z)
                assert value is not None  # it lies in the region
                found.append((c, value))
        return found

    def check_witnesses(self) -> None:
        """Raise Refused unless the witnesses show all that is claimed of the reason."""
        if self.answer == CONTRASTIVE and not self._shown:
            raise Refused("no witness that differs in the columns of the reason alone")
        if self.answer == SMALLEST and is_hit(self.differing, len(self.columns) - 1):
            raise Refused("not shown that no reason has fewer columns")
        if self.unbroken:
            raise Refused(f"not shown that column {min(self.unbroken)} of the reason can't be left out")
        for c, values in self.missing.items():
            if values:
                raise Refused(f"not shown that column {c} of the reason can't also be {min(values)}")


def could_be_added(column: Column, options: list[int], chosen: frozenset[int]) -> set[int]:
    """The options that could be added to a set of them; Refused if those of a number are no run."""
    if column.kind != NUMBER:
        return set(options) - chosen
    intervals = [value for value in options if column.is_interval(value)]
    found = {value for value in options if not column.is_interval(value)} - chosen
    places = [place for place, value in enumerate(intervals) if value in chosen]
    if not places:
        return found | set(intervals)
    first, last = places[0], places[-1]
    if last - first + 1 != len(places):
        raise Refused(f"the reason's intervals of column {column.number} are no neighbours")
    return found | set(intervals[:first][-1:]) | set(intervals[last + 1 :][:1])
