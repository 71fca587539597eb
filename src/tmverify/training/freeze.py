"""From automata to a Model: the literals that each clause includes, and its vote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError, ModelError
from tmverify.model import Label, Model
from tmverify.model.clauses import MAX_CLAUSES, Clauses
from tmverify.training.machine import Machine, included_literals

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_WEIGHTS = 1 << 28  # 2 GiB


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


def check_names(
    n_features: int, n_clauses: int, classes: Sequence[Label], feature_names: Iterable[str] | None
) -> None:
    """Raise InvalidInputError, before any training, if no Model can have this size or these names."""
    n_rows = 1 if len(classes) == 2 else len(classes)
    if n_rows * n_clauses > MAX_CLAUSES or n_rows * n_rows * n_clauses > MAX_WEIGHTS:
        raise InvalidInputError(
            f"{len(classes)} classes of {n_clauses} clauses are too many for one model: its table of weights "
            f"would have {n_rows * n_rows * n_clauses} entries, and {MAX_WEIGHTS} is the limit. "
            "Use fewer clauses, or fewer classes."
        )
    try:
        Model.from_clauses(
            n_features,
            [],
            np.zeros((n_rows, 0), np.int64),
            classes=classes,
            feature_names=None if feature_names is None else list(feature_names),
        )
    except ModelError as error:
        raise InvalidInputError(str(error)) from None
