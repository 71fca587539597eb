"""The paper's method and ours, side by side in one run: the same queries, one core, a time limit each.

    python benchmarks/engines.py [--inputs 10] [--timeout 20] [--epsilon 1 --epsilon 3] [--seed 0]

An unsolved query (a time-out, or a formula too large to build) counts as the limit, for either engine; a
ratio with such queries in the slower one's median is a lower bound, marked >.
"""

from __future__ import annotations

import argparse

import numpy as np
from rich.console import Console
from rich.table import Table
from workload import workloads

import tmverify as tv

ENGINES = ("paper", "sat")


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
        rows = rng.choice(len(workload.X), options.inputs, replace=False)
        for scope in ("own class", "team"):
            for epsilon in options.epsilon or [1, 3]:
                times: dict[str, list[float]] = {}
                solved = {}
                for engine in ENGINES:
                    verdicts = [
                        tv.check_robustness(
                            workload.model,
                            workload.X[i],
                            epsilon,
                            scope="team" if scope == "team" else int(workload.y[i]),
                            timeout=options.timeout,
                            engine=engine,
                        )
                        for i in rows
                    ]
                    times[engine] = [
                        options.timeout if v.status == "unknown" else v.seconds for v in verdicts
                    ]
                    solved[engine] = sum(v.status != "unknown" for v in verdicts)
                cells = [f"{np.median(times[e]):.4f} ({np.mean(times[e]):.4f}), {solved[e]}" for e in ENGINES]
                bound = ">" if np.median(times["paper"]) >= options.timeout else ""
                ratio = np.median(times["paper"]) / np.median(times["sat"])
                table.add_row(workload.name, scope, str(epsilon), *cells, f"{bound}{ratio:.0f}x")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
