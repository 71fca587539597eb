"""A model as rules that a person can read, class by class, its features by their names (``model.names``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from tmverify.errors import InvalidInputError, shown
from tmverify.model.names import Named, feature_name

if TYPE_CHECKING:
    from tmverify.model.machine import Model


def to_text(model: Model, max_clauses: int | None = None) -> str:
    """One line per clause and class that it votes on, at most ``max_clauses`` per class."""
    if max_clauses is not None and (type(max_clauses) is not int or max_clauses < 0):
        raise InvalidInputError(
            f"max_clauses must be None or an integer >= 0. Got {shown(max_clauses)} instead."
        )
    return "\n".join(_lines(model, max_clauses))


def printable_name(model: Named, feature: int) -> str:
    """The name of a feature, to be shown."""
    return _printable(feature_name(model, feature))


def _printable(label: object) -> str:
    """Names come from files: no line breaks, no terminal codes."""
    text = str(label)
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def clause_text(model: Model, j: int) -> str:
    """Clause j as a conjunction in words."""
    clause = model.clauses[j]
    if not clause:
        return "(empty: never true)" if model.empty_clause == "silent" else "(empty: always true)"
    words = [("" if lit > 0 else "not ") + printable_name(model, abs(lit) - 1) for lit in clause]
    contradictory = len({abs(lit) for lit in clause}) < len(clause)
    return " and ".join(words) + ("  (contradictory: never true)" if contradictory else "")


def _lines(model: Model, max_clauses: int | None) -> Iterator[str]:
    yield f"Tsetlin machine: {model.n_features} features, {model.n_clauses} clauses"
    yield f"decision: {_rule(model)}"
    for row in range(model.n_outputs):
        label = model.classes[1] if model.n_outputs == 1 else model.classes[row]
        voters = np.flatnonzero(model.weights[row])
        listed = voters[:max_clauses]
        start = f", starting from {model.bias[row]:+d}" if model.bias[row] else ""
        yield f"votes on class {_printable(label)}{start}:"
        for j in listed:
            yield f"  {model.weights[row, j]:+d}  {clause_text(model, int(j))}"
        if len(listed) < len(voters):
            yield f"  … and {len(voters) - len(listed)} more"


def _rule(model: Model) -> str:
    clamp = "" if model.clamp is None else f", each score cut to [-{model.clamp}, {model.clamp}]"
    if model.n_outputs > 1:
        return f"the class with the most votes; on a tie the first in order{clamp}"
    sign = ">=" if model.tie == "positive" else ">"
    first, second = map(_printable, model.classes)
    return f"class {second} if the votes sum to {sign} 0, else class {first}{clamp}"
