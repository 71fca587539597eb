"""The page: a report as one HTML file, made by the template, with its style sheet and script inside.

Names, labels and words in a store may be any text. Three defences keep them text: Jinja2 escapes all that it
inserts, the JSON of the table holds no character that HTML uses (``safe_json``), and the page's own content
security policy allows one script, by its digest, and lets nothing load.

The table of all answers is compact JSON, ``{"columns": [...], "texts": [...], "rows": [[...], ...]}``: a list
for each row, and every text once. In a row, columns of text hold a place in ``texts`` or null, the others a
number or null. An infinite bound is -1, since JSON has no infinity.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from typing import Any

from tmverify.campaign import Asked, Tally
from tmverify.extras import need
from tmverify.report.charts import chart_style, share_bar, svg
from tmverify.report.distributions import Radii
from tmverify.report.figures import figures_of
from tmverify.report.gallery import entry_of
from tmverify.report.report import Report, median_seconds
from tmverify.report.series import HASH_CHARS, Series
from tmverify.report.words import STATUSES, bounds_text, decisions_text, percent, seconds_text, status_of

TEXTS = (
    "question", "model", "data", "scope", "conditions", "label", "status", "bounds", "decision",
    "engine", "reason", "detail", "certificate",
)  # fmt: skip
NUMBERS = ("index", "epsilon", "lower", "upper", "flips", "seconds")


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
    page: str = environment.from_string(_part("template.html")).render(
        report=report,
        made=(now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
        policy=f"default-src 'none'; img-src data:; script-src {_digest(script)}; style-src {_digest(style)}",
        style=markup(style),
        script=markup(script),
        table=markup(table_json(report.rows, report.series)),
        figures=[(figure, markup(svg(figure.chart))) for figure in figures_of(report)],
        share_bar=lambda tally: markup(share_bar(tally)),
        cards=tuple(cards_of(report)),
        entries=[entry_of(change, report.rows, models) for change in report.gallery.changes],
        statuses={status: meaning for status, meaning in STATUSES.items() if status in statuses},
        hash_chars=HASH_CHARS,
    )
    return page


def _part(name: str) -> str:
    return files("tmverify.report").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@dataclass(frozen=True, slots=True)
class Card:
    """One result at the top of the page: its name, its value, and a note that gives the counts behind it.

    ``tone`` is the class of its colour.
    """

    name: str
    value: str
    note: str
    tone: str = ""


def cards_of(report: Report) -> Iterator[Card]:
    """How much is answered and solved, what the answers are, and how long they took."""
    tally = report.tally
    yield Card("answered", percent(tally.done, tally.total), f"{tally.done} of {tally.total} tasks")
    yield Card("solved", percent(tally.solved, tally.done), f"{tally.solved} of {tally.done} answered")
    for adjective, shares in report.shares.items():
        n_series = len({line.series for line in report.lines if line.asks.adjective == adjective})
        yield _share_card(adjective, shares, n_series)
    if report.radii:
        yield _radius_card(report.radii)
    yield Card("violated", str(tally.violated), "with an example each", "bad" if tally.violated else "")
    unknown = f"{percent(tally.unknown, tally.done)} of answered"
    yield Card("unknown", str(tally.unknown), unknown, "open" if tally.unknown else "")
    yield Card("median time", seconds_text(median_seconds(tally)), "for a solved task")


def _share_card(adjective: str, shares: Mapping[int | None, Tally], n_series: int) -> Card:
    """A share over several epsilons would mean nothing, so the card shows that of the least one."""
    first, *others = list(shares)[1:] or [None]
    tally = shares[first]
    notes = [f"{tally.positive} of {tally.solved} solved"]
    notes += [f"ε {each}: {shares[each].positive}/{shares[each].solved}" for each in others[:4]]
    notes += ["…"] if len(others) > 4 else []
    notes += [f"{n_series} series together"] if n_series > 1 else []
    name = adjective if first is None else f"{adjective} at ε {first}"
    return Card(name, percent(tally.positive, tally.solved), "\n".join(notes), "good")


def _radius_card(radii: Sequence[Radii]) -> Card:
    first, *others = radii
    notes = [f"{first.series.model}, {len(first.bounds)} inputs"]
    notes += [f"{each.series.model}: {bounds_text(*each.median)}" for each in others[:3]]
    notes += ["…"] if len(others) > 3 else []
    return Card("median radius", bounds_text(*first.median), "\n".join(notes))


def table_json(rows: Sequence[Asked], series: Sequence[Series]) -> str:
    """The answers as JSON that may stand inside a ``<script>`` of any page."""
    texts: dict[str, int] = {}
    lines: list[list[float | None]] = []
    for row, own in zip(rows, series, strict=True):
        places = [texts.setdefault(text, len(texts)) if text else None for text in _texts(row, own)]
        lines.append([*places, *_numbers(row)])
    return safe_json({"columns": [*TEXTS, *NUMBERS], "texts": list(texts), "rows": lines})


def safe_json(value: Any) -> str:
    """JSON without any character that has a meaning in HTML or JavaScript."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _texts(row: Asked, series: Series) -> tuple[str, ...]:
    task, answer = row.task, row.answer
    label = "" if task.label is None else str(task.label)
    known = (task.question, series.model, task.data, str(task.scope), series.conditions, label)
    if answer is None:
        return (*known, status_of(row), "", "", "", "", row.refused or "", "")
    between = " → " if len(task.models) == 1 else " ≠ "
    again = f"attempt {answer.attempts}" if answer.attempts > 1 else ""
    return (
        *known,
        status_of(row),
        bounds_text(answer.lower, answer.upper),
        between.join(decisions_text(task, answer) or ()),
        answer.engine,
        answer.stop_reason or "",
        "; ".join(part for part in (answer.detail, again) if part),
        answer.certificate_path or "",
    )


def _numbers(row: Asked) -> tuple[float | None, ...]:
    task, answer = row.task, row.answer
    if answer is None:
        return task.index, task.epsilon, None, None, None, None
    lower, upper = (-1 if bound == math.inf else bound for bound in (answer.lower, answer.upper))
    n_flips = None if row.flips is None else len(row.flips)
    return task.index, task.epsilon, lower, upper, n_flips, float(f"{answer.seconds:.4g}")
