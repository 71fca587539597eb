"""The exact radius, input by input: how many are exact within the limit, in what time, how large they are.

Inputs are random test rows, whatever the machines make of them; team scope. Each one that stays open is
listed with the bounds that are proved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import tmverify as tv
from harness.asking import Answers, is_solved, ms
from harness.drawing import bars
from harness.proving import Proving
from harness.report import Section
from harness.trained import RECIPES

COLUMNS = (
    "machine",
    "inputs",
    "exact",
    "exact %",
    "median ms",
    "mean ms",
    "p99 ms",
    "largest ms",
    "radius: median",
    "largest",
)


@dataclass(frozen=True)
class Plan:
    """``shares``: the machines, each with the share of the inputs that it is asked about."""

    name: str
    title: str
    data: str
    shares: dict[str, float]
    wanted_percent: float
    wanted_median: float  # ms


PLANS = (
    Plan(
        "radius-mnist",
        "Exact radius: MNIST, team scope",
        "mnist",
        {"mnist-2000": 1.0, "mnist-1000": 0.2, "mnist-500": 0.2},
        99.0,
        50.0,
    ),
    Plan(
        "radius-imdb",
        "Exact radius: IMDB",
        "imdb",
        {"imdb-s2-a": 1.0, "imdb-s2-b": 1.0, "imdb-s20": 1.0},
        100.0,
        20.0,
    ),
)


def measure(bench: Proving, plan: Plan) -> Iterator[Section]:
    """The section as it grows, one input at a time."""
    wanted = bench.few(bench.radius_inputs if plan.data == "mnist" else bench.radius_reviews, 20)
    rows = bench.subjects.shuffled(plan.data)[:wanted]
    settings = {
        "machines": bench.named(*plan.shares),
        "inputs": len(rows),
        "engine": "auto",
        "limit in seconds": bench.radius_limit,
        "cores": 1,
    }
    sheet = bench.begin(plan.name, plan.title, settings, COLUMNS)
    section = sheet.section
    yield section
    sheet.first_use([partial(_ask, bench, name, row) for name in plan.shares for row in rows[:1]])
    drawn: list[str] = []
    for model, share in plan.shares.items():
        group = sheet.answers(bench.radius_limit, model=model, scope="team", engine="auto")
        section.rows.append([])
        for i, row in enumerate(rows[: max(1, round(share * len(rows)))]):
            sheet.ask(group, row, partial(_ask, bench, model, row))
            if i < 100 or i % 100 == 0:
                section.rows[-1] = _cells(group)
                section.drawing = drawn + _histogram(group)
            yield section
        section.rows[-1] = _cells(group)
        drawn = section.drawing = drawn + _histogram(group)
        sheet.row_done()
        section.findings += _findings(section, plan, group)
        yield section
    section.complete = True
    yield section


def _ask(bench: Proving, model: str, row: int) -> tv.Radius:
    x = bench.subjects.test_input(RECIPES[model].data, row)
    return tv.robustness_radius(bench.subjects.model(model), x, timeout=bench.radius_limit)


def _radii(group: Answers) -> list[float]:
    return [float(answer) for answer in group.answers if is_solved(answer)]


def _cells(group: Answers) -> list[str]:
    n, radii = len(group.answers), _radii(group)
    return [
        group.of["model"],
        str(n),
        str(group.solved),
        f"{100 * group.solved / n:.2f}",
        ms(group.median),
        ms(group.mean),
        ms(group.percentile(99)),
        ms(group.largest),
        f"{np.median(radii):g}" if radii else "-",
        f"{max(radii):g}" if radii else "-",
    ]


def _histogram(group: Answers) -> list[str]:
    counts = Counter(_radii(group))
    title = f"{group.of['model']}: inputs by radius"
    return [title, *bars({f"{radius:g}": float(counts[radius]) for radius in sorted(counts)}), ""]


def _findings(section: Section, plan: Plan, group: Answers) -> list[str]:
    model, n = group.of["model"], len(group.answers)
    percent, median = 100 * group.solved / n, 1000 * group.median
    section.ratios |= {f"exact %, {model}": percent, f"median in ms, {model}": median}
    enough, fast = percent >= plan.wanted_percent, median < plan.wanted_median
    said = [
        f"{model}: {percent:.2f} % exact within {group.limit:g} s "
        f"(wanted: {plan.wanted_percent:g} %, {'reached' if enough else 'missed'}), median {median:.1f} ms "
        f"(wanted: under {plan.wanted_median:g} ms, {'reached' if fast else 'missed'})."
    ]
    bounds = ", ".join(f"{row}: {answer} ({seconds:.1f} s)" for row, answer, seconds in group.open)
    return [*said, f"{model}, open (test row: bounds): {bounds}."] if group.open else said
