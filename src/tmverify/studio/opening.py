"""Opening an answer of a store: how it is drawn, what a view is given, and what the view asks otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from tmverify.campaign import Task
from tmverify.campaign.store import StoredModel
from tmverify.model.names import printable
from tmverify.properties.questions import margin_text
from tmverify.properties.scope import decision_text
from tmverify.report.gallery import Entry
from tmverify.report.reasons import ReasonEntry
from tmverify.report.series import HASH_CHARS, Series
from tmverify.space import Space


def drawn(task: Task, entry: Entry | ReasonEntry) -> dict[str, Any]:
    """A change or a reason as plain values: what the report shows of it."""
    said: dict[str, Any]
    if isinstance(entry, Entry):
        said = {"decisions": entry.decisions, "sign": entry.sign, "speakers": entry.speakers}
        said |= {"rule": "", "open": ""}
    else:
        said = {"decisions": [entry.decision], "sign": "", "speakers": []}
        said |= {"rule": entry.rule, "open": entry.open}
    return {
        "task": task.id,
        "heading": entry.heading,
        "target": entry.target,
        "misclassified": entry.misclassified,
        "size": entry.size,
        **said,
        "shown": asdict(entry.shown),
        "facts": dict(entry.facts),
    }


def remedy_for(task: Task, store: str) -> str:
    """Which files to name, so that an answer opens live."""
    models = [
        f"{printable(name)} (hash {key[:HASH_CHARS]}…)"
        for name, key in zip(task.names, task.models, strict=True)
    ]
    files = " ".join(["MODEL.tm", "MODEL_B.tm"][: len(models)])
    called = "the files of the models" if len(models) > 1 else "the file of the model"
    return (
        f"A store has no models. To open this live, name {called} {' and '.join(models)} when you start the "
        f"studio: tmverify studio {store} {files}"
    )


def fixed_in(task: Task, models: Mapping[str, StoredModel]) -> list[int]:
    """The columns that could not change, where these are whole columns."""
    free, rules, space = task.free, task.rules, _space(task, models)
    if not rules.about_bits:
        return [rule.column for rule in rules.columns if rule.way == "keep"]
    if free is None or space is None or not space.only_flags:
        return []
    fixed: list[int] = np.flatnonzero(~free).tolist()
    return fixed


def notes_on(task: Task, series: Series, models: Mapping[str, StoredModel]) -> list[str]:
    """How the question differs from the one that a view asks."""
    rules, space, notes = task.rules, _space(task, models), []
    if task.bits is None:
        notes.append(
            "It was asked about every possible input; shown is the one that was found, if there is one."
        )
    if task.scope != "team":
        own = decision_text(task.scope, 1)
        notes.append(f"It was asked about the machine of class {own} alone; the view asks the whole model.")
    if task.margin:
        notes.append(
            f"Decisions had to stand {margin_text(task.margin)}; in the view they just have to stand."
        )
    if (
        rules.direction is not None
        or rules.unit in ("steps", "cost")
        or any(r.way != "keep" for r in rules.columns)
    ):
        notes.append(f"What could change was limited, which the view does not do: {series.conditions}.")
    if rules.about_bits and space is not None and not space.only_flags:
        notes.append(
            "Single bits could flip, also to inputs that no row is; in the view, whole columns change."
        )
    return notes


def _space(task: Task, models: Mapping[str, StoredModel]) -> Space | None:
    """What the bits mean, if the store says it."""
    return task.named(models).space if all(key in models for key in task.models) else None
