"""Charts: bars and step curves as SVG text, for a page (whose style sheet colours them) or as files.

Each shape has a class that names what it is; ``chart.css`` colours the classes by custom properties, with
fixed colours to fall back on, so that the same drawing works in light, in dark and on paper. Names of series
may be any text: they are escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import count, pairwise

from tmverify.campaign import Tally

MAX_CURVES = 6  # the number of different colours and dashes
_WIDTH, _HEIGHT = 460, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 24, 18, 48
_MAX_TICKS = 6
_CHARACTER = 7.5  # the greatest width of a character
_LEGEND_LINE = 18
_MAX_BAR = 64  # the greatest width of a bar
_BESIDE = 4  # distance between marks at the same number
_DARK = "--paper:#151b26;--ink:#e6eaf1;--muted:#9aa6b8;--hair:#2c3647;--series-1:#6ea8ff;--open:#f0b44c;"


@dataclass(frozen=True, slots=True)
class Bar:
    """Counts on top of each other, (kind, count); ``hint`` is shown when the bar is pointed at."""

    label: str
    parts: tuple[tuple[str, int], ...]
    hint: str = ""

    @property
    def height(self) -> int:
        return sum(n for _, n in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Labelled:
    title: str
    description: str
    x_label: str
    y_label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars(_Labelled):
    """A histogram; with ``end``, labels stand at the edges of bars, and ``end`` at the last edge."""

    bars: tuple[Bar, ...]
    end: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A share that was counted at ``x``, and the bounds within which it lies."""

    x: int
    low: float
    share: float
    high: float
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Steps:
    """A share between ``low`` and ``high`` (its bounds at 0, 1, 2, …), constant in between, and marks."""

    name: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves(_Labelled):
    """Up to MAX_CURVES shares over 0 … ``end``."""

    end: int
    curves: tuple[Steps, ...]


Chart = Bars | Curves
_Scale = Callable[[float], float]  # from a number to its coordinate


def svg(chart: Chart, background: str = "") -> str:
    """The chart as an element for a page that has the style sheet ``chart_style()``."""
    legend = _LEGEND_LINE * len(chart.curves) + 8 if isinstance(chart, Curves) else 0
    body = _curves(chart) if isinstance(chart, Curves) else _bars(chart)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT + legend}" '
        f'role="img" aria-label="{escape(chart.title)}"><title>{escape(chart.title)}</title>'
        f"<desc>{escape(chart.description)}</desc>{background}{body}</svg>"
    )


def standalone_svg(chart: Chart) -> str:
    """The chart as a file of its own, with colours for light and dark."""
    dark = "@media (prefers-color-scheme: dark) {svg {" + _DARK + "}}"
    paper = f'<style>{chart_style()}{dark}</style><rect class="paper" width="100%" height="100%"/>'
    return svg(chart, paper) + "\n"


def chart_style() -> str:
    """The style sheet of charts."""
    return files("tmverify.report").joinpath("chart.css").read_text(encoding="utf-8")


def share_bar(tally: Tally) -> str:
    """A bar for a line of a table: how many tasks hold, are violated, are unknown, are yet to come."""
    counts = {
        "good": tally.positive,
        "bad": tally.violated,
        "open": tally.unknown,
        "pending": tally.total - tally.done,
    }
    drawn, start = "", 0.0
    for kind, n in counts.items():
        width = 100 * n / max(tally.total, 1)
        if n:
            drawn += f'<rect class="{kind}" x="{start:.2f}" y="0" width="{width:.2f}" height="8"/>'
        start += width
    return (
        f'<svg class="share" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>'
    )


def round_ticks(greatest: int, most: int = _MAX_TICKS) -> list[int]:
    """0 and multiples of a round number up to at least ``greatest``, about ``most`` of them."""
    step = next(width for width in round_numbers() if math.ceil(greatest / width) < most)
    return [step * i for i in range(max(math.ceil(greatest / step), 1) + 1)]


