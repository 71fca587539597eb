"""What the first question costs a new process, with numba's cache empty and filled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.proving import Proving
from harness.report import Section

COLUMNS = ("what", "seconds, cache empty", "seconds, cache filled")
_QUESTIONS = """
import json, time
def lap(since=[time.perf_counter()]):
    now = time.perf_counter()
    since.append(now)
    return now - since[-2]
seconds = {}
import tmverify as tv
seconds["import tmverify"] = lap()
clauses = [[1, 2], [-1, 3], [2, -3], [4], [-4, 1], [3, 4]]
team = tv.Model.from_clauses(4, clauses, [[1, -1, 1, 0, 0, 1], [0, 1, -1, 1, 0, 0], [0, 0, 1, -1, 1, 0]])
lap()
tv.check_robustness(team, [1, 0, 1, 0], 2, scope=0)
seconds["first robustness, single scope"] = lap()
tv.check_robustness(team, [1, 0, 1, 0], 2)
seconds["first robustness, team scope"] = lap()
tv.robustness_radius(team, [1, 0, 1, 0])
seconds["first radius"] = lap()
tv.check_robustness(team, [1, 0, 1, 0], 2, engine="sat")
seconds["first question to sat (a process is started)"] = lap()
print(json.dumps(seconds))
"""


def measure(bench: Proving) -> Iterator[Section]:
    sheet = bench.begin("first-use", "First use", {"machine": "4 features, 6 clauses", "cores": 1}, COLUMNS)
    section = sheet.section
    yield section
    with TemporaryDirectory() as cache:
        empty, filled = _seconds(Path(cache)), _seconds(Path(cache))
    section.raw += [{"cache": "empty", **empty}, {"cache": "filled", **filled}]
    section.rows = [[what, f"{empty[what]:.2f}", f"{filled[what]:.2f}"] for what in empty]
    section.complete = True
    yield section


def _seconds(cache: Path) -> dict[str, float]:
    env = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", _QUESTIONS]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout))
