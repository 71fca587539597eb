"""Columns that suffice, changes that alter the decision, and rules, for the test rows of tables.

Each row is asked three questions: a smallest sufficient reason, all contrastive reasons of up to three
columns, and a sufficient reason widened to a rule. Splits and training are those of ``recourse``.

PyXAI explains trees: its reasons are another model's, sets of conditions such as "age > 31.5", and those that
their columns make are counted here. Of a random forest it finds a minimal sufficient set of conditions; of
boosted trees (XGBoost) a *tree-specific* one, which suffices but need not be minimal. Both models have the
default settings, and categories as numbers.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from functools import partial
from typing import Any

import tmverify as tv
from harness.asking import at_most
from harness.explaining import VERSIONS, Settings, Times, shown
from harness.processes import Contender, start
from harness.recourse import Case, cases
from harness.report import Section

UP_TO = 3  # columns of contrastive reasons
MOST = 100_000
WANTED = 50.0  # ms
QUESTIONS = ("smallest sufficient", f"all contrastive up to {UP_TO}", "widened rule")
COLUMNS = (
    *("table", "rows", "columns"),
    *(f"{name}, ms" for name in QUESTIONS),
    *("together, ms", "most, ms", "smallest", "complete", "widest"),
    *("size of a smallest", "contrastive a row", "size of a rule"),
)
ALL = "all tables"
PYXAI = (
    Contender("PyXAI, random forest, sufficient", "reasons_pyxai.py", "pyxai", {"model": "forest"}),
    Contender("PyXAI, boosted trees, tree-specific", "reasons_pyxai.py", "pyxai", {"model": "boosting"}),
)


def measure(settings: Settings) -> Iterator[Section]:
    """A line for each table, then one for all rows."""
    section = Section(
        "Tables: three questions a row",
        {
            "rows": f"of the test part, at most {settings.rows} a table, those with missing values too",
            "limit": f"{settings.limit:g} s a question",
            "ms": "medians over the rows",
            "smallest, complete, widest": "rows for which that is proved of the answer to each question",
            "sizes": "means, in columns",
        },
        COLUMNS,
        versions=VERSIONS,
    )
    if settings.tables:
        section.settings["tables"] = ", ".join(settings.tables)
    everything = _new(ALL)
    for case in _cases(settings):
        groups = _new(case.name)
        section.raw += groups
        section.rows.append([])
        _ask(case.model, case.test[0], settings.limit, _new("first use"))  # compiles
        for x in case.test:
            _ask(case.model, x, settings.limit, groups)
            section.rows[-1] = _cells(case.name, str(len(case.model.space.columns)), groups)
            yield section
        for total, own in zip(everything, groups, strict=True):
            total.seconds += own.seconds
            total.sizes += own.sizes
            total.minimal += own.minimal
    section.rows.append(_cells(ALL, "", everything))
    together = 1000 * statistics.median(_together(everything))
    section.ratios = {"median in ms": together}
    section.findings = [f"The three questions together: median {at_most(together, WANTED, 'ms')}."]
    section.complete = True
    yield section


def _new(table: str) -> list[Times]:
    return [Times({"table": table, "question": question}) for question in QUESTIONS]


def _ask(model: tv.Model, x: Any, limit: float, groups: list[Times]) -> None:
    smallest, contrastive, widened = groups
    smallest.ask(partial(tv.explain, model, x, smallest=True, timeout=limit), smallest=True)
    contrastive.ask_all(
        partial(tv.explanations, model, x, limit=MOST, kind="contrastive", within=UP_TO, timeout=limit)
    )
    widened.ask(partial(tv.explain, model, x, widen=True, timeout=limit))


def _together(groups: list[Times]) -> list[float]:
    return [sum(seconds) for seconds in zip(*(group.seconds for group in groups), strict=True)]


def _cells(name: str, n_columns: str, groups: list[Times]) -> list[str]:
    together = _together(groups)
    return [
        *(name, str(len(together)), n_columns),
        *(f"{1000 * group.median:.1f}" for group in groups),
        *(f"{1000 * statistics.median(together):.1f}", f"{1000 * max(together):.0f}"),
        *(str(group.minimal) for group in groups),
        *(f"{statistics.mean(group.sizes):.2f}" for group in groups),
    ]


def measure_pyxai(settings: Settings) -> Iterator[Section]:
    """A line for each table and each model of PyXAI's, with ours on the same rows."""
    section = Section(
        "Tables: sufficient reasons beside PyXAI's, of other models",
        {
            "rows": f"the first {settings.rival_rows} test rows without missing values, as far as they come "
            f"in {settings.rival_total:g} s",
            "limit": f"{settings.limit:g} s a row",
            "minimal": "ours: columns, proved; PyXAI's forest: conditions; its boosted trees: not claimed",
            "size": "median, in columns",
        },
        ("table", "reason", "rows asked", "answered", "size", "conditions", "s, median", "most"),
        versions=dict(VERSIONS),
    )
    for case in _cases(settings):
        section.rows.append([case.name, "tmverify", *_ours(case, settings)])
        for contender in PYXAI:
            section.rows.append([case.name, contender.name, *_rival(contender, case, settings, section)])
            yield section
    section.complete = True
    yield section


def _ours(case: Case, settings: Settings) -> list[str]:
    table, times = case.table, Times({"table": case.name, "question": "sufficient"})
    asked = case.model.space.encode(table.frame([table.rows[i] for i in table.ask[: settings.rival_rows]]))
    tv.explain(case.model, asked[0], timeout=settings.limit)  # compiles
    for x in asked:
        times.ask(partial(tv.explain, case.model, x, timeout=settings.limit))
    size, n = statistics.median(times.sizes), len(asked)
    return [str(n), str(times.minimal), f"{size:g}", "-", shown(times.median), shown(max(times.seconds))]


def _rival(contender: Contender, case: Case, settings: Settings, section: Section) -> list[str]:
    job = {
        "table": case.paths["table"],
        "rows": settings.rival_rows,
        "limit": settings.limit,
        "total": settings.rival_total,
    }
    spare = 120.0  # for starting and training, and for a call that does not end in time
    limit = settings.rival_total + settings.limit + spare
    run = start(contender, job, environments=settings.peers_dir, limit=limit)
    section.versions |= {name: n for name, n in run.versions.items() if name in ("pyxai", "xgboost")}
    answers = run.of("reason")
    section.raw.append({"table": case.name, "reason": contender.name, "answers": answers})
    if run.problem:
        section.findings.append(f"{contender.name} on {case.name}: {run.problem}.")
    problems = sorted({event["problem"] for event in answers if event["problem"]})
    section.findings += [f"{contender.name} on {case.name}, rows without an answer: {p}." for p in problems]
    found = [event for event in answers if event["problem"] is None]
    if not found:
        return [str(len(answers)), "0", *["-"] * 4]
    columns, conditions = ([event[key] for event in found] for key in ("columns", "conditions"))
    seconds = [event["seconds"] for event in answers]
    return [
        *(str(len(answers)), str(len(found))),
        *(f"{statistics.median(columns):g}", f"{statistics.median(conditions):g}"),
        *(shown(statistics.median(seconds)), shown(max(seconds))),
    ]


def _cases(settings: Settings) -> Iterator[Case]:
    return cases(settings.subjects.data_dir, settings.work_dir, settings.tables, settings.rows)
