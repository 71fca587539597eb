"""Runner for tmverify's own classifier. What numba compiles is compiled before the clock starts.

Option ``times``: clauses of a machine, in multiples of the job's. For two classes the peers train two
machines of N clauses and ours trains one; with ``times`` 2 that one has as many clauses as theirs together.
Option ``learning_only``: without checking and packing the data, which ``fit`` does once for all its epochs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from frame import Bits, Exported, Job, run
from numpy.typing import NDArray

from tmverify import TsetlinMachineClassifier


class Ours:
    packages = ("tmverify", "numba", "numpy")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.classes = np.unique(job.load("y_train"))
        self.clf = self._new()
        few = slice(0, 64)
        warm_up = self._new().partial_fit(job.load("X_train")[few], job.load("y_train")[few], self.classes)
        warm_up.predict(job.load("X_test")[few])

    def _new(self) -> TsetlinMachineClassifier:
        return TsetlinMachineClassifier(
            n_clauses=self.job.n_clauses * self.job.options.get("times", 1),
            threshold=self.job.threshold,
            specificity=self.job.specificity,
            n_epochs=1,
            n_jobs=self.job.threads,
            random_state=self.job.seed,
            boost_true_positive=True,
        )

    def as_input(self, X: Bits) -> Any:
        return X

    def fit_epoch(self, X: Any, y: NDArray[np.uint32]) -> float | None:
        self.clf.partial_fit(X, y, self.classes)
        return float(self.clf.history_[-1]["seconds"]) if self.job.options.get("learning_only") else None

    def predict(self, X: Any) -> Any:
        return self.clf.predict(X)

    def predict_one(self, X: Any, i: int) -> Any:
        return self.clf.predict(X[i : i + 1])

    def export(self) -> Exported:
        model = self.clf.model_
        included = np.zeros((model.n_clauses, 2 * model.n_features), np.bool_)
        for j, clause in enumerate(model.clauses):
            for lit in clause:
                included[j, lit - 1 if lit > 0 else model.n_features - lit - 1] = True
        return Exported(included, np.asarray(model.weights), model.clamp)


if __name__ == "__main__":
    run(Ours)
