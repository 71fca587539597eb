"""A model as rules that a person can read, class by class.

Features without a name are called x1, x2, … as in the paper: x1 is feature 0, literal 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tmverify.model.machine import Model


def to_text(model: Model, max_clauses: int | None = None) -> str:
    """One line per clause and class that it votes on, at most ``max_clauses`` per class."""
    return "\n".join(_lines(model, max_clauses))


def feature_name(model: Model, feature: int) -> str:
    """The name of a feature: its own, or x1, x2, …"""
    return f"x{feature + 1}" if model.feature_names is None else model.feature_names[feature]


def clause_text(model: Model, j: int) -> str:
    """Clause j as a conjunction in words."""
    clause = model.clauses[j]
    if not clause:
        return "(empty: never true)" if model.empty_clause == "silent" else "(empty: always true)"
    words = [("" if lit > 0 else "not ") + feature_name(model, abs(lit) - 1) for lit in clause]
    contradictory = len({abs(lit) for lit in clause}) < len(clause)
    return " and ".join(words) + ("  (contradictory: never true)" if contradictory else "")


def _lines(model: Model, max_clauses: int | None) -> Iterator[str]:
    yield f"Tsetlin machine: {model.n_features} features, {model.n_clauses} clauses"
    yield f"decision: {_rule(model)}"
    for row in range(model.n_outputs):
        label = model.classes[1] if model.n_outputs == 1 else model.classes[row]
        voters = np.flatnonzero(model.weights[row])
        shown = voters[:max_clauses]
        start = f", starting from {model.bias[row]:+d}" if model.bias[row] else ""
        yield f"votes on class {label}{start}:"
        for j in shown:
            yield f"  {model.weights[row, j]:+d}  {clause_text(model, int(j))}"
        if len(shown) < len(voters):
            yield f"  … and {len(voters) - len(shown)} more"


def _rule(model: Model) -> str:
    clamp = "" if model.clamp is None else f", each score cut to [-{model.clamp}, {model.clamp}]"
    if model.n_outputs > 1:
        return f"the class with the most votes; on a tie the first in order{clamp}"
    sign = ">=" if model.tie == "positive" else ">"
    return f"class {model.classes[1]} if the votes sum to {sign} 0, else class {model.classes[0]}{clamp}"
