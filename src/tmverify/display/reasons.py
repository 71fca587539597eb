"""The facts that suffice for a decision, shown on the input that they are about.

pictures     the input, and the pixels that must be as they are, shaded over it
cells        columns of a table: what is demanded, and the value of the row
passages     a text with the words that it needs marked in it
chips        words and features that must be there, and that must not
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from tmverify.display.drawing import needed, picture
from tmverify.display.inputs import Bits, Cell, Chips, Picture, Shown, chips_of, passage_of, size_of
from tmverify.display.words import shortened
from tmverify.space import Space, Text
from tmverify.space.parts import OneColumn
from tmverify.space.phrases import Fact

_MAX_CELLS = 40
_MAX_CELL = 120  # characters of a cell
_MAX_NAMES = 40


def shown_reason(
    space: Space,
    x: Bits,
    facts: Mapping[int, Fact],
    *,
    by_bits: bool = False,
    shape: tuple[int, int] | None = None,
    row: Sequence[str] | None = None,
) -> Shown:
    """An input with what its reason needs.

    Parameters
    ----------
    facts : mapping of int to Fact
        By the place of their column; of their bit, with ``by_bits``.
    shape, row
        As in ``shown_input``.
    """
    if shape is not None:
        return Shown(pictures=_pictures(x, list(facts), shape))
    if by_bits or not space.named:
        return Shown(chips=tuple(_chips([(fact, int(x[bit])) for bit, fact in facts.items()])))
    cells: list[Cell] = []
    shown: list[tuple[Fact, int]] = []
    passages = []
    column = 0
    for place, part in enumerate(space.parts):
        own = range(column, column + (1 if isinstance(part, OneColumn) else part.n_bits))
        column = own.stop
        mine = [number for number in own if number in facts]
        cell = None if row is None else row[place]
        if isinstance(part, OneColumn):
            cells += [_cell(facts[number], cell) for number in mine]
            continue
        has = [(facts[number], int(x[space.columns[number].bits.start])) for number in mine]
        if isinstance(part, Text) and cell is not None:
            words = [part.words[number - own.start] for number in mine]
            there = [word for word, (_, bit) in zip(words, has, strict=True) if bit]
            passage = passage_of(part.name if len(space.parts) > 1 else "", cell, there)
            passages.append(passage)
            seen = {piece.lower() for piece, marked in passage.pieces if marked}
            has = [one for word, one in zip(words, has, strict=True) if word not in seen]
        shown += has
    return Shown(
        changed=tuple(cells[:_MAX_CELLS]),
        more_changed=max(0, len(cells) - _MAX_CELLS),
        passages=tuple(passages),
        chips=tuple(_chips(shown)),
    )


def _cell(fact: Fact, raw: str | None) -> Cell:
    """What is demanded of a column, and the value of the row if that says more."""
    wanted = fact.value.removeprefix("is ")
    own = "" if raw is None or raw.strip() in ("", wanted) else raw
    return Cell(shortened(fact.column, _MAX_CELL), shortened(wanted, _MAX_CELL), shortened(own, _MAX_CELL))


def _chips(facts: Sequence[tuple[Fact, int]]) -> Iterator[Chips]:
    for kind, caption, value in (("plain", "must be there", 1), ("absent", "must not be there", 0)):
        names = [fact.column for fact, bit in facts if bit == value]
        yield from chips_of(kind, caption, names, _MAX_NAMES)


def _pictures(x: Bits, places: Sequence[int], shape: tuple[int, int]) -> tuple[Picture, ...]:
    wanted = np.zeros(len(x), np.bool_)
    wanted[list(places)] = True
    size = size_of(shape)
    counts = int((wanted & (x == 1)).sum()), int((wanted & (x == 0)).sum())
    text = f"{counts[0]} pixels that must be on, {counts[1]} that must be off"
    return (
        Picture(picture(x, shape), "input", "the input", *size),
        Picture(needed(x, wanted, shape), "suffices", text, *size),
    )
