"""What may change, as typed in a command or written in a plan, read for a model.

    columns, freeze, increase, decrease    names with commas between them
    within      age=18..65  age=18..  age=..65,missing  city=Oslo,Bergen
    cost        age=2
    known_values                           no change to missing and unseen values
    features    names, indices and ranges of bits (``features``)

Each may be given several times. A text that is exactly the name of a column, or the value of one, is that
one; only other texts are split at commas. So whatever has a comma in it is given by an option of its own. If
names have an equals sign, the one that is a column counts. In a plan, ``within`` and ``cost`` are tables by
column, so names need no splitting there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from tmverify.asking.features import read_features
from tmverify.errors import InvalidInputError, meant, shown, some
from tmverify.model import Classifier
from tmverify.properties.allowed import Allowed, Direction, Distance, Rules, interval, rules_of
from tmverify.space import Column, Number, Space
from tmverify.space.values import as_number

Pair = tuple[str, Any]
_DOTS = ".."
_SOME = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """What may change. An entry of ``within`` and ``cost`` is a text, "age=2", or a name with its value."""

    distance: str = "columns"
    columns: tuple[str, ...] = ()
    freeze: tuple[str, ...] = ()
    increase: tuple[str, ...] = ()
    decrease: tuple[str, ...] = ()
    within: tuple[str | Pair, ...] = ()
    cost: tuple[str | Pair, ...] = ()
    known_values: bool = False
    features: str | None = None
    direction: str | None = None

    @property
    def said(self) -> dict[str, str]:
        """Everything that was given, by its name."""
        lists = {
            name: " ".join(each if isinstance(each, str) else f"{each[0]}={each[1]}" for each in values)
            for name in ("columns", "freeze", "increase", "decrease", "within", "cost")
            if (values := getattr(self, name))
        }
        single = {name: value for name in ("features", "direction") if (value := getattr(self, name))}
        distance = {} if self.distance == "columns" else {"distance": self.distance}
        known = {"known_values": "true"} if self.known_values else {}
        return {**distance, **lists, **known, **single}


def read_rules(model: Classifier, typed: Typed) -> Rules:
    """The rules that ``typed`` means for ``model``.

    Raises
    ------
    InvalidInputError
    """
    if typed.distance not in get_args(Distance):
        near = meant(typed.distance, get_args(Distance))
        hint = "" if near is None else f"; is {near!r} meant?"
        raise InvalidInputError(
            f"--distance must be columns, steps or bits. Got {shown(typed.distance)} instead{hint or '.'}"
        )
    if typed.direction not in (None, "add", "remove"):
        raise InvalidInputError(f"--direction must be add or remove. Got {shown(typed.direction)} instead.")
    space = model.space
    about_bits = [name for name in ("features", "direction") if getattr(typed, name) is not None]
    if about_bits and typed.distance != "bits" and not space.only_flags:
        instead = "--columns and --freeze" if about_bits[0] == "features" else "--increase and --decrease"
        raise InvalidInputError(
            f"--{about_bits[0]} is about single bits, and this model has columns of several bits. Use "
            f"{instead}, or --distance bits, which lets any bits flip."
        )
    places = {column.name: place for place, column in enumerate(space.columns)} if _names(typed) else {}
    return rules_of(
        model,
        Allowed(
            cast("Distance", typed.distance),
            columns=listed(typed.columns, places) if typed.columns else None,
            freeze=listed(typed.freeze, places),
            increase=listed(typed.increase, places),
            decrease=listed(typed.decrease, places),
            within=_within(typed.within, space, places),
            cost=_costs(typed.cost, places),
            known_values=typed.known_values,
            features=None if typed.features is None else read_features(model, typed.features),
            direction=cast("Direction | None", typed.direction),
        ),
    )


def read_distance(model: Classifier, distance: str) -> Rules:
    """The rules of a question about every possible input."""
    rules = read_rules(model, Typed(distance=distance))
    if distance == "steps":
        raise InvalidInputError(
            "--distance must be columns or bits for a question about every possible input, where nothing is "
            "counted. Got 'steps' instead."
        )
    return rules


def _names(typed: Typed) -> bool:
    """Whether columns are named at all; there may be a million of them."""
    lists = (typed.columns, typed.freeze, typed.increase, typed.decrease, typed.within, typed.cost)
    return any(lists)


def listed(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """The names in the texts: a text that is one, or its parts between commas."""
    found: list[str] = []
    for text in texts:
        parts = [text] if text in known else text.split(",")
        found += [part if part in known else part.strip() for part in parts]
    return found


def _pair(entry: str | Pair, option: str, places: dict[str, int]) -> Pair:
    """The column's name and the rest. It need not exist, so that its error can say which is meant."""
    if not isinstance(entry, str):
        return entry
    if "=" not in entry:
        such = "age=18..65 or city=Oslo,Bergen" if option == "within" else "age=2"
        raise InvalidInputError(f"--{option} must be COLUMN=…, such as {such}. Got {shown(entry)} instead.")
    splits = [
        (entry[:at] if entry[:at] in places else entry[:at].strip(), entry[at + 1 :])
        for at, character in enumerate(entry)
        if character == "="
    ]
    named = [split for split in splits if split[0] in places]
    if len(named) > 1:
        both = " and ".join(shown(name) for name, _ in named)
        raise InvalidInputError(
            f"--{option} {shown(entry)} can be read in several ways: {both} are columns. A plan or Python, "
            "where they are keys, can tell them apart."
        )
    return named[0] if named else splits[0]


