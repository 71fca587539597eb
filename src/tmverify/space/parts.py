"""The parts of a raw row: what makes bits of raw values, and what the bits say in words.

    Flag       one bit, two values
    Number     bits "value > cut", nested: m cuts make m + 1 intervals
    Category   one bit a value; values that were not listed set none, if ``other`` allows them
    Text       a bit for each known word: 1 iff the text contains it
    Image      a bit for each pixel: 1 iff it is brighter than a threshold, or than its surroundings

A Flag, a Number and a Category are one *column* each: a thing that has one of several values, each with a
pattern of bits of its own. A Text and an Image consist of many columns with two values: a word is there or
not, a pixel is on or off.

With ``missing=True`` a missing entry is a value of a Number or a Category, with a bit of its own.

Everything here is exact: cuts and thresholds are kept as the very floats that values, as floats, are compared
with. All parts are frozen, keep lists as tuples, and compare by content; what is wrong with one raises
ModelError.
"""

from __future__ import annotations

import math
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.space.checks import (
    check_distinct,
    check_flag,
    check_name,
    finite,
    lacks_value,
    raw_array,
    texts_in,
    words_in,
    wrong_value,
)
from tmverify.space.values import (
    MISSING,
    MISSING_NUMBERS,
    TRUTH,
    as_number,
    as_text,
    is_missing,
    number_text,
    truth,
)

ABSENT = -1
"""In place of a value's index: these bits are the pattern of no value."""

_UNSEEN = ("unseen", "unseen value", "none of these")
_MISSING = (MISSING, "not given", "no entry")
_POINT_ZERO = re.compile(r"(-?(?:0|[1-9]\d*))\.0+", re.ASCII)


class Part(ABC):
    """A part of a raw row: the source of some bits.

    Attributes
    ----------
    name : str
    kind : str
    n_bits : int
    bit_names : tuple of str
    """

    kind: ClassVar[str]
    name: str

    @property
    @abstractmethod
    def n_bits(self) -> int:
        """How many bits it makes."""

    @property
    @abstractmethod
    def bit_names(self) -> tuple[str, ...]:
        """A name for each of them."""

    @abstractmethod
    def encode(self, values: Any, rows: Sequence[str] | None = None) -> NDArray[np.uint8]:
        """The bits of raw values, (n, n_bits); ``rows`` are names of the rows for errors."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Its content for a file; ``part_from_json`` reads it back."""


