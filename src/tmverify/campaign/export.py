"""Finished tasks as a table for other tools: CSV, or Parquet with pyarrow.

Lists (flips, decisions, names, changes) are JSON in both; unknown values are empty, infinity is ``inf``.
``rules`` has what each column may do, unless that is simply to change at cost 1; lower, upper and radius are
costs: columns, steps or bits, as ``distance`` says, unless ``rules`` name others. ``margin`` is by how many
votes decisions must stand, 0 if that was not asked; then ``leads`` are the votes by which those on the
counterexample do.
Features are given by index (``features``, ``flips``) and by name (``feature_names``, ``flipped_features``);
``changes`` are the columns that differ, in words, and ``possible`` says whether a row can be the
counterexample. Of an explanation, ``facts`` are the columns that suffice, ``rule`` says them in a sentence,
and ``undecided`` are those that might be left out. An answer that is not believed has a row too, with status
``unknown``: no finished task is silently left out.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tmverify.asking.answer import UNKNOWN, Asked, TaskAnswer, changes_of
from tmverify.asking.reason import said
from tmverify.asking.task import Task
from tmverify.atomic import replacing
from tmverify.campaign.store import NOT_BELIEVED, Store, StoredModel
from tmverify.extras import need
from tmverify.model.names import feature_name

COLUMNS = (
    "task", "question", "models", "data", "index", "line", "name", "label", "epsilon", "margin", "scope",
    "distance", "rules", "direction", "features", "feature_names", "status", "radius", "lower", "upper",
    "decisions", "leads", "flips", "flipped_features", "changes", "possible", "facts", "rule", "undecided",
    "seconds", "engine", "stop_reason", "detail", "trusts", "certificate", "attempts", "model_hashes",
    "versions",
)  # fmt: skip
_INTEGERS = ("index", "line", "epsilon", "margin", "attempts")
_FLOATS = ("radius", "lower", "upper", "seconds")


@dataclass(frozen=True, slots=True)
class Written:
    """How many rows were written, and how many of them are answers that are not believed."""

    rows: int
    refused: int


def export_csv(store: Store, path: str | os.PathLike[str]) -> Written:
    """Write the finished tasks."""
    n = refused = 0
    with (
        replacing(path) as draft,
        open(draft, "x", newline="", encoding="utf-8", errors="backslashreplace") as text,
    ):
        writer = csv.DictWriter(text, COLUMNS)
        writer.writeheader()
        for record in records(store):
            writer.writerow(record)
            n += 1
            refused += record["stop_reason"] == NOT_BELIEVED
    return Written(n, refused)


def export_parquet(store: Store, path: str | os.PathLike[str]) -> Written:
    """Write the finished tasks.

    Raises
    ------
    MissingExtraError
    """
    pyarrow = need("pyarrow", extra="parquet", what="--parquet")
    parquet = need("pyarrow.parquet", extra="parquet", what="--parquet")
    found = list(records(store))
    types = dict.fromkeys(COLUMNS, pyarrow.string())
    types |= dict.fromkeys(_INTEGERS, pyarrow.int64()) | dict.fromkeys(_FLOATS, pyarrow.float64())
    table = pyarrow.Table.from_pylist([_typed(record) for record in found], schema=pyarrow.schema(types))
    with replacing(path) as draft:
        parquet.write_table(table, draft)
    return Written(len(found), sum(record["stop_reason"] == NOT_BELIEVED for record in found))


def records(store: Store) -> Iterator[dict[str, Any]]:
    """A mapping for each finished task, in the order of the plan."""
    models = store.models()
    for row in store.rows():
        if row.answer is not None:
            model = row.task.named(models)
            yield {**_asked(row.task, model), **_found(row, row.answer, model)}
        elif row.refused is not None:  # its model may be the reason, so no names
            refused = {"status": UNKNOWN, "stop_reason": NOT_BELIEVED, "detail": row.refused}
            yield {**_asked(row.task, None), **refused}


def _asked(task: Task, model: StoredModel | None) -> dict[str, Any]:
    mask = None if task.free is None else np.flatnonzero(task.free).tolist()
    own = ("question", "data", "index", "line", "label", "epsilon", "margin", "scope")
    return {
        **{name: getattr(task, name) for name in own},
        "task": task.id,
        "name": task.row_name,
        "models": json.dumps(task.names),
        "distance": task.rules.distance,
        "rules": None if model is None else json.dumps(task.rules.by_column(model.space)),
        "direction": task.rules.direction,
        "features": _json(mask),
        "feature_names": None if model is None else _names(mask, model),
        "model_hashes": json.dumps(task.models),
    }


def _found(row: Asked, answer: TaskAnswer, model: StoredModel) -> dict[str, Any]:
    flips = None if row.flips is None else row.flips.tolist()
    own = ("status", "lower", "upper", "engine", "stop_reason", "detail", "attempts")
    return {
        **{name: getattr(answer, name) for name in own},
        "radius": answer.lower if answer.lower == answer.upper else None,
        "decisions": _json(answer.decisions),
        "leads": _json(answer.leads),
        "flips": _json(flips),
        "flipped_features": _names(flips, model),
        "changes": None if flips is None else json.dumps(changes_of(row, model.space)),
        "possible": _json(row.possible(model.space)),
        **_reason(row, answer, model),
        "seconds": round(answer.seconds, 6),
        "trusts": json.dumps(answer.trusts),
        "certificate": answer.certificate_path,
        "versions": json.dumps(dict(answer.versions)),
    }


def _reason(row: Asked, answer: TaskAnswer, model: StoredModel) -> dict[str, Any]:
    if answer.reason is None:
        return {}
    facts, rule = said(row.task, answer.reason, model)
    undecided = set(answer.reason.undecided)
    names = [
        fact.column for fact, place in zip(facts, answer.reason.places, strict=True) if place in undecided
    ]
    told = [{"column": fact.column, "value": fact.value, "text": fact.text} for fact in facts]
    return {"facts": json.dumps(told), "rule": rule, "undecided": json.dumps(names)}


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _names(features: list[int] | None, model: StoredModel) -> str | None:
    return None if features is None else json.dumps([feature_name(model, each) for each in features])


def _typed(record: dict[str, Any]) -> dict[str, Any]:
    """Values of the columns' types; labels and scopes, which are numbers or text, become text."""

    def typed(name: str, value: Any) -> Any:
        if value is None or name in _INTEGERS:
            return value
        return float(value) if name in _FLOATS else str(value).encode("utf-8", "backslashreplace").decode()

    return {name: typed(name, value) for name, value in record.items()}
