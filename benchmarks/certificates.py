"""Certificates, measured: how many verdicts have one, what recording costs, their size, the time of checking.

    python benchmarks/certificates.py --data-dir data [--only radius-mnist] [--minutes 90] [--quick]

On the machines and inputs of ``verification.py``, and like it on one core, written every few seconds and when
the run is stopped; a section that is run again replaces only itself, and --resume takes over what it had
measured before it was stopped. What is not reached within --minutes is marked in the report. Certificates
that the checker does not accept are kept in build/certificates.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from harness import command
from harness.certified import Certifying
from harness.certified_questions import PLANS
from harness.certifying import measure
from harness.report import Report, stored_sections
from harness.subjects import Subjects

SECTIONS = {plan.name: plan for plan in PLANS}
REPORT = Report("certificates", "Certificates, measured", "benchmarks/certificates.py", tuple(SECTIONS))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    command.add_common(parser, SECTIONS)
    command.add_proving(parser)
    add("--minutes", type=float, default=90.0, help="for the whole run; then it stops")
    add("--images", type=int, default=20, help="of each class, for robustness")
    add("--reviews", type=int, default=50, help="for robustness and radius")
    add("--radius-inputs", type=int, default=200, help="images")
    add("--sat-inputs", type=int, default=20, help="how many of the images sat is asked about")
    add("--limit", type=float, default=60.0, help="seconds for one question to auto")
    add("--sat-limit", type=float, default=60.0, help="seconds for one question to sat")
    add("--check-limit", type=float, default=300.0, help="seconds for checking one certificate")
    return parser.parse_args()


def main() -> None:
    options = parse()
    output = command.output_folder(options)
    bench = Certifying(
        subjects=Subjects(
            options.data_dir and Path(options.data_dir),
            command.models_folder(options),
            quick=options.quick,
            seed=options.seed,
        ),
        stored=output / f"{REPORT.name}.json",
        folder=command.BUILD / ("quick" if options.quick else "") / "certificates",
        resume=options.resume,
        quick=options.quick,
        until=time.monotonic() + 60 * options.minutes,
        images=options.images,
        reviews=options.reviews,
        radius_inputs=options.radius_inputs,
        sat_inputs=options.sat_inputs,
        limit=min(options.limit, 10.0) if options.quick else options.limit,
        sat_limit=min(options.sat_limit, 10.0) if options.quick else options.sat_limit,
        check_limit=options.check_limit,
    )
    command.measure_on_one_core()
    for name in options.only or SECTIONS:
        if bench.out_of_time and name in stored_sections(bench.stored):
            print(f"No time was left for {name}; what the report has of it stays.", file=sys.stderr)
        else:
            command.run(name, measure(bench, SECTIONS[name]), output, REPORT)


if __name__ == "__main__":
    main()
