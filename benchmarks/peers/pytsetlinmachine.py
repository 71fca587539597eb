"""Runner for pyTsetlinMachine and pyTsetlinMachineParallel, which share their interface.

Options: ``package``, and for the first ``indexed``. The number of threads of the second is OpenMP's.
Neither takes a seed. Votes: even clauses for, odd ones against; sums are cut to ±T before the argmax.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from frame import Bits, Exported, Job, included_of, run
from numpy.typing import NDArray


class PyTsetlinMachine:
    def __init__(self, job: Job) -> None:
        options = dict(job.options)
        package = options.pop("package")
        self.packages = (package, "numpy")
        self.tm = import_module(f"{package}.tm").MultiClassTsetlinMachine(
            job.n_clauses,
            job.threshold,
            job.specificity,
            boost_true_positive_feedback=1,
            number_of_state_bits=8,
            **options,
        )

    def as_input(self, X: Bits) -> Any:
        return X.astype(np.uint32)

    def fit_epoch(self, X: Any, y: NDArray[np.uint32]) -> float | None:
        self.tm.fit(X, y, epochs=1, incremental=True)
        return None

    def predict(self, X: Any) -> Any:
        return self.tm.predict(X)

    def predict_one(self, X: Any, i: int) -> Any:
        return self.tm.predict(X[i : i + 1])

    def export(self) -> Exported:
        tm, included, weights = self.tm, [], []
        for c, (counts, state) in enumerate(tm.get_state()):
            chunks = state.reshape(tm.number_of_clauses, tm.number_of_ta_chunks, tm.number_of_state_bits)
            included.append(included_of(chunks, tm.number_of_features))
            rows = np.zeros((tm.number_of_classes, tm.number_of_clauses), np.int64)
            rows[c] = counts.astype(np.int64) * np.where(np.arange(tm.number_of_clauses) % 2, -1, 1)
            weights.append(rows)
        return Exported(np.concatenate(included), np.concatenate(weights, axis=1), clamp=tm.T)


if __name__ == "__main__":
    run(PyTsetlinMachine)
