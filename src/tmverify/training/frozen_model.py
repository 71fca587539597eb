"""From automata to a Model: which literals each clause includes, and how it votes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tmverify.errors import InvalidInputError, ModelError
from tmverify.model import Label, Model
from tmverify.model.clauses import MAX_CLAUSES, clauses_of_matrix, one_machine_a_class
from tmverify.space import Space
from tmverify.training.machine import Machine, included_literals

MAX_WEIGHTS = 1 << 28  # 2 GiB


def frozen_model(
    machines: Sequence[Machine],
    n_clauses: int,
    classes: Sequence[Label],
    space: Space,
) -> Model:
    """The Model of one machine (for two classes), or of a machine for each class."""
    n_features = space.n_bits
    signs = np.where(np.arange(n_clauses) % 2 == 0, 1, -1)
    parts = []
    for machine in machines:
        included = included_literals(machine, n_clauses, n_features).reshape(n_clauses, -1)
        votes = signs * machine.weights[:n_clauses].astype(np.int64)
        parts.append((clauses_of_matrix(included, n_features), votes))
    clauses, weights = one_machine_a_class(parts)
    return Model(
        clauses=clauses,
        weights=weights,
        bias=np.zeros(len(machines), np.int64),
        classes=tuple(classes),
        space=space,
    )


def check_size(n_clauses: int, classes: Sequence[Label], space: Space) -> None:
    """Raise InvalidInputError, before any training, if no Model can have this size or these classes."""
    n_rows = 1 if len(classes) == 2 else len(classes)
    if n_rows * n_clauses > MAX_CLAUSES or n_rows * n_rows * n_clauses > MAX_WEIGHTS:
        raise InvalidInputError(
            f"{len(classes)} classes of {n_clauses} clauses are too many for one model: its table of weights "
            f"would have {n_rows * n_rows * n_clauses} entries, and {MAX_WEIGHTS} is the limit. "
            "Use fewer clauses, or fewer classes."
        )
    try:
        Model.from_clauses(space.n_bits, [], np.zeros((n_rows, 0), np.int64), classes=classes, space=space)
    except ModelError as error:
        raise InvalidInputError(str(error)) from None
