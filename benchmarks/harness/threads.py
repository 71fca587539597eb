"""Our training on one thread and on all cores, in turn, so that other work falls on both alike.

Timed is an epoch of ``fit``: learning alone, as the data are checked and packed once for all epochs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from harness.bench import Bench, judged
from harness.processes import OURS, Run, median_epoch
from harness.report import Section
from harness.training_speed import PLANS, WANTED_SCALING

EPOCHS = 3

ours = replace(OURS, options={"learning_only": True})


def measure(bench: Bench) -> Iterator[Section]:
    """The section as it grows, one process at a time."""
    epochs, repeats = bench.epochs or EPOCHS, bench.repeats or (1 if bench.quick else 3)
    section = Section(
        "Threads",
        {"epochs": epochs, "repeats": repeats, "threads": bench.cores},
        ("data", "N", "s/epoch, 1 thread", f"s/epoch, {bench.cores} threads", "ratio"),
    )
    for plan in PLANS.values():
        n_clauses = plan.n_clauses // 10 if bench.quick else plan.n_clauses
        runs: dict[int, list[Run]] = {1: [], bench.cores: []}
        for repeat in range(repeats):
            for threads, done in runs.items():
                job: dict[str, Any] = {
                    "data": bench.data(plan.data),
                    "n_clauses": n_clauses,
                    "evaluate": "last",
                    "inference_seconds": 0.5,  # for comparing source trees; no part of this table
                }
                job |= {"threshold": plan.threshold, "specificity": plan.specificity}
                done.append(bench.start(section, ours, epochs=epochs, threads=threads, seed=repeat, **job))
        one, many = median_epoch(runs[1]), median_epoch(runs[bench.cores])
        if one is not None and many is not None:
            section.rows.append([plan.data, str(n_clauses), f"{one:.3g}", f"{many:.3g}", f"{one / many:.2f}"])
            section.ratios[f"{plan.data}, {n_clauses} clauses"] = one / many
            section.findings.append(f"{plan.data}, N = {n_clauses}: {judged(one / many, WANTED_SCALING)}.")
        yield section
    section.complete = True
    yield section
