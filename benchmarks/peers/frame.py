"""What every runner shares: one job in, timed JSON lines out.

A runner is ``python <library>.py <job as JSON>``. It runs in the environment of its library, so this file
knows NumPy and the standard library only. Each line of its output that starts with ``{"event"`` is a
measurement: ``start`` (versions), ``epoch`` (seconds, accuracy), ``inference`` (samples a second in batches,
seconds for a single sample). A process that is ended early has still reported what it had finished.

Timed: the library's own call for one pass over the training data, and its own predict call. Not timed:
loading the data, converting it to the type the library asks for, and compiling.
"""

from __future__ import annotations

import json
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.uint8]
CHUNK = 5_000  # rows predicted at a time for an accuracy: bounds the memory of 32-bit copies


@dataclass(frozen=True)
class Job:
    """One measurement. ``n_clauses`` is per class, or the number of shared clauses of a coalesced machine."""

    data: str
    n_clauses: int
    threshold: int
    specificity: float
    epochs: int
    threads: int = 1
    seed: int = 0
    evaluate: str = "every"  # "every" epoch, or the "last" one only
    target: float | None = None  # stop at this test accuracy
    stop_after: float | None = None  # stop at the first epoch that ends after so many seconds
    inference_seconds: float = 0.0  # 0: do not measure inference
    model: str | None = None  # where the trained model is written, or read by our own runner
    options: dict[str, Any] = field(default_factory=dict)

    def load(self, name: str) -> NDArray[Any]:
        """One of X_train, y_train, X_test, y_test."""
        loaded: NDArray[Any] = np.load(Path(self.data) / f"{name}.npy")
        return loaded


@dataclass(frozen=True)
class Exported:
    """A trained machine as its library decides: scores (cut to ±clamp, if any), the highest wins."""

    included: NDArray[np.bool_]  # (n_clauses, 2 * n_features): the features, then their negations
    weights: NDArray[np.int64]  # (outputs, n_clauses)
    clamp: int | None = None


class Predictor(Protocol):
    """What inference is measured on."""

    def as_input(self, X: Bits) -> Any:
        """X in the type that the library asks for, one row per sample."""

    def predict(self, X: Any) -> Any:
        """Labels of a batch, in the fastest way that the library has."""

    def predict_one(self, X: Any, i: int) -> Any:
        """Label of row i alone, in the fastest way that the library has."""


class Machine(Predictor, Protocol):
    """One library's machine."""

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions whose versions are reported."""

    def fit_epoch(self, X: Any, y: NDArray[np.uint32]) -> float | None:
        """One pass over the data; the seconds of it if the library times itself."""

    def export(self) -> Exported:
        """The trained machine."""


def emit(event: str, **values: Any) -> None:
    print(json.dumps({"event": event, **values}), flush=True)


def run(make: Callable[[Job], Machine]) -> None:
    """Do the job named on the command line."""
    job = Job(**json.loads(sys.argv[1]))
    machine = make(job)
    emit(
        "start", versions={name: version(name) for name in machine.packages}, python=platform.python_version()
    )
    train(machine, job)
    if job.inference_seconds:
        emit("inference", **measure_inference(machine, job.load("X_test"), job.inference_seconds))
    if job.model:
        export(machine, job)


def train(machine: Machine, job: Job) -> None:
    X, y = machine.as_input(job.load("X_train")), job.load("y_train")
    X_test, y_test = job.load("X_test"), job.load("y_test")
    begun, spent = time.perf_counter(), 0.0
    for epoch in range(1, job.epochs + 1):
        start = time.perf_counter()
        own = machine.fit_epoch(X, y)
        seconds = time.perf_counter() - start if own is None else own
        spent += seconds
        late = job.stop_after is not None and time.perf_counter() - begun > job.stop_after
        accuracy = None
        if job.evaluate == "every" or epoch == job.epochs or late:
            accuracy = accuracy_of(machine, X_test, y_test)
        emit("epoch", epoch=epoch, seconds=seconds, spent=spent, accuracy=accuracy)
        if late or (job.target is not None and accuracy is not None and accuracy >= job.target):
            return


def predict_all(machine: Predictor, X: Bits) -> NDArray[np.int64]:
    parts = [machine.predict(machine.as_input(X[i : i + CHUNK])) for i in range(0, len(X), CHUNK)]
    return np.concatenate(parts).astype(np.int64)


def accuracy_of(machine: Predictor, X: Bits, y: NDArray[np.uint32]) -> float:
    return float(np.mean(predict_all(machine, X) == y))


def measure_inference(machine: Predictor, X: Bits, seconds: float) -> dict[str, float]:
    """Medians over repeated calls: batches of as many rows as fit the time (at most all), and single rows."""
    few = machine.as_input(X[:200])
    machine.predict(few)
    start = time.perf_counter()
    machine.predict(few)
    pace = (time.perf_counter() - start) / few.shape[0]
    rows = int(np.clip(seconds / 5 / pace, few.shape[0], len(X)))
    batch = machine.as_input(X[:rows])
    batches = timed(lambda _: machine.predict(batch), n=100, at_least=3, seconds=seconds)
    one = machine.as_input(X[:1000])
    machine.predict_one(one, 0)
    singles = timed(
        lambda i: machine.predict_one(one, i % one.shape[0]), n=5000, at_least=20, seconds=seconds
    )
    return {
        "rows": rows,
        "samples_per_second": rows / statistics.median(batches),
        "single_seconds": statistics.median(singles),
    }


def timed(call: Callable[[int], Any], *, n: int, at_least: int, seconds: float) -> list[float]:
    """Seconds of up to ``n`` calls, fewer if they take long."""
    taken: list[float] = []
    while len(taken) < at_least or (len(taken) < n and sum(taken) < seconds):
        start = time.perf_counter()
        call(len(taken))
        taken.append(time.perf_counter() - start)
    return taken


def export(machine: Machine, job: Job) -> None:
    """Write the trained machine and what it predicts, for the same machine to be measured elsewhere."""
    assert job.model is not None
    model, X = machine.export(), job.load("X_test")
    np.savez(
        job.model,
        included=np.packbits(model.included, axis=1),
        n_literals=model.included.shape[1],
        weights=model.weights,
        clamp=-1 if model.clamp is None else model.clamp,
        predictions=predict_all(machine, X),
    )


def included_of(chunks: NDArray[np.uint32], n_literals: int) -> NDArray[np.bool_]:
    """Included literals of bit-sliced automata, (n_clauses, chunk of 32 literals, state bit): the top bit."""
    top = np.ascontiguousarray(chunks[:, :, -1]).view(np.uint8)
    return np.unpackbits(top, axis=1, bitorder="little")[:, :n_literals].astype(np.bool_)
