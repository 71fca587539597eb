"""What may change, and at what cost: the arguments of a question, checked against a model's columns.

    distance   "columns"  each changed column costs 1
               "steps"    a number costs the cuts that it crosses, anything else 1
               "bits"     any bits flip, one by one: the paper's definition, impossible inputs included

    columns, freeze       only these columns may change; these may not
    increase, decrease    numbers may only grow, or only fall; flags only be set, or only be cleared
    within                the values that a column may change to: (18, 65) of a number, a list of values of
                          any column
    cost                  what a change of a column costs (of one step, where steps are counted), 0 or more
    known_values          other columns change to no missing and to no unseen value; it is kept as the values
                          that are left, so neither stores nor the checker need to know of it
    features, direction   which bits may flip, and which way; where every column is a bit

An input's own value is always allowed. ``Allowed`` holds the arguments as they were given, ``rules_of`` makes
``Rules`` of them: column by column, in numbers, with one form for each meaning, as certificates and stores
keep them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeGuard, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.errors import InvalidInputError, meant, shown, some
from tmverify.model import Classifier
from tmverify.model.checks import as_bit_vector
from tmverify.model.names import default_name, feature_finder, in_order
from tmverify.space import Category, Column, Flag, Number, Space, Text

Direction = Literal["add", "remove"]
Distance = Literal["columns", "steps", "bits"]
Way = Literal["any", "keep", "up", "down"]
Features = ArrayLike | Sequence[str] | None
"""A mask of the features that may change, or their names; None for all."""
Columns = str | Iterable[str]
Within = Mapping[str, Any]
Costs = Mapping[str, int]

MAX_COST = 1 << 20
_UP: Way = "up"
_DOWN: Way = "down"
_SOME = 5
_BITS = "distance='bits' is about single bits"


class Rule(NamedTuple):
    """What one column may do, where that is not simply to change at cost 1."""

    column: int
    way: Way = "any"
    values: tuple[int, ...] | None = None
    cost: int = 1


@dataclass(frozen=True, slots=True)
class Allowed:
    """What may change, as a caller says it; the module explains the arguments.

    It may be read several times, so what can be read once only is kept as a list.
    """

    distance: Distance = "columns"
    columns: Columns | None = None
    freeze: Columns = ()
    increase: Columns = ()
    decrease: Columns = ()
    within: Within | None = None
    cost: Costs | None = None
    known_values: bool = False
    features: Features = None
    direction: Direction | None = None

    def __post_init__(self) -> None:
        for name in ("columns", "freeze", "increase", "decrease"):
            object.__setattr__(self, name, _kept(getattr(self, name)))
        for name in ("within", "cost"):
            given = getattr(self, name)
            if hasattr(given, "items") and not isinstance(given, type):  # mappings, and series
                object.__setattr__(self, name, {key: _kept(value) for key, value in given.items()})


def _kept(given: Any) -> Any:
    """An iterable as a list, unless it can be read again; anything else as it is."""
    if isinstance(given, str | bytes | tuple | list) or not isinstance(given, Iterable):
        return given
    if isinstance(given, np.ndarray) and given.ndim == 0:
        return given.item()
    return list(given)


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What may change, checked: either bits, or columns.

    Attributes
    ----------
    distance : {"bits", "columns", "steps"}
        Also "bits" where every column is a bit, and nothing is said that only columns have.
    features : bool array, (n_features,), or None
    direction : {"add", "remove"} or None
        Both only with bits.
    columns : tuple of Rule
        For the columns that differ from the default, ascending; only with columns and steps.
    """

    distance: Distance = "bits"
    features: NDArray[np.bool_] | None = None
    direction: Direction | None = None
    columns: tuple[Rule, ...] = ()

    @property
    def about_bits(self) -> bool:
        """Whether every bit is on its own."""
        return self.distance == "bits"


EVERYTHING = Rules()


