"""Space: the columns of a model, in order, and how raw rows become bits and bits become words.

A space has *parts* (``space.parts``): what a raw row holds, in the order of the bits. Its *columns* are what
can change by itself: a Flag, a Number, a Category is one, a Text has one for each word, an Image one for each
pixel. Every column has values, each with a pattern of bits; bits that are no value's pattern are
*impossible*: no raw row has them.

    possible(encode(rows))  is true everywhere
    encode(decode(bits))    is bits, if they are possible

A space is frozen, and compares by content. A model keeps it in its file, covered by its hash.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, ModelError, shown
from tmverify.space.checks import check_name
from tmverify.space.form import part_from_json
from tmverify.space.image import Image
from tmverify.space.parts import ABSENT, Flag, OneColumn, Part
from tmverify.space.text import Text

MAX_BITS = 1 << 24
MAX_PIXELS = 1 << 20
_WORD, _PIXEL = ("absent", "present"), ("off", "on")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a space.

    Attributes
    ----------
    name : str
    kind : {"flag", "word", "pixel", "number", "category"}
    bits : range
        Its bits, by their index.
    values : tuple of str
        Its values in words.
    part : the flag, number or category; for words and pixels a flag of that kind
    """

    name: str
    kind: str
    bits: range
    values: tuple[str, ...]
    part: OneColumn

    def words(self, bits: NDArray[np.uint8]) -> str:
        """The value of this column in ``bits``, all bits of an input; or what is impossible about them."""
        own = bits[self.bits.start : self.bits.stop]
        index = int(self.part.value_indices(own[None, :])[0])
        if index != ABSENT:
            return self.values[index]
        return f"impossible ({self.part.contradiction(own)})"


@dataclass(frozen=True, slots=True)
class Change:
    """A column whose value differs between two inputs; ``before`` and ``after`` are in words.

    As text: ``age 25 to 40 → over 60``, ``x3 0 → 1``, ``"great" added``. ``kind`` is that of the column;
    ``added`` says of a word that it is in the second input, and not in the first.
    """

    column: str
    before: str
    after: str
    kind: str = field(default="", repr=False, compare=False)
    added: bool = field(default=False, repr=False, compare=False)

    def __str__(self) -> str:
        if self.kind == "word":
            return f"{word_text(self.column)} {'added' if self.added else 'removed'}"
        return f"{self.column} {self.before} → {self.after}"


def word_text(column: str, no: str = "") -> str:
    """The name of a word's column with the word in quotes: ``"good"``; ``note: "good"`` beside others.

    ``no`` comes before the word. A word has no space, so what it belongs to ends with the last one.
    """
    part, mark, word = column.rpartition(": ")
    return f'{part}{mark}{no}"{word}"'


