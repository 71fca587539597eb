"""Start-up: what a user waits for before the work begins, before and after a change, in one run.

    python benchmarks/startup.py [--before c23c938] [--repeats 5]

Each command runs in a new process, by turns with the source of the revision ``--before`` (exported from git
to a temporary folder) and with this one's. Both have their Python files compiled, as an installed package
has. "First ever" begins with an empty cache of kernels. Seconds of the clock, and of the processor in
brackets (steadier where other work is running): medians.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent.parent
BEFORE = "c23c938"  # the last commit of version 0.1.0's first edition
_COMMAND = "import sys; from tmverify.cli import main; sys.exit(main())"
_QUESTION = """
import tmverify as tv
weights = [[1, -1, 1, 0], [0, 1, -1, 1], [0, 0, 1, -1]]
team = tv.Model.from_clauses(4, [[1, 2], [-1, 3], [2, -3], [4]], weights)
tv.check_robustness(team, [1, 0, 1, 0], 2)
"""


@dataclass
class Times:
    """Of one command with one source."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.seconds:.2f} ({statistics.median(self.processor):.2f})"

    @property
    def seconds(self) -> float:
        return statistics.median(self.clock)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--before", default=BEFORE, help=f"a revision of this repository (default {BEFORE})")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        room = Path(folder)
        sources = {"before": _exported(given.before, room / "before"), "after": _copied(room / "after")}
        _make_model(room)
        report(sources, room, given.repeats)


def report(sources: dict[str, Path], room: Path, repeats: int) -> None:
    """Measure all rows, and print them as they come."""
    robustness = [_COMMAND, "robustness", "digits.tm", "digits-test.npz", "--epsilon", "1", "--n", "5"]
    rows: list[tuple[str, list[str], bool]] = [
        ("python -c pass", ["pass"], False),
        ("import tmverify", ["import tmverify"], False),
        ("tmverify --version", [_COMMAND, "--version"], False),
        ("tmverify --help", [_COMMAND, "--help"], False),
        ("tmverify robustness, warm", robustness, False),
        ("tmverify robustness, first ever", robustness, True),
        ("check_robustness in Python, warm", [_QUESTION], False),
        ("check_robustness in Python, first ever", [_QUESTION], True),
    ]
    table = Table("what", "before, s", "after, s", "before / after")
    for what, arguments, first in rows:
        times = {name: Times() for name in sources}
        for turn in range(repeats if not first else max(1, repeats // 2)):
            for name in list(sources)[:: -1 if turn % 2 else 1]:
                _run(sources[name], arguments, room, room / f"kernels-{name}", times[name], first=first)
        before, after = times["before"], times["after"]
        table.add_row(what, str(before), str(after), f"{before.seconds / after.seconds:.1f} x")
        print(f"{what}: {before} s, {after} s", file=sys.stderr)
    Console(width=110).print(table)


def _run(source: Path, arguments: list[str], room: Path, kernels: Path, times: Times, *, first: bool) -> None:
    if first:
        shutil.rmtree(kernels, ignore_errors=True)
    elif not times.clock:
        _timed(source, arguments, room, kernels)  # whatever is loaded from disk was loaded once
    clock, processor = _timed(source, arguments, room, kernels)
    times.clock.append(clock)
    times.processor.append(processor)


def _timed(source: Path, arguments: list[str], room: Path, kernels: Path) -> tuple[float, float]:
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(kernels)}
    used, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-c", *arguments]
    done = subprocess.run(command, cwd=room, env=env, capture_output=True)
    clock = time.perf_counter() - start
    if done.returncode not in (0, 1):  # 1: violated
        sys.exit(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime


def _exported(revision: str, folder: Path) -> Path:
    """The source of a revision."""
    command = ["git", "-C", str(HERE), "archive", revision, "src", "tools"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return _compiled(folder / "src")


def _copied(folder: Path) -> Path:
    """The source of this tree, as it is now."""
    for part in ("src", "tools"):
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(HERE / part, folder / part, symlinks=True, ignore=skipped)
    return _compiled(folder / "src")


def _compiled(source: Path) -> Path:
    compileall.compile_dir(source, quiet=1)
    return source


def _make_model(room: Path) -> None:
    """The digits model of the README, smaller."""
    train = ["train", "digits", "-o", "digits.tm", "--save-test", "digits-test.npz", "--clauses", "100"]
    subprocess.run(
        [sys.executable, "-c", _COMMAND, *train, "--epochs", "10"],
        cwd=room,
        check=True,
        stdout=subprocess.DEVNULL,
    )


if __name__ == "__main__":
    main()
