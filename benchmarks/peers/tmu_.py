"""Runner for tmu's vanilla TMClassifier, one thread. It wants 32-bit inputs; a seed of 0 hangs.

Option ``platform``: "CPU", or "CPU_sparse", which trains the same machine on lists of literals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from frame import Bits, Exported, Job, included_of, run
from numpy.typing import NDArray
from tmu.models.classification.vanilla_classifier import TMClassifier


class Tmu:
    packages = ("tmu", "numpy")

    def __init__(self, job: Job) -> None:
        self.sparse = job.options.get("platform", "CPU") == "CPU_sparse"
        self.tm = TMClassifier(
            job.n_clauses,
            job.threshold,
            job.specificity,
            boost_true_positive_feedback=1,
            number_of_state_bits_ta=8,
            seed=job.seed + 1,
            **job.options,
        )

    def as_input(self, X: Bits) -> Any:
        if not self.sparse:
            return X.astype(np.uint32)
        from scipy.sparse import csr_matrix

        return csr_matrix(X.astype(np.uint32))

    def fit_epoch(self, X: Any, y: NDArray[np.uint32]) -> float | None:
        self.tm.fit(X, y)
        return None

    def predict(self, X: Any) -> Any:
        return self.tm.predict(X)

    def predict_one(self, X: Any, i: int) -> Any:
        return self.tm.predict(X[i : i + 1])

    def export(self) -> Exported:
        included, weights = [], []
        for c in range(self.tm.number_of_classes):
            bank = self.tm.clause_banks[c]
            chunks = bank.clause_bank.reshape(self.tm.number_of_clauses, bank.number_of_ta_chunks, -1)
            included.append(included_of(chunks, bank.number_of_literals))
            rows = np.zeros((self.tm.number_of_classes, self.tm.number_of_clauses), np.int64)
            rows[c] = self.tm.weight_banks[c].get_weights()
            weights.append(rows)
        return Exported(np.concatenate(included), np.concatenate(weights, axis=1))


if __name__ == "__main__":
    run(Tmu)
