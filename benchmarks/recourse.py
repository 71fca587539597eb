"""What would have to change for another decision: our nearest changes beside DiCE, NICE and treecf.

    TMVERIFY_DATA=… python benchmarks/recourse.py [--only wine --only credit] [--rows 10000] [--rival-rows 20]

The tables are those of benchmarks/tables.py, and so are the splits; without a data folder only scikit-learn's
own are measured. The others are installed from their packages into environments of their own, kept in
--peers-dir. The report goes to --output; what is worth keeping is in benchmarks/results/recourse.md.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "peers"))  # recourse_table, which the runners read too

from harness import command, recourse
from harness.report import Report

REPORT = Report(
    "recourse", "What would have to change: ours beside other tools", "benchmarks/recourse.py", ("recourse",)
)
RESULTS = Path(__file__).parent / "results"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    data = os.environ.get("TMVERIFY_DATA")
    add = parser.add_argument
    add("--data-dir", type=Path, default=data and Path(data), help="tables/")
    add("--output", type=Path, default=RESULTS, help="where recourse.md goes")
    add("--only", action="append", default=[], help="tables whose names contain this; may be repeated")
    add("--k", type=int, default=5, help="changes wanted for each row")
    add("--rows", type=int, default=10_000, help="test rows of each table, at most")
    add("--rival-rows", type=int, default=20, help="the first of these, for the others")
    add("--limit", type=float, default=10.0, help="seconds for a row")
    add("--total", type=float, default=30.0, help="seconds for another tool on a table")
    add("--peers-dir", type=Path, default=command.BUILD / "peers", help="environments")
    options = parser.parse_args()
    settings = recourse.Settings(
        data_dir=options.data_dir,
        peers_dir=options.peers_dir.resolve(),
        work_dir=command.BUILD / "recourse",
        k=options.k,
        rows=options.rows,
        rival_rows=options.rival_rows,
        limit=options.limit,
        total=options.total,
        tables=tuple(options.only),
    )
    command.run("recourse", recourse.measure(settings), options.output, REPORT)


if __name__ == "__main__":
    main()
