"""Regions: sets of inputs around a centre, and every possible input.

    region(x, eps)  =  { z : every column of z has a value that is allowed, and their costs add up to <= eps }

A column's *options* are the values that it may take: the centre's own, which costs 0, and others, each with
an integer cost. The columns of a region are of two sorts:

- bits that flip by themselves at cost 1 (``mutable``): flags, words and pixels, and all bits of a question
  about bits. For most models there is nothing else, and the region is a Hamming ball.
- columns of several bits, or with other costs (``options``).

The region of every possible input is one of these too: around the first value of every column, each change at
cost 1, with room for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, shown
from tmverify.model import Classifier
from tmverify.model.inputs import Row, input_row
from tmverify.properties.allowed import EVERYTHING, Distance, Rule, Rules
from tmverify.space import Column, Flag, Number, Space
from tmverify.space.parts import ABSENT

MOST = (1 << 31) - 1
"""The largest budget."""
_NO_LIMIT = 1 << 62
_CACHED_CELLS = 1 << 14


@dataclass(frozen=True, eq=False)
class Options:
    """The options of one column; the first is the centre's own value."""

    column: int  # the column's place in the space
    bits: range
    values: NDArray[np.int64]  # (n,): by their number among the column's values
    costs: NDArray[np.int64]  # (n,): the first is 0
    patterns: NDArray[np.uint8]  # (n, len(bits))

    def of(self, bits: NDArray[np.uint8]) -> int:
        """Which option an input, as bits, has in this column; ABSENT if none."""
        return self.places.get(bits[self.bits.start : self.bits.stop].tobytes(), ABSENT)

    @cached_property
    def places(self) -> dict[bytes, int]:
        """Which option has these bits."""
        return {pattern.tobytes(): place for place, pattern in enumerate(self.patterns)}

    @cached_property
    def changed(self) -> tuple[NDArray[np.int64], ...]:
        """For each option, the bits in which it differs from the first."""
        return tuple(np.flatnonzero(row) + self.bits.start for row in self.patterns != self.patterns[0])


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Inputs whose changes cost at most ``radius``; without a centre, every possible input.

    Attributes
    ----------
    center : uint8 array, (n_features,), or None
    radius : int
        The budget.
    mutable : bool array, (n_features,)
        The bits that may flip by themselves, at cost 1.
    options : tuple of Options
        The other columns that may change, each with at least two options, ascending.
    rules : Rules
        What it was made from.
    start : uint8 array, (n_features,), or None
        The input that a region without a centre is seen from.
    space : Space or None
        Whose columns they are, unless it is about bits.
    apart : tuple of sets of int
        Columns that may not all change together; engines are asked about parts of the region in which some of
        them keep their values.
    """

    center: NDArray[np.uint8] | None
    radius: int
    mutable: NDArray[np.bool_]
    options: tuple[Options, ...] = ()
    rules: Rules = EVERYTHING
    start: NDArray[np.uint8] | None = None
    space: Space | None = None
    apart: tuple[frozenset[int], ...] = ()

    @classmethod
    def everything(cls, space: Space, distance: Distance = "columns") -> Region:
        """Every possible input of ``space``; every combination of bits if the distance is "bits"."""
        n = space.n_bits
        if distance == "bits" or space.only_flags:
            return cls(center=None, radius=n, mutable=np.ones(n, np.bool_))
        start = np.zeros(n, np.uint8)
        for place in space.wide_columns:
            column = space.columns[place]
            start[column.bits.start : column.bits.stop] = column.part.patterns[0]
        rules = Rules("columns")
        options = _options(space, start, rules)
        return cls(None, n, space.single_bits, options, rules, start, space)

    @property
    def n_features(self) -> int:
        """Width of an input."""
        return len(self.mutable)

    @property
    def plain(self) -> bool:
        """Whether all columns are bits that flip at cost 1, so that columns have the numbers of bits."""
        return not self.options and (self.space is None or self.space.only_flags)

    @property
    def origin(self) -> NDArray[np.uint8]:
        """The input that the region is seen from: its centre, if it has one."""
        if self.center is not None:
            return self.center
        return np.zeros(self.n_features, np.uint8) if self.start is None else self.start

    @property
    def reach(self) -> int:
        """The largest cost that an input of the region really has, or more."""
        largest = int(self.mutable.sum()) + sum(int(options.costs.max()) for options in self.options)
        return min(self.radius, largest)

    @property
    def free_changes(self) -> bool:
        """Whether something may change at no cost."""
        return any((own.costs[1:] == 0).any() for own in self.options)

    def cost(self, z: NDArray[np.uint8]) -> int | None:
        """What the changes from the origin to ``z``, a checked uint8 vector, cost; None if not allowed."""
        changed = z != self.origin
        total, text = 0, z.tobytes()
        for options in self.options:
            start, stop = options.bits.start, options.bits.stop
            option = options.places.get(text[start:stop])
            if option is None:
                return None
            if option:
                total += int(options.costs[option])
                changed[start:stop] = False
        return None if (changed & ~self.mutable).any() else total + int(np.count_nonzero(changed))

    def steps(self, options: Options) -> NDArray[np.int64]:
        """How far each of a column's options is from the origin's value, in steps."""
        assert self.space is not None
        return _steps(self.space.columns[options.column], int(options.values[0]), options.values)

    def contains(self, z: NDArray[np.uint8]) -> bool:
        """Whether ``z``, a checked uint8 vector, lies in the region."""
        cost = self.cost(z)
        return cost is not None and cost <= self.radius

    def with_flips(self, flips: list[int] | NDArray[np.int64]) -> NDArray[np.uint8]:
        """The origin with these bits flipped."""
        z = self.origin.copy()
        z[flips] ^= 1
        return z

    def within(self, radius: int) -> Region:
        """The same region with another budget."""
        return replace(self, radius=radius)

    def column_of(self, bits: NDArray[np.int64]) -> NDArray[np.int64]:
        """The columns that have these bits; the bits themselves, if it is about bits."""
        if self.space is None:
            return bits
        return self.space.columns_of(bits)

    def keeping(self, columns: Iterable[int]) -> Region:
        """The part in which these columns (bits, if it is about bits) keep the origin's value."""
        kept = set(columns)
        mutable = self.mutable.copy()
        flags = np.flatnonzero(mutable)
        mutable[flags[np.isin(self.column_of(flags), list(kept))]] = False
        return replace(
            self, mutable=mutable, options=tuple(own for own in self.options if own.column not in kept)
        )

    def among(self, values: Mapping[int, Iterable[int]]) -> Region:
        """The part in which these columns (bits, if it is about bits) have one of these values.

        The origin's own value of a column must be among them.
        """
        kept = {column: set(some) for column, some in values.items()}
        options = []
        for own in self.options:
            if own.column in kept:
                places = np.flatnonzero([value in kept[own.column] for value in own.values.tolist()])
                assert places[0] == 0, "the origin's own value is left out"
                if len(places) == 1:
                    continue
                own = replace(
                    own, values=own.values[places], costs=own.costs[places], patterns=own.patterns[places]
                )
            options.append(own)
        flags = np.flatnonzero(self.mutable)
        mutable = self.mutable.copy()
        for bit, column in zip(flags.tolist(), self.column_of(flags).tolist(), strict=True):
            mutable[bit] = column not in kept or len(kept[column]) == 2
        return replace(self, mutable=mutable, options=tuple(options))

    def restricted(self, values: Mapping[int, Iterable[int]]) -> Region | None:
        """The part in which these columns have one of these values; None if it is empty.

        A centre has to have such values; without a centre, the part is seen from another origin.
        """
        if self.center is not None:
            return self.among(values)
        start, mutable = self.origin.copy(), self.mutable.copy()
        options = []
        for own in self.options:
            if own.column in values:
                kept = np.flatnonzero(np.isin(own.values, list(values[own.column])))
                if not len(kept):
                    return None
                start[own.bits.start : own.bits.stop] = own.patterns[kept[0]]
                costs = (np.arange(len(kept)) > 0).astype(np.int64)
                own = replace(own, values=own.values[kept], costs=costs, patterns=own.patterns[kept])
            if len(own.values) > 1:
                options.append(own)
        flags = np.flatnonzero(mutable)
        for bit, column in zip(flags.tolist(), self.column_of(flags).tolist(), strict=True):
            if column in values:
                left = set(values[column])
                if not left:
                    return None
                mutable[bit], start[bit] = len(left) == 2, min(left)
        return replace(self, start=start, mutable=mutable, options=tuple(options))

    def around(self, x: NDArray[np.uint8], radius: int) -> Region:
        """The ball around a possible input, in a region of every possible input."""
        options = () if self.space is None else _options(self.space, x, self.rules)
        return replace(self, center=np.ascontiguousarray(x), radius=radius, options=options)

    def counting_columns(self) -> Region:
        """The same inputs, of equal cost those of fewer changes first: costs are multiplied by a factor.

        It is the region itself if every change costs 1 anyway.
        """
        if all((own.costs[1:] == 1).all() for own in self.options):
            return self
        flags = np.flatnonzero(self.mutable)
        origin, patterns = self.origin, np.array([[0], [1]], np.uint8)
        options = list(self.options)
        for bit, column in zip(flags.tolist(), self.column_of(flags).tolist(), strict=True):
            values = np.array([origin[bit], 1 - origin[bit]], np.int64)
            costs = np.array([0, 1], np.int64)
            options.append(Options(column, range(bit, bit + 1), values, costs, patterns[values]))
        factor = len(options) + 1
        dearer = [replace(own, costs=own.costs * factor + (np.arange(len(own.costs)) > 0)) for own in options]
        dearer.sort(key=lambda own: own.column)
        return replace(
            self,
            radius=self.radius * factor + len(options),
            mutable=np.zeros(self.n_features, np.bool_),
            options=tuple(dearer),
        )

    def inside(self, literals: Mapping[int, bool]) -> Region | None:
        """The part in which some bits have these values, around another origin; None if it is empty."""
        start, mutable = self.origin.copy(), self.mutable.copy()
        options = []
        for own in self.options:
            fits = np.ones(len(own.values), np.bool_)
            for bit in own.bits:
                if bit in literals:
                    fits &= own.patterns[:, bit - own.bits.start] == literals[bit]
            if not fits.any():
                return None
            kept = np.flatnonzero(fits)
            start[own.bits.start : own.bits.stop] = own.patterns[kept[0]]
            costs = np.minimum(own.costs[kept], 1) if kept[0] == 0 else np.ones(len(kept), np.int64)
            costs[0] = 0
            if len(kept) > 1:
                options.append(
                    replace(own, values=own.values[kept], costs=costs, patterns=own.patterns[kept])
                )
        moving = {bit for own in self.options for bit in own.bits}
        for bit, value in literals.items():
            if mutable[bit]:
                start[bit] = value
                mutable[bit] = False
            elif bit not in moving and start[bit] != value:
                return None
        return replace(self, center=None, start=start, mutable=mutable, options=tuple(options))

    def size(self, most: int) -> int:
        """The exact number of inputs in the region if it is at most ``most``, else some larger number."""
        free = int(self.mutable.sum())
        counts = {0: 1}  # inputs of each cost
        size = 1
        for k in range(1, min(free, self.radius) + 1):
            counts[k] = counts[k - 1] * (free - k + 1) // k
            size += counts[k]
            if size > most:
                return size
        for options in self.options:
            longer: dict[int, int] = {}
            for cost in options.costs.tolist():
                for spent, n in counts.items():
                    if spent + cost <= self.radius:
                        longer[spent + cost] = longer.get(spent + cost, 0) + n
            counts = longer
            size = sum(counts.values())
            if size > most:
                return size
        return size


