"""The page: a report as one HTML file, made by the template, with its style sheet and script inside.

Names, labels and words in a store may be any text. Three defences keep them text: Jinja2 escapes all that it
inserts, the JSON of the table holds no character that HTML uses (``safe_json``), and the page's own content
security policy allows one script, by its digest, and lets nothing load.

The table of all answers is compact JSON, ``{"columns": [...], "texts": [...], "rows": [[...], ...]}``: a list
for each row, and every text once. In a row, columns of text hold a place in ``texts`` or null, columns of
numbers a number or null, and ``change`` a list of places, one for each change, or null. An infinite bound is
-1, since JSON has no infinity.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from typing import Any

from tmverify.asking.reason import said as rule_of
from tmverify.campaign import Asked
from tmverify.campaign.store import StoredModel
from tmverify.display.columns import summary_text
from tmverify.display.words import seconds_text, shortened
from tmverify.extras import need
from tmverify.properties.scope import decision_text
from tmverify.report.charts import chart_style, share_bar, svg
from tmverify.report.columns import described
from tmverify.report.figures import result_figures, time_figures
from tmverify.report.gallery import cost_of, entry_of
from tmverify.report.reasons import reason_entry
from tmverify.report.report import Report, median_seconds
from tmverify.report.series import HASH_CHARS, Series
from tmverify.report.tiles import tiles_of
from tmverify.report.words import (
    EPSILONS,
    NOT_POSSIBLE,
    bounds_text,
    changes_text,
    decisions_text,
    meanings,
    percent,
    sign_of,
    status_of,
)

TEXTS = (
    "name", "question", "model", "data", "scope", "conditions", "label", "status", "bounds", "decision",
    "engine", "reason", "detail", "certificate", "unit", "rule",
)  # fmt: skip
NUMBERS = ("index", "line", "epsilon", "lower", "upper", "cost", "seconds")
LISTS = ("change",)
_LONGEST_NAME = 200


def render(report: Report, *, now: datetime | None = None) -> str:
    """The whole file as text."""
    jinja2 = need("jinja2", extra="report", what="tmverify report")
    markup = need("markupsafe", extra="report", what="tmverify report").Markup
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(percent=percent, seconds=seconds_text, median_seconds=median_seconds)
    script, style = _part("script.js"), chart_style() + _part("style.css")
    models = {model.hash: model for model in report.models}
    # Unknown is always explained, because it is the status that is misread.
    statuses = {status_of(row) for row in report.rows} | {"unknown"}
    margins = any(row.task.margin for row in report.rows)
    page: str = environment.from_string(_part("template.html")).render(
        report=report,
        made=(now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
        policy=f"default-src 'none'; img-src data:; script-src {_digest(script)}; style-src {_digest(style)}",
        style=markup(style),
        script=markup(script),
        table=markup(table_json(report)),
        figures=[(figure, markup(svg(figure.chart))) for figure in result_figures(report)],
        times=[(figure, markup(svg(figure.chart))) for figure in time_figures(report)],
        share_bar=lambda tally: markup(share_bar(tally)),
        tiles=tiles_of(report),
        entries=[entry_of(change, report.rows, models) for change in report.gallery.changes],
        reasons=[
            reason_entry(place, report.rows[place], models, report.series[place].model)
            for place in report.reasons.places
        ],
        statuses=meanings(statuses, margins=margins),
        weaken=", or leave it too few votes" if margins else "",
        hash_chars=HASH_CHARS,
        columns_text=summary_text,
        described=described(report.models),
        not_possible=NOT_POSSIBLE,
        n_witnesses=sum(row.witness is not None for row in report.rows),
        epsilon_text=epsilon_text(report),
    )
    return page


def epsilon_text(report: Report) -> str:
    """What epsilon is, for all that was asked with one."""
    counted = dict.fromkeys(line.series.counted for line in report.lines if line.asks.has_epsilon)
    return "; ".join(EPSILONS[each] for each in counted)


def _part(name: str) -> str:
    return files("tmverify.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def table_json(report: Report) -> str:
    """The answers as JSON that may stand inside a ``<script>`` of any page."""
    models = {model.hash: model for model in report.models}
    texts: dict[str, int] = {}

    def place(text: str) -> int | None:
        return texts.setdefault(text, len(texts)) if text else None

    lines: list[list[Any]] = []
    for i, (row, own) in enumerate(zip(report.rows, report.series, strict=True)):
        said = said_of(row, own, models, impossible=i in report.impossible)
        places, numbers = [place(said[name]) for name in TEXTS], [said[name] for name in NUMBERS]
        lines.append([*places, *numbers, [*map(place, said["change"])] or None])
    return safe_json({"columns": [*TEXTS, *NUMBERS, *LISTS], "texts": list(texts), "rows": lines})


def said_of(
    row: Asked, series: Series, models: Mapping[str, StoredModel], *, impossible: bool
) -> dict[str, Any]:
    """All that a page says of one answer: TEXTS, NUMBERS and LISTS by name."""
    changes = () if row.witness is None else changes_text(row, row.task.named(models).space)
    reason = None if row.answer is None else row.answer.reason
    rule = "" if reason is None else rule_of(row.task, reason, row.task.named(models))[1]
    texts = (*_texts(row, series, NOT_POSSIBLE if impossible else ""), rule)
    values = (*texts, *_numbers(row, series), changes)
    return dict(zip((*TEXTS, *NUMBERS, *LISTS), values, strict=True))


def safe_json(value: Any) -> str:
    """JSON without any character that has a meaning in HTML or JavaScript."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _texts(row: Asked, series: Series, note: str) -> tuple[str, ...]:
    task, answer = row.task, row.answer
    label, name = "" if task.label is None else str(task.label), shortened(task.row_name or "", _LONGEST_NAME)
    known = (name, task.question, series.model, task.data, str(task.scope), series.conditions, label)
    if answer is None:
        return (*known, status_of(row), "", "", "", "", row.refused or "", "", "")
    again = f"attempt {answer.attempts}" if answer.attempts > 1 else ""
    return (
        *known,
        status_of(row),
        bounds_text(answer.lower, answer.upper),
        f" {sign_of(task, answer)} ".join(decisions_text(task, answer) or _reasoned(row)),
        answer.engine,
        answer.stop_reason or "",
        "; ".join(part for part in (answer.detail, note, again) if part),
        answer.certificate_path or "",
        task.rules.unit if task.rules.unit in ("steps", "cost") else "",
    )


def _reasoned(row: Asked) -> tuple[str, ...]:
    """The decision that a reason is for, if there is one."""
    reason = row.found.reason
    return () if reason is None else (decision_text(row.task.scope, reason.decision),)


def _numbers(row: Asked, series: Series) -> tuple[float | None, ...]:
    task, answer = row.task, row.answer
    if answer is None:
        return task.index, task.line, task.epsilon, None, None, None, None
    lower, upper = (-1 if bound == math.inf else bound for bound in (answer.lower, answer.upper))
    cost = cost_of(row, series)
    return task.index, task.line, task.epsilon, lower, upper, cost, float(f"{answer.seconds:.4g}")
