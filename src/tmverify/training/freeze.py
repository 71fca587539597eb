"""From automata to a Model: the literals that each clause includes, and its vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tmverify.model import Label, Model
from tmverify.model.clauses import Clauses
from tmverify.training.machine import Machine, included_literals

if TYPE_CHECKING:
    from collections.abc import Iterable


def freeze(
    machines: Sequence[Machine],
    n_clauses: int,
    n_features: int,
    classes: Sequence[Label],
    feature_names: Iterable[str] | None,
) -> Model:
    """The Model of one machine (binary) or of one machine a class (several)."""
    clauses = [_clause_list(machine, n_clauses, n_features) for machine in machines]
    lengths = np.concatenate([lengths for _, lengths in clauses])
    signs = np.where(np.arange(n_clauses) % 2 == 0, 1, -1)
    weights = np.zeros((len(machines), len(machines) * n_clauses), np.int64)
    for c, machine in enumerate(machines):
        weights[c, c * n_clauses : (c + 1) * n_clauses] = signs * machine.weights[:n_clauses]
    return Model(
        clauses=Clauses(
            n_features,
            np.concatenate([literals for literals, _ in clauses]),
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        ),
        weights=weights,
        bias=np.zeros(len(machines), np.int64),
        classes=tuple(classes),
        feature_names=None if feature_names is None else tuple(feature_names),
    )


def _clause_list(
    machine: Machine, n_clauses: int, n_features: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Signed literals of the clauses one after another, by feature, the negated one first; and how many."""
    included = included_literals(machine, n_clauses, n_features)
    clause, feature, positive = np.nonzero(included[:, ::-1].transpose(0, 2, 1))
    literals = np.where(positive, feature + 1, -feature - 1).astype(np.int32)
    return literals, np.bincount(clause, minlength=n_clauses).astype(np.int64)


def model_labels(classes: NDArray[Any]) -> list[Label]:
    """Labels as a Model takes them: integers where they are whole numbers, else text."""
    labels = classes.tolist()
    if all(isinstance(label, (bool, int, float)) and float(label).is_integer() for label in labels):
        return [int(label) for label in labels]
    return [str(label) for label in labels]
