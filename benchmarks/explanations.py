"""Reasons for decisions, measured: pixels, words and columns that suffice, beside a loop over robustness.

    python benchmarks/explanations.py --data-dir data [--only mnist-500 --only tables] [--quick]

Machines are trained by our own trainer into --models-dir, once; the tables are those of benchmarks/tables.py,
and so are the splits. PyXAI is installed from its package into an environment of its own, kept in
--peers-dir. Everything that is timed runs on one core. What is worth keeping of the report is in
benchmarks/results/explanations.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "peers"))  # recourse_table, which the runners read too

from harness import command, explained_bits, explained_tables
from harness.explaining import Settings
from harness.report import Report, Section
from harness.subjects import Subjects

SECTIONS: dict[str, Callable[[Settings], Iterator[Section]]] = {
    "mnist-500": explained_bits.measure_loop,
    "mnist-2000": partial(explained_bits.measure, plan=explained_bits.MNIST),
    "imdb": partial(explained_bits.measure, plan=explained_bits.IMDB),
    "tables": explained_tables.measure,
    "pyxai": explained_tables.measure_pyxai,
}
REPORT = Report(
    "explanations", "Reasons for decisions, measured", "benchmarks/explanations.py", tuple(SECTIONS)
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    command.add_common(parser, SECTIONS)
    add("--models-dir", type=Path, help="default: build/models; with --quick: build/quick/models")
    add("--peers-dir", type=Path, default=command.BUILD / "peers", help="environments")
    add("--seed", type=int, default=0, help="draws the images and the reviews")
    add("--images", type=int, default=50, help="of MNIST")
    add("--loop-images", type=int, default=10, help="the first of these, for the loop over robustness")
    add("--texts", type=int, default=50, help="reviews")
    add("--table", action="append", default=[], help="only tables with this in their names; repeatable")
    add("--rows", type=int, default=10_000, help="test rows of each table, at most")
    add("--rival-rows", type=int, default=10, help="the first of these, for PyXAI")
    add(
        "--rival-total", type=float, default=60.0, help="seconds for PyXAI on a table, for each of its models"
    )
    add("--limit", type=float, default=60.0, help="seconds for one reason")
    options = parser.parse_args()
    data_dir = options.data_dir and Path(options.data_dir)

    def few(n: int, quick: int) -> int:
        return min(n, quick) if options.quick else n

    settings = Settings(
        subjects=Subjects(data_dir, command.models_folder(options), quick=options.quick, seed=options.seed),
        peers_dir=options.peers_dir.resolve(),
        work_dir=command.BUILD / "explanations",
        images=few(options.images, 5),
        loop_images=few(options.loop_images, 2),
        texts=few(options.texts, 5),
        tables=tuple(options.table),
        rows=few(options.rows, 5),
        rival_rows=few(options.rival_rows, 2),
        rival_total=few(options.rival_total, 5),
        limit=few(options.limit, 10),
    )
    command.measure_on_one_core()
    for name in options.only or SECTIONS:
        command.run(name, SECTIONS[name](settings), command.output_folder(options), REPORT)


if __name__ == "__main__":
    main()
