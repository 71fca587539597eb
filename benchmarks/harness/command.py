"""The command line that the benchmarks share, and the loop that measures and saves their sections."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from harness.cores import keep_to_one_core
from harness.report import Report, Section, save, section_lines

BUILD = Path(__file__).parents[2] / "build"
SAVE_EVERY = 5.0  # seconds


def add_common(parser: argparse.ArgumentParser, sections: Iterable[str]) -> None:
    """The options of every benchmark."""
    add = parser.add_argument
    add("--data-dir", type=Path, default=os.environ.get("TMVERIFY_DATA"), help="mnist/, imdb/")
    add("--output", type=Path, help="default: build/benchmarks; with --quick: build/quick")
    add("--only", action="append", choices=list(sections), help="a section; may be repeated")
    add(
        "--quick",
        action="store_true",
        help="a smoke run: few inputs, small machines, digits if there are no data",
    )


def add_proving(parser: argparse.ArgumentParser) -> None:
    """The options of benchmarks that ask questions about trained machines."""
    add = parser.add_argument
    add("--models-dir", type=Path, help="default: build/models; with --quick: build/quick/models")
    add(
        "--resume",
        action="store_true",
        help="go on with sections that were stopped, if the settings are the same",
    )
    add("--seed", type=int, default=0, help="draws the inputs")


def output_folder(options: argparse.Namespace) -> Path:
    """Where the report goes: a folder that git ignores. A table worth keeping is copied to results/."""
    return options.output or BUILD / ("quick" if options.quick else "benchmarks")


def models_folder(options: argparse.Namespace) -> Path:
    """Where the trained machines are."""
    return options.models_dir or BUILD / ("quick" if options.quick else "") / "models"


def measure_on_one_core() -> None:
    """Keep to one core, and let either signal stop a run so that what was measured is saved."""
    for stop in (signal.SIGINT, signal.SIGTERM):  # in the background a shell has SIGINT ignored
        signal.signal(stop, signal.default_int_handler)
    if not keep_to_one_core():
        print("This system does not let us keep to one core.", file=sys.stderr)


def run(name: str, growing: Iterator[Section], output: Path, report: Report) -> None:
    """Measure one section, saving it now and then, at its end, and when stopped."""
    section, saved = None, 0.0
    try:
        for section in growing:
            if time.monotonic() > saved + SAVE_EVERY:
                save(name, section, output, report)
                saved = time.monotonic()
    except FileNotFoundError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        if section:
            save(name, section, output, report)
        sys.exit("Stopped; what was measured is in the report.")
    if section:
        save(name, section, output, report)
        print("\n".join(section_lines(asdict(section))), "\n")
