"""Pixels and words that suffice for a decision, beside the loop that anybody can write.

The loop asks ``check_robustness`` once for each pixel. Both find subset-minimal reasons, but not always the
same ones: sizes are given for both. Images and reviews are random test rows, whatever the machines make of
them; team scope.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import tmverify as tv
from harness.asking import at_most
from harness.explaining import COLUMNS, VERSIONS, Settings, Times
from harness.report import Section

BEYOND = 2  # the radius, within which pixels suffice


@dataclass(frozen=True)
class Plan:
    title: str
    data: str
    machines: tuple[str, ...]
    within: int | None = None
    wanted: float | None = None  # seconds, median


MNIST = Plan("All pixels of MNIST, 2,000 clauses a class", "mnist", ("mnist-2000",))
IMDB = Plan("Words of reviews (IMDB)", "imdb", ("imdb-s20", "imdb-s2-a"), within=3, wanted=1.0)


def loop(model: tv.Model, x: Any, epsilon: int | None = None) -> tuple[list[int], int]:
    """Pixels that suffice, by the public functions alone: in order, each that can be freed is freed.

    Returns also how many of them were kept because the question was left open.
    """
    n, n_open = model.n_features, 0
    free = np.zeros(n, np.bool_)
    for pixel in range(n):
        free[pixel] = True
        verdict = tv.check_robustness(model, x, n if epsilon is None else epsilon, features=free)
        if verdict.status is not tv.Status.HOLDS:
            free[pixel] = False
            n_open += verdict.status is tv.Status.UNKNOWN
    return [pixel for pixel in range(n) if not free[pixel]], n_open


def measure_loop(settings: Settings) -> Iterator[Section]:
    """MNIST, 500 clauses a class: ``explain`` and the loop, over all inputs and near the radius."""
    subjects, name = settings.subjects, "mnist-500"
    model = subjects.model(name)
    rows = subjects.shuffled("mnist")[: settings.images]
    section = Section(
        "Pixels of MNIST, 500 clauses a class, beside a loop over check_robustness",
        {
            "machine": f"{name} ({model.content_hash[:8]})",
            "images": f"{len(rows)}, of which the loop is asked about the first {settings.loop_images}",
            "limit in seconds": settings.limit,
            "ratios": "of the medians, and of the sums, on the same images",
        },
        ("inputs considered", "asked", *COLUMNS, "loop / explain", "of the sums"),
        versions=VERSIONS,
    )
    tv.explain(model, subjects.test_input("mnist", rows[0]), timeout=settings.limit)  # compiles
    for beyond, wanted in ((None, 3.0), (BEYOND, 0.5)):
        where = "all" if beyond is None else f"within radius + {beyond}"
        ours, theirs = (Times({"within": where, "asked": asked}) for asked in ("explain", "loop"))
        section.raw += [ours, theirs]
        at = len(section.rows)
        for i, row in enumerate(rows):
            x = subjects.test_input("mnist", row)
            epsilon = None if beyond is None else int(tv.robustness_radius(model, x).upper) + beyond
            ours.ask(partial(tv.explain, model, x, within=epsilon, timeout=settings.limit))
            if i < settings.loop_images:
                start = time.perf_counter()
                kept, n_open = loop(model, x, epsilon)
                theirs.add(time.perf_counter() - start, len(kept), minimal=not n_open)
            same = ours.seconds[: len(theirs.seconds)]
            ratio, of_sums = theirs.median / statistics.median(same), sum(theirs.seconds) / sum(same)
            section.rows[at:] = [
                [where, "explain", *ours.cells(), "", ""],
                [where, "loop", *theirs.cells(), f"{ratio:.1f}", f"{of_sums:.1f}"],
            ]
            yield section
        section.ratios |= {f"loop / explain, {where}": ratio, f"median in s, {where}": ours.median}
        goal = "" if beyond is not None else f" (wanted: 5, {'reached' if ratio >= 5 else 'missed'})"
        section.findings += [
            f"{where}: median {at_most(ours.median, wanted, 's')}; the loop's median is {ratio:.1f} times "
            f"as long{goal}, its sum {of_sums:.1f} times."
        ]
    section.complete = True
    yield section


def measure(settings: Settings, plan: Plan) -> Iterator[Section]:
    """``explain`` alone: how many reasons are minimal within the limit, in what time."""
    subjects = settings.subjects
    n = settings.images if plan.data == "mnist" else settings.texts
    rows = subjects.shuffled(plan.data)[:n]
    hashes = (f"{name} ({subjects.model(name).content_hash[:8]})" for name in plan.machines)
    section = Section(
        plan.title,
        {
            "machines": ", ".join(hashes),
            "inputs considered": "all" if plan.within is None else f"within {plan.within} changes",
            "limit in seconds": settings.limit,
        },
        ("machine", *COLUMNS),
        versions=VERSIONS,
    )
    for name in plan.machines:
        model, times = subjects.model(name), Times({"machine": name})
        section.raw.append(times)
        section.rows.append([])
        ask = partial(tv.explain, model, within=plan.within, timeout=settings.limit)
        ask(subjects.test_input(plan.data, rows[0]))  # compiles
        for row in rows:
            times.ask(partial(ask, subjects.test_input(plan.data, row)))
            section.rows[-1] = [name, *times.cells()]
            yield section
        section.findings.append(_finding(name, plan, times))
    section.complete = True
    yield section


def _finding(name: str, plan: Plan, times: Times) -> str:
    n = len(times.seconds)
    found = f"{name}: {times.minimal} of {n} minimal"
    if plan.wanted is None:
        return f"{found} (wanted: all, {'reached' if times.minimal == n else 'missed'})."
    return f"{found}, median {at_most(times.median, plan.wanted, 's')}."
