"""Conditions on columns in words: "age over 40 and city is not Oslo".

A conjunction of literals leaves each column some of its values. A column that keeps all of them is not
mentioned; of several cuts only the tightest show. Words speak of possible inputs: a conjunction that leaves a
column no value is never true of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tmverify.space.parts import Category, Number
from tmverify.space.space import Column, Space, word_text

_FLAG = ("0", "1")
_MOST_VALUES = 4
_JOINS = re.compile(
    r'\b(or|nor|and|not|neither|is|over|up to|IF|AND|THEN|instead of)\b|"|→'
)  # what has these words is quoted


@dataclass(frozen=True, slots=True)
class Condition:
    """The values that a column may have: ``allowed`` is true at their indices."""

    column: Column
    allowed: tuple[bool, ...]

    @property
    def is_impossible(self) -> bool:
        return not any(self.allowed)

    def __str__(self) -> str:
        return self.said()

    def said(self, most_values: int | None = None) -> str:
        """The condition in words; at most so many values are named, and then how many are not."""
        column, places = self.column, [i for i, allowed in enumerate(self.allowed) if allowed]
        if self.is_impossible:
            return f"{quoted(column.name)} has no possible value"
        if isinstance(column.part, Number):
            return _number_text(column, column.part, places)
        if isinstance(column.part, Category):
            return _category_text(column, places, most_values)
        name, value = quoted(column.name), quoted(column.values[places[0]])
        if len(places) > 1:
            return f"{name} is anything"
        if column.kind == "word":
            return word_text(column.name, "" if places[0] else "no ")
        if column.kind == "flag" and column.values == _FLAG:
            return name if places[0] else f"not {name}"
        return f"{name} {value}" if column.kind == "pixel" else f"{name} is {value}"


@dataclass(frozen=True, slots=True)
class Fact:
    """A column and its value in words; as text ``age over 25``, ``no "bad"``, ``pixel_3_4 on``."""

    column: str
    value: str
    text: str

    def __str__(self) -> str:
        return self.text


def conditions_of(space: Space, literals: Iterable[int]) -> list[Condition]:
    """What a conjunction of signed, 1-based literals demands of each column, in the order of columns."""
    demands: dict[int, list[tuple[int, bool]]] = {}
    for lit in literals:
        bit = abs(lit) - 1
        demands.setdefault(space.column_of(bit), []).append((bit, lit > 0))
    found = []
    for place in sorted(demands):
        column = space.columns[place]
        allowed = np.ones(len(column.values), np.bool_)
        for bit, value in demands[place]:
            allowed &= column.part.holding(bit - column.bits.start) == value
        if not allowed.all():
            found.append(Condition(column, tuple(allowed.tolist())))
    return found


def joined(conditions: Sequence[Condition], most: int | None = None) -> str:
    """The conditions with "and" between them; at most ``most`` and all shortened, if it is given."""
    said = [condition.said(None if most is None else _MOST_VALUES) for condition in conditions[:most]]
    if len(conditions) > 1:
        said = [f"({text})" if " or " in text else text for text in said]
    hidden = len(conditions) - len(said)
    return " and ".join(said) + (f" and {hidden} more" if hidden else "")


def _number_text(column: Column, part: Number, places: list[int]) -> str:
    """Runs of neighbouring intervals, and whether the value may be missing."""
    n_intervals = len(part.cuts) + 1
    inside = [i for i in places if i < n_intervals]
    gone = part.missing and places[-1] == n_intervals
    if not inside:
        return f"{quoted(column.name)} is missing"
    if len(inside) == n_intervals:
        return f"{quoted(column.name)} is not missing"
    runs: list[tuple[int, int]] = []
    for i in inside:
        runs[-1:] = [(runs[-1][0], i)] if runs and runs[-1][1] == i - 1 else [*runs[-1:], (i, i)]
    said = [_run_text(column.values, first, last, n_intervals) for first, last in runs]
    return f"{quoted(column.name)} {' or '.join(said)}{' or missing' if gone else ''}"


def _run_text(values: tuple[str, ...], first: int, last: int, n_intervals: int) -> str:
    """Neighbouring intervals as one: "up to 40", "25 to 60", "over 25"."""
    if first == last:
        return values[first]
    if first == 0:
        return f"up to {values[last].partition(' to ')[2]}"
    low = values[first].partition(" to ")[0]
    return f"over {low}" if last == n_intervals - 1 else f"{low} to {values[last].partition(' to ')[2]}"


def _category_text(column: Column, places: list[int], most: int | None) -> str:
    """The values it may have, or those that it may not have if these are fewer."""
    values, name = [quoted(value) for value in column.values], quoted(column.name)
    others = [i for i in range(len(values)) if i not in set(places)]
    if len(places) <= len(others) or len(places) == 1:
        return f"{name} is {_listed([values[i] for i in places], 'or', most)}"
    if len(others) == 1:
        return f"{name} is not {values[others[0]]}"
    return f"{name} is neither {_listed([values[i] for i in others], 'nor', most)}"


def quoted(text: str) -> str:
    """A name or a value as it stands in a sentence: in quotes if it could be taken for a part of it."""
    return json.dumps(text, ensure_ascii=False) if _JOINS.search(text) else text


def _listed(values: list[str], word: str, most: int | None) -> str:
    if most is not None and len(values) > most:
        values = [*values[:most], f"{len(values) - most} more"]
    return f" {word} ".join(values)
