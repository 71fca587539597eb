"""The space of a model: its columns, their values, and the bits of each value.

A model's file says what its bits mean, as a list of *parts* in the order of their bits:

    flag, word, pixel   one bit: value 0, value 1
    number              a bit "value > cut" for each of m cuts, nested; the values are the intervals 0 .. m
    category            a bit for each of k categories; the values are 0 .. k - 1, then "unseen" (no bit is
                        set), if there may be others
    text, image         a flag for each word or pixel

A number and a category may have one more bit and one more value, the last: missing. A part is one *column*, a
text or an image is as many as it has bits. Bits that are the pattern of no value are impossible.

Columns come in *runs*, because there may be millions of flags: a run is one number or category, or any number
of flags that follow each other. Whatever a bit says is true of a range of values: a number's values above a
cut, one category, the missing one (``Column.holding``).
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from tmcheck import limits
from tmcheck.errors import readable
from tmcheck.strict import is_text

FLAG, NUMBER, CATEGORY = "flag", "number", "category"
_KEYS = {
    "flag": ["kind", "name", "values"],
    "word": ["kind", "name", "values"],
    "pixel": ["kind", "name", "values"],
    "number": ["kind", "name", "cuts", "missing"],
    "category": ["kind", "name", "categories", "other", "missing"],
    "text": ["kind", "name", "words"],
    "image": ["kind", "name", "shape", "threshold", "window", "offset"],
}
_LARGEST_EXACT = 2.0**53  # up to here, floats hold every integer


class Run(NamedTuple):
    """Columns that follow each other, all of one kind; a number or a category is a run of its own."""

    kind: str
    first_column: int
    n_columns: int
    first_bit: int
    n_bits: int
    parts: list[dict[str, Any]]  # what it was made of; empty for flags without names


class Column(NamedTuple):
    """One column: its values are numbered from 0, its bits are ``first_bit`` and those that follow."""

    number: int
    kind: str
    first_bit: int
    n_bits: int
    n_values: int
    missing: bool  # whether the last value is "missing"
    ordered: int  # how many of the bits are cuts of a number, or categories

    def holding(self, bit: int) -> range:
        """The values that have a bit set, the bit counted within the column."""
        if bit == self.ordered:
            return range(self.n_values - 1, self.n_values)
        return range(bit + 1, self.ordered + 1) if self.kind != CATEGORY else range(bit, bit + 1)

    def is_interval(self, value: int) -> bool:
        """Whether it is an interval of a number."""
        return self.kind == NUMBER and value <= self.ordered

    def value_of(self, bits: bytes) -> int | None:
        """The value that an input has, all of whose bits are given; None if they are no value's pattern."""
        own = bits[self.first_bit : self.first_bit + self.n_bits]
        count = own.count(1)
        if self.missing and own[-1]:
            return self.n_values - 1 if count == 1 else None
        if self.kind != CATEGORY:
            return count if own.find(0) in (count, -1) else None
        if count == 0:
            return self.ordered if self.n_values > self.n_bits else None
        return own.index(1) if count == 1 else None

    def pattern(self, value: int) -> bytes:
        """The bits of a value."""
        return bytes(value in self.holding(bit) for bit in range(self.n_bits))

    def has_value(self, literals: Iterable[int]) -> bool:
        """Whether some value agrees with these signed literals, from 1, of bits counted within the column."""
        low, high = 0, self.n_values
        barred = []
        for literal in literals:
            values = self.holding(abs(literal) - 1)
            if literal > 0:
                low, high = max(low, values.start), min(high, values.stop)
            else:
                barred.append((values.start, values.stop))
        for start, stop in sorted(barred):
            if start > low:
                break
            low = max(low, stop)
        return low < high


