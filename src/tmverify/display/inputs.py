"""An input and its change as people see them: the cells of a row, a text, a picture, names of features.

Which it is depends on the model's space:

    pictures     the input, what changes, the result; where the shape is known
    cells        a column of a table: before → after, in the user's own values where the row is known
    passages     a text with the words that are removed marked in it
    chips        words that are added or removed, and features that are nothing but 0 or 1

The bits are what was asked. The user's own row, where it is known, only adds the values that stand there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tmverify.display.drawing import marked, picture
from tmverify.display.words import shortened
from tmverify.space import Category, Column, Flag, Image, Space, Text
from tmverify.space.parts import ABSENT, OneColumn
from tmverify.space.text import words_in_place
from tmverify.space.values import is_missing

_MAX_NAMES = 40
_MAX_UNCHANGED = 14  # how many names of unchanged features are shown
_MAX_CELLS = 40
_MAX_SAME = 24  # how many cells that do not change are shown
_MAX_CELL = 120  # characters of a cell
_MAX_TEXT = 700  # characters of a text
_MAX_PIXELS = 1 << 16  # of a picture that is drawn in a card
_PICTURE = 92  # CSS pixels of the longer side
_BITS = ("0", "1")

Bits = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Picture:
    """An address for ``<img>``, a caption, a description in full, and the size in CSS pixels."""

    source: str
    caption: str
    description: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A column of a row: its value, what the model sees of it (or nothing new), and its value afterwards."""

    name: str
    value: str
    seen: str = ""
    after: str | None = None
    impossible: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A text in pieces, each with whether it is removed; ``more`` characters are left out."""

    name: str
    pieces: tuple[tuple[str, bool], ...]
    more: int


@dataclass(frozen=True, slots=True)
class Chips:
    """Words or features by name, ``more`` of them left out; ``kind`` is added, removed, absent or plain."""

    kind: str
    caption: str
    names: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """All of it; ``more_changed`` and ``more_same`` cells are left out."""

    pictures: tuple[Picture, ...] = ()
    changed: tuple[Cell, ...] = ()
    more_changed: int = 0
    same: tuple[Cell, ...] = ()
    more_same: int = 0
    passages: tuple[Passage, ...] = ()
    chips: tuple[Chips, ...] = ()
    note: str = ""


def shown_input(
    space: Space,
    x: Bits | None,
    witness: Bits,
    *,
    shape: tuple[int, int] | None = None,
    row: Sequence[str] | None = None,
) -> Shown:
    """The input ``x`` and its change to ``witness``; without ``x``, the witness alone.

    ``shape`` is that of the picture, if it is one; ``row`` has the cells that became ``x``, if known.
    """
    if shape is not None:
        return Shown(pictures=_pictures(x, witness, shape))
    if is_bits(space):
        return Shown(chips=tuple(_chips_of_bits(space, x, witness)))
    before = witness if x is None else x
    cells: list[Cell] = []
    passages: list[Passage] = []
    chips: list[Chips] = []
    start = 0
    for place, part in enumerate(space.parts):
        own = slice(start, start + part.n_bits)
        start += part.n_bits
        cell = None if row is None else row[place]
        if isinstance(part, Text):
            name = part.name if len(space.parts) > 1 else ""
            removed = _words(part, before[own] > witness[own])
            passage = None if cell is None else passage_of(name, cell, removed)
            passages += [] if passage is None else [passage]
            chips += _chips_of_text(part, name, before[own], witness[own], passage)
        elif isinstance(part, Image):
            chips += _chips_of_image(part, before[own], witness[own])
        else:
            assert isinstance(part, OneColumn)
            cells.append(_cell(part, own, before, witness, cell))
    changed = [cell for cell in cells if cell.after is not None]
    same = [cell for cell in cells if cell.after is None]
    return Shown(
        changed=tuple(changed[:_MAX_CELLS]),
        more_changed=max(0, len(changed) - _MAX_CELLS),
        same=tuple(same[:_MAX_SAME]),
        more_same=max(0, len(same) - _MAX_SAME),
        passages=tuple(passages),
        chips=tuple(chips),
    )


def drawn_shape(space: Space) -> tuple[int, int] | None:
    """Rows and columns, if an input is a picture that is small enough for a card."""
    shape = space.picture_shape
    return shape if shape is not None and shape[0] * shape[1] <= _MAX_PIXELS else None


def change_size(space: Space, flips: NDArray[np.intp], witness: Bits, *, is_picture: bool = False) -> str:
    """How much changes: pixels, words or features that are set or cleared; or columns of a table."""
    n, n_set = len(flips), int(witness[flips].sum())
    places = dict.fromkeys(map(space.column_of, flips.tolist()))
    kinds = {space.columns[place].kind for place in places}
    if kinds == {"word"} and not is_picture:
        both = ((n_set, "added"), (n - n_set, "removed"))
        return f"{n} word{'s' * (n > 1)}: " + ", ".join(f"{k} {way}" for k, way in both if k)
    if is_picture or kinds <= {"flag"}:
        both = ((n_set, "set"), (n - n_set, "cleared"))
        return f"{n} {'pixel' if is_picture else 'change'}{'s' * (n > 1)}: " + ", ".join(
            f"{k} {way}" for k, way in both if k
        )
    return f"{len(places)} column{'s' * (len(places) > 1)} changed"


def is_bits(space: Space) -> bool:
    """Whether the columns are nothing but 0 or 1: what is set then tells an input better than all values."""

    def plain(part: object) -> bool:
        return isinstance(part, Flag) and (part.kind != "flag" or part.values == _BITS)

    return not space.named or all(plain(part) for part in space.parts)


def _cell(part: OneColumn, bits: slice, before: Bits, after: Bits, raw: str | None) -> Cell:
    """A column of a table, whose bits are at ``bits``."""
    column = Column(part.name, part.kind, range(bits.start, bits.stop), part.values, part)
    said = column.words(before)
    given = None if raw is None or is_missing(raw) else raw
    cell = Cell(shortened(part.name, _MAX_CELL), shortened(said if given is None else given, _MAX_CELL))
    seen = "" if given in (None, said) else said
    if np.array_equal(before[bits], after[bits]):
        # Of a number that does not change, nobody asks which interval it is in.
        return replace(cell, seen=seen) if isinstance(part, Category) else cell
    impossible = int(part.value_indices(after[bits][None, :])[0]) == ABSENT
    now = shortened(column.words(after), _MAX_CELL)
    return replace(cell, seen=seen, after=now, impossible=impossible)


def _words(part: Text, which: NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(part.words[int(i)] for i in np.flatnonzero(which))


def passage_of(name: str, text: str, removed: Sequence[str]) -> Passage:
    """The text with some of its words, the removed ones, apart; the end of a long one is left out."""
    gone, shown = set(removed), text[:_MAX_TEXT]
    pieces: list[tuple[str, bool]] = []
    done = 0
    for word, start in words_in_place(text):
        if start + len(word) > len(shown):
            break
        if word in gone:
            pieces += [(text[done:start], False)] if start > done else []
            pieces.append((text[start : start + len(word)], True))
            done = start + len(word)
    pieces += [(shown[done:], False)] if done < len(shown) else []
    return Passage(name, tuple(pieces), len(text) - len(shown))


def _chips_of_text(
    part: Text, name: str, before: Bits, after: Bits, passage: Passage | None
) -> Iterator[Chips]:
    """Words that are added and removed; those that the passage shows are not repeated."""
    seen = set() if passage is None else {piece.lower() for piece, removed in passage.pieces if removed}
    removed = [word for word in _words(part, before > after) if word not in seen]
    where = f" to {name}" if name else "", f" from {name}" if name else ""
    yield from chips_of("added", f"added{where[0]}", _words(part, after > before), _MAX_NAMES)
    yield from chips_of("removed", f"removed{where[1]}", removed, _MAX_NAMES)
    if passage is None:
        caption = f"words of {name}" if name else "also there"
        yield from chips_of("plain", caption, _words(part, (before & after) == 1), _MAX_UNCHANGED)


def _chips_of_image(part: Image, before: Bits, after: Bits) -> Iterator[Chips]:
    names = part.bit_names
    for kind, caption, which in (("added", "set", after > before), ("removed", "cleared", before > after)):
        yield from chips_of(kind, caption, [names[i] for i in np.flatnonzero(which)], _MAX_NAMES)


def _chips_of_bits(space: Space, x: Bits | None, witness: Bits) -> Iterator[Chips]:
    def names(which: NDArray[np.bool_]) -> list[str]:
        return [space.columns[i].name for i in np.flatnonzero(which).tolist()]

    if x is None:
        yield from chips_of("plain", "the input has", names(witness == 1), _MAX_NAMES)
        return
    yield from chips_of("added", "added", names(witness > x), _MAX_NAMES)
    yield from chips_of("removed", "removed", names(witness < x), _MAX_NAMES)
    yield from chips_of("plain", "also there", names((witness & x) == 1), _MAX_UNCHANGED)


def chips_of(kind: str, caption: str, names: Sequence[str], most: int) -> Iterator[Chips]:
    """The first ``most`` names, if there are any."""
    if names:
        shown = tuple(shortened(name, _MAX_CELL) for name in names[:most])
        yield Chips(kind, caption, shown, len(names) - len(shown))


def size_of(shape: tuple[int, int], side: int = _PICTURE) -> tuple[int, int]:
    """The width and the height of a picture of this shape, in CSS pixels; the longer is ``side`` at most."""
    scale = side / max(shape)
    scale = int(scale) if scale > 1 else scale  # so that all pixels are of one size
    return max(round(scale * shape[1]), 1), max(round(scale * shape[0]), 1)


def _pictures(x: Bits | None, witness: Bits, shape: tuple[int, int]) -> tuple[Picture, ...]:
    size = size_of(shape)
    if x is None:
        return (Picture(picture(witness, shape), "input", "the input", *size),)
    result = Picture(picture(witness, shape), "result", "the changed picture", *size)
    kinds = (("set", witness > x), ("cleared", witness < x))
    # Rows and columns count from 0, as in names of features: pixel_0_0.
    pixels = [
        f"row {i // shape[1]} column {i % shape[1]} {kind}"
        for kind, own in kinds
        for i in np.flatnonzero(own)
    ]
    changed = "changed pixels: " + ("; ".join(pixels[:_MAX_NAMES]) or "none")
    return (
        Picture(picture(x, shape), "input", "the input", *size),
        Picture(marked(x, witness, shape), "change", changed, *size),
        result,
    )
