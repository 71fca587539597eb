"""Asking for reasons and timing it: what the sections of ``explanations.py`` share.

A call is timed from outside: compiling the question, the search, replaying the witnesses. A time is counted
as it is, whether or not the reason is known to be minimal; how many are is said beside it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tmverify as tv
from harness.subjects import Subjects

VERSIONS = {"tmverify": tv.__version__}


@dataclass(frozen=True)
class Settings:
    subjects: Subjects
    peers_dir: Path
    work_dir: Path  # tables for the runners
    images: int
    loop_images: int  # the first of these
    texts: int
    tables: tuple[str, ...]  # all, if none is named
    rows: int  # of each table
    rival_rows: int  # the first of these
    rival_total: float  # seconds a table
    limit: float  # seconds a reason


@dataclass
class Times:
    """One kind of question, input by input: the seconds, the size of the reason, how many are minimal."""

    of: dict[str, Any]
    seconds: list[float] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    minimal: int = 0

    def add(self, seconds: float, size: int, *, minimal: bool) -> None:
        self.seconds.append(float(f"{seconds:.4g}"))
        self.sizes.append(size)
        self.minimal += minimal

    def ask(self, question: Callable[[], tv.Explanation], *, smallest: bool = False) -> None:
        """Ask for one reason, which may have to be a smallest one."""
        start = time.perf_counter()
        found = question()
        seconds = time.perf_counter() - start
        minimal = found.minimal == "smallest" if smallest else found.minimal != "open"
        self.add(seconds, len(found.columns), minimal=minimal)

    def ask_all(self, question: Callable[[], tv.Explanations]) -> None:
        """Ask for all reasons; the size is how many there are, and minimal means that there are no others."""
        start = time.perf_counter()
        found = question()
        n = sum(1 for _ in found)
        self.add(time.perf_counter() - start, n, minimal=found.complete)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def cells(self) -> list[str]:
        """Under ``COLUMNS``."""
        n, sizes = len(self.seconds), self.sizes
        return [
            *(str(n), f"{self.minimal} of {n}"),
            *(f"{statistics.median(sizes):g}", f"{min(sizes)} to {max(sizes)}"),
            *(shown(self.median), shown(max(self.seconds))),
        ]


COLUMNS = ("inputs", "minimal", "size, median", "from, to", "s, median", "most")


def shown(seconds: float) -> str:
    return f"{seconds:.4f}" if seconds < 0.1 else f"{seconds:.2f}"