class Space:
    """All columns of a model."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = runs
        last = runs[-1]
        self.n_columns = last.first_column + last.n_columns
        self.n_bits = last.first_bit + last.n_bits
        self._columns = [run.first_column for run in runs]
        self._bits = [run.first_bit for run in runs]

    @classmethod
    def flags(cls, n: int) -> Space:
        """Flags without names."""
        return cls([Run(FLAG, 0, n, 0, n, [])])

    @property
    def named(self) -> bool:
        """Whether anything is known of the bits."""
        return bool(self.runs[0].parts)

    @cached_property
    def several(self) -> list[Column]:
        """The columns that are not flags: numbers and categories."""
        return [self._several(run) for run in self.runs if run.kind != FLAG]

    @cached_property
    def flag_bits(self) -> bytes:
        """A byte for each bit: whether it is a flag."""
        return b"".join((b"\1" if run.kind == FLAG else b"\0") * run.n_bits for run in self.runs)

    def column_of(self, bit: int) -> int:
        """The number of the column that a bit belongs to."""
        run = self.runs[bisect_right(self._bits, bit) - 1]
        return run.first_column + (bit - run.first_bit if run.kind == FLAG else 0)

    def column(self, number: int) -> Column:
        """A column by its number."""
        run = self.runs[bisect_right(self._columns, number) - 1]
        if run.kind != FLAG:
            return self._several(run)
        return Column(number, FLAG, run.first_bit + number - run.first_column, 1, 2, False, 1)

    @staticmethod
    def _several(run: Run) -> Column:
        part = run.parts[0]
        missing = part["missing"]
        n = run.n_bits - missing
        values = n + 1 if run.kind == NUMBER else n + part["other"]
        return Column(run.first_column, run.kind, run.first_bit, run.n_bits, values + missing, missing, n)

    def is_possible(self, bits: bytes) -> bool:
        """Whether the bits of an input are patterns of values."""
        return all(column.value_of(bits) is not None for column in self.several)

    def first_values(self) -> bytes:
        """The input that has value 0 in every column."""
        bits = bytearray(self.n_bits)
        for column in self.several:
            bits[column.first_bit : column.first_bit + column.n_bits] = column.pattern(0)
        return bytes(bits)

    @property
    def has_plain_flags(self) -> bool:
        """Whether all that is known of the bits is what they are called."""
        return all(part["kind"] == "flag" for run in self.runs for part in run.parts)

    def is_like(self, other: Space) -> bool:
        """Whether two spaces have the same columns: all that makes bits is the same."""
        return self._reading() == other._reading()

    def _reading(self) -> list[Any]:
        parts: list[Any] = [part for run in self.runs if run.n_bits for part in run.parts]
        if len(parts) == 1 and parts[0]["kind"] in ("text", "image"):  # then its name does not matter
            return [{**parts[0], "name": ""}]
        return parts or [self.n_bits]

    def name(self, number: int) -> str:
        """What a column is called."""
        run = self.runs[bisect_right(self._columns, number) - 1]
        if not run.parts:
            return f"x{number}"
        place = number - run.first_column
        if len(run.parts) == run.n_columns and run.parts[0]["kind"] not in ("text", "image"):
            return str(run.parts[place]["name"])
        part = run.parts[0]
        if part["kind"] == "text":
            name = part["words"][place]
        else:
            name = "pixel_" + "_".join(map(str, _unravelled(place, part["shape"])))
        return str(name) if len(self.runs) == 1 else f"{part['name']}: {name}"

    def value(self, number: int, value: int) -> str:
        """What a value of a column is called."""
        column, run = self.column(number), self.runs[bisect_right(self._columns, number) - 1]
        if column.missing and value == column.n_values - 1:
            return _apart("missing", run)
        if column.kind == NUMBER:
            return self.intervals(number, value, value)
        if column.kind == CATEGORY:
            return str([*run.parts[0]["categories"], _apart("unseen", run)][value])
        named = run.parts and run.parts[0]["kind"] not in ("text", "image")
        return str(run.parts[number - run.first_column]["values"][value]) if named else str(value)

    def intervals(self, number: int, first: int, last: int) -> str:
        """What some neighbouring intervals of a number are called, together."""
        cuts = self.runs[bisect_right(self._columns, number) - 1].parts[0]["cuts"]
        low = _number_text(cuts[first - 1]) if first else ""
        high = _number_text(cuts[last]) if last < len(cuts) else ""
        if low and high:
            return f"{low} to {high}"
        return f"over {low}" if low else f"up to {high}" if high else "any number"


def _apart(word: str, run: Run) -> str:
    """The word for a value that is no category, in brackets if a category is called so too."""
    return f"({word})" if word in run.parts[0].get("categories", ()) else word


def read_space(document: Any, n_bits: int) -> Space | None:
    """The space in the options of a model; None if it says nothing of the columns: they are flags."""
    if document is None:
        return None
    readable(type(document) is dict and list(document) == ["parts", "target"], "space")
    parts, target = document["parts"], document["target"]
    readable(target is None or _is_name(target), "target of the space")
    if type(parts) is int:
        readable(parts == n_bits and target is not None, "parts of the space")
        return None
    readable(type(parts) is list and len(parts) >= 1, "parts of the space")
    for part in parts:
        known = type(part) is dict and type(part.get("kind")) is str and part["kind"] in _KEYS
        readable(known, "a part of the space has no kind")
        readable(list(part) == _KEYS[part["kind"]] and _is_proper(part), f"a {part['kind']} of the space")
    names = {part["name"] for part in parts}
    readable(len(names) == len(parts) and target not in names, "two columns of the space have one name")
    pixels = sum(math.prod(part["shape"]) for part in parts if part["kind"] == "image")
    readable(pixels <= limits.MOST_PIXELS, "the images of the space have too many pixels")
    space = Space(list(_runs(parts)))
    readable(space.n_bits == n_bits, f"the space has {space.n_bits} bits, the model {n_bits} features")
    return space


def _runs(parts: list[dict[str, Any]]) -> Iterator[Run]:
    column = bit = 0
    flags: list[dict[str, Any]] = []

    def pending() -> Iterator[Run]:
        if flags:
            yield Run(FLAG, column - len(flags), len(flags), bit - len(flags), len(flags), list(flags))
            flags.clear()

    for part in parts:
        kind, columns, bits = part["kind"], 1, 1
        if "values" in part:
            flags.append(part)
        else:
            yield from pending()
            if kind == "text":
                columns = bits = len(part["words"])
            elif kind == "image":
                columns = bits = math.prod(part["shape"])
            else:
                bits = len(part["cuts" if kind == NUMBER else "categories"]) + part["missing"]
            yield Run(kind if kind in (NUMBER, CATEGORY) else FLAG, column, columns, bit, bits, [part])
        column, bit = column + columns, bit + bits
    yield from pending()


def _is_proper(part: dict[str, Any]) -> bool:
    """Whether the values of a part's keys are of their types and make sense."""
    kind, name = part["kind"], part["name"]
    if not (is_text(name) and name if kind == "word" else _is_name(name)):
        return False
    if kind == "number":
        return type(part["missing"]) is bool and _are_cuts(part["cuts"])
    if kind == "category":
        flags = type(part["missing"]) is type(part["other"]) is bool
        return flags and _are_names(part["categories"]) and _differ(part["categories"])
    if kind == "text":
        words = part["words"]
        return type(words) is list and bool(words) and all(is_text(w) and w for w in words) and _differ(words)
    if kind == "image":
        return _is_image(part)
    values = part["values"]
    return _are_names(values) and len(values) == 2 and values[0].strip() != values[1].strip()


