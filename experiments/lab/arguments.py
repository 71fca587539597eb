"""The options that every experiment takes."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Setting:
    """Where everything is, and how much is done.

    Attributes
    ----------
    folder : models, inputs, stores, and sections of docs/results.md, so that a stopped experiment goes on
    figures : plots, beside the page that shows them
    """

    quick: bool
    data_dir: Path | None
    folder: Path
    figures: Path
    jobs: int
    seed: int
    timeout: float | None = None


def read_arguments(description: str) -> Setting:
    """The command line of an experiment."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a smoke run: tiny machines, few inputs")
    parser.add_argument(
        "--data-dir", type=Path, help="the data folder (default: TMVERIFY_DATA; for --quick: digits stand in)"
    )
    parser.add_argument("--folder", type=Path, help="models, inputs and stores (default: build/experiments)")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="of every draw (default: 0)")
    parser.add_argument("--timeout", type=float, help="seconds a question, instead of the plan's")
    given = parser.parse_args()
    folder = given.folder or ROOT / "build" / ("experiments-quick" if given.quick else "experiments")
    data_dir = given.data_dir or (
        Path(os.environ["TMVERIFY_DATA"]) if "TMVERIFY_DATA" in os.environ else None
    )
    if data_dir is None and not given.quick:
        parser.error("this needs a data folder: --data-dir, or TMVERIFY_DATA; --quick does without")
    figures = folder / "results" if given.quick else ROOT / "docs" / "figures"
    for each in (folder / "models", folder / "inputs", folder / "results", figures):
        each.mkdir(parents=True, exist_ok=True)
    return Setting(given.quick, data_dir, folder, figures, given.jobs, given.seed, given.timeout)
