"""Runner for green-tsetlin: a coalesced machine (weighted clauses shared by the classes), so another one.

Its trainer demands evaluation data and evaluates in every call; it gets a single row, and its own time of
the epoch is taken. Batches are predicted row by row: the predictor answers for one row at a time.
"""

from __future__ import annotations

from typing import Any

import green_tsetlin as gt
import numpy as np
from frame import Bits, Exported, Job, run
from numpy.typing import NDArray


class Green:
    packages = ("green-tsetlin", "numpy")

    def __init__(self, job: Job) -> None:
        self.job, self.epochs = job, 0
        self.tm: Any = None
        self.call: Any = None

    def as_input(self, X: Bits) -> Any:
        return np.ascontiguousarray(X, np.uint8)

    def fit_epoch(self, X: Any, y: NDArray[np.uint32]) -> float | None:
        job = self.job
        if self.tm is None:
            self.tm = gt.TsetlinMachine(
                n_literals=X.shape[1],
                n_clauses=job.n_clauses,
                n_classes=int(y.max()) + 1,
                s=float(job.specificity),
                threshold=job.threshold,
                **job.options,
            )
        self.epochs += 1
        trainer = gt.Trainer(
            self.tm,
            n_jobs=job.threads,
            n_epochs=1,
            seed=1 + 1000 * job.seed + self.epochs,
            load_best_state=False,
            progress_bar=False,
            copy_training_data=False,
        )
        trainer.set_train_data(X, y)
        trainer.set_eval_data(X[:1], y[:1])
        seconds = float(trainer.train()["train_time_of_epochs"][0])
        predictor = self.tm.get_predictor()
        predictor.predict(X[0])
        self.one = predictor.predict  # as a user calls it, and as ours is called
        self.call = predictor._inf.predict  # what that calls, without its checks: the fastest way for many
        return seconds

    def predict(self, X: Any) -> Any:
        return np.fromiter(map(self.call, X), np.int64, len(X))

    def predict_one(self, X: Any, i: int) -> Any:
        return self.one(X[i])

    def export(self) -> Exported:
        state = self.tm._state
        return Exported(state.c >= 0, state.w.T.astype(np.int64))


if __name__ == "__main__":
    run(Green)
