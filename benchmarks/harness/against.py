"""This source tree against another one, in the same run: before and after a change.

    python benchmarks/verification.py --quick --against OTHER/src [--turns 3]

The benchmark runs by turns with the package of either tree, each run in a process of its own. Of every single
measurement the least of all turns counts, because other work on the machine only adds time. A row adds up its
measurements. Ratios above 1 say that this tree is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parents[2] / "src"
Rows = dict[str, list[float]]  # seconds of each measurement


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of benchmarks that can compare two source trees."""
    parser.add_argument("--against", type=Path, help="another source tree (a folder src) to compare with")
    parser.add_argument("--turns", type=int, default=3, help="how often each tree runs, with --against")


def compare(script: str, report: str, sections: Sequence[str], other: Path, turns: int) -> None:
    """Run a benchmark's sections with both trees, and print the ratio of every row."""
    if not (other / "tmverify").is_dir():
        sys.exit(f"--against must be a folder that holds tmverify/. Got {other} instead.")
    trees = {"other": other.resolve(), "this": HERE}
    found: dict[str, list[Rows]] = {name: [] for name in trees}
    with TemporaryDirectory() as folder:
        for turn in range(turns):
            for name in list(trees)[:: -1 if turn % 2 else 1]:
                output = Path(folder) / f"{name}-{turn}"
                _run(script, sections, trees[name], output)
                found[name].append(dict(measurements(json.loads((output / f"{report}.json").read_text()))))
                print(f"turn {turn + 1} of {turns}: {name} tree done", file=sys.stderr, flush=True)
    _print({name: _least(each) for name, each in found.items()})


def _run(script: str, sections: Sequence[str], tree: Path, output: Path) -> None:
    own = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_options(own)
    own.add_argument("--only", action="append")
    own.add_argument("--output")
    _, rest = own.parse_known_args()
    only = [part for name in sections for part in ("--only", name)]
    command = [sys.executable, script, *rest, *only, "--output", str(output)]
    env = os.environ | {"PYTHONPATH": str(tree)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"The benchmark failed with {tree}:\n{done.stderr[-2000:]}")


def measurements(report: dict[str, Any]) -> Iterator[tuple[str, list[float]]]:
    """The rows of a report's JSON, by name."""
    for name, section in report["sections"].items():
        for raw in section["raw"]:
            if "of" in raw and "seconds" in raw:
                yield f"{name}: {', '.join(map(str, raw['of'].values()))}", raw["seconds"]
            elif "events" in raw:
                yield from _training(f"{name}: {_described(raw['job'])}", raw["events"])


def _described(job: dict[str, Any]) -> str:
    return f"{job['n_clauses']} clauses, T {job['threshold']}, {job['threads']} threads, seed {job['seed']}"


def _training(row: str, events: Sequence[dict[str, Any]]) -> Iterator[tuple[str, list[float]]]:
    yield f"{row}: epochs", [event["seconds"] for event in events if event["event"] == "epoch"]
    for event in events:
        if event["event"] == "inference":
            yield f"{row}: 1,000 samples in batches", [1000 / event["samples_per_second"]]
            yield f"{row}: a single sample", [event["single_seconds"]]


def _least(turns: Sequence[Rows]) -> dict[str, float]:
    """The sum of the least seconds of each measurement, for the rows that every turn has."""
    shared = [row for row in turns[0] if all(row in turn and turn[row] for turn in turns)]
    return {row: sum(map(min, zip(*(turn[row] for turn in turns), strict=True))) for row in shared}


def _print(seconds: dict[str, dict[str, float]]) -> None:
    table = Table("row", "other, ms", "this, ms", "other / this")
    ratios = []
    for row, this in seconds["this"].items():
        if row in seconds["other"]:
            other = seconds["other"][row]
            ratios.append(other / this)
            table.add_row(row, f"{1000 * other:.3f}", f"{1000 * this:.3f}", f"{ratios[-1]:.2f}")
    missing = sorted(seconds["this"].keys() ^ seconds["other"].keys())
    console = Console(width=130)
    console.print(table)
    if missing:
        console.print(f"Rows that one of the trees did not measure: {'; '.join(missing)}")
    if ratios:
        console.print(
            f"{len(ratios)} rows; other / this: median {statistics.median(ratios):.3f}, "
            f"least {min(ratios):.2f}, greatest {max(ratios):.2f}"
        )
