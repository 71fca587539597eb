"""Seconds to import tmverify, and of the first and second fit and predict of a fresh process."""

from __future__ import annotations

import json
import time

start = time.perf_counter()
import tmverify as tv  # noqa: E402

imported = time.perf_counter() - start

import numpy as np  # noqa: E402


def main() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 100), np.uint8)
    y = (X[:, 0] ^ X[:, 1]).astype(np.int64)
    seconds = {"import": imported}
    for call in ("first", "second"):
        start = time.perf_counter()
        clf = tv.TsetlinMachineClassifier(
            n_clauses=20, threshold=10, specificity=3.0, n_epochs=1, n_jobs=1, random_state=0
        ).fit(X, y)
        fitted = time.perf_counter()
        clf.predict(X)
        seconds[f"{call} fit"] = fitted - start
        seconds[f"{call} predict"] = time.perf_counter() - fitted
    print(json.dumps({"event": "seconds", **seconds}))


if __name__ == "__main__":
    main()
