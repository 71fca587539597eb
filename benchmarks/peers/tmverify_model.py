"""Runner for a model that another runner has written: imported, compared row by row, and measured."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import version
from typing import Any

import numpy as np
from frame import Bits, Job, emit, measure_inference, predict_all

import tmverify as tv


class Imported:
    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            n_literals, clamp = int(file["n_literals"]), int(file["clamp"])
            included = np.unpackbits(file["included"], axis=1)[:, :n_literals]
            n_features = n_literals // 2
            signed = np.concatenate([np.arange(1, n_features + 1), -np.arange(1, n_features + 1)])
            self.model = tv.Model.from_clauses(
                n_features,
                [signed[np.flatnonzero(row)].tolist() for row in included],
                file["weights"],
                clamp=None if clamp < 0 else clamp,
            )
            self.predictions = file["predictions"]

    def as_input(self, X: Bits) -> Any:
        return X

    def predict(self, X: Any) -> Any:
        return self.model.predict(X)

    def predict_one(self, X: Any, i: int) -> Any:
        return self.model.predict(X[i : i + 1])


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    assert job.model is not None
    packages = ("tmverify", "numba", "numpy")
    emit("start", versions={name: version(name) for name in packages}, python=platform.python_version())
    imported, X = Imported(job.model), job.load("X_test")
    lengths = imported.model.clauses.lengths
    emit(
        "agreement",
        rows=len(X),
        equal=int(np.sum(predict_all(imported, X) == imported.predictions)),
        n_clauses=int(np.sum(lengths > 0)),
        literals=float(np.mean(lengths[lengths > 0])) if lengths.any() else 0.0,
    )
    emit("inference", **measure_inference(imported, X, job.inference_seconds))


if __name__ == "__main__":
    main()
