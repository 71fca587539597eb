"""What our classifier reaches, given time: the paper's models, epoch by epoch on the test set.

The best epoch is chosen on the test set, as published figures are; the last one and the mean of the last ten
are beside it.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from harness.bench import Bench
from harness.processes import OURS
from harness.report import Section

EPOCHS = 400
COLUMNS = (
    "data",
    "N",
    "T",
    "s",
    "wanted %",
    "best %",
    "at",
    "last %",
    "mean of last 10 %",
    "epochs",
    "reached at",
    "min",
)


@dataclass(frozen=True)
class Goal:
    data: str
    n_clauses: int
    threshold: int
    specificity: float
    accuracy: float
    epochs: int = EPOCHS


GOALS = (
    Goal("digits", 400, 25, 10.0, 95.0, 60),
    Goal("imdb", 1000, 1280, 2.0, 82.5, 10),
    Goal("imdb", 1000, 1280, 20.0, 76.65, 10),
    Goal("mnist-adaptive", 500, 25, 10.0, 97.4),
    Goal("mnist-adaptive", 1000, 25, 10.0, 98.2),
    Goal("mnist-adaptive", 2000, 50, 10.0, 98.25),
)


def measure(bench: Bench) -> Iterator[Section]:
    """The section as it grows, one model at a time."""
    section = Section(
        "Accuracy" + (" (tenth of the clauses, few rows)" if bench.quick else ""),
        {
            "minutes for a model, at most": bench.minutes,
            "threads": bench.cores,
            "boost of true positives": "on",
        },
        COLUMNS,
    )
    for goal in GOALS[::3] if bench.quick else GOALS:
        n_clauses = goal.n_clauses // 10 if bench.quick else goal.n_clauses
        run = bench.start(
            section,
            OURS,
            limit=120 * bench.minutes + 300,
            data=bench.data(goal.data),
            n_clauses=n_clauses,
            threshold=goal.threshold,
            specificity=goal.specificity,
            epochs=bench.epochs or (3 if bench.quick else goal.epochs),
            threads=bench.cores,
            stop_after=60 * bench.minutes,
        )
        name = f"{goal.data}, N={n_clauses}, s={goal.specificity:g}"
        found = [100 * e["accuracy"] for e in run.of("epoch")]
        settings = [
            goal.data,
            str(n_clauses),
            str(goal.threshold),
            f"{goal.specificity:g}",
            f"{goal.accuracy:g}",
        ]
        if not found:
            section.rows.append([*settings, run.problem or "-", *["-"] * 6])
            yield section
            continue
        best, reached = max(found), run.reached(goal.accuracy / 100)
        section.rows.append(
            [
                *settings,
                f"{best:.2f}",
                str(1 + found.index(best)),
                f"{found[-1]:.2f}",
                f"{statistics.mean(found[-10:]):.2f}",
                str(len(found)),
                str(reached["epoch"]) if reached else "not reached",
                f"{sum(run.seconds) / 60:.1f}",
            ]
        )
        section.ratios[f"best test accuracy, {name}"] = best
        yield section
    section.complete = True
    yield section
