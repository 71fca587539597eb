"""Similarity of two machines by the default engine: solved, similar, seconds.

IMDB: random test reviews, as in the paper (not only those that are classified correctly). MNIST: the images
of the robustness section.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import tmverify as tv
from harness.asking import Answers
from harness.proving import Proving
from harness.report import Section
from harness.robustness import all_solved, cells, inputs_of, scope_at, scopes_of
from harness.trained import RECIPES

COLUMNS = ("machines", "scope", "eps", "inputs", "solved", "similar", "mean ms", "median ms", "largest ms")
Pair = tuple[str, str]


@dataclass(frozen=True)
class Plan:
    name: str
    title: str
    data: str
    pairs: tuple[Pair, ...]
    scopes: tuple[str, ...]
    centre: bool  # whether eps 0 is asked too


PLANS = (
    Plan(
        "similarity-imdb",
        "Similarity: IMDB",
        "imdb",
        (("imdb-s20", "imdb-s2-a"), ("imdb-s2-a", "imdb-s2-b")),
        ("team",),
        True,
    ),
    Plan(
        "similarity-mnist",
        "Similarity: MNIST",
        "mnist",
        (("mnist-500", "mnist-1000"), ("mnist-1000", "mnist-2000")),
        ("single", "team"),
        False,
    ),
)


def measure(bench: Proving, plan: Plan) -> Iterator[Section]:
    """The section as it grows, one question at a time."""
    rows = (
        inputs_of(bench, plan.data)
        if plan.data == "mnist"
        else bench.subjects.shuffled(plan.data)[: bench.few(bench.reviews, 5)]
    )
    settings = {
        "machines": bench.named(*dict.fromkeys(name for pair in plan.pairs for name in pair)),
        "inputs": len(rows),
        "engine": "auto",
        "limit in seconds": bench.limit,
        "cores": 1,
    }
    sheet = bench.begin(plan.name, plan.title, settings, COLUMNS)
    section, scopes = sheet.section, scopes_of(bench, plan.scopes)
    yield section
    first = [partial(_ask, bench, plan.pairs[0], scope, rows[0], 1) for scope in scopes]
    sheet.first_use(first)
    groups: list[Answers] = []
    for pair in plan.pairs:
        names = " & ".join(pair)
        for scope in scopes:
            for epsilon in (0, *bench.epsilons) if plan.centre else bench.epsilons:
                group = sheet.answers(bench.limit, models=names, scope=scope, epsilon=epsilon, engine="auto")
                groups.append(group)
                section.rows.append([])
                for row in rows:
                    sheet.ask(group, row, partial(_ask, bench, pair, scope, row, epsilon))
                    section.rows[-1] = [names, scope, str(epsilon), *cells(group)]
                    yield section
                sheet.row_done()
    section.findings.append(all_solved(groups))
    section.complete = True
    yield section


def _ask(bench: Proving, pair: Pair, scope: str, row: int, epsilon: int) -> tv.Verdict:
    a, b = (bench.subjects.model(name) for name in pair)
    x = bench.subjects.test_input(RECIPES[pair[0]].data, row)
    label = scope_at(bench, pair[0], scope, row)
    return tv.check_similarity(a, b, x, epsilon, scope=label, timeout=bench.limit)
