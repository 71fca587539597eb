"""Rows of a store, shown with the user's own values.

The row of the user's file is decoration, the bits are what was asked. So a row is shown only if it becomes
these bits; otherwise the page says what the bits mean, and that the row is another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tmverify.asking.task import MOST_CHARS
from tmverify.display.inputs import Bits, Shown, is_bits, shown_input
from tmverify.errors import InvalidInputError
from tmverify.space import Space

_OTHER_ROW = "The row in the store is another one. These values are what the bits of the input mean."


def shown_row(
    space: Space,
    x: Bits | None,
    witness: Bits,
    *,
    shape: tuple[int, int] | None = None,
    raw: Sequence[str] | None = None,
) -> Shown:
    """``shown_input`` with the cells that the store has of the row, if they are those of ``x``."""
    row = None if raw is None or x is None else own_row(space, raw, x)
    shown = shown_input(space, x, witness, shape=shape, row=row)
    other = raw is not None and x is not None and row is None and shape is None and not is_bits(space)
    return replace(shown, note=_OTHER_ROW) if other else shown


def own_row(space: Space, raw: Sequence[str], x: Bits) -> Sequence[str] | None:
    """``raw`` if it is the row of ``x``, else None. A cell that was cut off counts as the input's."""
    if not space.named or len(raw) != len(space.parts):
        return None
    start = 0
    for part, cell in zip(space.parts, raw, strict=True):
        own = x[start : start + part.n_bits]
        start += part.n_bits
        if len(cell) >= MOST_CHARS:
            continue
        try:
            if not np.array_equal(part.encode([cell])[0], own):
                return None
        except InvalidInputError:
            return None
    return raw
