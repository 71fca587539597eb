"""All answers as compact JSON for the table in the page: a list per row, every text once.

``{"columns": [...], "texts": [...], "rows": [[...], ...]}``; in a row, columns of text hold a place in
``texts`` or null, the others a number or null. A bound that is infinite is -1, since JSON has no infinity.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tmverify.campaign import Row, Task, TaskAnswer
from tmverify.report.subjects import Subject
from tmverify.report.words import bounds_text, decisions_text, status_of

TEXTS = (
    "question", "model", "data", "scope", "conditions", "label", "status", "bounds", "decision",
    "engine", "reason", "detail", "certificate",
)  # fmt: skip
NUMBERS = ("index", "epsilon", "lower", "upper", "flips", "seconds")


def table_json(rows: Sequence[Row], subjects: Sequence[Subject]) -> str:
    """The answers as JSON that may stand inside a ``<script>`` of any page."""
    texts: dict[str, int] = {}
    lines = [_line(row, subject, texts) for row, subject in zip(rows, subjects, strict=True)]
    return safe_json({"columns": [*TEXTS, *NUMBERS], "texts": list(texts), "rows": lines})


def safe_json(value: Any) -> str:
    """JSON without any character that HTML or JavaScript could take for its own."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _line(row: Row, subject: Subject, texts: dict[str, int]) -> list[float | None]:
    words, numbers = _texts(row, subject), _numbers(row)
    places = [None if not word else texts.setdefault(word, len(texts)) for word in words]
    return [*places, *numbers]


def _texts(row: Row, subject: Subject) -> tuple[str, ...]:
    task, answer = row.task, row.answer
    label = "" if task.label is None else str(task.label)
    known = (task.question, subject.model, task.data, str(task.scope), subject.conditions, label)
    if answer is None:
        return (*known, status_of(row), "", "", "", "", row.refused or "", "")
    return (
        *known,
        status_of(row),
        bounds_text(answer.lower, answer.upper),
        _decision(task, answer),
        answer.engine,
        answer.stop_reason or "",
        _detail(answer),
        answer.certificate_path or "",
    )


def _decision(task: Task, answer: TaskAnswer) -> str:
    """Before and after, or what two models say."""
    return (" → " if len(task.models) == 1 else " ≠ ").join(decisions_text(task, answer) or ())


def _detail(answer: TaskAnswer) -> str:
    again = f"attempt {answer.attempts}" if answer.attempts > 1 else ""
    return "; ".join(part for part in (answer.detail, again) if part)


def _numbers(row: Row) -> tuple[float | None, ...]:
    task, answer = row.task, row.answer
    if answer is None:
        return task.index, task.epsilon, None, None, None, None
    bounds = (_bound(answer.lower), _bound(answer.upper))
    return task.index, task.epsilon, *bounds, _flips(task, answer), float(f"{answer.seconds:.4g}")


def _bound(value: float | None) -> float | None:
    return -1 if value == math.inf else value


def _flips(task: Task, answer: TaskAnswer) -> int | None:
    if task.bits is None or answer.witness is None:
        return None
    differing = np.frombuffer(task.bits, np.uint8) ^ np.frombuffer(answer.witness, np.uint8)
    return int(np.unpackbits(differing, count=task.n_features).sum())