class Space:
    """The columns of a model: what its bits mean.

    Parameters
    ----------
    parts : Flag, Number, Category, Text, Image
        In the order of the bits. Names of columns differ from each other, and so do names of bits.
    target : str or None
        What the classes are called, as a column of the user's table; not an input.

    Examples
    --------
    >>> import tmverify as tv
    >>> city = tv.Category("city", ["Bergen", "Oslo"])
    >>> space = tv.Space([tv.Flag("owner"), tv.Number("age", [25, 40]), city])
    >>> space.encode([{"owner": 1, "age": 31, "city": "Oslo"}])
    array([[1, 1, 0, 0, 1]], dtype=uint8)
    >>> space.decode([[1, 1, 0, 0, 1]])
    [{'owner': '1', 'age': '25 to 40', 'city': 'Oslo'}]
    >>> space.possible([[1, 0, 1, 0, 1]])  # over 40, but not over 25
    array([False])
    """

    parts: Sequence[Part]
    target: str | None

    def __init__(self, parts: Iterable[Part], *, target: str | None = None) -> None:
        if isinstance(parts, _Lazy):
            self.parts = parts
        else:
            self.parts = tuple(parts) if isinstance(parts, Iterable) else (parts,)
            self._check()
        if target is not None:
            check_name(target)
            if self.named and any(part.name == target for part in self.parts):
                raise ModelError(f"The target can't be a column that the model reads. Got {shown(target)}.")
        self.target = target

    def _check(self) -> None:
        wrong = next((part for part in self.parts if not isinstance(part, Part)), None)
        if wrong is not None:
            raise ModelError(
                f"A space is made of Flag, Number, Category, Text and Image. Got {shown(wrong)} instead."
            )
        if not 1 <= self.n_bits <= MAX_BITS:
            raise ModelError(f"A space must have between 1 and {MAX_BITS} bits. Got {self.n_bits} instead.")
        images = [part for part in self.parts if isinstance(part, Image)]
        if sum(image.n_bits for image in images) > MAX_PIXELS:
            raise ModelError(f"The images of a space may have at most {MAX_PIXELS} pixels.")
        if len(self.parts) > 1:  # the names of one part differ
            self._check_names(images)

    def _check_names(self, images: Sequence[Image]) -> None:
        """Check that names differ. Pixels are not spelt out: a small file can have a million of them."""
        others = [part for part in self.parts if not isinstance(part, Image)]
        bits = [name for part in others for name in self._names_of(part)]
        words = [name for part in others if isinstance(part, Text) for name in self._names_of(part)]
        columns = [part.name for part in others if not isinstance(part, Text)] + words
        for names, what in (
            ([part.name for part in self.parts], "The columns of a space"),
            (bits, "The names of bits"),
            (columns, "The columns of a space"),
        ):
            if len(set(names)) != len(names):
                twice = next(name for name, n in Counter(names).items() if n > 1)
                raise ModelError(f"{what} must differ from each other. Got {shown(twice)} twice.")
        for image in images:
            start = f"{image.name}: pixel_"
            wrong = next((name for name in (*bits, *columns) if name.startswith(start)), None)
            if wrong is not None:
                raise ModelError(f"{shown(wrong)} would be called like a pixel of {shown(image.name)}.")

    @classmethod
    def flags(cls, names: int | Iterable[str]) -> Space:
        """A flag for each name; or so many flags without names, which are called x0, x1, …"""
        if isinstance(names, int | np.integer) and not isinstance(names, bool):
            if not 1 <= names <= MAX_BITS:
                raise ModelError(f"A space must have between 1 and {MAX_BITS} bits. Got {names} instead.")
            return cls(_Lazy(int(names), _counted_flag))
        return cls([Flag(name) for name in names])  # type: ignore[union-attr]

    def with_target(self, target: str | None) -> Space:
        """The same columns; the classes are called ``target``."""
        return Space(self.parts, target=target)

    @property
    def named(self) -> bool:
        """Whether anything is known of the bits: False for flags without names."""
        return not isinstance(self.parts, _Lazy)

    @cached_property
    def n_bits(self) -> int:
        """Width of an input."""
        return len(self.parts) if not self.named else sum(part.n_bits for part in self.parts)

    @cached_property
    def columns(self) -> Sequence[Column]:
        """The columns, in the order of their bits."""
        if isinstance(self.parts, _Lazy):
            return _Lazy(len(self.parts), _counted_column)
        found: list[Column] = []
        start = 0
        for part in self.parts:
            if isinstance(part, OneColumn):
                bits = range(start, start + part.n_bits)
                found.append(Column(part.name, part.kind, bits, part.values, part))
            else:
                kind, values = ("word", _WORD) if isinstance(part, Text) else ("pixel", _PIXEL)
                for i, name in enumerate(self._names_of(part)):
                    flag = Flag(name, values, kind)
                    found.append(Column(name, kind, range(start + i, start + i + 1), values, flag))
            start += part.n_bits
        return tuple(found)

    @cached_property
    def bit_names(self) -> tuple[str, ...]:
        """A name for each bit: "owner", "age > 25", "city = Oslo", "good", "pixel_3_4"."""
        return tuple(name for part in self.parts for name in self._names_of(part))

    def _names_of(self, part: Part) -> tuple[str, ...]:
        """The names of a part's bits; beside other columns, words and pixels name their part first."""
        if isinstance(part, OneColumn) or len(self.parts) == 1:
            return part.bit_names
        return tuple(f"{part.name}: {name}" for name in part.bit_names)

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """The shape of the picture, if an input is one."""
        first = self.parts[0]
        return first.shape if isinstance(first, Image) and len(self.parts) == 1 else None

    @property
    def picture_shape(self) -> tuple[int, int] | None:
        """Its rows and columns, if each of its pixels is one bit."""
        shape = self.image_shape
        return (shape[0], shape[1]) if shape is not None and shape[2:] in ((), (1,)) else None

    @property
    def is_text(self) -> bool:
        """Whether an input is a text."""
        return len(self.parts) == 1 and isinstance(self.parts[0], Text)

    @property
    def only_flags(self) -> bool:
        """Whether every column is one bit, so that all bits are possible."""
        return not self.named or all(isinstance(part, Flag | Text | Image) for part in self.parts)

    @cached_property
    def raw_looks_like_bits(self) -> bool:
        """Whether an array can be raw rows or bits by its shape: a flat picture, or one bit a column.

        Of plain flags, 0 and 1 are the same in both, and so they are of a picture that is given as bits.
        """
        if not self.named or all(isinstance(part, Flag) for part in self.parts):
            return False
        first = self.parts[0]
        if isinstance(first, Image) and len(self.parts) == 1:
            return first.threshold is not None or first.window is not None
        return len(self.parts) == self.n_bits and all(isinstance(part, OneColumn) for part in self.parts)

    def encode(self, rows: Any, *, row_names: Sequence[str] | None = None) -> NDArray[np.uint8]:
        """The bits of raw rows, uint8 (n, n_bits).

        Parameters
        ----------
        rows : frame, list of mappings, or 2-D array with a column for each part
            Columns of frames and mappings are found by name, others are ignored. Where the space is a text:
            texts. Where it is an image: an array of pictures. The words of ``decode`` are taken too.
        row_names : texts, optional
            What the rows are called in errors; "row 0", … if not given.

        Raises
        ------
        InvalidInputError
            If a column or a value is missing, or a value is none that the column can have.
        """
        from tmverify.space.rows import values_by_part

        return self.encode_columns(values_by_part(self, rows, row_names), row_names=row_names)

    def encode_columns(
        self, values: Sequence[Any], *, row_names: Sequence[str] | None = None
    ) -> NDArray[np.uint8]:
        """The bits of raw rows that are given as the values of each part, in order."""
        return np.concatenate(
            [part.encode(own, row_names) for part, own in zip(self.parts, values, strict=True)], axis=1
        )

    def decode(self, bits: Any) -> list[dict[str, Any]]:
        """Each row of bits in words: for each part its value; for a text its words, for an image its bits.

        Raises
        ------
        InvalidInputError
            If no raw row has these bits.
        """
        matrix = self._matrix(bits)
        found: list[dict[str, Any]] = [{} for _ in matrix]
        start = 0
        for part in self.parts:
            own = matrix[:, start : start + part.n_bits]
            start += part.n_bits
            for row, value in zip(found, self._decoded(part, own), strict=True):
                row[part.name] = value
        return found

    def _decoded(self, part: Part, own: NDArray[np.uint8]) -> Iterable[Any]:
        if isinstance(part, Text):
            return [tuple(part.words[i] for i in np.flatnonzero(row).tolist()) for row in own]
        if isinstance(part, Image):
            return list(own.reshape(-1, *part.shape).astype(np.bool_))
        assert isinstance(part, OneColumn)
        indices = part.value_indices(own)
        if (indices == ABSENT).any():
            row = int(np.argmax(indices == ABSENT))
            held = [name for name, bit in zip(part.bit_names, own[row], strict=True) if bit]
            said = f"only {shown(held)} of its bits are set" if held else "none of its bits is set"
            raise InvalidInputError(f"Row {row} is no possible input: in column {part.name!r}, {said}.")
        return [part.values[i] for i in indices]

    def possible(self, bits: Any) -> NDArray[np.bool_]:
        """For each row of bits, whether some raw row has them."""
        matrix = self._matrix(bits)
        found = np.ones(len(matrix), np.bool_)
        start = 0
        for part in self.parts if not self.only_flags else ():
            if isinstance(part, OneColumn) and not isinstance(part, Flag):
                found &= part.value_indices(matrix[:, start : start + part.n_bits]) != ABSENT
            start += part.n_bits
        return found

    def changes(self, before: NDArray[np.uint8], after: NDArray[np.uint8]) -> tuple[Change, ...]:
        """The columns in which two inputs, checked vectors of bits, differ. Bits need not be possible."""
        flips = np.flatnonzero(before != after)
        found: dict[int, Column] = {}
        for bit in flips.tolist():
            place = self.column_of(bit)
            found[place] = self.columns[place]
        return tuple(
            Change(
                column.name,
                column.words(before),
                column.words(after),
                column.kind,
                added=column.kind == "word" and bool(after[column.bits.start]),
            )
            for column in found.values()
        )

    def column_of(self, bit: int) -> int:
        """The place, among the columns, of the one that has this bit."""
        return bit if not self.named else int(self._column_of_bit[bit])

    def columns_of(self, bits: NDArray[np.int64]) -> NDArray[np.int64]:
        """The places, among the columns, of those that have these bits."""
        return np.asarray(bits if not self.named else self._column_of_bit[bits], np.int64)

    @cached_property
    def _column_of_bit(self) -> NDArray[np.int64]:
        return np.repeat(np.arange(len(self.columns)), [len(column.bits) for column in self.columns])

    @cached_property
    def single_bits(self) -> NDArray[np.bool_]:
        """For each bit, whether it is a column by itself."""
        found = np.ones(self.n_bits, np.bool_)
        for place in self.wide_columns:
            bits = self.columns[place].bits
            found[bits.start : bits.stop] = False
        return found

    @cached_property
    def wide_columns(self) -> tuple[int, ...]:
        """The columns, by their place, that are more than one flag: numbers and categories."""
        if self.only_flags:
            return ()
        return tuple(i for i, column in enumerate(self.columns) if not isinstance(column.part, Flag))

    def _matrix(self, bits: Any) -> NDArray[np.uint8]:
        try:
            array = np.asarray(bits)
        except ValueError:
            raise InvalidInputError(f"bits must be a matrix of shape (n, {self.n_bits}).") from None
        if array.ndim != 2 or array.shape[1] != self.n_bits or array.dtype.kind not in "bui":
            raise InvalidInputError(
                f"bits must be a matrix of 0 and 1, of shape (n, {self.n_bits}). "
                f"Got dtype {array.dtype} and shape {array.shape} instead."
            )
        if array.dtype.kind != "b" and array.size and not ((array == 0) | (array == 1)).all():
            raise InvalidInputError("bits must be 0 and 1. Got other numbers; raw rows are for encode.")
        return array.astype(np.uint8)

    def to_json(self) -> dict[str, Any] | None:
        """Its content for a file; None for flags without names."""
        if not self.named and self.target is None:
            return None
        parts = [part.to_json() for part in self.parts] if self.named else len(self.parts)
        return {"parts": parts, "target": self.target}

    @classmethod
    def from_json(cls, document: object, n_bits: int) -> Space:
        """The space of ``n_bits`` that ``to_json`` wrote; ModelError if it is anything else."""
        if document is None:
            return cls.flags(n_bits)
        if not isinstance(document, dict) or set(document) != {"parts", "target"}:
            raise ModelError(f"A space must have parts and a target. Found {shown(document)}")
        parts, target = document["parts"], document["target"]
        if target is not None and type(target) is not str:
            raise ModelError(f"The target of a space must be a text. Found {shown(target)}")
        if type(parts) is int and 1 <= parts == n_bits <= MAX_BITS and target is not None:
            return cls(_Lazy(n_bits, _counted_flag), target=target)
        if type(parts) is not list or len(parts) > MAX_BITS:
            raise ModelError(f"The parts of a space must be a list. Found {shown(parts)}")
        found = [part_from_json(part) for part in parts]
        total = sum(part.n_bits for part in found)  # before millions of pixels get names
        if total != n_bits:
            raise ModelError(f"The space has {total} bits, and there are {n_bits} features.")
        return cls(found, target=target)

    def __getstate__(self) -> dict[str, Any]:
        return {"parts": self.parts, "target": self.target}  # columns are made again

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        if not (self.named and other.named):
            same = self.named == other.named and len(self.parts) == len(other.parts)
        else:
            same = tuple(self.parts) == tuple(other.parts)
        return same and self.target == other.target

    def __hash__(self) -> int:
        return hash((tuple(self.parts) if self.named else len(self.parts), self.target))

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("parts", "target") and name in self.__dict__:
            raise AttributeError(f"A Space is frozen; make a new one to change its {name}.")
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        kinds = Counter(part.kind for part in self.parts) if self.named else {"unnamed flag": self.n_bits}
        many = {"category": "categories"}
        said = ", ".join(f"{n} {kind if n == 1 else many.get(kind, f'{kind}s')}" for kind, n in kinds.items())
        return f"<Space: {said}; {self.n_bits} bits>"


ItemT = TypeVar("ItemT")


class _Lazy(Sequence[ItemT]):
    """``n`` items, made when they are looked at: there may be millions of flags without names."""

    def __init__(self, n: int, make: Callable[[int], ItemT]) -> None:
        self._n, self._make = n, make

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, index: int) -> ItemT: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ItemT]: ...
    def __getitem__(self, index: int | slice) -> ItemT | Sequence[ItemT]:
        if isinstance(index, slice):
            return [self._make(i) for i in range(self._n)[index]]
        return self._make(range(self._n)[index])


def _counted_flag(i: int) -> Part:
    return Flag(f"x{i}")


def _counted_column(i: int) -> Column:
    flag = Flag(f"x{i}")
    return Column(flag.name, flag.kind, range(i, i + 1), flag.values, flag)
