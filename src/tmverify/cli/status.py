"""The progress of a campaign: a line for each question, model and epsilon, in the paper's form; or JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from tmverify.asking.answer import Asked
from tmverify.asking.tally import Tally, grouped, tally_of
from tmverify.asking.task import Task
from tmverify.campaign.export import Written
from tmverify.campaign.store import NOT_BELIEVED, Store, StoredModel
from tmverify.cli.output import STYLE, plain, seconds_text, show, show_json, table_of
from tmverify.model.classifier import TEAM
from tmverify.properties import Status
from tmverify.space import Space

_MOST_REASONS = 5
_MOST_RANGES = 6


def report_status(
    store: Store, rows: Sequence[Asked], *, as_json: bool = False, interrupted: bool = False
) -> None:
    """Print the table, what is missing, and why answers are unknown; or all of it as JSON."""
    if as_json:
        show_json({**status_document(store, rows), "interrupted": interrupted})
        return
    lines = grouped(rows)
    _show_tables(lines, store.models())
    show(_summary(tally_of(rows)) if lines else "no tasks yet")
    _show_counted("unknown", _reasons(rows))
    refused = _refused(rows)
    if refused:
        show(_not_believed(refused.total()))
        _show_counted("not believed", refused)
    if store.writer is not None and store.writer != os.getpid():
        show(f"a run is going on: process {store.writer}")


def tell_written(written: Written, path: Path) -> None:
    """Say what an export wrote."""
    show(f"{written.rows} rows written to {plain(path)}")
    if written.refused:
        show(f"  {_not_believed(written.refused)}; in the file, they have stop_reason {NOT_BELIEVED}")


def status_document(store: Store, rows: Sequence[Asked]) -> dict[str, Any]:
    """The state of a campaign as plain values, for JSON."""
    models = store.models()
    return {
        "store": str(store.path),
        **_counts(tally_of(rows)),
        "groups": [_line_json(line, tally, _space(line, models)) for line, tally in grouped(rows).items()],
        "unknown_reasons": dict(_reasons(rows)),
        "not_believed": [
            {"task": row.task.id, "why": row.refused} for row in rows if row.refused is not None
        ],
    }


def _not_believed(n: int) -> str:
    """A sentence about the answers in a store that are not believed."""
    which = "1 answer in the store is" if n == 1 else f"{n} answers in the store are"
    return f"{which} not believed, and counted as none; run the plan again, which asks anew"


def _show_counted(what: str, reasons: Counter[str]) -> None:
    for reason, n in reasons.most_common(_MOST_REASONS):
        show(Text(plain(f"  {what}, {n}: {reason}")))
    if len(reasons) > _MOST_REASONS:
        show(f"  … and {len(reasons) - _MOST_REASONS} more reasons; campaign export has them all")


def _show_tables(lines: dict[Task, Tally], models: Mapping[str, StoredModel]) -> None:
    """A table for each question and subject, a line for each epsilon."""
    tables: dict[Task, list[dict[str, object]]] = {}
    for line, tally in lines.items():
        tables.setdefault(replace(line, epsilon=None), []).append(_cells(line, tally))
    for subject, cells in tables.items():
        heading = _what(subject, _space(subject, models)) + _hashes(subject, lines)
        show(Text(heading, style="bold"), table_of(cells))


def _hashes(subject: Task, lines: Iterable[Task]) -> str:
    """Hashes that tell models apart if they have the same name."""
    alike = {line.models for line in lines if line.names == subject.names}
    return f" ({' and '.join(key[:8] for key in subject.models)})" if len(alike) > 1 else ""


def _space(line: Task, models: Mapping[str, StoredModel]) -> Space | None:
    """The columns that a line is about, if the store describes its models."""
    return line.named(models).space if all(key in models for key in line.models) else None


def _what(line: Task, space: Space | None) -> str:
    said = [line.asks.heading(line.names, line.margin), line.data]
    said += [] if line.scope == TEAM else [f"scope {line.scope}"]
    said += line.rules.words(space)
    said += [] if line.rules.direction is None else [f"only {line.rules.direction}"]
    said += [] if line.rules.mask is None else [f"features {_features(line)}"]
    said += [] if line.engine == "auto" else [f"engine {line.engine}"]
    said += ["with certificates"] if line.certified else []
    return plain(", ".join(part for part in said if part)).replace("\n", "\\n")


def _features(line: Task) -> str:
    """The features that may change, as ranges; if there are many ranges, only how many features."""
    free = [] if line.free is None else np.flatnonzero(line.free).tolist()
    starts = [i for i in free if i - 1 not in set(free)]
    ends = [i for i in free if i + 1 not in set(free)]
    ranges = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    return ",".join(ranges) if len(ranges) <= _MOST_RANGES else f"({len(free)} of them)"


def _cells(line: Task, tally: Tally) -> dict[str, object]:
    yes_or_no = not line.asks.is_distance
    return {
        "epsilon": "-" if line.epsilon is None else line.epsilon,
        "tasks": tally.total if tally.complete else f"{tally.done}/{tally.total}",
        "solved": tally.solved,
        "holds": tally.positive if yes_or_no else "-",
        "violated": tally.violated if yes_or_no else "-",
        "unknown": tally.unknown,
        "mean seconds": "-" if tally.mean_seconds is None else seconds_text(tally.mean_seconds),
    }


def _summary(tally: Tally) -> Text:
    word, status = ("COMPLETE", Status.HOLDS) if tally.complete else ("UNFINISHED", Status.UNKNOWN)
    counts = f"{tally.done} of {tally.total} tasks done, {tally.solved} solved, {tally.unknown} unknown"
    return Text(word, style=STYLE[status]).append(f"  {counts}", style="default")


def _reasons(rows: Sequence[Asked]) -> Counter[str]:
    """Why answers are unknown."""
    unknown = (row.answer for row in rows if row.answer is not None and not row.answer.solved)
    return Counter(f"{answer.stop_reason}: {answer.detail}" for answer in unknown)


def _refused(rows: Sequence[Asked]) -> Counter[str]:
    """Why answers are not believed; each reason comes with the first task that it is about."""
    tasks: dict[str, list[str]] = {}
    for row in rows:
        if row.refused is not None:
            tasks.setdefault(row.refused, []).append(row.task.id)
    return Counter(
        {
            f"{why} (task {found[0]}{', and others' if len(found) > 1 else ''})": len(found)
            for why, found in tasks.items()
        }
    )


def _counts(tally: Tally) -> dict[str, Any]:
    return {
        "tasks": tally.total,
        "done": tally.done,
        "solved": tally.solved,
        "violated": tally.violated,
        "unknown": tally.unknown,
    }


def _line_json(line: Task, tally: Tally, space: Space | None) -> dict[str, Any]:
    return {
        "question": line.question,
        "models": list(line.names),
        "data": line.data,
        "scope": line.scope,
        "model_hashes": list(line.models),
        "distance": line.rules.distance,
        "direction": line.rules.direction,
        "features": None if line.rules.mask is None else _features(line),
        "rules": None if space is None else line.rules.by_column(space),
        "engine": line.engine,
        "certified": line.certified,
        "epsilon": line.epsilon,
        "margin": line.margin,
        **_counts(tally),
        line.asks.adjective: tally.positive,
        "mean_seconds": tally.mean_seconds,
    }
