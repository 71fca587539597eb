"""Verification, measured on machines of the paper's sizes: the default engine, alone and beside the paper's.

    python benchmarks/verification.py --data-dir data [--only robustness-mnist --only curve] [--quick]

Machines are trained by our own trainer into --models-dir, once. Everything that is timed runs on one core.
What has been measured is written every few seconds and when the run is stopped; a section that is run again
replaces only itself, and --resume takes over what it had measured before it was stopped. Without --only: all
but the sections beside other engines (paper-mnist, paper-imdb, sat-mnist), which take hours.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path

from harness import beside, curve, equivalence, first_use, machines, radii, robustness, similarity
from harness.cores import keep_to_one_core
from harness.proving import Proving
from harness.report import Report, Section, save, section_lines
from harness.subjects import Subjects

HERE = Path(__file__).parent
SECTIONS: dict[str, Callable[[Proving], Iterator[Section]]] = {
    "machines": machines.measure,
    "first-use": first_use.measure,
    **{plan.name: partial(robustness.measure, plan=plan) for plan in robustness.PLANS},
    **{plan.name: partial(similarity.measure, plan=plan) for plan in similarity.PLANS},
    "equivalence": equivalence.measure,
    **{plan.name: partial(radii.measure, plan=plan) for plan in radii.PLANS},
    "curve": curve.measure,
    **{plan.name: partial(beside.measure, plan=plan) for plan in beside.PLANS},
}
HOURS = {plan.name for plan in beside.PLANS}
REPORT = Report("verification", "Verification, measured", "benchmarks/verification.py", tuple(SECTIONS))
SAVE_EVERY = 5.0  # seconds


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    build = HERE.parent / "build"
    add("--data-dir", type=Path, default=os.environ.get("TMVERIFY_DATA"), help="mnist/, imdb/")
    add(
        "--models-dir",
        type=Path,
        help=f"default: {build.name}/models; with --quick: {build.name}/quick/models",
    )
    add("--output", type=Path, help="default: benchmarks/results; with --quick: build/quick")
    add("--only", action="append", choices=SECTIONS, help="a section; may be repeated")
    add(
        "--resume",
        action="store_true",
        help="go on with sections that were stopped, if the settings are the same",
    )
    add("--seed", type=int, default=0, help="draws the inputs")
    add("--epsilon", type=int, action="append", help="default: 1, 3 and 5; may be repeated")
    add("--scope", action="append", choices=("single", "team"), help="default: both, where there are two")
    add("--images", type=int, default=20, help="of each class, for robustness and similarity")
    add("--reviews", type=int, default=100, help="for robustness and similarity")
    add("--limit", type=float, default=300.0, help="seconds for one question to auto or sat")
    add("--paper-limit", type=float, default=300.0, help="seconds for one question to the paper's engine")
    add("--paper-inputs", type=int, default=5, help="how many of the inputs it is asked about")
    add("--sat-inputs", type=int, default=5, help="how many of the inputs sat is asked about")
    add("--radius-inputs", type=int, default=1_000, help="images")
    add("--radius-reviews", type=int, default=1_000, help="reviews")
    add("--radius-limit", type=float, default=10.0, help="seconds for one radius")
    add("--curve-inputs", type=int, default=100, help="images at every epsilon")
    add("--curve-limit", type=float, default=10.0, help="seconds for one question of the curve")
    add(
        "--quick",
        action="store_true",
        help="a smoke run: few inputs, small machines, digits if there are no data",
    )
    return parser.parse_args()


def main() -> None:
    options = parse()
    build = HERE.parent / "build"
    output = options.output or (build / "quick" if options.quick else HERE / "results")
    models = options.models_dir or (build / "quick" / "models" if options.quick else build / "models")
    bench = Proving(
        subjects=Subjects(
            options.data_dir and Path(options.data_dir), models, quick=options.quick, seed=options.seed
        ),
        stored=output / f"{REPORT.name}.json",
        resume=options.resume,
        quick=options.quick,
        epsilons=tuple(options.epsilon or (1, 3, 5)),
        scopes=tuple(options.scope or ("single", "team")),
        images=options.images,
        reviews=options.reviews,
        limit=min(options.limit, 10.0) if options.quick else options.limit,
        paper_limit=min(options.paper_limit, 2.0) if options.quick else options.paper_limit,
        paper_inputs=options.paper_inputs,
        sat_inputs=options.sat_inputs,
        radius_inputs=options.radius_inputs,
        radius_reviews=options.radius_reviews,
        radius_limit=options.radius_limit,
        curve_inputs=options.curve_inputs,
        curve_limit=options.curve_limit,
    )
    for stop in (signal.SIGINT, signal.SIGTERM):  # in the background a shell has SIGINT ignored
        signal.signal(stop, signal.default_int_handler)
    if not keep_to_one_core():
        print("This system does not let us keep to one core.", file=sys.stderr)
    for name in options.only or [name for name in SECTIONS if options.quick or name not in HOURS]:
        run(name, bench, output)


def run(name: str, bench: Proving, output: Path) -> None:
    """Measure one section, saving it now and then, at its end, and when stopped."""
    section, saved = None, 0.0
    try:
        for section in SECTIONS[name](bench):
            if section.complete or time.monotonic() > saved + SAVE_EVERY:
                save(name, section, output, REPORT)
                saved = time.monotonic()
    except FileNotFoundError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        if section:
            save(name, section, output, REPORT)
        sys.exit("Stopped; what was measured is in the report.")
    if section:
        print("\n".join(section_lines(asdict(section))), "\n")


if __name__ == "__main__":
    main()
