"""Verification, measured on machines of the paper's sizes: the default engine, alone and beside the paper's.

    python benchmarks/verification.py --data-dir data [--only robustness-mnist --only curve] [--quick]
    python benchmarks/verification.py --quick --against OTHER/src    # two source trees by turns, some minutes

Machines are trained by our own trainer into --models-dir, once. Everything that is timed runs on one core.
What has been measured is written every few seconds and when the run is stopped; a section that is run again
replaces only itself, and --resume takes over what it had measured before it was stopped. Without --only: all
but the sections beside other engines (paper-mnist, paper-imdb, sat-mnist), which take hours.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from harness import (
    against,
    beside,
    command,
    curve,
    equivalence,
    first_use,
    machines,
    radii,
    robustness,
    similarity,
)
from harness.proving import Proving
from harness.report import Report, Section
from harness.subjects import Subjects

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
COMPARED = [name for name in SECTIONS if name not in {"machines", "first-use", *HOURS}]
REPORT = Report("verification", "Verification, measured", "benchmarks/verification.py", tuple(SECTIONS))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    command.add_common(parser, SECTIONS)
    command.add_proving(parser)
    against.add_options(parser)
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
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.against:
        against.compare(__file__, REPORT.name, options.only or COMPARED, options.against, options.turns)
        return
    output = command.output_folder(options)
    bench = Proving(
        subjects=Subjects(
            options.data_dir and Path(options.data_dir),
            command.models_folder(options),
            quick=options.quick,
            seed=options.seed,
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
    command.measure_on_one_core()
    for name in options.only or [name for name in SECTIONS if options.quick or name not in HOURS]:
        command.run(name, SECTIONS[name](bench), output, REPORT)


if __name__ == "__main__":
    main()