def rules_of(model: Classifier, allowed: Allowed) -> Rules:
    """The rules that ``allowed`` means for ``model``.

    Raises
    ------
    InvalidInputError
        If a column, a value or an order does not exist, or arguments contradict each other.
    """
    distance, direction = allowed.distance, allowed.direction
    if not isinstance(distance, str) or distance not in get_args(Distance):
        raise InvalidInputError(
            f"distance must be 'columns', 'steps' or 'bits'. Got {shown(distance)} instead."
        )
    if direction is not None and (not isinstance(direction, str) or direction not in ("add", "remove")):
        raise InvalidInputError(f"direction must be 'add', 'remove' or None. Got {shown(direction)} instead.")
    by_column = _Reader(model.space, allowed).rules()
    space = model.space
    if distance == "bits" and by_column:
        raise InvalidInputError(
            f"{_BITS}, and columns, freeze, increase, decrease, within, cost and known_values are about "
            "columns. Use features and direction, or another distance."
        )
    if distance == "bits" or (space.only_flags and all(rule.way == "keep" for rule in by_column)):
        if allowed.features is None and direction is None and not by_column:
            return EVERYTHING
        mask = _mask(model, allowed.features)
        mask[[rule.column for rule in by_column]] = False  # where all columns are flags, they are bits
        return Rules("bits", None if mask.all() else mask, direction)
    if allowed.features is not None or direction is not None:
        remedy = "increase= and decrease=" if allowed.features is None else "columns= and freeze="
        raise InvalidInputError(
            f"features and direction are about bits. Use {remedy}, which are about columns, or "
            "distance='bits'."
        )
    return Rules(distance, columns=by_column)