class OneColumn(Part):
    """A part that is one column: it has one of ``values``, each with a pattern of bits."""

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """The values in words, all different."""

    @cached_property
    @abstractmethod
    def patterns(self) -> NDArray[np.uint8]:
        """The bits of each value, (n_values, n_bits), all different; its size is quadratic."""

    def holding(self, bit: int) -> NDArray[np.bool_]:
        """Which values have this bit set, (n_values,): a column of ``patterns``."""
        return np.asarray(self.patterns[:, bit] == 1)

    @abstractmethod
    def value_indices(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The index of the value whose pattern each row of ``bits`` is; ABSENT where it is none."""

    def contradiction(self, bits: NDArray[np.uint8]) -> str:
        """Why no value has this pattern of bits, in words: "Bergen and Oslo", "over 40, not over 25"."""
        return "no value"


@dataclass(frozen=True)
class Flag(OneColumn):
    """One bit.

    Parameters
    ----------
    name : str
    values : pair of str, default ("0", "1")
        What 0 and 1 are called, such as ("no", "yes").
    kind : {"flag", "word", "pixel"}
        A flag that stands for a word or a pixel is shown as such.
    """

    name: str
    values: tuple[str, str] = ("0", "1")
    kind: str = "flag"  # type: ignore[misc]

    def __post_init__(self) -> None:
        if self.kind == "word":
            _check_word(self.name)
        else:
            check_name(self.name)
        object.__setattr__(self, "values", words_in(self.values, f"The values of flag {self.name!r}"))
        if len(self.values) != 2 or self.values[0].strip() == self.values[1].strip():
            raise ModelError(
                f"Flag {self.name!r} must have two different values. Got {shown(self.values)} instead."
            )
        if truth(self.values[0]) == 1 or truth(self.values[1]) == 0:
            raise ModelError(
                f"The values of flag {self.name!r} stand for 0 and 1, in this order. {shown(self.values)} "
                "could be read in two ways. Turn them round, or make it a Category."
            )
        if self.kind not in ("flag", "word", "pixel"):
            raise ModelError(f"A flag's kind must be flag, word or pixel. Got {shown(self.kind)} instead.")

    @property
    def n_bits(self) -> int:
        return 1

    @property
    def bit_names(self) -> tuple[str, ...]:
        return (self.name,)

    @cached_property
    def patterns(self) -> NDArray[np.uint8]:
        return np.array([[0], [1]], np.uint8)

    def value_indices(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        return bits[:, 0].astype(np.int64)

    def encode(self, values: Any, rows: Sequence[str] | None = None) -> NDArray[np.uint8]:
        array = raw_array(values)
        if array.dtype.kind in "bui" and array.size and array.min() >= 0 and array.max() <= 1:
            return array.astype(np.uint8)[:, None]
        found = {text.strip(): i for i, text in enumerate(self.values)}
        bits = np.empty((len(array), 1), np.uint8)
        for i, value in enumerate(array.tolist()):
            text = as_text(value)
            known = None if text is None else found.get(text.strip(), truth(text))
            if known is None:
                said = " or ".join(dict.fromkeys((*self.values, "0", "1")))
                raise self._wrong(value, i, rows, f"must be {said}")
            bits[i, 0] = known
        return bits

    def _wrong(self, value: Any, row: int, rows: Sequence[str] | None, must: str) -> InvalidInputError:
        return wrong_value(self.name, value, row, rows, must)

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "values": list(self.values)}


@dataclass(frozen=True)
class Number(OneColumn):
    """Bits "value > cut", one for each cut, nested; and a bit for a missing value, if there may be any.

    The intervals are called "up to 25", "25 to 40", "over 40"; the upper end belongs to an interval, the
    lower one does not.

    Parameters
    ----------
    name : str
    cuts : numbers, increasing
        None at all make a column with one value, "any number", and no bit.
    missing : bool, default False
    """

    kind: ClassVar[str] = "number"

    name: str
    cuts: Sequence[float]
    missing: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        object.__setattr__(self, "cuts", _cuts(self.cuts, self.name))
        check_flag(self.missing, "missing")

    @property
    def n_bits(self) -> int:
        return len(self.cuts) + self.missing

    @property
    def bit_names(self) -> tuple[str, ...]:
        names = tuple(f"{self.name} > {number_text(cut)}" for cut in self.cuts)
        return (*names, f"{self.name} {MISSING}") if self.missing else names

    @cached_property
    def values(self) -> tuple[str, ...]:
        cuts = [number_text(cut) for cut in self.cuts]
        if cuts:
            middle = (f"{low} to {high}" for low, high in pairwise(cuts))
            said: tuple[str, ...] = (f"up to {cuts[0]}", *middle, f"over {cuts[-1]}")
        else:
            said = ("any number",)
        return (*said, MISSING) if self.missing else said

    @cached_property
    def patterns(self) -> NDArray[np.uint8]:
        m = len(self.cuts)
        found = np.zeros((m + 1 + self.missing, self.n_bits), np.uint8)
        found[: m + 1, :m] = np.tri(m + 1, m, -1)
        if self.missing:
            found[-1, -1] = 1
        return found

    def holding(self, bit: int) -> NDArray[np.bool_]:
        m, places = len(self.cuts), np.arange(len(self.values))
        return (places > bit) & (places <= m) if bit < m else places > m

    def value_indices(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        m = len(self.cuts)
        above = bits[:, :m]
        found = above.sum(axis=1, dtype=np.int64)
        nested = (above[:, 1:] <= above[:, :-1]).all(axis=1)
        if self.missing:
            gone = bits[:, m] == 1
            nested &= ~(gone & (found > 0))
            found = np.where(gone, m + 1, found)
        return np.where(nested, found, ABSENT)

    def contradiction(self, bits: NDArray[np.uint8]) -> str:
        above = bits[: len(self.cuts)]
        highest = number_text(self.cuts[int(np.flatnonzero(above)[-1])])
        if above[: np.flatnonzero(above)[-1]].all():
            return f"{MISSING} and over {highest}"
        return f"over {highest}, not over {number_text(self.cuts[int(np.argmin(above))])}"

    def encode(self, values: Any, rows: Sequence[str] | None = None) -> NDArray[np.uint8]:
        array = raw_array(values)
        if not self.n_bits:
            return np.zeros((len(array), 0), np.uint8)  # one value, whatever it is
        if array.dtype.kind in "buif":
            numbers = array.astype(np.float64)
            gone = np.isnan(numbers)
        else:
            numbers, gone = self._numbers(array.tolist(), rows)
        infinite = np.isinf(numbers)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise wrong_value(self.name, array[row], row, rows, "must be a finite number")
        if gone.any() and not self.missing:
            row = int(np.argmax(gone))
            raise lacks_value(self.name, array[row], row, rows)
        bits = np.zeros((len(array), self.n_bits), np.uint8)
        with np.errstate(invalid="ignore"):
            bits[:, : len(self.cuts)] = numbers[:, None] > np.array(self.cuts)
        if self.missing:
            bits[:, -1] = gone
        return bits

    def _numbers(
        self, values: list[Any], rows: Sequence[str] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """The values as floats, NaN where they are missing. An interval in words stands for itself."""
        found, gone = np.full(len(values), np.nan), np.zeros(len(values), np.bool_)
        for i, value in enumerate(values):
            number = as_number(value)
            if number is not None and not math.isnan(number):
                found[i] = number
            elif is_missing(value) or _marks_missing(value):
                gone[i] = True
            else:
                inside = self._inside.get(value.strip()) if isinstance(value, str) else None
                if inside is None:
                    raise wrong_value(self.name, value, i, rows, "must be a number")
                found[i] = inside
        return found, gone

    @cached_property
    def _inside(self) -> dict[str, float]:
        """A number of each interval, by its words: its upper end, or the float above the last cut."""
        ends = (*self.cuts, np.nextafter(self.cuts[-1], np.inf)) if self.cuts else (0.0,)
        return dict(zip(self.values, map(float, ends), strict=False))

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "cuts": list(self.cuts), "missing": self.missing}


@dataclass(frozen=True)
class Category(OneColumn):
    """One bit for each category; and a bit for a missing value, if there may be any.

    Parameters
    ----------
    name : str
    categories : texts
        At least one. Whole numbers are written without a point: 3 is "3".
    other : bool, default False
        Whether there may be other values: they set no bit, and are one more value, called "unseen".
    missing : bool, default False
    """

    kind: ClassVar[str] = "category"

    name: str
    categories: Sequence[str]
    other: bool = False
    missing: bool = False

    def __post_init__(self) -> None:
        check_name(self.name)
        found = words_in(self.categories, f"The categories of column {self.name!r}")
        if not found:
            raise ModelError(f"Column {self.name!r} must have at least one category. Got none.")
        check_distinct(found, f"The categories of column {self.name!r}")
        object.__setattr__(self, "categories", found)
        check_flag(self.other, "other")
        check_flag(self.missing, "missing")

    @property
    def n_bits(self) -> int:
        return len(self.categories) + self.missing

    @property
    def bit_names(self) -> tuple[str, ...]:
        names = tuple(f"{self.name} = {category}" for category in self.categories)
        return (*names, f"{self.name} {MISSING}") if self.missing else names

    @cached_property
    def values(self) -> tuple[str, ...]:
        said = list(self.categories)
        said += [_free(_UNSEEN, said)] if self.other else []
        said += [_free(_MISSING, said)] if self.missing else []
        return tuple(said)

    @cached_property
    def patterns(self) -> NDArray[np.uint8]:
        k = len(self.categories)
        found = np.zeros((len(self.values), self.n_bits), np.uint8)
        found[:k, :k] = np.eye(k, dtype=np.uint8)
        if self.missing:
            found[-1, -1] = 1
        return found

    def holding(self, bit: int) -> NDArray[np.bool_]:
        n = len(self.values)
        return np.asarray(np.arange(n) == (bit if bit < len(self.categories) else n - 1))

    def value_indices(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        count, first = bits.sum(axis=1, dtype=np.int64), bits.argmax(axis=1).astype(np.int64)
        k = len(self.categories)
        if self.missing and self.other:
            first = np.where(first == k, k + 1, first)
        none = k if self.other else ABSENT
        return np.where(count == 1, first, np.where(count == 0, none, ABSENT))

    def contradiction(self, bits: NDArray[np.uint8]) -> str:
        bit_values = (*self.categories, *self.values[-1:]) if self.missing else self.categories
        held = [value for value, bit in zip(bit_values, bits, strict=True) if bit]
        return " and ".join(held) or "no value"

    def encode(self, values: Any, rows: Sequence[str] | None = None) -> NDArray[np.uint8]:
        array = raw_array(values)
        bits = np.zeros((len(array), self.n_bits), np.uint8)
        known: dict[Any, int | None] = {}
        for i, value in enumerate(array.tolist()):
            try:
                place = known[value]
            except (KeyError, TypeError):
                place = self._bit(value, i, rows)
                if isinstance(value, str):
                    known[value] = place
            if place is not None:
                bits[i, place] = 1
        return bits

    def _bit(self, value: Any, row: int, rows: Sequence[str] | None) -> int | None:
        """The bit of a value, or None if it is one of the others."""
        text = as_text(value)
        forms = () if text is None else (text, text.strip(), *_spellings(text, value), *self._bit_forms(text))
        for spelt in forms:
            place = self._places.get(spelt)
            if place is not None:
                return place
        if is_missing(value) or (self.missing and text is not None and self._says_missing(text)):
            if not self.missing:
                raise lacks_value(self.name, value, row, rows)
            return len(self.categories)
        if text is None:
            raise wrong_value(self.name, value, row, rows, "must be text, or a number that stands for a text")
        if not self.other:
            some = ", ".join(map(shown, self.categories[:10])) + (", …" if len(self.categories) > 10 else "")
            raise wrong_value(self.name, value, row, rows, f"must be one of {some}")
        return None

    def _bit_forms(self, text: str) -> tuple[str, ...]:
        """The category that means the same, where all are truth values: 0 for False, TRUE for true."""
        means = {TRUTH.get(category.strip().lower()): category for category in self.categories}
        bit = TRUTH.get(text.strip().lower())
        if bit is None or None in means or len(means) < len(self.categories) or bit not in means:
            return ()
        return (means[bit],)

    def _says_missing(self, text: str) -> bool:
        """Whether a text that is no category stands for a missing value: its word, or a mark such as NA."""
        said = text.strip()
        alike = any(category.strip().lower() == said.lower() for category in self.categories)
        return said == self.values[-1] or (_marks_missing(text) and not alike)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The bit of each category, also without spaces around it."""
        bare = {category.strip(): i for i, category in enumerate(self.categories)}
        return bare | {category: i for i, category in enumerate(self.categories)}

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "name": self.name,
            "categories": list(self.categories),
            "other": self.other,
            "missing": self.missing,
        }


