"""Seconds to import tmverify, and to the end of a first fit and predict, numba's cache empty and filled."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.bench import Bench
from harness.processes import RUNNERS
from harness.report import Section


def measure(bench: Bench) -> Iterator[Section]:
    repeats = bench.repeats or (1 if bench.quick else 5)
    section = Section(
        "Start-up", {"repeats": repeats, "data": "200 rows of 100 bits"}, ("what", "seconds, median")
    )
    section.versions = {name: version(name) for name in ("tmverify", "numba", "scikit-learn")}
    for what, code in (("python -c pass", "pass"), ('python -c "import tmverify"', "import tmverify")):
        seconds = [_elapsed([sys.executable, "-c", code]) for _ in range(repeats)]
        _add(section, what, seconds)
        yield section
    cold: list[dict[str, float]] = []
    warm: list[dict[str, float]] = []
    for _ in range(repeats):
        with TemporaryDirectory() as cache:
            cold.append(_first_call(Path(cache)))
            warm.append(_first_call(Path(cache)))
    for state, calls in (("empty", cold), ("filled", warm)):
        for name in calls[0]:
            if name != "import":
                _add(section, f"{name}, cache {state}", [call[name] for call in calls])
    section.complete = True
    yield section


def _add(section: Section, what: str, seconds: list[float]) -> None:
    section.rows.append([what, f"{statistics.median(seconds):.3f}"])
    section.raw.append({"what": what, "seconds": seconds})


def _elapsed(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return time.perf_counter() - start


def _first_call(cache: Path) -> dict[str, float]:
    command = [sys.executable, str(RUNNERS / "first_call.py")]
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return {key: value for key, value in json.loads(done.stdout).items() if key != "event"}
