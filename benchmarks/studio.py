"""The studio, measured: what a person waits for after a change of the input, through the real server.

    python benchmarks/studio.py --data-dir data [--only digits] [--quick]

The server is the command, in a process of its own; times are from sending a question to the arrival of an
answer, on loopback. The machine for the digits is that of examples/demo.py; that for MNIST is trained by our
own trainer into --models-dir, once. What is worth keeping of the report is in benchmarks/results/studio.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import command, looking
from harness.report import Report, Section
from harness.subjects import Subjects

SECTIONS: dict[str, Callable[[looking.Settings], Iterator[Section]]] = {
    "digits": looking.measure_digits,
    "mnist-500": looking.measure_mnist,
    "cancel": looking.measure_cancel,
    "store": looking.measure_store,
}
REPORT = Report("studio", "The studio, measured", "benchmarks/studio.py", tuple(SECTIONS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    command.add_common(parser, SECTIONS)
    add("--models-dir", type=Path, help="default: build/models; with --quick: build/quick/models")
    add("--seed", type=int, default=0, help="draws the inputs")
    add("--images", type=int, default=100, help="of each data set")
    add("--cancels", type=int, default=50, help="questions that are withdrawn")
    add("--answers", type=int, default=100_000, help="in the store")
    options = parser.parse_args()

    def few(n: int, quick: int) -> int:
        return min(n, quick) if options.quick else n

    settings = looking.Settings(
        subjects=Subjects(
            options.data_dir and Path(options.data_dir),
            command.models_folder(options),
            quick=options.quick,
            seed=options.seed,
        ),
        work_dir=command.BUILD / "studio",
        images=few(options.images, 5),
        cancels=few(options.cancels, 3),
        answers=few(options.answers, 2_000),
    )
    for name in options.only or SECTIONS:
        command.run(name, SECTIONS[name](settings), command.output_folder(options), REPORT)


if __name__ == "__main__":
    main()
