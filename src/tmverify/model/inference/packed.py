"""What ``Model.scores`` and ``Model.predict`` run on: inference forms of a Model, for the numba kernels.

All keep only the clauses that can change a score (``model.evaluate.live_clauses``).

- ``table``, for the classes of a few rows, unless the model is large
- ``index``, for the scores of a few rows, and for their classes if the model is large
- ``batch``, for blocks of rows

Each is built when first needed. They are separate from training and file on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.model.checks import BYTE, as_bit_matrix, as_rows
from tmverify.model.evaluate import least_positive_score, live_clauses
from tmverify.model.inference.batch import BLOCK_ROWS, BatchForm, batch_form
from tmverify.model.inference.rows import AddVotes, TableForm, index_form, table_form

if TYPE_CHECKING:
    from tmverify.model.machine import Model

# A block costs the same however few of its rows are used; up to about here single rows are cheaper.
FEW_ROWS = 48
FEW_ROWS_BY_TABLE = 128
NO_CLAMP = (1 << 63) - 1


class PackedModel:
    """The forms of one model, and the choice between them."""

    def __init__(self, model: Model) -> None:
        live, self._bias = live_clauses(model)
        self._clauses = model.clauses.select(live)
        self._votes = np.ascontiguousarray(model.weights[:, live].T)
        self._classes = np.array(model.classes)
        self._least_positive = least_positive_score(model.tie)
        self._clamp = NO_CLAMP if model.clamp is None else model.clamp
        self._n_features = model.n_features
        # For one row, the class is the kernel's return value: threads may share the array that it writes to.
        self._unread = np.empty(1, np.int64)
        self._shape_of_one = (1, model.n_features)
        self._labels_of_one = [self._classes[c : c + 1] for c in range(len(self._classes))]

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Label of each row."""
        # One row is a special case: it takes 1.5 microseconds, so every call and look-up counts.
        if (
            type(X) is np.ndarray
            and X.shape == self._shape_of_one
            and X.dtype == BYTE
            and X.flags.c_contiguous
        ):
            form = self._table_form
            if form is not None:
                c = form.decide_few(X, form.table, self._unread)
                if c >= 0:
                    return self._labels_of_one[c].copy()
        rows = as_rows(X, self._n_features)
        classes = np.empty(len(rows), np.int64)
        if len(rows) < FEW_ROWS_BY_TABLE and self._table_form is not None:
            if self._table_form.decide_few(rows, self._table_form.table, classes) < 0:
                as_bit_matrix(rows, self._n_features)  # raises: a byte is no bit
        else:
            self._decide_rows(self.scores(rows), self._least_positive, self._clamp, classes)
        return self._classes[classes]

    def scores(self, X: ArrayLike) -> NDArray[np.int64]:
        """Scores of each row, (n, outputs) int64; the kernels also check the bytes."""
        rows = as_rows(X, self._n_features).view()
        n = len(rows)
        rows.flags.writeable = False  # else kernels would be compiled twice, for writable arrays too
        scores = np.empty((n, len(self._bias)), np.int64)
        scores[:] = self._bias
        rest = n % BLOCK_ROWS
        in_blocks = n - rest if rest < FEW_ROWS else n
        seen = self._batch_form.add_votes(rows, in_blocks, scores) if in_blocks else 0
        if in_blocks < n:
            seen |= self._add_votes(rows[in_blocks:], scores[in_blocks:])
        if seen > 1:
            as_bit_matrix(rows, self._n_features)  # raises: a byte is no bit
        return scores

    # Kernels are imported once, when first used: an import statement costs a microsecond per call.
    @cached_property
    def _decide_rows(self) -> Callable[..., None]:
        from tmverify.model.inference._batch import decide_rows

        kernel: Callable[..., None] = decide_rows
        return kernel

    @cached_property
    def _table_form(self) -> TableForm | None:
        return table_form(self._clauses, self._votes, self._bias, self._least_positive, self._clamp)

    @cached_property
    def _add_votes(self) -> AddVotes:
        return index_form(self._clauses, self._votes)

    @cached_property
    def _batch_form(self) -> BatchForm:
        return batch_form(self._clauses, self._votes)
