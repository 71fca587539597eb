"""Certificates, measured: how many verdicts have one, what recording costs, their size, the time of checking.

    python benchmarks/certificates.py --data-dir data [--only radius-mnist] [--minutes 90] [--quick]

On the machines and inputs of ``verification.py``, and like it on one core, written every few seconds and when
the run is stopped; a section that is run again replaces only itself, and --resume takes over what it had
measured before it was stopped. What is not reached within --minutes is marked in the report. Certificates
that the checker does not accept are kept in build/certificates.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from dataclasses import asdict
from pathlib import Path

from harness.certified import Certifying, Plan
from harness.certified_questions import PLANS
from harness.certifying import measure
from harness.cores import keep_to_one_core
from harness.report import Report, save, section_lines, stored_sections
from harness.subjects import Subjects

HERE = Path(__file__).parent
SECTIONS = {plan.name: plan for plan in PLANS}
REPORT = Report("certificates", "Certificates, measured", "benchmarks/certificates.py", tuple(SECTIONS))
SAVE_EVERY = 5.0  # seconds


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data-dir", type=Path, default=os.environ.get("TMVERIFY_DATA"), help="mnist/, imdb/")
    add("--models-dir", type=Path, help="default: build/models; with --quick: build/quick/models")
    add("--output", type=Path, help="default: benchmarks/results; with --quick: build/quick")
    add("--only", action="append", choices=SECTIONS, help="a section; may be repeated")
    add(
        "--resume",
        action="store_true",
        help="go on with sections that were stopped, if the settings are the same",
    )
    add("--minutes", type=float, default=90.0, help="for the whole run; then it stops")
    add("--seed", type=int, default=0, help="draws the inputs")
    add("--images", type=int, default=20, help="of each class, for robustness")
    add("--reviews", type=int, default=50, help="for robustness and radius")
    add("--radius-inputs", type=int, default=200, help="images")
    add("--sat-inputs", type=int, default=20, help="how many of the images sat is asked about")
    add("--limit", type=float, default=60.0, help="seconds for one question to auto")
    add("--sat-limit", type=float, default=60.0, help="seconds for one question to sat")
    add("--check-limit", type=float, default=300.0, help="seconds for checking one certificate")
    add(
        "--quick",
        action="store_true",
        help="a smoke run: few inputs, small machines, digits if there are no data",
    )
    return parser.parse_args()


def main() -> None:
    options = parse()
    build = HERE.parent / "build" / ("quick" if options.quick else "")
    output = options.output or (build if options.quick else HERE / "results")
    bench = Certifying(
        subjects=Subjects(
            options.data_dir and Path(options.data_dir),
            options.models_dir or build / "models",
            quick=options.quick,
            seed=options.seed,
        ),
        stored=output / f"{REPORT.name}.json",
        folder=build / "certificates",
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
    for stop in (signal.SIGINT, signal.SIGTERM):  # in the background a shell has SIGINT ignored
        signal.signal(stop, signal.default_int_handler)
    if not keep_to_one_core():
        print("This system does not let us keep to one core.", file=sys.stderr)
    for name in options.only or SECTIONS:
        if bench.out_of_time and name in stored_sections(bench.stored):
            print(f"No time was left for {name}; what the report has of it stays.", file=sys.stderr)
        else:
            run(SECTIONS[name], bench, output)


def run(plan: Plan, bench: Certifying, output: Path) -> None:
    """Measure one section, saving it now and then, at its end, and when stopped."""
    section, saved = None, 0.0
    try:
        for section in measure(bench, plan):
            if section.complete or time.monotonic() > saved + SAVE_EVERY:
                save(plan.name, section, output, REPORT)
                saved = time.monotonic()
    except FileNotFoundError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        if section:
            save(plan.name, section, output, REPORT)
        sys.exit("Stopped; what was measured is in the report.")
    if section:
        save(plan.name, section, output, REPORT)
        print("\n".join(section_lines(asdict(section))), "\n")


if __name__ == "__main__":
    main()
