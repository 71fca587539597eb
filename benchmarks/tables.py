"""The default classifier beside the usual ones: tables, short texts and IMDB, same splits for all.

    TMVERIFY_DATA=… python benchmarks/tables.py [--only tables --only texts --only imdb]

Without a data folder only scikit-learn's own tables are measured. Nothing is tuned on the test parts: the
settings are those of ``TsetlinMachineClassifier()``, and on IMDB those of ``tmverify train imdb``. The report
goes to --output; what is worth keeping is in benchmarks/results/tables.md.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from harness import against_usual, command
from harness.report import Report, Section

SECTIONS: dict[str, Callable[[Path | None, int], Iterator[Section]]] = {
    "tables": against_usual.measure_tables,
    "texts": against_usual.measure_texts,
    "imdb": against_usual.measure_imdb,
}
REPORT = Report(
    "tables", "The default classifier beside the usual ones", "benchmarks/tables.py", tuple(SECTIONS)
)
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = os.environ.get("TMVERIFY_DATA")
    parser.add_argument("--data-dir", type=Path, default=data and Path(data), help="tables/, small/, imdb/")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where tables.md goes")
    parser.add_argument("--only", action="append", choices=list(SECTIONS), help="a section; may be repeated")
    parser.add_argument("--seeds", type=int, default=3, help="splits for each table")
    options = parser.parse_args()
    for name in options.only or SECTIONS:
        growing = partial(SECTIONS[name], options.data_dir, options.seeds)
        command.run(name, growing(), options.output, REPORT)


if __name__ == "__main__":
    main()
