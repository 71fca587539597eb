"""Included literals, as other libraries keep them, to clauses.

Every library here has the same literals, the features and then their negations: literal l < n asks for
feature l, literal n + l for its absence. What differs is how a clause says which it includes:

- a matrix of Booleans, a row a clause;
- automata in bit slices: 32 literals a word, a word for each bit of their states, lowest bit first. A literal
  is included iff its highest state bit is set. Words are padded to 32 literals, and the padding is trained
  like the rest: what lies there means nothing;
- lists of literals.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import ModelError, shown
from tmverify.model.clauses import Clauses, check_n_features
from tmverify.model.container import MAX_FILE_BYTES

MAX_LITERALS = MAX_FILE_BYTES // 4  # as many as a model file holds
_CELLS_AT_ONCE = 1 << 22  # numpy finds the included ones with 24 bytes each


def included_in_slices(
    states: NDArray[np.uint32], n_clauses: int, n_state_bits: int, n_literals: int
) -> NDArray[np.bool_]:
    """Which literals each clause includes, (n_clauses, n_literals), from automata in bit slices."""
    words = (n_literals - 1) // 32 + 1
    expected = n_clauses * words * n_state_bits
    if states.dtype != np.uint32 or states.size != expected:
        raise ModelError(
            f"The automata of {n_clauses} clauses with {n_literals} literals and {n_state_bits} state bits "
            f"take {expected} words of uint32. Got {states.size} of {states.dtype} instead."
        )
    top = states.reshape(n_clauses, words, n_state_bits)[:, :, -1].astype("<u4")
    bits = np.unpackbits(top.view(np.uint8).reshape(n_clauses, -1), axis=1, bitorder="little")
    return bits[:, :n_literals].astype(np.bool_)


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


def clauses_of_lists(rules: Iterable[Iterable[int]], n_features: int) -> Clauses:
    """Clauses of lists of literals, numbered from 0: the features, then their negations."""
    n_features = check_n_features(n_features)
    signed = []
    for j, rule in enumerate(rules):
        literals = [int(lit) for lit in rule]
        if not all(0 <= lit < 2 * n_features for lit in literals):
            raise ModelError(
                f"The literals of {n_features} features are 0 to {2 * n_features - 1}. "
                f"Rule {j} has {shown(literals)} instead."
            )
        signed.append([lit + 1 if lit < n_features else n_features - lit - 1 for lit in literals])
    return Clauses.from_lists(n_features, signed)