def region_around(model: Classifier, x: Row, epsilon: int | None, rules: Rules) -> Region:
    """The region around ``x``, an input of ``model``.

    Parameters
    ----------
    model : Classifier
        Features that are not ``attainable`` never change.
    x : array of 0 and 1, (n_features,), or a raw row (``model.inputs``)
    epsilon : int or None
        The budget; None for as much as all changes together cost.
    rules : Rules

    Raises
    ------
    InvalidInputError
    """
    return region_in(model.space, input_row(x, model), epsilon, rules, attainable=model.attainable)


def region_in(
    space: Space,
    center: NDArray[np.uint8],
    epsilon: int | None,
    rules: Rules,
    *,
    attainable: NDArray[np.bool_] | None = None,
) -> Region:
    """The region around ``center``, checked bits, of a model with this space; as ``region_around``.

    ``attainable`` are the bits that can change at all; all of them, if it is not given.
    """
    center.flags.writeable = False
    mutable = np.ones(space.n_bits, np.bool_) if attainable is None else attainable
    options: tuple[Options, ...]
    known: Space | None
    most: int | None
    if rules.about_bits:
        mutable = mutable if rules.features is None else mutable & rules.features
        if rules.direction is not None:
            mutable = mutable & (center == (rules.direction == "remove"))
        options, known, most = (), None, space.n_bits
    else:
        _check_possible(space, center)
        mutable = mutable & _free_flags(space, center, rules)
        options, known, most = _options(space, center, rules), space, None
    if epsilon is not None:
        return Region(center, check_epsilon(epsilon, most), mutable, options, rules, space=known)
    region = Region(center, _NO_LIMIT, mutable, options, rules, space=known)
    if region.reach > MOST:
        raise InvalidInputError(
            f"All changes together may cost at most {MOST}. Got {region.reach} instead: choose smaller costs."
        )
    return region.within(region.reach)


