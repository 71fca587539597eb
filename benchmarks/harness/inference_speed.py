"""Samples a second in batches, and seconds for a single sample, on the very same models.

Each peer trains a model, is measured on it, and writes it down; ours reads it, must give the same label for
every test row, and is measured on it in turn. Threads: one each, and all cores; a peer without threads is
then compared as it is.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.bench import Bench, judged
from harness.processes import GREEN, IMPORTED, VANILLA_PEERS, Contender, Run
from harness.report import Section

WANTED_BATCH = 20.0
WANTED_SINGLE = 2.0
SECONDS = 3.0  # for batches, and again for single samples
COLUMNS = (
    "model of",
    "clauses (non-empty), literals",
    "threads",
    "its samples/s",
    "ours",
    "ratio",
    "its single, µs",
    "ours",
    "ratio",
    "equal labels",
)


@dataclass(frozen=True)
class Trained:
    """A model to measure on: who trains it, and how."""

    contender: Contender
    n_clauses: int
    threshold: int
    epochs: int

    def __str__(self) -> str:
        shared = "shared" if self.contender is GREEN else "a class"
        return f"{self.contender.name}, {self.n_clauses:,} {shared}"


MODELS = (
    *(Trained(peer, 500, 25, 2) for peer in VANILLA_PEERS),
    Trained(GREEN, 500, 100, 2),
    Trained(GREEN, 5000, 500, 2),
)


@dataclass
class Measured:
    """A peer's figures and ours on its models, for one number of threads; one run of each per repeat."""

    model: Trained
    threads: int
    peer: list[Run] = field(default_factory=list)
    ours: list[Run] = field(default_factory=list)

    def medians(self, name: str) -> tuple[float, float] | None:
        theirs = [event[name] for run in self.peer for event in run.of("inference")]
        ours = [event[name] for run in self.ours for event in run.of("inference")]
        return (statistics.median(theirs), statistics.median(ours)) if theirs and ours else None

    @property
    def agreements(self) -> list[dict[str, Any]]:
        return [event for run in self.ours for event in run.of("agreement")]


def measure(bench: Bench) -> Iterator[Section]:
    """The section as it grows, one model at a time."""
    section = Section(
        "Inference: MNIST test images" + (" (tenth of the clauses, few rows)" if bench.quick else ""),
        {
            "batches": "up to 10,000 rows",
            "single": "one call for one row, median",
            "seconds for each": 0.5 if bench.quick else SECONDS,
            "repeats": bench.repeats or 1,
        },
        COLUMNS,
    )
    models = [replace(m, n_clauses=m.n_clauses // 10) for m in MODELS] if bench.quick else MODELS
    counts = sorted({1, bench.cores})
    table = [[Measured(model, threads) for threads in counts] for model in models]
    for _ in range(bench.repeats or 1):
        for by_threads in table:
            if by_threads[0].model.contender.threaded:
                for measured in by_threads:
                    _measure(bench, section, [measured])
            else:
                _measure(bench, section, by_threads)
            section.rows = [_row(measured) for row in table for measured in row if measured.peer]
            yield section
    section.findings = _compare(section, [measured for row in table for measured in row])
    section.complete = True
    yield section


def _measure(bench: Bench, section: Section, places: list[Measured]) -> None:
    """Train one model and measure the peer on it; then ours, once for each of the places to fill."""
    model = places[0].model
    with TemporaryDirectory() as folder:
        job: dict[str, Any] = {
            "data": bench.data("mnist"),
            "n_clauses": model.n_clauses,
            "threshold": model.threshold,
            "specificity": 10.0,
            "epochs": bench.epochs or model.epochs,
            "evaluate": "last",
            "threads": places[0].threads,
            "inference_seconds": section.settings["seconds for each"],
            "model": str(Path(folder) / "model.npz"),
        }
        peer = bench.start(section, model.contender, **job)
        for place in places:
            place.peer.append(peer)
            if peer.problem is None:
                place.ours.append(bench.start(section, IMPORTED, **{**job, "threads": place.threads}))


def _row(measured: Measured) -> list[str]:
    batch, single = measured.medians("samples_per_second"), measured.medians("single_seconds")
    head, checked = str(measured.model), measured.agreements
    if batch is None or single is None or not checked:
        problems = [run.problem for run in measured.peer + measured.ours if run.problem]
        return [head, "-", str(measured.threads), problems[0] if problems else "-", *["-"] * 6]
    return [
        head,
        f"{checked[0]['n_clauses']:,}, {checked[0]['literals']:.1f}",
        str(measured.threads),
        f"{batch[0]:,.0f}",
        f"{batch[1]:,.0f}",
        f"{batch[1] / batch[0]:.1f}",
        f"{1e6 * single[0]:,.1f}",
        f"{1e6 * single[1]:,.1f}",
        f"{single[0] / single[1]:.2f}",
        f"{sum(a['equal'] for a in checked):,} of {sum(a['rows'] for a in checked):,}",
    ]


def _compare(section: Section, table: list[Measured]) -> list[str]:
    """The least ratio over the models, for each number of threads."""
    said = []
    for threads in sorted({measured.threads for measured in table}):
        here = [measured for measured in table if measured.threads == threads]
        for name, what, wanted in (
            ("samples_per_second", "batches", WANTED_BATCH),
            ("single_seconds", "single samples", WANTED_SINGLE),
        ):
            ratios = {}
            for measured in here:
                if found := measured.medians(name):
                    theirs, ours = found
                    ratios[str(measured.model)] = ours / theirs if what == "batches" else theirs / ours
            if ratios:
                least = min(ratios, key=lambda key: ratios[key])
                section.ratios[f"{what}, least over the models, {threads} threads"] = ratios[least]
                said.append(
                    f"{what.capitalize()}, threads: {threads}: at least {judged(ratios[least], wanted)}, "
                    f"on the model of {least}."
                )
    checked = [a for measured in table for a in measured.agreements]
    equal, of = sum(a["equal"] for a in checked), sum(a["rows"] for a in checked)
    return [*said, f"Labels equal to the peers' own: {equal:,} of {of:,}."]
