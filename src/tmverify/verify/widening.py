"""Widening: a sufficient reason with as many values as can be, "age over 25" instead of "age 25 to 40".

Each column c of the reason has a set V_c of values, at first its own. A value can be added if every input of
the region whose columns have values in their sets is still decided alike. The sets of numbers stay intervals:
what can be added is the next interval below or above, or missing. What can't be added has a witness, which
stays one when other sets grow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tmverify.engines.engine import Outcome
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
                del found.values[place]

    def _widen(self, place: int, values: list[int]) -> None:
        """Add values to one column: of a number, in a row from one of its intervals; of a category, any."""
        own, *others = values
        last = self._last_interval(place)
        if last is None:
            for value in others:
                self._added(place, value)
            return
        for value in (value for value in others if value > last):
            self._added(place, value)
        inside = [value for value in values if value <= last]
        if own > last:  # it is missing: the first interval that can be added is where the row begins
            own = next((value for value in sorted(inside) if self._added(place, value)), last + 1)
        if own <= last:
            below = sorted((value for value in inside if value < own), reverse=True)
            for row in (below, sorted(value for value in inside if value > own)):
                for value in row:
                    if not self._added(place, value):
                        break

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

    def _added(self, place: int, value: int) -> bool:
        """Whether a value could be added to a column's; if not, there is a witness, or it is left open."""
        found = self.found
        known = next((z for z in self._witnesses() if self._blocks(place, value, z)), None)
        if known is not None:
            found.limits[place, value] = known
            return False
        tried = {**found.values, place: found.values[place] | {value}}
        must = int(self.oracle.columns[place]), value  # without it, the reason suffices
        answer = self.oracle.ask_among(self._as_columns(tried), self.reasons.deadline, must=must)
        if answer.outcome is Outcome.NO_WITNESS:
            found.values[place].add(value)
            return True
        z = answer.witness
        if z is not None and self._blocks(place, value, z) and self.oracle.query.refuted_by(z):
            found.limits[place, value] = z
        else:
            found.open_values.add(place)
            found.gap = found.gap or gap_of(answer if z is None else REJECTED)
        return False

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
