"""Oracle: one question about one input, asked again and again with other columns free to change.

    ask(free)     is there a witness in which only ``free`` columns differ from the input?
    near(free)    witnesses that are at hand in which one further column differs

Explanations are a few hundred such questions. ``Oracle`` asks any engine each time; ``search.oracle`` keeps
what it has learnt. Columns are numbered here by their place in ``columns``: those of the region that may
change. Like engines, oracles only make claims; whoever asks has witnesses replayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from tmverify.engines import engine_for
from tmverify.engines.engine import Answer, Deadline, Engine
from tmverify.properties.query import AnyQuery, Query

Mask = NDArray[np.bool_]
Input = NDArray[np.uint8]


class Effort(IntEnum):
    """How hard a question may be; what is harder is left open."""

    LITTLE = 0
    MORE = 1
    ALL = 2


class Oracle:
    """Asks an engine, each time from the beginning.

    Attributes
    ----------
    query : AnyQuery
        About the whole region.
    columns : int64 array, (n,)
        The columns that may change (bits, if the region is about bits), ascending.
    asked : int
        How many questions were asked.
    relies_on : tuple of str
        The engines that its answers rest on.
    """

    def __init__(self, query: AnyQuery, engine: Engine) -> None:
        self.query, self.engine = query, engine
        region = query.region
        flags = region.column_of(np.flatnonzero(region.mutable))
        wide = np.array([own.column for own in region.options], np.int64)
        self.columns: NDArray[np.int64] = np.unique(np.concatenate([flags, wide]))
        owners = region.column_of(np.arange(region.n_features))
        places = np.searchsorted(self.columns, owners)
        known = np.isin(owners, self.columns)
        self._place_of_bit = np.where(known, places, len(self.columns))
        self.asked = 0
        self.relies_on: tuple[str, ...] = ()

    def ask(
        self, free: Mask, deadline: Deadline, effort: Effort = Effort.ALL, *, must: int | None = None
    ) -> Answer:
        """Is there a witness that differs from the input in ``free`` columns only?

        If it is known already that every such witness changes the column ``must``, that helps.
        """
        self.asked += 1
        return self._asked(self.part(free), deadline)

    def ask_among(self, values: Mapping[int, Sequence[int]], deadline: Deadline) -> Answer:
        """Is there a witness whose columns (by their number in the space) have these values?"""
        self.asked += 1
        asked = replace(self.query, region=self.query.region.among(values))
        return self._asked(asked, deadline)

    def _asked(self, query: AnyQuery, deadline: Deadline) -> Answer:
        answer = self.engine.decide(query, deadline, None)
        self.rely(*(answer.relies_on or (answer.engine or self.engine.name,)))
        return answer

    def rely(self, *engines: str) -> None:
        """Note engines that answers rest on."""
        self.relies_on = tuple(dict.fromkeys((*self.relies_on, *engines)))

    def part(self, free: Mask) -> AnyQuery:
        """The query about the part of the region in which only ``free`` columns change."""
        return replace(self.query, region=self.query.region.keeping(self.columns[~free].tolist()))

    def guess(self, free: Mask) -> Input | None:
        """A witness that differs in ``free`` columns only, if one is found with next to no effort."""
        return None

    def near(self, free: Mask, wanted: Mask, *, thorough: bool) -> list[Input]:
        """Witnesses at hand that differ in ``free`` columns and in one ``wanted``; at most one for each."""
        return []

    def changed(self, z: Input) -> Mask:
        """The columns in which an input of the region differs from the origin."""
        found = np.zeros(len(self.columns) + 1, np.bool_)
        found[self._place_of_bit[z != self.query.region.origin]] = True
        return found[:-1]

    def eased(self, z: Input, order: NDArray[np.int64]) -> Input:
        """The witness with changes taken back that are not needed, those of least ``order`` first."""
        query, region = self.query, self.query.region
        while True:
            places = np.flatnonzero(self.changed(z))
            places = places[np.argsort(order[places], kind="stable")]
            tried = np.repeat(z[None, :], len(places), axis=0)
            for row, place in zip(tried, places.tolist(), strict=True):
                own = self._bits(place)
                row[own] = region.origin[own]
            good = np.flatnonzero(query.violates(tried)) if len(places) else places
            if not len(good):
                return z
            z = tried[good[0]]

    def weights(self) -> NDArray[np.int64]:
        """How much each column matters, roughly."""
        return np.zeros(len(self.columns), np.int64)

    def _bits(self, place: int) -> NDArray[np.int64]:
        region, column = self.query.region, int(self.columns[place])
        if region.space is None:
            return np.array([column])
        bits = region.space.columns[column].bits
        return np.arange(bits.start, bits.stop)


def oracle_for(query: AnyQuery, engine: str) -> Oracle:
    """The oracle of the engine of that name, with its kernels compiled.

    Raises
    ------
    InvalidInputError
        If there is no such engine for ``query``.
    """
    chosen = engine_for(engine, query)
    chosen.prepare(query, False)
    if isinstance(query, Query) and engine in ("auto", "search"):
        from tmverify.engines.search.oracle import SearchOracle

        return SearchOracle(query, chosen)
    return Oracle(query, chosen)
