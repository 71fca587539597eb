"""Looking at inputs: random ones, from sparse to dense, and those that were given. Two models that were not
made from each other differ on some of them nearly always."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.protocol import Deadline
from tmverify.properties.query import Query

_SEED = 2
_BATCH = 512  # a block of the fast evaluator
_CELLS = 1 << 25  # random bits at most


def find_among_samples(query: Query, deadline: Deadline) -> NDArray[np.uint8] | None:
    """An input on which the machines disagree, or None."""
    for rows in _batches(query):
        if deadline.passed():
            return None
        different = np.flatnonzero(disagree(query, rows))
        if len(different):
            return np.asarray(rows[different[0]])
    return None


def disagree(query: Query, rows: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Where the decisions that should agree do not, by the fast evaluator."""
    labels = [machine.predict(rows) for machine in query.machines]
    if query.expected is not None:
        labels.append(np.array(query.machines[0].classes)[[query.expected]])
    return np.asarray(labels[0] != labels[1], np.bool_)


def _batches(query: Query) -> Iterator[NDArray[np.uint8]]:
    n = query.region.n_features
    if query.hints is not None:
        for start in range(0, len(query.hints), 8 * _BATCH):
            yield query.hints[start : start + 8 * _BATCH]
    rng = np.random.default_rng(_SEED)
    size = max(2, min(_BATCH, _CELLS // n))
    density = 0.5
    while density * n >= 0.5:  # sparser ones would be all zeros
        rows = (rng.random((size, n), np.float32) < density).view(np.uint8)
        if density == 0.5:
            rows[0], rows[-1] = 1, 0
        yield rows
        density /= 4
