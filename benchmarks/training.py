"""Training and inference, ours and every peer's, side by side in one run: same bits, same settings.

    python benchmarks/training.py --data-dir data [--only train-mnist-500 --only inference] [--quick]

Each measurement is a process of its own; each peer is installed from its package into an environment of its
own, kept in --peers-dir. What has been measured is written after every process, so a run may be stopped; a
section that is run again replaces only itself. Peers that train the same machine: pyTsetlinMachine,
pyTsetlinMachineParallel, tmu. green-tsetlin trains another one and is compared by time to equal accuracy.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

from harness import accuracy, inference_speed, start_up, threads, training_speed
from harness.bench import Bench
from harness.report import Report, Section, save, section_lines

HERE = Path(__file__).parent
SECTIONS: dict[str, Callable[[Bench], Iterator[Section]]] = {
    **{name: partial(training_speed.measure, plan=plan) for name, plan in training_speed.PLANS.items()},
    "threads": threads.measure,
    "inference": inference_speed.measure,
    "accuracy": accuracy.measure,
    "start-up": start_up.measure,
}
REPORT = Report("training", "Training and inference, measured", "benchmarks/training.py", tuple(SECTIONS))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data-dir", type=Path, default=os.environ.get("TMVERIFY_DATA"), help="mnist/, imdb/"
    )
    parser.add_argument(
        "--peers-dir", type=Path, default=HERE.parent / "build" / "peers", help="environments"
    )
    parser.add_argument("--output", type=Path, help="default: benchmarks/results; with --quick: build/quick")
    parser.add_argument("--only", action="append", choices=SECTIONS, help="a section; may be repeated")
    parser.add_argument("--epochs", type=int, help="instead of each section's own number")
    parser.add_argument("--repeats", type=int, help="instead of each section's own number")
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds for one process")
    parser.add_argument("--minutes", type=float, default=30.0, help="for one model of the accuracy section")
    parser.add_argument("--quick", action="store_true", help="a smoke run: few rows, few clauses")
    return parser.parse_args()


def main() -> None:
    options = parse()
    output = options.output or (HERE.parent / "build" / "quick" if options.quick else HERE / "results")
    bench = Bench(
        data_dir=options.data_dir and Path(options.data_dir),
        peers_dir=options.peers_dir.resolve(),
        quick=options.quick,
        epochs=options.epochs,
        repeats=options.repeats,
        limit=options.limit,
        minutes=0.2 if options.quick else options.minutes,
    )
    for name in options.only or SECTIONS:
        section = None
        try:
            for section in SECTIONS[name](bench):
                save(name, section, output, REPORT)
        except FileNotFoundError as error:
            sys.exit(str(error))
        except KeyboardInterrupt:
            sys.exit("Stopped; what was measured is in the report.")
        if section:
            print("\n".join(section_lines(asdict(section))), "\n")


if __name__ == "__main__":
    main()
