"""Finished tasks as a table for other tools: CSV, or Parquet with pyarrow.

Lists (flips, decisions, names) are JSON in both; what is not known is empty, infinity is ``inf``. Features
are given by index (``features``, ``flips``) and by name (``feature_names``, ``flipped_features``). An answer
that is not believed is a row too, of status ``unknown``: nothing is left out in silence.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tmverify.asking.answer import UNKNOWN, Asked, TaskAnswer
from tmverify.asking.task import Task, unpack
from tmverify.atomic import replacing
from tmverify.campaign.store import NOT_BELIEVED, Store, StoredModel
from tmverify.extras import need
from tmverify.model.names import feature_name

COLUMNS = (
    "task", "question", "models", "data", "index", "label", "epsilon", "scope", "direction", "features",
    "feature_names", "status", "radius", "lower", "upper", "decisions", "flips", "flipped_features",
    "seconds", "engine", "stop_reason", "detail", "trusts", "certificate", "attempts", "model_hashes",
    "versions",
)  # fmt: skip
_INTEGERS = ("index", "epsilon", "attempts")
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
            refused += _is_refused(record)
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
    schema = pyarrow.schema([(name, _type(pyarrow, name)) for name in COLUMNS])
    table = pyarrow.Table.from_pylist([_typed(record) for record in found], schema=schema)
    with replacing(path) as draft:
        parquet.write_table(table, draft)
    return Written(len(found), sum(map(_is_refused, found)))


def records(store: Store) -> Iterator[dict[str, Any]]:
    """A mapping for each finished task, in the order of the plan."""
    models = store.models()
    for row in store.rows():
        if row.answer is not None:
            model = row.task.named(models)
            yield {**_asked(row.task, model), **_found(row.task, row.answer, model)}
        elif row.refused is not None:  # perhaps because of its model
            refused = {"status": UNKNOWN, "stop_reason": NOT_BELIEVED, "detail": row.refused}
            yield {**_asked(row.task, None), **refused}


def _is_refused(record: dict[str, Any]) -> bool:
    return bool(record["stop_reason"] == NOT_BELIEVED)


def _asked(task: Task, model: StoredModel | None) -> dict[str, Any]:
    mask = None if task.mask is None else np.flatnonzero(unpack(task.mask, task.n_features)).tolist()
    return {
        "task": task.id,
        "question": task.question,
        "models": json.dumps(task.names),
        "data": task.data,
        "index": task.index,
        "label": task.label,
        "epsilon": task.epsilon,
        "scope": task.scope,
        "direction": task.direction,
        "features": None if mask is None else json.dumps(mask),
        "feature_names": None if mask is None or model is None else _names(mask, model),
        "model_hashes": json.dumps(task.models),
    }


def _found(task: Task, answer: TaskAnswer, model: StoredModel) -> dict[str, Any]:
    flips = Asked(task, answer).flips
    return {
        "status": answer.status,
        "radius": answer.lower if answer.lower == answer.upper else None,
        "lower": answer.lower,
        "upper": answer.upper,
        "decisions": None if answer.decisions is None else json.dumps(answer.decisions),
        "flips": None if flips is None else json.dumps(flips.tolist()),
        "flipped_features": None if flips is None else _names(flips.tolist(), model),
        "seconds": round(answer.seconds, 6),
        "engine": answer.engine,
        "stop_reason": answer.stop_reason,
        "detail": answer.detail,
        "trusts": json.dumps(answer.trusts),
        "certificate": answer.certificate_path,
        "attempts": answer.attempts,
        "versions": json.dumps(dict(answer.versions)),
    }


def _names(features: list[int], model: StoredModel) -> str:
    return json.dumps([feature_name(model, feature) for feature in features])


def _type(pyarrow: Any, name: str) -> Any:
    if name in _INTEGERS:
        return pyarrow.int64()
    return pyarrow.float64() if name in _FLOATS else pyarrow.string()


def _typed(record: dict[str, Any]) -> dict[str, Any]:
    """Values of the columns' types: labels and scopes are numbers or words, so here words."""
    return {name: _value(name, value) for name, value in record.items()}


def _value(name: str, value: Any) -> Any:
    if value is None or name in _INTEGERS:
        return value
    return float(value) if name in _FLOATS else str(value).encode("utf-8", "backslashreplace").decode()
