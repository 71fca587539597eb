"""Widening: a sufficient reason with as many values as can be, "age over 25" instead of "age 25 to 40".

Each column c of the reason has a set V_c of values, at first its own. A value can be added if every input of
the region whose columns have values in their sets is still decided alike. The sets of numbers stay intervals:
what can be added is the next interval below or above, or missing. What can't be added has a witness, which
stays one when other sets grow.

Values are tried together: if all of them can be added, one proof says so, and if not, the witness has one
that can't. The others are tried again, of a number those before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tmverify.engines.engine import Answer, Outcome
from tmverify.engines.oracle import Input
from tmverify.properties.region import Options
from tmverify.space import Number
from tmverify.verify.reasons import REJECTED, Reasons, Sufficient, gap_of


class Widening:
    """One reason on its way; ``found.values`` and ``found.limits`` are filled."""

    def __init__(self, reasons: Reasons, found: Sufficient) -> None:
        self.reasons, self.found, self.oracle = reasons, found, reasons.oracle
        options = {own.column: own for own in self.oracle.query.region.options}
        columns = self.oracle.columns
        self.options: dict[int, Options] = {
            place: options[int(columns[place])]
            for place in found.places
            if columns[place] in options and len(options[int(columns[place])].values) > 2
        }

    def run(self) -> None:
        """Add values to the columns, one after the other, as long as the reason stays sufficient."""
        found = self.found
        found.values = {place: {int(own.values[0])} for place, own in self.options.items()}
        for place, own in self.options.items():
            self._widen(place, own.values.tolist())
            if len(found.values[place]) == len(own.values):  # it was not known to be needed, and is not
                found.kept[place] = False
                found.needed.pop(place, None)  # by a witness that is none, then
                del found.values[place]

    def _widen(self, place: int, values: list[int]) -> None:
        """Add values to one column: of a number, in a row from one of its intervals; of a category, any."""
        own, *others = values
        last = self._last_interval(place)
        if last is None:
            self._add(place, others)
            return
        self._add(place, [value for value in others if value > last])
        inside = [value for value in values if value <= last]
        if own > last:  # it is missing: the first interval that can be added is where the row begins
            own = next((value for value in sorted(inside) if self._add(place, [value])), last + 1)
        if own <= last:
            below = sorted((value for value in inside if value < own), reverse=True)
            for row in (below, sorted(value for value in inside if value > own)):
                self._add(place, row, in_row=True)

    def evidence(self) -> list[Input]:
        """A witness for each value that could be added by itself."""
        return [z for (place, value), z in self.found.limits.items() if self._is_next(place, value)]

    def _is_next(self, place: int, value: int) -> bool:
        if place not in self.found.values:
            return False
        last, has = self._last_interval(place), self.found.values[place]
        if last is None or value > last or min(has) > last:
            return value not in has
        inside = sorted(v for v in self.options[place].values.tolist() if v <= last)
        row = [v for v in inside if v in has]
        return inside.index(value) in (inside.index(row[0]) - 1, inside.index(row[-1]) + 1)

    def _last_interval(self, place: int) -> int | None:
        """The number of the highest interval of a number; None for other columns."""
        space = self.oracle.query.region.space
        assert space is not None
        part = space.columns[int(self.oracle.columns[place])].part
        return len(part.cuts) if isinstance(part, Number) else None

    def _add(self, place: int, values: list[int], *, in_row: bool = False) -> bool:
        """Add those of the values that can be; in a row, up to the first that can't. Returns whether any was.

        What can't be added has a witness, or is left open.
        """
        found, n_before = self.found, len(self.found.values[place])
        left = self._up_to(place, values, self._known(place, values), in_row)
        most = len(left)
        while left:
            tried = left[:most]
            answer = self._ask(place, tried)
            limits = self._limits(place, tried, answer.witness, in_row)
            if answer.outcome is Outcome.NO_WITNESS:
                found.values[place].update(tried)
                left = left[most:]
            elif limits:
                left = self._up_to(place, left, limits, in_row)
            elif most > 1:
                most = 1  # what is too hard together may not be one by one
            else:
                found.open_values.add(place)
                found.gap = found.gap or gap_of(answer if answer.witness is None else REJECTED)
                left = [] if in_row else left[1:]
        return len(found.values[place]) > n_before

    def _up_to(self, place: int, values: list[int], limits: Mapping[int, Input], in_row: bool) -> list[int]:
        """The values that are left if some can't be added, which is noted; in a row, those before them."""
        if in_row:
            end = next((i for i, value in enumerate(values) if value in limits), len(values))
            self.found.limits.update({(place, value): limits[value] for value in values[end : end + 1]})
            return values[:end]
        self.found.limits.update({(place, value): z for value, z in limits.items()})
        return [value for value in values if value not in limits]

    def _known(self, place: int, values: list[int]) -> dict[int, Input]:
        """Those of the values that can't be added, by witnesses that are known."""
        known: dict[int, Input] = {}
        for z in self._witnesses():
            value = self.reasons.value_in(place, z)
            if value in values and value not in known and self._blocks(place, value, z):
                known[value] = z
        return known

    def _limits(self, place: int, values: list[int], z: Input | None, in_row: bool) -> dict[int, Input]:
        """Those of the values that can't be added, by an oracle's witness, or with another value in it.

        In a row, the first of them is enough.
        """
        value = None if z is None else self.reasons.value_in(place, z)
        if z is None or value not in values or not self._blocks(place, value, z):
            return {}
        if in_row:
            values = values[: values.index(value) + 1]
        query, own = self.oracle.query, self.options[place]
        numbers = own.values.tolist()
        tried = np.repeat(z[None, :], len(values), axis=0)
        tried[:, own.bits.start : own.bits.stop] = own.patterns[[numbers.index(value) for value in values]]
        limits = {}
        for i in np.flatnonzero(query.violates(tried)).tolist():
            if query.region.contains(tried[i]):
                limits[values[i]] = tried[i]
                if in_row:
                    break
        return limits

    def _ask(self, place: int, values: list[int]) -> Answer:
        """Is there a witness if these values are added to a column? It has one of them."""
        tried = {**self.found.values, place: self.found.values[place].union(values)}
        must = int(self.oracle.columns[place]), values  # without them, the reason suffices
        return self.oracle.ask_among(self._as_columns(tried), self.reasons.deadline, must=must)

    def _as_columns(self, values: Mapping[int, set[int]]) -> dict[int, list[int]]:
        """The values of each kept column, by its number in the space."""
        own = self.reasons.origin_values(self.found.places)
        return {
            int(self.oracle.columns[place]): sorted(values.get(place, {own[place]}))
            for place in self.found.places
        }

    def _witnesses(self) -> Iterator[Input]:
        yield from self.found.limits.values()
        yield from self.found.needed.values()
        yield from (z for _, z in self.reasons.pool)

    def _blocks(self, place: int, value: int, z: Input) -> bool:
        """Whether a witness shows that a value can't be added."""
        reasons = self.reasons
        if reasons.value_in(place, z) != value:
            return False
        changed = np.flatnonzero(self.oracle.changed(z) & self.found.kept).tolist()
        return all(
            other == place or reasons.value_in(other, z) in self.found.values.get(other, ())
            for other in changed
        )
