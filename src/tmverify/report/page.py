"""The page: a report as HTML by the template, with its style sheet and script inside.

Names, labels and words in a store are anybody's text. Three walls keep them text: Jinja2 escapes all that it
inserts, the JSON of the table holds no character of HTML's (``table.safe_json``), and the page's own content
security policy lets nothing run but the one script whose digest it names, and nothing load at all.
"""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files

from tmverify.extras import need
from tmverify.report.bars import share_bar
from tmverify.report.cards import cards_of
from tmverify.report.charts import chart_style, svg
from tmverify.report.figures import figures_of
from tmverify.report.gallery_entries import Entry, entry_of
from tmverify.report.report import Report
from tmverify.report.subjects import HASH_CHARS
from tmverify.report.table import table_json
from tmverify.report.words import STATUSES, percent, seconds_text, status_of


def render(report: Report, *, now: datetime | None = None) -> str:
    """The whole file as text."""
    jinja2 = need("jinja2", extra="report", what="tmverify report")
    markup = need("markupsafe", extra="report", what="tmverify report").Markup
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(percent=percent, seconds=seconds_text)
    script, style = _part("script.js"), chart_style() + _part("style.css")
    page: str = environment.from_string(_part("template.html")).render(
        report=report,
        made=(now or datetime.now(UTC)).strftime("%Y-%m-%d %H:%M UTC"),
        policy=_policy(script, style),
        style=markup(style),
        script=markup(script),
        table=markup(table_json(report.rows, report.subjects)),
        figures=[(figure, markup(svg(figure.chart))) for figure in figures_of(report)],
        share_bar=lambda tally: markup(share_bar(tally)),
        cards=cards_of(report),
        entries=_entries(report),
        statuses=_statuses(report),
        hash_chars=HASH_CHARS,
    )
    return page


def _part(name: str) -> str:
    return files("tmverify.report").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str, style: str) -> str:
    return f"default-src 'none'; img-src data:; script-src {_digest(script)}; style-src {_digest(style)}"


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _statuses(report: Report) -> dict[str, str]:
    """The statuses that occur, with what they mean; unknown always, for it is the one that is misread."""
    found = {status_of(row) for row in report.rows} | {"unknown"}
    return {status: meaning for status, meaning in STATUSES.items() if status in found}


def _entries(report: Report) -> list[Entry]:
    models = {model.hash: model for model in report.models}
    return [
        entry_of(change, models, [_asked(report, place) for place in sorted(change.places)])
        for change in report.gallery.changes
    ]


def _asked(report: Report, place: int) -> str:
    task = report.rows[place].task
    return task.question if task.epsilon is None else f"{task.question} ε {task.epsilon}"
