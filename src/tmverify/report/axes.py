"""The frame of a chart: where numbers lie on the paper, round ticks, axes with labels; as SVG text."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import count

WIDTH, HEIGHT = 460, 270
LEFT, RIGHT, TOP, BOTTOM = 62, 24, 18, 48
_MAX_TICKS = 6


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers from ``start`` to ``end`` on paper from ``first`` to ``last``."""

    start: float
    end: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        share = (value - self.start) / (self.end - self.start)
        return round(self.first + share * (self.last - self.first), 1)


def across(start: float, end: float) -> Scale:
    """A horizontal scale."""
    return Scale(start, end, LEFT, WIDTH - RIGHT)


def upward(end: float) -> Scale:
    """A vertical scale from 0."""
    return Scale(0, end, HEIGHT - BOTTOM, TOP)


def round_ticks(greatest: int, most: int = _MAX_TICKS) -> list[int]:
    """0 and multiples of a round number up to at least ``greatest``, about ``most`` of them."""
    step = next(width for width in round_numbers() if math.ceil(greatest / width) < most)
    return [step * i for i in range(max(math.ceil(greatest / step), 1) + 1)]


def round_numbers() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, …"""
    for power in count():
        yield from (10**power, 2 * 10**power, 5 * 10**power)


def text(x: float, y: float, said: str, *, anchor: str = "middle", kind: str = "tick") -> str:
    """A line of text; ``said`` may be anything."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(said)}</text>'


def rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def vertical_axis(ticks: dict[float, str], scale: Scale, label: str) -> str:
    """Ticks with lines across the paper, and what they count."""
    lines = "".join(
        rule(LEFT, scale(value), WIDTH - RIGHT, scale(value), "grid" if value else "axis")
        + text(LEFT - 6, scale(value) + 4, said, anchor="end")
        for value, said in ticks.items()
    )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return (
        f'{lines}<text class="name" transform="translate(12 {middle:g}) rotate(-90)" '
        f'text-anchor="middle">{escape(label)}</text>'
    )


def horizontal_axis(ticks: dict[float, str], label: str) -> str:
    """Texts at places on the paper, and what they measure."""
    said = "".join(text(x, HEIGHT - BOTTOM + 16, tick) for x, tick in ticks.items())
    return said + text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, label, kind="name")
