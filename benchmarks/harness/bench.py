"""What every section is given: where things are, how much to do, and how to start a process."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.bits import prepare
from harness.processes import Contender, Run, start
from harness.report import Section


@dataclass(frozen=True)
class Bench:
    data_dir: Path | None
    peers_dir: Path
    quick: bool
    epochs: int | None  # None: what the section thinks right
    repeats: int | None
    limit: float
    minutes: float

    @property
    def cores(self) -> int:
        return os.cpu_count() or 1

    def data(self, name: str) -> str:
        return str(prepare(name, self.data_dir, self.peers_dir / "data", small=self.quick))

    def start(self, section: Section, contender: Contender, limit: float | None = None, **job: Any) -> Run:
        """Run one job; note its versions and its raw figures in the section."""
        threads = job.get("threads", 1)
        begun = time.perf_counter()
        run = start(contender, job, environments=self.peers_dir, limit=limit or self.limit)
        for name, number in run.versions.items():
            if name != "numpy":  # one for each environment
                section.versions[name] = number
        shown = {key: value for key, value in job.items() if key not in ("data", "model")}
        section.raw.append({"library": contender.name, "job": shown, **asdict(run)})
        print(
            f"{section.title}: {contender.name}, {threads} thread{'s' * (threads > 1)}: "
            f"{run.problem or 'done'} ({time.perf_counter() - begun:.0f} s)",
            file=sys.stderr,
            flush=True,
        )
        return run


def judged(ratio: float, wanted: float) -> str:
    return f"{ratio:.2f}x (wanted: {wanted:g}x, {'reached' if ratio >= wanted else 'missed'})"
