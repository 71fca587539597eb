"""Robustness by the default engine, on the paper's draw of inputs: solved, robust, seconds.

MNIST: random test images, equally many of each class, whatever the machines make of them; scope ``single`` is
the machine of the image's own class, as in the paper. IMDB: random test reviews that both machines classify
correctly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import tmverify as tv
from harness.asking import Answers, Sheet, at_most, ms
from harness.proving import Proving
from harness.report import Section
from harness.trained import MNIST, RECIPES

COLUMNS = ("machine", "scope", "eps", "inputs", "solved", "robust", "mean ms", "median ms", "largest ms")
# Milliseconds for the mean, by clauses a class: single scope; any machine: team scope.
WANTED_SINGLE = {"mnist-500": 5.0, "mnist-1000": 10.0, "mnist-2000": 20.0}
WANTED_TEAM = 50.0
REVIEWED = ("imdb-s2-a", "imdb-s20")


@dataclass(frozen=True)
class Plan:
    """Which machines are asked about which inputs, with which scopes."""

    name: str
    title: str
    data: str
    models: tuple[str, ...]
    scopes: tuple[str, ...]


PLANS = (
    Plan("robustness-mnist", "Robustness: MNIST", "mnist", MNIST, ("single", "team")),
    Plan("robustness-imdb", "Robustness: IMDB", "imdb", REVIEWED, ("team",)),
)


def measure(bench: Proving, plan: Plan) -> Iterator[Section]:
    """The section as it grows, one question at a time."""
    rows = inputs_of(bench, plan.data)
    scopes = scopes_of(bench, plan.scopes)
    settings = {
        "machines": bench.named(*plan.models),
        "inputs": len(rows),
        "engine": "auto",
        "limit in seconds": bench.limit,
        "cores": 1,
    }
    sheet = bench.begin(plan.name, plan.title, settings, COLUMNS)
    section = sheet.section
    yield section
    warm_up(bench, sheet, plan.models[0], scopes, rows[0])
    groups: list[Answers] = []
    for model in plan.models:
        for scope in scopes:
            for epsilon in bench.epsilons:
                group = sheet.answers(bench.limit, model=model, scope=scope, epsilon=epsilon, engine="auto")
                groups.append(group)
                section.rows.append([])
                for row in rows:
                    sheet.ask(
                        group, row, partial(ask, bench, model, scope, row, epsilon, "auto", bench.limit)
                    )
                    section.rows[-1] = [model, scope, str(epsilon), *cells(group)]
                    yield section
                sheet.row_done()
    section.findings += findings(section, groups)
    section.complete = True
    yield section


def inputs_of(bench: Proving, data: str) -> list[int]:
    if data == "mnist":
        return bench.subjects.of_each_class(data, bench.few(bench.images, 1))
    return bench.subjects.that_all_classify(data, REVIEWED, bench.few(bench.reviews, 5))


def scopes_of(bench: Proving, scopes: Sequence[str]) -> list[str]:
    return [scope for scope in scopes if scope in bench.scopes] or list(scopes)


def scope_at(bench: Proving, model: str, scope: str, row: int) -> int | str:
    """What the scope is called in a question about that test input."""
    return scope if scope == "team" else bench.subjects.test_label(RECIPES[model].data, row)


def ask(
    bench: Proving, model: str, scope: str, row: int, epsilon: int, engine: str, limit: float
) -> tv.Verdict:
    return tv.check_robustness(
        bench.subjects.model(model),
        bench.subjects.test_input(RECIPES[model].data, row),
        epsilon,
        scope=scope_at(bench, model, scope, row),
        timeout=limit,
        engine=engine,
    )


def warm_up(bench: Proving, sheet: Sheet, model: str, scopes: Sequence[str], row: int) -> None:
    sheet.first_use(
        [
            partial(ask, bench, model, scope, row, epsilon, "auto", bench.limit)
            for scope in scopes
            for epsilon in (1, 5)
        ]
    )


def cells(group: Answers, holds: str = "holds") -> list[str]:
    counts = [len(group.answers), group.solved, group.count(holds)]
    return [*map(str, counts), ms(group.mean), ms(group.median), ms(group.largest)]


def findings(section: Section, groups: Sequence[Answers]) -> list[str]:
    """Solved and largest of all; for each machine and scope the largest mean, against what was wanted."""
    said = [all_solved(groups)]
    kinds = dict.fromkeys((group.of["model"], group.of["scope"]) for group in groups)
    for model, scope in kinds:
        mean = 1000 * max(g.mean for g in groups if (g.of["model"], g.of["scope"]) == (model, scope))
        section.ratios[f"largest mean in ms, {model}, {scope}"] = mean
        if model in WANTED_SINGLE:
            wanted = WANTED_TEAM if scope == "team" else WANTED_SINGLE[model]
            said.append(
                f"{model}, {scope}: mean over the inputs, at its largest eps, {at_most(mean, wanted, 'ms')}."
            )
    return said


def all_solved(groups: Sequence[Answers]) -> str:
    n, solved = sum(len(g.answers) for g in groups), sum(g.solved for g in groups)
    largest = max(g.largest for g in groups)
    verdict = "reached" if solved == n else "missed"
    why = Counter(answer for g in groups for _, answer, _ in g.open)
    return (
        f"Solved: {solved} of {n}, {100 * solved / n:.2f} % (wanted: 100 %, {verdict}); "
        f"the largest single time {largest:.3f} s."
        + (f" Open: {', '.join(f'{count} {reason}' for reason, count in why.items())}." if why else "")
    )
