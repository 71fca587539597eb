"""Figures: what the charts of a report draw, from its data; captions say in words what is to be seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tmverify.report.axes import round_numbers
from tmverify.report.charts import SERIES, Bar, Bars, Chart, Curves, Mark, Steps
from tmverify.report.radii import Radii
from tmverify.report.report import Report
from tmverify.report.robust_share import Curve, Point
from tmverify.report.times import Bin, Times
from tmverify.report.words import bounds_text, percent, seconds_text

_MAX_BARS = 16
_FEW = 5  # times that are no distribution


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, what it is about, and what it says."""

    heading: str
    subject: str
    caption: str
    chart: Chart


def figures_of(report: Report) -> tuple[Figure, ...]:
    """Shares, radii, times."""
    shares = [
        share_figure(part, two=two)
        for two in (False, True)
        for part in _in_parts([curve for curve in report.curves if (len(curve.subject.models) == 2) is two])
    ]
    radii = [radius_figure(each) for each in report.radii]
    times = [time_figure(each) for each in report.times if len(each.solved) + len(each.unknown) >= _FEW]
    return (*shares, *radii, *times)


def share_figure(curves: Sequence[Curve], *, two: bool) -> Figure:
    """The share of inputs that is safe, over epsilon."""
    what = "decided alike" if two else "robust"
    end = max(max(curve.greatest for curve in curves), 1)
    series = tuple(_series(curve, end, what) for curve in curves)
    said = ["A line is the exact share by radius (inputs whose radius is greater than ε)."] * any(
        curve.radii for curve in curves
    )
    said += ["Dots are the share of solved tasks at an ε that was asked about."] * any(
        curve.points for curve in curves
    )
    if any(_uncertain(curve) for curve in curves):
        said.append("Bands and whiskers: how far unknown answers could move it.")
    title = f"Share of inputs {what}, by ε"
    chart = Curves(
        title=title,
        description="; ".join(_described(curve, what) for curve in curves),
        x_label="ε (features that may change)",
        y_label=f"inputs {what}",
        end=end,
        series=series,
    )
    subject = curves[0].subject.title if len(curves) == 1 else f"{len(curves)} series"
    return Figure(title, subject, " ".join(said), chart)


def radius_figure(radii: Radii) -> Figure:
    """How many inputs have which radius."""
    n = len(radii.bounds)
    middle = radii.median
    assert middle is not None
    caption = f"{n} input{'s' * (n > 1)}; median {bounds_text(*middle)}."
    if radii.infinite:
        caption += f" ∞: no allowed change alters the decision ({radii.infinite})."
    if radii.open:
        caption += f" Open: only bounds are proved ({radii.open})."
    two = len(radii.subject.models) == 2
    title = "Distance to the nearest disagreement" if two else "Radius: changes needed to alter the decision"
    bars = tuple(_radius_bars(radii))
    chart = Bars(
        title=title,
        description=", ".join(f"{bar.label}: {bar.height}" for bar in bars),
        x_label="radius (features changed)",
        y_label="inputs",
        bars=bars,
    )
    return Figure(title, radii.subject.title, caption, chart)


def time_figure(times: Times) -> Figure:
    """How long tasks took."""
    caption = f"{len(times.solved)} solved"
    if times.solved:
        quantiles = (("half", 0.5), ("9 in 10", 0.9), ("all", 1.0))
        said = (f"{name} within {seconds_text(times.quantile(share))}" for name, share in quantiles)
        caption += ": " + ", ".join(said)
    caption += f"; {len(times.unknown)} unknown (amber)." if times.unknown else "."
    bars = tuple(_time_bar(each) for each in times.bins)
    title = f"Time for each task: {times.question}"
    chart = Bars(
        title=title,
        description=", ".join(bar.said for bar in bars),
        x_label="time, on a logarithmic scale",
        y_label="tasks",
        bars=bars,
        end=seconds_text(times.bins[-1].end),
    )
    return Figure(title, "all models and inputs", caption, chart)


def _in_parts(curves: Sequence[Curve]) -> Iterator[Sequence[Curve]]:
    for start in range(0, len(curves), SERIES):
        yield curves[start : start + SERIES]


def _uncertain(curve: Curve) -> bool:
    return any(point.unknown for point in curve.points) or bool(curve.radii and curve.radii.open)


def _series(curve: Curve, end: int, what: str) -> Steps:
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    if curve.radii is not None:
        n = len(curve.radii.bounds)
        low = tuple(curve.radii.proved(epsilon) / n for epsilon in range(end + 1))
        high = tuple(curve.radii.possible(epsilon) / n for epsilon in range(end + 1))
    marks = tuple(_mark(point, what) for point in curve.points if point.solved)
    return Steps(curve.subject.title, low, high, marks)


def _mark(point: Point, what: str) -> Mark:
    share = point.holds / point.solved
    low, high = point.holds / point.done, (point.holds + point.unknown) / point.done
    return Mark(point.epsilon, low, share, high, _point_text(point, what))


def _point_text(point: Point, what: str) -> str:
    said = f"ε {point.epsilon}: {point.holds} of {point.solved} {what}"
    said += f" ({percent(point.holds, point.solved)})"
    return f"{said}, {point.unknown} unknown" if point.unknown else said


def _described(curve: Curve, what: str) -> str:
    points = ", ".join(_point_text(point, what) for point in curve.points)
    return f"{curve.subject.title}: {points or 'from radii'}"


def _radius_bars(radii: Radii) -> Iterator[Bar]:
    counts, n = radii.exact, len(radii.bounds)
    if counts:
        least, greatest = min(counts), max(counts)
        width = next(w for w in round_numbers() if greatest // w - least // w < _MAX_BARS)
        for start in range(least // width * width, greatest + 1, width):
            inside = sum(counts[value] for value in range(start, start + width))
            label = str(start) if width == 1 else f"{start}-{start + width - 1}"
            yield Bar(label, (("exact", inside),), f"radius {label}: {inside} of {n}")
    if radii.infinite:
        yield Bar("∞", (("infinite", radii.infinite),), f"no change: {radii.infinite} of {n}")
    if radii.open:
        yield Bar("open", (("unknown", radii.open),), f"open: {radii.open} of {n}")


def _time_bar(each: Bin) -> Bar:
    said = f"{seconds_text(each.start)} to {seconds_text(each.end)}: {each.solved} solved"
    said += f", {each.unknown} unknown" if each.unknown else ""
    parts = (("exact", each.solved), ("unknown", each.unknown))
    return Bar(seconds_text(each.start), tuple(part for part in parts if part[1]), said)
