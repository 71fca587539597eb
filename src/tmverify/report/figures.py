"""Figures: the charts of a report, made from its data, with captions that say in words what they show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tmverify.campaign import Tally
from tmverify.display.words import seconds_text
from tmverify.report.charts import MAX_CURVES, Bar, Bars, Chart, Curves, Mark, Steps, round_numbers
from tmverify.report.distributions import Bin, Curve, Radii, Times
from tmverify.report.report import Report
from tmverify.report.words import AXES, UNAFFECTED, bounds_text, percent, radius_title

_MAX_BARS = 16
_MIN_TIMES = 5  # fewer times are no distribution


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart with the series that it shows, and a caption."""

    shows: str
    caption: str
    chart: Chart


def figures_of(report: Report) -> tuple[Figure, ...]:
    """All figures: shares by epsilon, radii, times."""
    return (*result_figures(report), *time_figures(report))


def result_figures(report: Report) -> tuple[Figure, ...]:
    """What was found: shares by epsilon, radii."""
    shares = []
    for n_models in (1, 2):
        for counted in AXES:  # an ε of columns and an ε of bits have no common axis
            curves = [
                curve
                for curve in report.curves
                if len(curve.series.models) == n_models and curve.series.counted == counted
            ]
            for start in range(0, len(curves), MAX_CURVES):
                shares.append(share_figure(curves[start : start + MAX_CURVES], UNAFFECTED[n_models]))
    return (*shares, *(radius_figure(each) for each in report.radii))


def time_figures(report: Report) -> tuple[Figure, ...]:
    """How long it took, for each question."""
    return tuple(
        time_figure(each) for each in report.times if len(each.solved) + len(each.unknown) >= _MIN_TIMES
    )


def share_figure(curves: Sequence[Curve], unaffected: str) -> Figure:
    """The share of unaffected inputs, over epsilon."""
    end = max(*(curve.greatest for curve in curves), 1)
    caption = []
    if any(curve.radii for curve in curves):
        caption.append("A line is the exact share by radius (inputs whose radius is greater than ε).")
    if any(curve.points for curve in curves):
        caption.append("Dots are the share of solved tasks at an ε that was asked about.")
    unknown = any(tally.unknown for curve in curves for tally in curve.points.values())
    if unknown or any(curve.radii and curve.radii.open for curve in curves):
        caption.append("Bands and whiskers: how far unknown answers could move it.")
    chart = Curves(
        title=f"Share of inputs {unaffected}, by ε",
        description="; ".join(_described(curve, unaffected) for curve in curves),
        x_label=f"ε ({AXES[curves[0].series.counted][0]})",
        y_label=f"inputs {unaffected}",
        end=end,
        curves=tuple(_steps(curve, end, unaffected) for curve in curves),
    )
    shows = curves[0].series.title if len(curves) == 1 else f"{len(curves)} series"
    return Figure(shows, " ".join(caption), chart)


def radius_figure(radii: Radii) -> Figure:
    """How many inputs have which radius."""
    n = len(radii.bounds)
    caption = f"{n} input{'s' * (n > 1)}; median {bounds_text(*radii.median)}."
    if radii.infinite:
        alters = "does that" if radii.series.margin else "alters the decision"
        caption += f" ∞: no allowed change {alters} ({radii.infinite})."
    if radii.open:
        caption += f" Open: only bounds are proved ({radii.open})."
    bars = tuple(_radius_bars(radii))
    chart = Bars(
        title=radius_title(len(radii.series.models), radii.series.margin),
        description=", ".join(f"{bar.label}: {bar.height}" for bar in bars),
        x_label=f"radius ({AXES[radii.series.counted][1]})",
        y_label="inputs",
        bars=bars,
    )
    return Figure(radii.series.title, caption, chart)


def time_figure(times: Times) -> Figure:
    """How long tasks took."""
    caption = f"{len(times.solved)} solved"
    if times.solved:
        quantiles = (("half", 0.5), ("9 in 10", 0.9), ("all", 1.0))
        within = (f"{name} within {seconds_text(times.quantile(share))}" for name, share in quantiles)
        caption += ": " + ", ".join(within)
    caption += f"; {len(times.unknown)} unknown (amber)." if times.unknown else "."
    bins = times.bins
    bars = tuple(_time_bar(each) for each in bins)
    chart = Bars(
        title=f"Time for each task: {times.question}",
        description=", ".join(bar.hint for bar in bars),
        x_label="time, on a logarithmic scale",
        y_label="tasks",
        bars=bars,
        end=seconds_text(bins[-1].end),
    )
    return Figure("all models and inputs", caption, chart)


def _steps(curve: Curve, end: int, unaffected: str) -> Steps:
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    if curve.radii is not None:
        n = len(curve.radii.bounds)
        low = tuple(curve.radii.proved(epsilon) / n for epsilon in range(end + 1))
        high = tuple(curve.radii.possible(epsilon) / n for epsilon in range(end + 1))
    marks = tuple(
        Mark(
            epsilon,
            tally.positive / tally.done,
            tally.positive / tally.solved,
            (tally.positive + tally.unknown) / tally.done,
            _share_text(epsilon, tally, unaffected),
        )
        for epsilon, tally in curve.points.items()
        if tally.solved
    )
    return Steps(curve.series.title, low, high, marks)


def _share_text(epsilon: int, tally: Tally, unaffected: str) -> str:
    share = percent(tally.positive, tally.solved)
    unknown = f", {tally.unknown} unknown" if tally.unknown else ""
    return f"ε {epsilon}: {tally.positive} of {tally.solved} {unaffected} ({share}){unknown}"


def _described(curve: Curve, unaffected: str) -> str:
    points = ", ".join(_share_text(epsilon, tally, unaffected) for epsilon, tally in curve.points.items())
    return f"{curve.series.title}: {points or 'from radii'}"


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
    hint = f"{seconds_text(each.start)} to {seconds_text(each.end)}: {each.solved} solved"
    hint += f", {each.unknown} unknown" if each.unknown else ""
    parts = (("exact", each.solved), ("unknown", each.unknown))
    return Bar(seconds_text(each.start), tuple(part for part in parts if part[1]), hint)
