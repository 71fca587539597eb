"""Widening: a sufficient reason with as many values as can be, "age over 25" instead of "age 25 to 40".

Each column of the reason has a set of values, at first its own. A value can be added if every input of the
region whose columns have values in their sets is still decided alike. The sets of numbers stay intervals:
what can be added is the next interval below or above, or missing. What can't be added has a witness, which
stays one when other sets grow.

What might be added is in *rows*: of a row, each value can be added only after those before it. The intervals
above a number's own are a row, and so are those below; any other value is a row by itself. All rows of all
columns are tried together. A witness has values of some columns that are new: if of one only, the value can't
be added; if of several, one of the rows is cut before its value, for this time. When there is no witness any
more, one proof adds all that is left of the rows. What was cut is tried again, unless a known witness rules
it out by then, as for most there is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tmverify.engines.engine import Answer, Outcome
from tmverify.engines.oracle import Input
from tmverify.space import Number
from tmverify.space.parts import ABSENT
from tmverify.verify.reasons import REJECTED, Gap, Reasons, Sufficient, gap_of


@dataclass(slots=True, eq=False)
class _Row:
    """Options of a column that can be added one after the other; the first ``n_tried`` of them are tried."""

    at: int
    options: list[int]
    n_tried: int = 0

    @property
    def tried(self) -> list[int]:
        return self.options[: self.n_tried]

    def cut(self, option: int) -> None:
        """Never try an option, nor what comes after it."""
        del self.options[self.options.index(option) :]
        self.n_tried = min(self.n_tried, len(self.options))


class Widening:
    """One reason on its way; ``found.values`` and ``found.limits`` are filled.

    Columns are numbered by their place among those that have values to add, and their values by their place
    among the column's options.
    """

    def __init__(self, reasons: Reasons, found: Sufficient) -> None:
        self.reasons, self.found, self.oracle = reasons, found, reasons.oracle
        wide = {own.column: own for own in self.oracle.query.region.options if len(own.values) > 2}
        self._places = [place for place in found.places if int(self.oracle.columns[place]) in wide]
        self._columns = [wide[int(self.oracle.columns[place])] for place in self._places]
        # Which options each column has by now; the first is its own.
        most = max((len(own.values) for own in self._columns), default=1)
        self._has = np.zeros((len(self._columns), most), np.bool_)
        self._has[:, 0] = True
        self._others = found.kept.copy()
        self._others[self._places] = False
        own_values = reasons.origin_values(np.flatnonzero(self._others).tolist())
        self._kept_values = {int(self.oracle.columns[place]): [own] for place, own in own_values.items()}
        # Witnesses that change no other column that is kept, and their options.
        self._witnesses: list[Input] = []
        self._their_options: list[list[int]] = []
        self._one_by_one = False

    def run(self) -> None:
        """Add values to the columns, as long as the reason stays sufficient."""
        found = self.found
        for z in (*found.needed.values(), *(z for _, z in self.reasons.pool)):
            self._learn(z)
        self._add([row for at in range(len(self._columns)) for row in self._rows(at)])
        for at in range(len(self._columns)):
            inside = self._intervals(at)
            if inside and 0 not in inside:
                self._begin_row(at, inside)
        for place, own, has in zip(self._places, self._columns, self._has, strict=True):
            found.values[place] = set(own.values[np.flatnonzero(has[: len(own.values)])].tolist())
            if len(found.values[place]) == len(own.values):  # it was not known to be needed, and is not
                found.kept[place] = False
                found.needed.pop(place, None)  # by a witness that is none, then
                del found.values[place]

    def evidence(self) -> list[Input]:
        """A witness for each value that could be added by itself."""
        return [z for (place, value), z in self.found.limits.items() if self._is_next(place, value)]

    def _is_next(self, place: int, value: int) -> bool:
        if place not in self.found.values:
            return False
        at, has = self._places.index(place), self.found.values[place]
        inside = self._columns[at].values[self._intervals(at)].tolist()
        row = [v for v in inside if v in has]
        if value not in inside or not row:
            return value not in has
        return inside.index(value) in (inside.index(row[0]) - 1, inside.index(row[-1]) + 1)

    def _rows(self, at: int) -> list[_Row]:
        """What might be added to a column; of a number that is missing, no interval."""
        inside = self._intervals(at)
        alone = [_Row(at, [i]) for i in range(1, len(self._columns[at].values)) if i not in inside]
        return [*alone, *self._beside(at, inside, 0)] if 0 in inside else alone

    def _beside(self, at: int, inside: list[int], option: int) -> list[_Row]:
        """The intervals below one of a number's, and those above."""
        i = inside.index(option)
        return [_Row(at, inside[:i][::-1]), _Row(at, inside[i + 1 :])]

    def _begin_row(self, at: int, inside: list[int]) -> None:
        """Add intervals to a number that is missing: the first that can be added is where a row begins."""
        for option in inside:
            self._add([_Row(at, [option])])
            if self._has[at, option]:
                self._add(self._beside(at, inside, option))
                return

    def _intervals(self, at: int) -> list[int]:
        """The options that are intervals of a number, ascending; of a category, none."""
        space, own = self.oracle.query.region.space, self._columns[at]
        assert space is not None
        part = space.columns[own.column].part
        if not isinstance(part, Number):
            return []
        ascending: list[int] = np.argsort(own.values).tolist()
        return [i for i in ascending if own.values[i] <= len(part.cuts)]

    def _add(self, rows: list[_Row]) -> None:
        """Add what can be added of the rows. What can't has a witness, or is left open."""
        self._cut_known(rows)
        while rows := [row for row in rows if row.options]:
            tried = rows[:1] if self._one_by_one else rows
            for row in tried:
                row.n_tried = 1 if self._one_by_one else len(row.options)
            while tried:
                answer = self._ask(tried)
                if answer.outcome is Outcome.NO_WITNESS:
                    for row in tried:
                        self._has[row.at, row.tried] = True
                        del row.options[: row.n_tried]
                    break
                if answer.witness is None:
                    self._leave_open(tried, gap_of(answer))
                elif not self._cut(tried, answer.witness):
                    self._leave_open(tried, gap_of(REJECTED))
                tried = [row for row in tried if row.n_tried]
            self._cut_known(rows)

    def _ask(self, tried: list[_Row]) -> Answer:
        """Is there a witness if what is tried is added?"""
        has = self._has.copy()
        for row in tried:
            has[row.at, row.tried] = True
        values = dict(self._kept_values)
        for own, some in zip(self._columns, has, strict=True):
            values[own.column] = own.values[np.flatnonzero(some[: len(own.values)])].tolist()
        return self.oracle.ask_among(values, self.reasons.deadline)

    def _leave_open(self, tried: list[_Row], gap: Gap) -> None:
        """What is too hard together is tried one by one; a value that is too hard is left open."""
        if self._one_by_one:
            for row in tried:
                self.found.open_values.add(self._places[row.at])
                self.found.gap = self.found.gap or gap
                row.options.clear()
        self._one_by_one = True
        for row in tried:
            row.n_tried = 0

    def _cut(self, tried: list[_Row], z: Input) -> bool:
        """Cut a row so that a witness has a value that is not tried any more; False if it is no witness."""
        z = self.reasons.eased(z)
        options = self._learn(z)
        if options is None:
            return False
        new = {at: option for at, option in enumerate(options) if not self._has[at, option]}
        rows = [row for row in tried if new.get(row.at) in row.tried]
        if not rows or len(rows) < len(new):
            return False
        if len(new) == 1:
            return self._limit([row for row in tried if row.at in new], z)
        # As few values as can be go.
        row = min(rows, key=lambda row: row.n_tried - row.options.index(new[row.at]))
        row.n_tried = row.options.index(new[row.at])
        return True

    def _limit(self, rows: list[_Row], z: Input) -> bool:
        """Cut the rows of one column before the values that can't be added, by a witness with one of them.

        It may be one with others of them, too.
        """
        query, at = self.oracle.query, rows[0].at
        own = self._columns[at]
        options = [option for row in rows for option in row.tried]
        tried = np.repeat(z[None, :], len(options), axis=0)
        tried[:, own.bits.start : own.bits.stop] = own.patterns[options]
        good = query.violates(tried)
        limits = {
            option: other
            for option, other, is_good in zip(options, tried, good, strict=True)
            if is_good and query.region.contains(other)
        }
        return self._cut_before(rows, {(at, option): other for option, other in limits.items()})

    def _cut_before(self, rows: list[_Row], limits: Mapping[tuple[int, int], Input]) -> bool:
        """Cut rows before options that can't be added, which is noted; returns whether any was."""
        before = sum(len(row.options) for row in rows)
        for row in rows:
            option = next((option for option in row.options if (row.at, option) in limits), None)
            if option is not None:
                value = int(self._columns[row.at].values[option])
                self.found.limits[self._places[row.at], value] = limits[row.at, option]
                row.cut(option)
        return sum(len(row.options) for row in rows) < before

    def _cut_known(self, rows: list[_Row]) -> None:
        """Cut rows before what can't be added, by witnesses that are known."""
        if not self._witnesses:
            return
        ats, options = np.arange(len(self._columns)), np.array(self._their_options, np.int64)
        new = ~self._has[ats, options]
        limits: dict[tuple[int, int], Input] = {}
        for i in np.flatnonzero(new.sum(axis=1) == 1).tolist():
            at = int(new[i].argmax())
            limits.setdefault((at, int(options[i, at])), self._witnesses[i])
        self._cut_before(rows, limits)

    def _learn(self, z: Input) -> list[int] | None:
        """The options of a witness, which is remembered; None if it changes another column that is kept."""
        options = [own.of(z) for own in self._columns]
        if (self.oracle.changed(z) & self._others).any() or ABSENT in options:
            return None
        self._witnesses.append(z)
        self._their_options.append(options)
        return options