def round_numbers() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, …"""
    for power in count():
        yield from (10**power, 2 * 10**power, 5 * 10**power)


def _horizontal(start: float, end: float) -> _Scale:
    return _scale(start, end, _LEFT, _WIDTH - _RIGHT)


def _vertical(end: float) -> _Scale:
    return _scale(0, end, _HEIGHT - _BOTTOM, _TOP)


def _scale(start: float, end: float, first: float, last: float) -> _Scale:
    """Numbers from ``start`` to ``end`` are drawn at coordinates from ``first`` to ``last``."""
    return lambda value: round(first + (value - start) / (end - start) * (last - first), 1)


def _text(x: float, y: float, content: str, *, anchor: str = "middle", kind: str = "tick") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(content)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'


def _vertical_axis(ticks: dict[float, str], scale: _Scale, label: str) -> str:
    """Ticks by number, with lines across the drawing."""
    lines = "".join(
        _rule(_LEFT, scale(value), _WIDTH - _RIGHT, scale(value), "grid" if value else "axis")
        + _text(_LEFT - 6, scale(value) + 4, tick, anchor="end")
        for value, tick in ticks.items()
    )
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    return (
        f'{lines}<text class="name" transform="translate(12 {middle:g}) rotate(-90)" '
        f'text-anchor="middle">{escape(label)}</text>'
    )


def _horizontal_axis(ticks: dict[float, str], label: str) -> str:
    """Ticks by their place on the drawing."""
    texts = "".join(_text(x, _HEIGHT - _BOTTOM + 16, tick) for x, tick in ticks.items())
    return texts + _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 10, label, kind="name")


def _bars(chart: Bars) -> str:
    ticks = round_ticks(max((bar.height for bar in chart.bars), default=1))
    x, y = _horizontal(0, max(len(chart.bars), 1)), _vertical(ticks[-1])
    drawn = "".join(_bar(bar, x(i), x(i + 1), y) for i, bar in enumerate(chart.bars))
    frame = _vertical_axis({tick: str(tick) for tick in ticks}, y, chart.y_label)
    return frame + drawn + _horizontal_axis(_bar_labels(chart, x), chart.x_label)


def _bar_labels(chart: Bars, x: _Scale) -> dict[float, str]:
    labels = [bar.label for bar in chart.bars] + [chart.end] * bool(chart.end)
    room = (len(max(labels, key=len, default="")) + 1) * _CHARACTER
    every = max(math.ceil(len(labels) * room / (_WIDTH - _LEFT - _RIGHT)), 1)
    shift = 0 if chart.end else 0.5
    return {x(i + shift): label for i, label in enumerate(labels) if i % every == 0}


def _bar(bar: Bar, left: float, right: float, y: _Scale) -> str:
    gap = max(min((right - left) * 0.12, 6), (right - left - _MAX_BAR) / 2)
    shapes, below = "", 0
    for kind, n in bar.parts:
        top, bottom = y(below + n), y(below)
        shapes += (
            f'<rect class="bar {kind}" x="{left + gap:g}" y="{top:g}" '
            f'width="{right - left - 2 * gap:g}" height="{bottom - top:g}"/>'
        )
        below += n
    total = _text((left + right) / 2, y(below) - 4, str(below), kind="value") if below else ""
    return f"<g><title>{escape(bar.hint or f'{bar.label}: {bar.height}')}</title>{shapes}{total}</g>"


def _curves(chart: Curves) -> str:
    x, y = _horizontal(-0.3, chart.end + 0.7), _vertical(1)
    shares = {tick / 100: f"{tick} %" for tick in (0, 25, 50, 75, 100)}
    labels = {x(tick): str(tick) for tick in round_ticks(chart.end, 10) if tick <= chart.end}
    frame = _vertical_axis(shares, y, chart.y_label) + _horizontal_axis(labels, chart.x_label)
    numbered = list(enumerate(chart.curves, start=1))
    lines = "".join(_steps(curve, number, x, y) for number, curve in numbered)
    marks = "".join(
        _mark(mark, number, _BESIDE * (number - (len(numbered) + 1) / 2), x, y)
        for number, curve in numbered
        for mark in curve.marks
    )
    return frame + lines + marks + "".join(_legend_line(curve.name, number) for number, curve in numbered)


def _steps(curve: Steps, number: int, x: _Scale, y: _Scale) -> str:
    low, high = _stairs(curve.low, x, y), _stairs(curve.high, x, y)
    line = f'<polyline class="curve s{number}" points="{_points(low)}"/>' if low else ""
    if curve.low == curve.high:
        return line
    band = f'<polygon class="band s{number}" points="{_points(high + low[::-1])}"/>'
    return f'{band}{line}<polyline class="curve s{number} upper" points="{_points(high)}"/>'


def _stairs(shares: Sequence[float], x: _Scale, y: _Scale) -> list[tuple[float, float]]:
    """Each share is drawn from its number to the next."""
    edges = pairwise(x(value) for value in range(len(shares) + 1))
    return [
        (edge, y(share))
        for (left, right), share in zip(edges, shares, strict=True)
        for edge in (left, min(right, _WIDTH - _RIGHT))
    ]


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{left:g},{top:g}" for left, top in points)


def _mark(mark: Mark, number: int, shift: float, x: _Scale, y: _Scale) -> str:
    centre = x(mark.x) + shift
    whisker = _rule(centre, y(mark.low), centre, y(mark.high), f"whisker s{number}")
    return (
        f"<g><title>{escape(mark.hint)}</title>{whisker if mark.low != mark.high else ''}"
        f'<circle class="mark s{number}" cx="{centre:g}" cy="{y(mark.share):g}" r="4.5"/></g>'
    )


def _legend_line(name: str, number: int) -> str:
    top = _HEIGHT + _LEGEND_LINE * (number - 1) + 4
    sample = _rule(_LEFT, top, _LEFT + 28, top, f"curve s{number}")
    short = name if len(name) <= 60 else name[:59] + "…"
    return sample + _text(_LEFT + 36, top + 4, short, anchor="start", kind="legend")