def _is_name(value: Any) -> bool:
    return is_text(value) and bool(value.strip())


def _are_names(values: Any) -> bool:
    return type(values) is list and bool(values) and all(map(_is_name, values))


def _differ(values: list[str]) -> bool:
    return len(set(values)) == len(values)


def _is_finite(value: Any) -> bool:
    """Whether it is a finite number as files have them: minus zero is written as zero."""
    return type(value) is float and math.isfinite(value) and (value != 0 or math.copysign(1, value) == 1)


def _are_cuts(cuts: Any) -> bool:
    if type(cuts) is not list or not all(map(_is_finite, cuts)):
        return False
    return all(a < b for a, b in pairwise(cuts)) and cuts[-1:] != [sys.float_info.max]


def _is_image(part: dict[str, Any]) -> bool:
    shape, threshold, window, offset = (part[key] for key in ("shape", "threshold", "window", "offset"))
    if type(shape) is not list or len(shape) not in (2, 3):
        return False
    if not all(type(side) is int and 1 <= side <= limits.MOST_SIDE for side in shape):
        return False
    if type(threshold) is list:
        fits = len(threshold) == math.prod(shape) and all(map(_is_finite, threshold))
        fits = fits and len(set(threshold)) > 1  # else it is written as one number
    else:
        fits = threshold is None or _is_finite(threshold)
    if window is None:
        return fits and _is_finite(offset) and offset == 0
    odd = type(window) is int and 3 <= window <= limits.MOST_SIDE and window % 2 == 1
    return odd and threshold is None and len(shape) == 2 and _is_finite(offset)


def _unravelled(place: int, shape: list[int]) -> list[int]:
    indices = []
    for side in reversed(shape):
        place, index = divmod(place, side)
        indices.append(index)
    return indices[::-1]


def _number_text(value: float) -> str:
    """The shortest text that reads back as the number: 75, 37.5, 1e-07."""
    return str(int(value)) if value.is_integer() and abs(value) <= _LARGEST_EXACT else repr(value)
