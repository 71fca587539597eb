"""The paper's method and ours, side by side in one run: the same queries, one core, a time limit each.

    python benchmarks/engines.py [--inputs 10] [--timeout 20] [--epsilon 1 --epsilon 3] [--seed 0]

A time-out counts as the limit, for either engine; a ratio whose slower median is the limit is a lower bound,
marked >. Where a formula is too large to build, that is said, and there is no ratio.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table
from workload import Workload, workloads

import tmverify as tv

ENGINES = ("paper", "sat")


@dataclass(frozen=True)
class Measured:
    """One engine on the queries of a table row."""

    verdicts: Sequence[tv.Verdict]
    limit: float

    @property
    def too_large(self) -> bool:
        return any(v.stop_reason is tv.StopReason.ENCODING_TOO_LARGE for v in self.verdicts)

    @property
    def seconds(self) -> list[float]:
        return [self.limit if v.status == "unknown" else v.seconds for v in self.verdicts]

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))

    def __str__(self) -> str:
        if self.too_large:
            return "formula too large"
        solved = sum(v.status != "unknown" for v in self.verdicts)
        return f"{self.median:.4f} ({np.mean(self.seconds):.4f}), {solved}"


def measure(
    workload: Workload, rows: Sequence[int], own: bool, epsilon: int, engine: str, limit: float
) -> Measured:
    verdicts = [
        tv.check_robustness(
            workload.model,
            workload.X[i],
            epsilon,
            scope=int(workload.y[i]) if own else "team",
            timeout=limit,
            engine=engine,
        )
        for i in rows
    ]
    return Measured(verdicts, limit)


def ratio(paper: Measured, sat: Measured) -> str:
    if paper.too_large or sat.too_large:
        return "-"
    return f"{'>' if paper.median >= paper.limit else ''}{paper.median / sat.median:.0f}x"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--timeout", type=float, default=20.0)
    parser.add_argument("--epsilon", type=int, action="append")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    table = Table(title=f"median (mean) seconds, solved of {options.inputs}; {options.timeout:g} s limit")
    for column in ("workload", "scope", "epsilon", *ENGINES, "ratio of medians"):
        table.add_column(column)
    rng = np.random.default_rng(options.seed)
    for workload in workloads(options.seed):
        rows = rng.choice(len(workload.X), options.inputs, replace=False).tolist()
        for own in (True, False):
            for epsilon in options.epsilon or [1, 3]:
                paper, sat = (measure(workload, rows, own, epsilon, e, options.timeout) for e in ENGINES)
                scope = "own class" if own else "team"
                table.add_row(workload.name, scope, str(epsilon), str(paper), str(sat), ratio(paper, sat))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
