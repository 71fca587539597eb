"""Charts: bars and step curves as SVG text, for a page (whose style sheet colours them) or as files.

Classes name what a shape is; ``chart.css`` gives them colours by custom properties with fixed ones to fall
back on, so that the same drawing works in light, in dark and on paper. Names of series may be anything: they
are escaped here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import pairwise

from tmverify.report.axes import (
    HEIGHT,
    LEFT,
    RIGHT,
    WIDTH,
    Scale,
    across,
    horizontal_axis,
    round_ticks,
    rule,
    text,
    upward,
    vertical_axis,
)

SERIES = 6  # as many as have a colour and a dash of their own
_CHARACTER = 7.5  # the width of one, at most
_LEGEND_LINE = 18
_WIDEST = 64  # a bar
_BESIDE = 4  # between marks of the same number


@dataclass(frozen=True, slots=True)
class Bar:
    """Counts on top of each other: (kind, count); ``said`` is shown when it is pointed at."""

    label: str
    parts: tuple[tuple[str, int], ...]
    said: str = ""

    @property
    def height(self) -> int:
        return sum(n for _, n in self.parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A histogram; with ``end``, labels belong to the left edges of bars, and it to the last one's right."""

    title: str
    description: str
    x_label: str
    y_label: str
    bars: tuple[Bar, ...]
    end: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A share that was counted at ``x``, and the bounds within which it lies."""

    x: int
    low: float
    share: float
    high: float
    said: str = ""


@dataclass(frozen=True, slots=True)
class Steps:
    """A share between ``low`` and ``high`` (those at 0, 1, 2, …), constant in between, and marks."""

    name: str
    low: tuple[float, ...]
    high: tuple[float, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """Up to SERIES shares over 0 … ``end``."""

    title: str
    description: str
    x_label: str
    y_label: str
    end: int
    series: tuple[Steps, ...]


Chart = Bars | Curves


def svg(chart: Chart) -> str:
    """The chart as an element for a page that has the style sheet ``chart_style()``."""
    return _wrapped(chart, "")


def standalone_svg(chart: Chart) -> str:
    """The chart as a file of its own, with colours for light and dark."""
    dark = "@media (prefers-color-scheme: dark) {svg {" + _DARK + "}}"
    paper = f'<style>{chart_style()}{dark}</style><rect class="paper" width="100%" height="100%"/>'
    return _wrapped(chart, paper) + "\n"


def chart_style() -> str:
    """The style sheet of charts."""
    return files("tmverify.report").joinpath("chart.css").read_text(encoding="utf-8")


_DARK = "--paper:#151b26;--ink:#e6eaf1;--muted:#9aa6b8;--hair:#2c3647;--series-1:#6ea8ff;--open:#f0b44c;"


def _wrapped(chart: Chart, paper: str) -> str:
    legend = _LEGEND_LINE * len(chart.series) + 8 if isinstance(chart, Curves) else 0
    body = _curves(chart) if isinstance(chart, Curves) else _bars(chart)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {WIDTH} {HEIGHT + legend}" '
        f'role="img" aria-label="{escape(chart.title)}"><title>{escape(chart.title)}</title>'
        f"<desc>{escape(chart.description)}</desc>{paper}{body}</svg>"
    )


def _bars(chart: Bars) -> str:
    ticks = round_ticks(max((bar.height for bar in chart.bars), default=1))
    y = upward(ticks[-1])
    x = across(0, max(len(chart.bars), 1))
    drawn = "".join(_bar(bar, x(i), x(i + 1), y) for i, bar in enumerate(chart.bars))
    frame = vertical_axis({tick: str(tick) for tick in ticks}, y, chart.y_label)
    return frame + drawn + horizontal_axis(_bar_labels(chart, x), chart.x_label)


def _bar_labels(chart: Bars, x: Scale) -> dict[float, str]:
    labels = [bar.label for bar in chart.bars] + [chart.end] * bool(chart.end)
    room = (len(max(labels, key=len, default="")) + 1) * _CHARACTER
    every = max(math.ceil(len(labels) * room / (WIDTH - LEFT - RIGHT)), 1)
    shift = 0 if chart.end else 0.5
    return {x(i + shift): label for i, label in enumerate(labels) if i % every == 0}


def _bar(bar: Bar, left: float, right: float, y: Scale) -> str:
    gap = max(min((right - left) * 0.12, 6), (right - left - _WIDEST) / 2)
    shapes, below = [], 0
    for kind, n in bar.parts:
        top, bottom = y(below + n), y(below)
        shapes.append(
            f'<rect class="bar {kind}" x="{left + gap:g}" y="{top:g}" '
            f'width="{right - left - 2 * gap:g}" height="{bottom - top:g}"/>'
        )
        below += n
    count = text((left + right) / 2, y(below) - 4, str(below), kind="value") if below else ""
    return f"<g><title>{escape(bar.said or f'{bar.label}: {bar.height}')}</title>{''.join(shapes)}{count}</g>"


def _curves(chart: Curves) -> str:
    x, y = across(-0.3, chart.end + 0.7), upward(1)
    shares = {tick / 100: f"{tick} %" for tick in (0, 25, 50, 75, 100)}
    labels = {x(tick): str(tick) for tick in round_ticks(chart.end, 10) if tick <= chart.end}
    frame = vertical_axis(shares, y, chart.y_label) + horizontal_axis(labels, chart.x_label)
    drawn = "".join(_steps(each, place, x, y) for place, each in enumerate(chart.series, start=1))
    drawn += "".join(
        _mark(mark, place, _BESIDE * (place - (len(chart.series) + 1) / 2), x, y)
        for place, each in enumerate(chart.series, start=1)
        for mark in each.marks
    )
    keys = "".join(_key(each.name, place) for place, each in enumerate(chart.series, start=1))
    return frame + drawn + keys


def _steps(series: Steps, place: int, x: Scale, y: Scale) -> str:
    band = ""
    if series.low != series.high:
        there, back = _stairs(series.high, x, y), _stairs(series.low, x, y)[::-1]
        band = f'<polygon class="band s{place}" points="{_points(there + back)}"/>'
    lines = "".join(
        f'<polyline class="curve s{place}{kind}" points="{_points(_stairs(shares, x, y))}"/>'
        for shares, kind in ((series.low, ""), (series.high, " upper"))
        if shares and (kind == "" or series.low != series.high)
    )
    return band + lines


def _stairs(shares: Sequence[float], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """The share of each whole number from it to the next."""
    edges = pairwise(x(value) for value in range(len(shares) + 1))
    return [
        (edge, y(share))
        for (left, right), share in zip(edges, shares, strict=True)
        for edge in (left, min(right, WIDTH - RIGHT))
    ]


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{left:g},{top:g}" for left, top in points)


def _mark(mark: Mark, place: int, shift: float, x: Scale, y: Scale) -> str:
    centre = x(mark.x) + shift
    whisker = rule(centre, y(mark.low), centre, y(mark.high), f"whisker s{place}")
    return (
        f"<g><title>{escape(mark.said)}</title>{whisker if mark.low != mark.high else ''}"
        f'<circle class="mark s{place}" cx="{centre:g}" cy="{y(mark.share):g}" r="4.5"/></g>'
    )


def _key(name: str, place: int) -> str:
    """A line of the legend, below the chart."""
    top = HEIGHT + _LEGEND_LINE * (place - 1) + 4
    sample = rule(LEFT, top, LEFT + 28, top, f"curve s{place}")
    short = name if len(name) <= 60 else name[:59] + "…"
    return sample + text(LEFT + 36, top + 4, short, anchor="start", kind="legend")
