"""Properties that people state, measured: fairness and monotonicity of machines trained on tables.

    python benchmarks/properties.py --data-dir data [--only everywhere] [--quick]

Machines have their defaults but for the number of clauses. Everything that is timed runs on one core. What is
worth keeping of the report is in benchmarks/results/properties.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

from harness import command, stated
from harness.report import Report, Section

SECTIONS: dict[str, Callable[[stated.Settings], Iterator[Section]]] = {
    "everywhere": stated.measure_everywhere,
    "rows": stated.measure_rows,
}
REPORT = Report("properties", "Properties, measured", "benchmarks/properties.py", tuple(SECTIONS))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    command.add_common(parser, SECTIONS)
    add("--clauses", type=int, action="append", help="of a machine; default: 100, 300 and 1000")
    add("--rows", type=int, default=10_000, help="test rows of each table, at most")
    add("--limit", type=float, default=60.0, help="seconds for one question")
    options = parser.parse_args()
    settings = stated.Settings(
        data_dir=options.data_dir and Path(options.data_dir),
        clauses=tuple(options.clauses or ([100] if options.quick else [100, 300, 1000])),
        rows=min(options.rows, 5) if options.quick else options.rows,
        limit=min(options.limit, 5) if options.quick else options.limit,
    )
    command.measure_on_one_core()
    for name in options.only or SECTIONS:
        command.run(name, SECTIONS[name](settings), command.output_folder(options), REPORT)


if __name__ == "__main__":
    main()