@dataclass(slots=True)
class _Reader:
    """Reads the arguments about columns of one space."""

    space: Space
    allowed: Allowed
    _places: dict[str, int] = field(default_factory=dict)

    def rules(self) -> tuple[Rule, ...]:
        given = self.allowed
        if not isinstance(given.known_values, bool):
            raise InvalidInputError(
                f"known_values must be True or False. Got {shown(given.known_values)} instead."
            )
        if given.columns is None and not (
            given.freeze
            or given.increase
            or given.decrease
            or given.within
            or given.cost
            or given.known_values
        ):
            return ()
        up, down = self._named(given.increase, "increase"), self._named(given.decrease, "decrease")
        kept = set(self._named(given.freeze, "freeze"))
        if given.columns is not None:
            only = set(self._named(given.columns, "columns"))
            both = sorted(only & kept)
            if both:
                raise InvalidInputError(
                    f"{shown(self._name(both[0]))} is in columns, which may change, and in freeze, which may "
                    "not."
                )
            kept |= set(range(len(self.space.columns))) - only
        both = sorted(set(up) & set(down))
        if both:
            raise InvalidInputError(
                f"{shown(self._name(both[0]))} is in increase and in decrease. Use freeze if it may not "
                "change."
            )
        ways: dict[int, Way] = dict.fromkeys(up, _UP)
        ways |= dict.fromkeys(down, _DOWN)
        for place in ways:
            self._check_order(place, "increase" if ways[place] == "up" else "decrease")
        values = self._mapping(given.within, "within", self._values)
        if given.known_values:
            # What may only grow or only fall becomes neither missing nor unseen anyhow.
            values = {place: known for place, known in self._known() if place not in ways} | values
        costs = self._mapping(given.cost, "cost", self._cost)
        found = []
        for place in sorted({*kept, *ways, *values, *costs}):
            if place in kept:
                found.append(Rule(place, "keep"))
                continue
            rule = Rule(place, ways.get(place, "any"), values.get(place), costs.get(place, 1))
            if rule != Rule(place):
                found.append(rule)
        return tuple(found)

    def _known(self) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The known values of each column that has others."""
        if self.space.only_flags:  # there may be a million of them
            return
        for place, column in enumerate(self.space.columns):
            known = known_values(column)
            if len(known) < len(column.values):
                yield place, tuple(known)

    def _name(self, place: int) -> str:
        return self.space.columns[place].name

    def _place(self, name: object, argument: str) -> int:
        if not self._places:
            self._places = {column.name: i for i, column in enumerate(self.space.columns)}
        place = self._places.get(name) if isinstance(name, str) else None
        text = None if place is not None else self._text_called(name)
        if text is not None:
            raise InvalidInputError(
                f"{argument} must name columns of the model, and those of a text are its words, such as "
                f"{some(text.words, 3)}. Got {shown(name)}, the text itself, instead."
            )
        if place is None:
            raise InvalidInputError(
                f"{argument} must name columns of the model. Got {shown(name)} instead{self._hint(name)}"
            )
        return place

    def _text_called(self, name: object) -> Text | None:
        if not isinstance(name, str) or not self.space.named:
            return None
        return next((part for part in self.space.parts if isinstance(part, Text) and part.name == name), None)

    def _hint(self, name: object) -> str:
        if isinstance(name, str):
            if name in self.space.bit_names:
                column = self._name(self.space.column_of(self.space.bit_names.index(name)))
                return f", a bit of the column {column!r}"
            near = meant(name, list(self._places)[:10_000])
            if near is not None:
                return f"; is {near!r} meant?"
        return f"; it has {some(list(self._places), _SOME)}"

    def _named(self, names: Columns, argument: str) -> list[int]:
        if isinstance(names, str):
            names = (names,)
        if not isinstance(names, Iterable):
            raise InvalidInputError(f"{argument} must be a list of column names. Got {shown(names)} instead.")
        return [self._place(name, argument) for name in names]

    def _mapping(
        self, given: Mapping[str, Any] | None, argument: str, read: Callable[[Column, Any], Any]
    ) -> dict[int, Any]:
        if given is None:
            return {}
        if not isinstance(given, Mapping):
            raise InvalidInputError(
                f"{argument} must map column names to values. Got {shown(given)} instead."
            )
        return {
            place: read(self.space.columns[place], value)
            for name, value in given.items()
            for place in (self._place(name, argument),)
        }

    def _check_order(self, place: int, argument: str) -> None:
        column = self.space.columns[place]
        if not isinstance(column.part, Number | Flag):
            raise InvalidInputError(
                f"{argument} is for numbers and flags. {column.name!r} is a category, whose values have no "
                f"order; use within={{{column.name!r}: [...]}}."
            )

    @staticmethod
    def _cost(column: Column, cost: Any) -> int:
        if isinstance(cost, bool) or not isinstance(cost, int | np.integer) or not 0 <= cost <= MAX_COST:
            raise InvalidInputError(
                f"The cost of column {column.name!r} must be an integer from 0 to {MAX_COST}. "
                f"Got {shown(cost)} instead."
            )
        return int(cost)

    @staticmethod
    def _values(column: Column, given: Any) -> tuple[int, ...] | None:
        """The values that ``within`` allows, by number: a range of a number, or a list; None for all."""
        part = column.part
        if isinstance(part, Number) and isinstance(given, tuple) and len(given) == 2:
            found = interval(part, given)
        else:
            if isinstance(given, str) or not isinstance(given, Iterable):
                given = [given]
            given = list(given)
            if isinstance(part, Number) and len(given) == 2 and all(map(_is_number, given)):
                raise InvalidInputError(
                    f"within must give column {column.name!r} a range as a pair, "
                    f"such as (18, 65): a list could mean two single values. Got {shown(given)} instead."
                )
            found = {value_number(column, value) for value in given}
        if not found:
            raise InvalidInputError(f"within allows column {column.name!r} no value. Use freeze.")
        return tuple(sorted(found)) if len(found) < len(column.values) else None


def known_values(column: Column) -> range:
    """The values of a column that are neither missing nor unseen, by number; they come first."""
    part = column.part
    if isinstance(part, Number):
        return range(len(part.cuts) + 1)
    return range(len(part.categories if isinstance(part, Category) else column.values))


def changes_to_known(space: Space, rule: Rule) -> bool:
    """Whether a rule allows all values of its column but missing and unseen ones, and it has such."""
    column = space.columns[rule.column]
    return rule.values == tuple(known_values(column)) and len(rule.values) < len(column.values)


def leave_out_unknown(space: Space, rules: Sequence[Rule]) -> bool:
    """Whether no column changes to missing or unseen values, but those that are given other values."""
    bound = {rule.column for rule in rules if rule.way != "any" or rule.values is not None}
    return all(
        place in bound or len(known_values(column)) == len(column.values)
        for place, column in enumerate(space.columns)
    )


def interval(part: Number, ends: tuple[Any, Any]) -> set[int]:
    """The intervals that hold a number from the first to the second end; None is no end."""
    low, high = (_end(part, end, missing) for end, missing in zip(ends, (-math.inf, math.inf), strict=True))
    if not low <= high:
        raise InvalidInputError(
            f"within must give column {part.name!r} the lower end first. Got {shown(ends)} instead."
        )
    first = sum(cut < low for cut in part.cuts)
    last = sum(cut < high for cut in part.cuts)
    return set(range(first, last + 1))


def _end(part: Number, end: Any, missing: float) -> float:
    if end is None:
        return missing
    try:
        number = float(end) if _is_number(end) else math.nan
    except OverflowError:
        number = math.nan
    if math.isnan(number):
        raise InvalidInputError(
            f"within must give column {part.name!r} a pair of numbers, such as (18, 65); None is no end. "
            f"Got {shown(end)} instead."
        )
    return number


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def value_number(column: Column, value: Any) -> int:
    """The number of a value, given in words or as it would be in a row.

    Raises
    ------
    InvalidInputError
        If the column has no such value.
    """
    if isinstance(value, str) and value in column.values:
        return column.values.index(value)
    try:
        bits = column.part.encode([value])
    except InvalidInputError:
        bits = None
    if bits is not None:
        place = int(column.part.value_indices(bits)[0])
        if column.kind != "category" or not getattr(column.part, "other", False) or bits.any():
            return place
    raise InvalidInputError(
        f"within must give column {column.name!r} values that it has: {some(column.values, 12)}. "
        f"Got {shown(value)} instead."
    )


def _mask(model: Classifier, features: Features) -> NDArray[np.bool_]:
    n = model.n_features
    if features is None:
        return np.ones(n, np.bool_)
    if _are_names(features):
        return _mask_of_names(model, [str(name) for name in features])
    mask = in_order(features, model, name="features")
    try:
        return as_bit_vector(mask, n, name="features").astype(np.bool_)
    except InvalidInputError:
        raise InvalidInputError(
            f"features must be a mask of {n} values, true where a feature may change, or a list of feature "
            f"names. Got {shown(features)} instead."
        ) from None


def _are_names(features: object) -> TypeGuard[Iterable[str]]:
    if isinstance(features, np.ndarray):
        return features.ndim == 1 and features.dtype.kind == "U"
    return isinstance(features, list | tuple) and bool(features) and all(isinstance(f, str) for f in features)


def _mask_of_names(model: Classifier, names: list[str]) -> NDArray[np.bool_]:
    find = feature_finder(model)
    mask = np.zeros(model.n_features, np.bool_)
    for name in names:
        feature = find(name)
        if feature is None:
            are = ""
            if model.feature_names is None:
                called = f"{default_name(0)} to {default_name(model.n_features - 1)}"
                are = f"; the model has no feature_names, so they are called {called}"
            raise InvalidInputError(
                f"features must be names of the model's features{are}. Got {shown(name)} instead."
            )
        mask[feature] = True
    return mask
