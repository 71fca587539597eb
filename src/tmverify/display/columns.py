"""What the columns of a model are: name, kind, values; shortened where there are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tmverify.display.words import shortened
from tmverify.space import Category, Flag, Image, Number, Part, Space, Text
from tmverify.space.values import number_text

_MAX_VALUES = 10
_MAX_NAMES = 24
_MAX_CHARS = 80
_BITS = ("0", "1")
_MANY = {"category": "categories"}
_KINDS = {"image": "picture"}


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """A column, or several flags in a row; its kind, and its values."""

    name: str
    kind: str
    values: str


def summary_text(space: Space) -> str:
    """The columns on one line: "2 numbers, 1 category", "8 x 8 pixels", "4 features without names"."""
    if not space.named:
        n = len(space.parts)
        return f"{n} feature{'s' * (n > 1)} without names"
    counts: Counter[str] = Counter()
    said = []
    for part in space.parts:
        if isinstance(part, Text):
            said.append(f"a text ({len(part.words)} words)")
        elif isinstance(part, Image):
            said.append(f"a picture ({_size(part)})")
        else:
            counts[part.kind] += 1
    kinds = [f"{n} {kind if n == 1 else _MANY.get(kind, kind + 's')}" for kind, n in counts.items()]
    return ", ".join([*kinds, *said])


def lines_of(parts: Sequence[Part]) -> Iterator[ColumnLine]:
    """A line for each part; flags beside each other that are 0 or 1 share one."""

    def plain(part: Part) -> str:
        return part.kind if isinstance(part, Flag) and part.values == _BITS else ""

    for kind, found in groupby(parts, plain):
        group = list(found)
        if kind:
            several = "s" * (len(group) > 1)
            yield ColumnLine(
                _listed([part.name for part in group], _MAX_NAMES), kind + several, ", ".join(_BITS)
            )
            continue
        for part in group:
            yield ColumnLine(
                shortened(part.name, _MAX_CHARS), _KINDS.get(part.kind, part.kind), _values(part)
            )


def _values(part: Part) -> str:
    if isinstance(part, Number | Category | Flag):
        return _listed(part.values, _MAX_VALUES)
    if isinstance(part, Text):
        return f"{len(part.words)} words: {_listed(part.words, _MAX_NAMES)}"
    assert isinstance(part, Image)
    if part.window is not None:
        above = f", on if brighter than the {part.window} x {part.window} pixels around"
    elif isinstance(part.threshold, float):
        above = f", on above {number_text(part.threshold)}"
    else:
        above = "" if part.threshold is None else ", on above a threshold of its own"
    return f"{_size(part)}{above}"


def _size(part: Image) -> str:
    return " x ".join(map(str, part.shape)) + " pixels"


def _listed(names: Sequence[str], most: int) -> str:
    shown = ", ".join(shortened(name, _MAX_CHARS) for name in names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
