"""The answers of ``tmverify radius``: a table, a histogram and a line that sums it up; or JSON."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from tmverify.cli.distances import Distance, Distances, number
from tmverify.cli.documents import document, subject_json
from tmverify.cli.histogram import histogram
from tmverify.cli.output import STYLE, plain, show, show_json
from tmverify.cli.phrases import remedy, seconds_text, setting_line
from tmverify.cli.records import decision_text, decisions_text, flips_json, flips_text
from tmverify.model.names import Named
from tmverify.properties import Status

_MAX_CHANGES = 5


def report(
    distances: Distances, *, rows: int, as_json: bool, csv: Path | None, witnesses: Path | None
) -> None:
    """Print the distances."""
    if as_json:
        show_json(_document(distances))
        return
    show(Text(_title(distances), style="bold"))
    show(setting_line(distances.subject, distances.engine, distances.timeout))
    _show_table(distances, rows)
    if distances.answers:
        show(histogram(distances.counts(), "radius", {"open": distances.n_open}))
    show(_summary(distances))
    show(*_change_lines(distances))
    if distances.answers:
        show(Text(_times(distances), style="dim"))
    if csv is not None:
        show(f"radii: {len(distances.answers)} written to {plain(csv)}")
    if witnesses is not None:
        n_seen = sum(answer.found.witness is not None for answer in distances.answers)
        show(f"witnesses: {n_seen} written to {plain(witnesses)}")
    show(*distances.certificates.lines())


def _title(distances: Distances) -> str:
    names = distances.subject.names
    return f"radius of {names}" if len(distances.subject.models) == 1 else f"nearest disagreement of {names}"


def _show_table(distances: Distances, rows: int) -> None:
    """All of them in the order of the data, or where there are more than ``rows``, the nearest."""
    asked = len(distances.answers)
    shown = distances.answers if asked <= rows else distances.nearest_first()[:rows]
    if shown:
        show(_table(shown, n_models=len(distances.subject.models)))
    if asked > len(shown):
        what = f"the {len(shown)} nearest of {asked} inputs" if shown else f"{asked} inputs"
        show(Text(f"{what}; --rows {asked} shows them all, --csv FILE.csv keeps them", style="dim"))


def _table(answers: Sequence[Distance], n_models: int) -> Table:
    table = Table()
    nearest = ("nearest class",) if n_models == 1 else ("there A says", "B says")
    for header in ("index", "class", "radius", *nearest, "seconds"):
        table.add_column(header, justify="right", overflow="fold")
    for answer in answers:
        there = answer.nearest[-len(nearest) :]
        labels = ["-" if label is None else decision_text(label, answer.scope) for label in there]
        cells = [str(answer.index), decision_text(answer.label, answer.scope), str(answer.found), *labels]
        table.add_row(*map(Text, cells), seconds_text(answer.found.seconds))
    return table


def _summary(distances: Distances) -> Text:
    answered, asked = len(distances.answers), len(distances.subject.rows)
    line = Text().append("INTERRUPTED " if distances.interrupted else "", style=STYLE[Status.UNKNOWN])
    if distances.interrupted:
        line.append(f" {answered} of {asked} inputs answered  ")
    if not answered:
        return line.append("nothing is known yet")
    word, status = ("OPEN", Status.UNKNOWN) if distances.n_open else ("EXACT", Status.HOLDS)
    line.append(word, style=STYLE[status])
    line.append(f"  exact {distances.n_exact} of {answered}, open {distances.n_open}")
    line.append(f" · {', '.join(f'{name} {span}' for name, span in distances.spans().items())}")
    if distances.n_open:
        line.append(f"; {remedy(answer.found for answer in distances.answers)}")
    return line


def _change_lines(distances: Distances) -> list[Text]:
    """What the nearest changes of all are."""
    seen = [answer for answer in distances.nearest_first() if answer.found.upper < math.inf]
    subject, lines = distances.subject, []
    for answer in seen[:_MAX_CHANGES]:
        line = Text(f"  input {answer.index}: ")
        line.append(decisions_text(answer.found, answer.scope, len(subject.models)), style="bold")
        lines.append(line.append(flips_text(answer.found, subject.named)))
    return lines


def _times(distances: Distances) -> str:
    seconds = [answer.found.seconds for answer in distances.answers]
    middle, most = seconds_text(statistics.median(seconds)), seconds_text(max(seconds))
    engines = Counter(answer.found.engine for answer in distances.answers)
    by = ", ".join(f"{engine} {n}" for engine, n in engines.most_common())
    return f"seconds an input: median {middle}, most {most} · answered by {by}"


def _document(distances: Distances) -> dict[str, Any]:
    return {
        **document("radius", distances.subject.opened),
        **subject_json(distances.subject),
        "engine": distances.engine,
        "timeout": distances.timeout,
        "status": "exact" if distances.all_exact else "open",
        "interrupted": distances.interrupted,
        "inputs": len(distances.subject.rows),
        "answered": len(distances.answers),
        "exact": distances.n_exact,
        "open": distances.n_open,
        **{
            name: {"lower": number(span.lower), "upper": number(span.upper)}
            for name, span in distances.spans().items()
        },
        "histogram": [
            {"radius": number(value), "inputs": n} for value, n in sorted(distances.counts().items())
        ],
        "results": [_json(answer, distances.subject.named) for answer in distances.answers],
    }


def _json(answer: Distance, model: Named) -> dict[str, Any]:
    found = answer.found
    return {
        "index": answer.index,
        "scope": answer.scope,
        "class": answer.label,
        "radius": number(found.radius),
        "lower": number(found.lower),
        "upper": number(found.upper),
        "nearest": answer.nearest[-1],
        "seconds": round(found.seconds, 6),
        "engine": found.engine,
        **flips_json(found, model),
        "decisions": None if found.decisions is None else list(found.decisions),
        "stop_reason": None if found.stop_reason is None else found.stop_reason.value,
        "detail": found.detail,
        **answer.kept.as_json(),
    }