def _costs(entries: Sequence[str | Pair], places: dict[str, int]) -> dict[str, int]:
    found: dict[str, int] = {}
    for entry in entries:
        name, cost = _pair(entry, "cost", places)
        if isinstance(cost, str):
            try:
                cost = int(cost)
            except ValueError:
                raise InvalidInputError(
                    f"--cost of column {shown(name)} must be a whole number, such as {name}=2. "
                    f"Got {shown(cost)} instead."
                ) from None
        if found.get(name, cost) != cost:
            raise InvalidInputError(f"--cost gives column {shown(name)} two costs, {found[name]} and {cost}.")
        found[name] = cost
    return found


def _within(entries: Sequence[str | Pair], space: Space, places: dict[str, int]) -> dict[str, Any]:
    """For each column a range, or its values in words; more values may be said in another option."""
    found: dict[str, list[Any]] = {}
    for entry in entries:
        name, given = _pair(entry, "within", places)
        column = space.columns[places[name]] if name in places else None
        if name in found and column is not None and isinstance(column.part, Number):
            raise InvalidInputError(
                f"--within names the number {name!r} twice. Give one range; several are written with commas "
                "between them, such as ..20,60.."
            )
        found.setdefault(name, []).extend([] if column is None else _items(column, given))
    return {name: _united(space.columns[places[name]], items) if name in places else None
            for name, items in found.items()}  # fmt: skip


def _items(column: Column, given: Any) -> list[Any]:
    """Ranges (as pairs) and values."""
    items: list[Any] = [given]
    if isinstance(given, str) and not given.strip():
        raise InvalidInputError(
            f"--within gives column {column.name!r} no value; it has {some(column.values, _SOME)}."
        )
    if isinstance(given, str):
        items = list(listed([given], column.values))
    elif isinstance(given, list | tuple):
        items = list(given)
    if not isinstance(column.part, Number):
        return items
    if any(isinstance(item, int | float) or _is_bare_number(item, column) for item in items):
        raise InvalidInputError(
            f'--within of the number {column.name!r} must be a range, such as "18..65", "18.." or "..65", '
            f"or values in words. Got {shown(given)} instead."
        )
    return [_range(column, item) for item in items]


def _is_bare_number(item: Any, column: Column) -> bool:
    """Whether it is a number where a range is meant: 20,60 could be two values, and 4,000..5,000 is none."""
    return isinstance(item, str) and item not in column.values and as_number(item.strip()) is not None


def _range(column: Column, item: Any) -> Any:
    """A range "18..65" as a pair; what is none, as it is."""
    if not isinstance(item, str) or _DOTS not in item or item in column.values:
        return item
    low, _, high = item.partition(_DOTS)
    return _end(column, low, item), _end(column, high, item)


def _end(column: Column, text: str, item: str) -> float | None:
    number = as_number(text.strip()) if text.strip() else None
    if text.strip() and number is None:
        raise InvalidInputError(
            f"--within of the number {column.name!r} must be a range, such as 18..65, 18.. or ..65. "
            f"Got {shown(item)} instead."
        )
    return number


def _united(column: Column, items: list[Any]) -> Any:
    """One range as it is; of several, and of values, the values in words."""
    if len(items) == 1:
        return items[0] if isinstance(items[0], tuple) else items
    values: list[Any] = []
    for item in items:
        if isinstance(item, tuple):
            assert isinstance(column.part, Number)
            values += [column.values[place] for place in sorted(interval(column.part, item))]
        else:
            values.append(item)
    return values
