"""How far a campaign is: a line for each question, model and epsilon, in the paper's form; or JSON."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from tmverify.asking.answer import Asked
from tmverify.asking.subject import TEAM
from tmverify.asking.tally import Group, Tally, grouped
from tmverify.campaign.export import Written
from tmverify.campaign.store import NOT_BELIEVED, Store
from tmverify.cli.output import STYLE, plain, seconds_text, show, show_json
from tmverify.properties import Status

_HEADERS = ("epsilon", "tasks", "solved", "holds", "violated", "unknown", "mean seconds")
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
    _show_tables(lines)
    show(_summary(rows) if lines else "no tasks yet")
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
    """The same as plain values."""
    done = [row.answer for row in rows if row.answer is not None]
    return {
        "store": str(store.path),
        "tasks": len(rows),
        "done": len(done),
        "solved": sum(answer.solved for answer in done),
        "violated": sum(answer.status == Status.VIOLATED.value for answer in done),
        "unknown": sum(not answer.solved for answer in done),
        "groups": [_group_json(group, tally) for group, tally in grouped(rows).items()],
        "unknown_reasons": dict(_reasons(rows)),
        "not_believed": [
            {"task": row.task.id, "why": row.refused} for row in rows if row.refused is not None
        ],
    }


def _not_believed(n: int) -> str:
    """What is said of answers in a store that are refused."""
    which = "1 answer in the store is" if n == 1 else f"{n} answers in the store are"
    return f"{which} not believed, and counted as none; run the plan again, which asks anew"


def _show_counted(what: str, reasons: Counter[str]) -> None:
    for reason, n in reasons.most_common(_MOST_REASONS):
        show(Text(plain(f"  {what}, {n}: {reason}")))
    if len(reasons) > _MOST_REASONS:
        show(f"  … and {len(reasons) - _MOST_REASONS} more reasons; campaign export has them all")


def _show_tables(lines: dict[Group, Tally]) -> None:
    """A table for each question and subject, a line for each epsilon."""
    for subject in dict.fromkeys(replace(group, epsilon=None) for group in lines):
        table = Table()
        for header in _HEADERS:
            table.add_column(header, justify="right")
        for group, tally in lines.items():
            if replace(group, epsilon=None) == subject:
                table.add_row(*_cells(group, tally))
        show(Text(_what(subject) + _hashes(subject, lines), style="bold"), table)


def _hashes(subject: Group, lines: Iterable[Group]) -> str:
    """What tells models of the same name apart, if there are such."""
    alike = {group.models for group in lines if group.names == subject.names}
    return f" ({' and '.join(key[:8] for key in subject.models)})" if len(alike) > 1 else ""


def _what(group: Group) -> str:
    said = [group.asks.heading(group.names), group.data]
    said += [] if group.scope == TEAM else [f"scope {group.scope}"]
    said += [] if group.direction is None else [f"only {group.direction}"]
    said += [] if group.mask is None else [f"features {_features(group)}"]
    said += [] if group.engine == "auto" else [f"engine {group.engine}"]
    said += ["with certificates"] if group.certified else []
    return plain(", ".join(part for part in said if part)).replace("\n", "\\n")


def _features(group: Group) -> str:
    """Those that may change: as ranges, or where these are many, how many."""
    assert group.mask is not None
    free = np.flatnonzero(np.unpackbits(np.frombuffer(group.mask, np.uint8))).tolist()
    starts = [i for i in free if i - 1 not in set(free)]
    ends = [i for i in free if i + 1 not in set(free)]
    ranges = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    return ",".join(ranges) if len(ranges) <= _MOST_RANGES else f"({len(free)} of them)"


def _cells(group: Group, tally: Tally) -> list[str]:
    asks_yes_or_no = not group.asks.is_distance
    return [
        "-" if group.epsilon is None else str(group.epsilon),
        str(tally.total) if tally.complete else f"{tally.done}/{tally.total}",
        str(tally.solved),
        str(tally.positive) if asks_yes_or_no else "-",
        str(tally.violated) if asks_yes_or_no else "-",
        str(tally.unknown),
        "-" if tally.mean_seconds is None else seconds_text(tally.mean_seconds),
    ]


def _summary(rows: Sequence[Asked]) -> Text:
    done = [row.answer for row in rows if row.answer is not None]
    solved = sum(answer.solved for answer in done)
    word, status = ("COMPLETE", Status.HOLDS) if len(done) == len(rows) else ("UNFINISHED", Status.UNKNOWN)
    line = Text(word, style=STYLE[status])
    line.append(f"  {len(done)} of {len(rows)} tasks done, {solved} solved, {len(done) - solved} unknown")
    return line


def _reasons(rows: Sequence[Asked]) -> Counter[str]:
    """Why answers are unknown."""
    unknown = (row.answer for row in rows if row.answer is not None and not row.answer.solved)
    return Counter(f"{answer.stop_reason}: {answer.detail}" for answer in unknown)


def _refused(rows: Sequence[Asked]) -> Counter[str]:
    """Why answers are not believed, and the first task that has such a one."""
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


def _group_json(group: Group, tally: Tally) -> dict[str, Any]:
    return {
        "question": group.question,
        "models": list(group.names),
        "data": group.data,
        "scope": group.scope,
        "model_hashes": list(group.models),
        "direction": group.direction,
        "features": None if group.mask is None else _features(group),
        "engine": group.engine,
        "certified": group.certified,
        "epsilon": group.epsilon,
        "tasks": tally.total,
        "done": tally.done,
        "solved": tally.solved,
        group.adjective: tally.positive,
        "violated": tally.violated,
        "unknown": tally.unknown,
        "mean_seconds": tally.mean_seconds,
    }
