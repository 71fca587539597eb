"""Training and inference, ours and every peer's, side by side in one run: same bits, same settings.

    python benchmarks/training.py --data-dir data [--only train-mnist-500 --only inference] [--quick]
    python benchmarks/training.py --quick --against OTHER/src    # two source trees by turns, some minutes

Each measurement is a process of its own; each peer is installed from its package into an environment of its
own, kept in --peers-dir. What has been measured is written after every process, so a run may be stopped; a
section that is run again replaces only itself. Peers that train the same machine: pyTsetlinMachine,
pyTsetlinMachineParallel, tmu. green-tsetlin trains another one and is compared by time to equal accuracy.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from harness import accuracy, against, command, inference_speed, start_up, threads, training_speed
from harness.bench import Bench
from harness.report import Report, Section

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
    command.add_common(parser, SECTIONS)
    against.add_options(parser)
    parser.add_argument("--peers-dir", type=Path, default=command.BUILD / "peers", help="environments")
    parser.add_argument("--epochs", type=int, help="instead of each section's own number")
    parser.add_argument("--repeats", type=int, help="instead of each section's own number")
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds for one process")
    parser.add_argument("--minutes", type=float, default=30.0, help="for one model of the accuracy section")
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.against:
        against.compare(__file__, REPORT.name, options.only or ["threads"], options.against, options.turns)
        return
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
        command.run(name, SECTIONS[name](bench), command.output_folder(options), REPORT)


if __name__ == "__main__":
    main()