def check_epsilon(epsilon: object, most: int | None = None) -> int:
    """``epsilon`` as an int, or InvalidInputError; ``most`` is the number of bits, where bits are counted."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, np.integer)):
        raise InvalidInputError(
            f"epsilon must be an integer, a number of changes. Got {shown(epsilon)} instead."
        )
    if not 0 <= epsilon <= (MOST if most is None else most):
        named = f"n_features={most}" if most is not None else str(MOST)
        raise InvalidInputError(f"epsilon must be between 0 and {named}. Got {shown(int(epsilon))} instead.")
    return int(epsilon)


def _check_possible(space: Space, center: NDArray[np.uint8]) -> None:
    if not space.possible(center[None, :])[0]:
        wrong = next(
            column
            for column in space.columns
            if column.part.value_indices(center[None, column.bits.start : column.bits.stop])[0] == ABSENT
        )
        raise InvalidInputError(
            f"x is no possible input: its column {wrong.name!r} is {wrong.words(center)}. "
            "distance='bits' takes any bits."
        )


def _free_flags(space: Space, center: NDArray[np.uint8], rules: Rules) -> NDArray[np.bool_]:
    """The bits that are columns of their own, and may flip at cost 1."""
    free = space.single_bits.copy()
    for rule in rules.columns:
        column = space.columns[rule.column]
        if isinstance(column.part, Flag):
            bit = column.bits.start
            free[bit] = rule.cost == 1 and 1 - center[bit] in _allowed_values(column, int(center[bit]), rule)
    return free


def _options(space: Space, center: NDArray[np.uint8], rules: Rules) -> tuple[Options, ...]:
    """The options of the columns that may change otherwise than by flipping one bit at cost 1."""
    by_column = {rule.column: rule for rule in rules.columns}
    found = []
    for place in (*space.wide_columns, *(c for c, rule in by_column.items() if rule.cost != 1)):
        column = space.columns[place]
        rule = by_column.get(place, Rule(place))
        if isinstance(column.part, Flag) and rule.cost == 1:
            continue
        start, stop = column.bits.start, column.bits.stop
        own = int(column.part.value_indices(center[None, start:stop])[0])
        small = len(column.values) * len(column.bits) <= _CACHED_CELLS
        make = _options_of_column if small else _options_of_column.__wrapped__
        options = make(column, own, rule, rules.distance == "steps")
        if len(options.values) > 1:
            found.append(options)
    return tuple(sorted({own.column: own for own in found}.values(), key=lambda own: own.column))


@lru_cache(maxsize=1 << 12)  # rows of a table share them
def _options_of_column(column: Column, own: int, rule: Rule, by_steps: bool) -> Options:
    values = np.array([own, *_allowed_values(column, own, rule)], np.int64)
    costs = _steps(column, own, values) if by_steps else (values != own).astype(np.int64)
    return Options(rule.column, column.bits, values, costs * rule.cost, column.part.patterns[values])


def _allowed_values(column: Column, own: int, rule: Rule) -> list[int]:
    """The other values that a column may take, ascending."""
    part, n = column.part, len(column.values)
    others = [value for value in range(n) if value != own]
    if rule.way == "keep":
        return []
    if rule.way != "any":
        # A missing value has no place in the order.
        last = len(part.cuts) if isinstance(part, Number) else 1
        up = rule.way == "up"
        others = [v for v in others if v <= last and own <= last and (v > own) == up]
    return others if rule.values is None else [v for v in others if v in rule.values]


def _steps(column: Column, own: int, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many cuts lie between the own value and others; 1 to and from a missing one, and in a category."""
    steps = np.ones(len(values), np.int64)
    if isinstance(column.part, Number) and own <= len(column.part.cuts):
        ordered = values <= len(column.part.cuts)
        steps[ordered] = np.abs(values[ordered] - own)
    steps[values == own] = 0
    return steps