def _check_word(name: object) -> None:
    """Words are as texts have them: some consist of nothing but a character that looks blank."""
    if not isinstance(name, str) or not all(texts_in((name,), "A word")):
        raise ModelError(f"A word must be a text of at least one character. Got {shown(name)} instead.")


def _spellings(text: str, value: Any) -> Iterable[str]:
    """Other forms of a whole number: "1" for the text 1.0, "1.0" for the number 1.

    Nothing more: 007 is not 7, and 1e3 is not 1000, since such texts are codes.
    """
    if isinstance(value, str):
        return [found[1]] if (found := _POINT_ZERO.fullmatch(text.strip())) else ()
    if isinstance(value, bool | np.bool_):
        return (str(int(value)),)
    return (f"{text}.0",) if text.lstrip("-").isdigit() else ()


def _cuts(values: Any, name: str) -> tuple[float, ...]:
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ModelError(f"The cuts of column {name!r} must be a list. Got {shown(values)} instead.")
    cuts = tuple(finite(value, f"The cuts of column {name!r}") for value in values)
    if any(high <= low for low, high in pairwise(cuts)):
        raise ModelError(f"The cuts of column {name!r} must increase. Got {shown(list(cuts))} instead.")
    if cuts and cuts[-1] == sys.float_info.max:
        raise ModelError(f"No number is over the largest float, so it can't be a cut of column {name!r}.")
    return cuts


def _free(names: Sequence[str], taken: Sequence[str]) -> str:
    """The first of the names that is not taken; numbered if all are. Blanks around a name do not count."""
    bare = {name.strip() for name in taken}
    numbered = (f"{names[0]} ({i})" for i in count(2))
    return next(name for name in chain(names, numbered) if name not in bare)


def _marks_missing(value: Any) -> bool:
    """Whether a text among numbers stands for a missing one."""
    return isinstance(value, str) and value.strip().lower() in MISSING_NUMBERS
