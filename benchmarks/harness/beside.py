"""Another engine and the default one, question by question in turn, so that other work falls on both alike.

Inputs are a seeded part of those of ``robustness``. An engine that gave no answer within its limit is counted
at that limit, and the ratio of the means is then a lower bound, marked ≥. Where both answered, they must
agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from harness.asking import DECIDED, Answers, Sheet, ms, start_solver
from harness.proving import Proving
from harness.report import Section
from harness.robustness import REVIEWED, ask, inputs_of, scopes_of, warm_up
from harness.trained import MNIST

COLUMNS = (
    "machine",
    "scope",
    "eps",
    "inputs",
    "{} solved",
    "{} mean s",
    "{} median s",
    "auto solved",
    "auto mean ms",
    "ratio of means",
    "same answer",
)
WANTED = {1: 200.0, 3: 10_000.0, 5: 10_000.0}  # by eps: times faster, with a limit of 300 s


@dataclass(frozen=True)
class Plan:
    name: str
    title: str
    data: str
    engine: str
    models: tuple[str, ...]
    scopes: tuple[str, ...]
    wanted: Mapping[int, float] = field(default_factory=dict)


PLANS = (
    Plan(
        "paper-mnist",
        "Against the paper's encoding: MNIST",
        "mnist",
        "paper",
        MNIST,
        ("single", "team"),
        WANTED,
    ),
    Plan("paper-imdb", "Against the paper's encoding: IMDB", "imdb", "paper", REVIEWED, ("team",)),
    Plan("sat-mnist", "Against SAT alone: MNIST", "mnist", "sat", MNIST, ("single", "team")),
)


def measure(bench: Proving, plan: Plan) -> Iterator[Section]:
    """The section as it grows, one question at a time."""
    rows, limit = _inputs(bench, plan)
    scopes = scopes_of(bench, plan.scopes)
    settings = {
        "machines": bench.named(*plan.models),
        "inputs": f"{len(rows)} of {len(inputs_of(bench, plan.data))}",
        f"limit of {plan.engine} in seconds": limit,
        "limit of auto in seconds": bench.limit,
        "cores": 1,
    }
    columns = tuple(column.format(plan.engine) for column in COLUMNS)
    sheet = bench.begin(plan.name, plan.title, settings, columns)
    section = sheet.section
    yield section
    warm_up(bench, sheet, plan.models[0], scopes, rows[0])
    start_solver()
    # From the cheap to the dear, so that a run that is stopped has something to say of each machine.
    for epsilon in bench.epsilons:
        for scope in scopes:
            for model in plan.models:
                yield from _row(bench, sheet, plan, model, scope, epsilon, rows, limit)
    section.complete = True
    yield section


def _inputs(bench: Proving, plan: Plan) -> tuple[list[int], float]:
    all_rows = inputs_of(bench, plan.data)
    n, limit = (
        (bench.paper_inputs, bench.paper_limit) if plan.engine == "paper" else (bench.sat_inputs, bench.limit)
    )
    n = min(bench.few(n, 3), len(all_rows))
    rng = np.random.default_rng(bench.subjects.seed)
    return [all_rows[i] for i in rng.permutation(len(all_rows))[:n]], limit


def _row(
    bench: Proving,
    sheet: Sheet,
    plan: Plan,
    model: str,
    scope: str,
    epsilon: int,
    rows: list[int],
    limit: float,
) -> Iterator[Section]:
    section, of = sheet.section, {"model": model, "scope": scope, "epsilon": epsilon}
    theirs = sheet.answers(limit, **of, engine=plan.engine)
    ours = sheet.answers(bench.limit, **of, engine="auto")
    section.rows.append([])
    for row in rows:
        sheet.ask(ours, row, partial(ask, bench, model, scope, row, epsilon, "auto", bench.limit))
        sheet.ask(theirs, row, partial(ask, bench, model, scope, row, epsilon, plan.engine, limit))
        section.rows[-1] = [model, scope, str(epsilon), *_cells(theirs, ours)]
        yield section
        if theirs.too_large:
            break  # it is for every input
    sheet.row_done()
    section.findings += _findings(section, theirs, ours, None if bench.quick else plan.wanted.get(epsilon))
    yield section


def _agree(theirs: Answers, ours: Answers) -> tuple[int, int]:
    """How many both decided, and how many of these alike."""
    pairs = zip(theirs.answers, ours.answers, strict=True)
    both = [(a, b) for a, b in pairs if a in DECIDED and b in DECIDED]
    return len(both), sum(a == b for a, b in both)


def _cells(theirs: Answers, ours: Answers) -> list[str]:
    if theirs.too_large:
        return [
            str(len(ours.answers)),
            "formula too large",
            "-",
            "-",
            str(ours.solved),
            ms(ours.mean),
            "-",
            "-",
        ]
    both, alike = _agree(theirs, ours)
    return [
        str(len(theirs.answers)),
        str(theirs.solved),
        f"{theirs.mean:.3g}",
        f"{theirs.median:.3g}",
        str(ours.solved),
        ms(ours.mean),
        ("≥ " if theirs.open else "") + f"{theirs.mean / ours.mean:,.0f}x",
        f"{alike} of {both}",
    ]


def _findings(section: Section, theirs: Answers, ours: Answers, wanted: float | None) -> list[str]:
    both, alike = _agree(theirs, ours)
    of = theirs.of
    what = f"{of['model']}, {of['scope']}, eps {of['epsilon']}"
    said = [f"**The engines disagree**: {what}, {both - alike} inputs."] if alike < both else []
    if theirs.too_large:
        return said
    ratio = theirs.mean / ours.mean
    section.ratios[f"{of['engine']} over auto, {what}"] = ratio
    if wanted is not None:
        verdict = "reached" if ratio >= wanted else "missed"
        bound = f"≥ {ratio:,.0f}x ({len(theirs.open)} at the limit)" if theirs.open else f"{ratio:,.0f}x"
        said.append(f"{what}: {bound} (wanted: {wanted:,.0f}x with a limit of 300 s, {verdict}).")
    return said
