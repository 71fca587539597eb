"""A raw row as generated code takes it: a field for each column that has bits, and numbers as integers.

    Flag       0 or 1
    Number     a double of IEEE 754; NaN is a missing value
    Category   a code: the index among the values of the column, which are the categories in order, then
               "unseen", then "missing", where the column has these
    Text       for each word 0 or 1: whether it is there
    Image      for each pixel its level, as a double; in Verilog, and where no threshold makes bits of levels,
               0 or 1

Doubles are compared as integers. With b the 64 bits of a double, sign first,

    key(b) = ~b if b is negative, else b | 2^63          (unsigned)
    value > cut   iff   key(value) > key(cut)            for finite values, and cuts that are not -0.0

so no rounding and no option of a compiler can change a comparison, and neither a processor without floating
point nor a circuit needs any. A key is finite iff ``LOWEST_INFINITE < key < HIGHEST_INFINITE``; these two are
the infinities, and what is beyond them is NaN. Cuts and thresholds are never -0.0 (``space.checks.finite``).

A column without bits (a number without cuts) is not read, so it has no field. Where every value would be a
bit, there are no rows: bits are what the other functions take.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from tmverify.interop.generated import quoted
from tmverify.interop.identifiers import Identifiers, column_identifier
from tmverify.space import Category, Flag, Image, Number, Part, Space, Text

LOWEST_INFINITE = 0x000F_FFFF_FFFF_FFFF
HIGHEST_INFINITE = 0xFFF0_0000_0000_0000

# Other names in the Verilog module of rows: a wire of each kind may belong to a field.
PORTS = ("x", "scores", "decision", "valid", "machine")
WIRES = ("key", "gone", "ok")


@dataclass(frozen=True, slots=True)
class Field:
    """What a raw row holds for one part of the space.

    Attributes
    ----------
    number : int
        Its place in the row, from 1.
    identifier : str
    part : Part
    bits : range
        Its bits, by their index.
    """

    number: int
    identifier: str
    part: Part
    bits: range

    @property
    def keys(self) -> list[int]:
        """Of a number its cuts, of an image its one threshold or those of its pixels."""
        if isinstance(self.part, Number):
            return [order_key(cut) for cut in self.part.cuts]
        if not isinstance(self.part, Image) or self.part.threshold is None:
            return []
        given = self.part.threshold
        return [order_key(each) for each in (given if isinstance(given, Sequence) else (given,))]


def fields_of(space: Space, name: str, *, levels: bool) -> list[Field]:
    """The fields of a raw row, in the order of their bits; none if its values would be the bits themselves.

    Parameters
    ----------
    space : Space
    name : str
        That of the functions or the module. The fields are not called like these, like other ports, or like
        a wire of theirs.
    levels : bool
        Whether pictures are given as levels, where a threshold makes bits of them.
    """
    found: list[Field] = []
    if not space.named:
        return found
    wires = (f"{wire}_{i + 1}" for wire in WIRES for i in range(len(space.parts)))
    reserved = {name, f"{name}_row", *PORTS, *wires}
    names, start = Identifiers(reserved), 0
    for part in space.parts:
        if part.n_bits:
            number = len(found) + 1
            identifier = names.new(column_identifier(part.name, f"column_{number}", reserved))
            found.append(Field(number, identifier, part, range(start, start + part.n_bits)))
        start += part.n_bits
    raw = any(isinstance(field.part, Number | Category) or (levels and field.keys) for field in found)
    return found if raw else []


def order_key(value: float) -> int:
    """The unsigned integer of 64 bits that compares with others as the float does."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return int(bits ^ 0xFFFF_FFFF_FFFF_FFFF if bits >> 63 else bits | 1 << 63)


def code_meanings(part: Category) -> list[str]:
    """What each code of a category means, for comments."""
    extra = (["any other value"] if part.other else []) + (["a missing value"] if part.missing else [])
    return [quoted(category) for category in part.categories] + extra


def field_heading(field: Field) -> str:
    """A field for a comment: its number, its column and its bits."""
    bits = field.bits
    said = f"bit {bits[0]}" if len(bits) == 1 else f"bits {bits[0]} to {bits[-1]}"
    return f"{field.number}: {quoted(field.part.name)}, {said}"


def field_meaning(field: Field, number: str, levels: bool) -> list[str]:
    """What values a field takes, as lines of a comment.

    Parameters
    ----------
    field : Field
    number : str
        What a number is called in the language.
    levels : bool
        Whether pictures are given as levels, where a threshold makes bits of them.
    """
    part = field.part
    if isinstance(part, Flag):
        return [f"{bit} = {quoted(value)}" for bit, value in enumerate(part.values)]
    if isinstance(part, Number):
        return [f"{number}, finite{', or NaN for a missing value' if part.missing else ''}"]
    if isinstance(part, Category):
        return [f"{code} = {meaning}" for code, meaning in enumerate(code_meanings(part))]
    if isinstance(part, Text):
        return ["for each word, in the order of the bits: 1 if the text has it, else 0"]
    assert isinstance(part, Image)
    shape = " x ".join(map(str, part.shape))
    if levels and part.threshold is not None:
        return [f"the levels of {shape} pixels, finite, row by row"]
    return [f"the bits of {shape} pixels, 0 or 1, row by row{_how_bits_are_made(part)}"]


def _how_bits_are_made(part: Image) -> str:
    if part.window is not None:
        return f": make them by the mean of {part.window} x {part.window} pixels"
    if part.threshold is None:
        return ""
    if isinstance(part.threshold, Sequence):
        return ": each pixel has its own threshold"
    return f": 1 iff the level is over {part.threshold!r}"
