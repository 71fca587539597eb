"""Clauses and votes put together: from a matrix of included literals, and from one machine a class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import ModelError
from tmverify.model.clauses import Clauses, check_n_features, concatenate
from tmverify.model.container import MAX_FILE_BYTES

# Clauses, and their weights: (n_clauses,), or (outputs, n_clauses).
Votes = tuple[Clauses, NDArray[np.int64]]

MAX_LITERALS = MAX_FILE_BYTES // 4  # as many as a model file holds
_CELLS_AT_ONCE = 1 << 22  # numpy finds the included ones with 24 bytes each


def clauses_of_matrix(included: NDArray[np.bool_], n_features: int) -> Clauses:
    """Clauses of a Boolean matrix with ``n_features`` columns, or twice as many: the negations follow."""
    n_features = check_n_features(n_features)
    n_clauses, n_literals = included.shape
    if n_literals not in (n_features, 2 * n_features):
        raise ModelError(f"{n_features} features have as many literals, or twice. Got {n_literals} instead.")
    lengths = np.count_nonzero(included, axis=1)
    if lengths.sum() > MAX_LITERALS:
        raise ModelError(f"A model may have {MAX_LITERALS} literals in all. Got {lengths.sum()} instead.")
    rows = max(1, _CELLS_AT_ONCE // n_literals)
    parts = [_literals(included[a : a + rows], n_features) for a in range(0, n_clauses, rows)]
    return Clauses(
        n_features,
        np.concatenate([np.zeros(0, np.int32), *parts]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def _literals(included: NDArray[np.bool_], n_features: int) -> NDArray[np.int32]:
    """The literals of some rows, sorted by feature, the negation first, as clauses are."""
    both = np.zeros((len(included), n_features, 2), np.bool_)
    both[:, :, 1] = included[:, :n_features]
    if included.shape[1] > n_features:
        both[:, :, 0] = included[:, n_features:]
    _, features, positive = np.nonzero(both)
    return np.where(positive == 1, features + 1, -(features + 1)).astype(np.int32)


def one_machine_a_class(parts: Sequence[Votes]) -> Votes:
    """All clauses, and a matrix in which the clauses of machine c vote on class c alone."""
    weights = np.zeros((len(parts), sum(len(clauses) for clauses, _ in parts)), np.int64)
    start = 0
    for c, (clauses, votes) in enumerate(parts):
        weights[c, start : start + len(clauses)] = votes
        start += len(clauses)
    return concatenate([clauses for clauses, _ in parts]), weights
