"""One measurement is one process, in the environment of its library, with a time limit."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.environments import OWN, InstallError, python_of

RUNNERS = Path(__file__).parent.parent / "peers"
THREAD_VARIABLES = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Contender:
    """A library, and how it is set up."""

    name: str
    runner: str
    environment: str
    options: dict[str, Any] = field(default_factory=dict)
    threaded: bool = False


OURS = Contender("tmverify", "tmverify_.py", OWN, threaded=True)
IMPORTED = Contender("tmverify", "tmverify_model.py", OWN, threaded=True)
VANILLA_PEERS = (
    Contender(
        "pyTsetlinMachine",
        "pytsetlinmachine.py",
        "pytsetlinmachine",
        {"package": "pyTsetlinMachine", "indexed": True},
    ),
    Contender(
        "pyTsetlinMachine, indexed=False, built for this CPU",
        "pytsetlinmachine.py",
        "pytsetlinmachine-native",
        {"package": "pyTsetlinMachine", "indexed": False},
    ),
    Contender(
        "pyTsetlinMachineParallel",
        "pytsetlinmachine.py",
        "pytsetlinmachineparallel",
        {"package": "pyTsetlinMachineParallel"},
        threaded=True,
    ),
    Contender("tmu TMClassifier", "tmu_.py", "tmu"),
)
GREEN = Contender("green-tsetlin", "green.py", "green", {"boost_true_positives": True}, threaded=True)


@dataclass
class Run:
    """What one process reported."""

    events: list[dict[str, Any]] = field(default_factory=list)
    problem: str | None = None

    def of(self, event: str) -> list[dict[str, Any]]:
        return [e for e in self.events if e["event"] == event]

    @property
    def versions(self) -> dict[str, str]:
        return self.of("start")[0]["versions"] if self.of("start") else {}

    @property
    def seconds(self) -> list[float]:
        return [e["seconds"] for e in self.of("epoch")]

    @property
    def accuracy(self) -> float | None:
        """Test accuracy after the last epoch."""
        return self.of("epoch")[-1]["accuracy"] if self.of("epoch") else None

    def reached(self, target: float) -> dict[str, Any] | None:
        """The first epoch with at least this test accuracy."""
        found = (e for e in self.of("epoch") if e["accuracy"] is not None and e["accuracy"] >= target)
        return next(found, None)


def median_epoch(runs: list[Run]) -> float | None:
    seconds = [s for run in runs for s in run.seconds]
    return statistics.median(seconds) if seconds else None


def start(contender: Contender, job: dict[str, Any], *, environments: Path, limit: float) -> Run:
    """Run a job to its end or to the time limit; a failure is a result, not an exception."""
    run = Run()
    try:
        python = python_of(contender.environment, environments)
    except InstallError as error:
        print(error, file=sys.stderr)
        run.problem = "could not be installed"
        return run
    threads = {name: str(job.get("threads", 1)) for name in THREAD_VARIABLES}
    command = [python, str(RUNNERS / contender.runner), json.dumps({**job, "options": contender.options})]
    with subprocess.Popen(
        command, env=os.environ | threads, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        errors: list[str] = []
        assert process.stdout is not None
        assert process.stderr is not None
        reader = threading.Thread(target=errors.extend, args=(process.stderr,))
        reader.start()
        timer = threading.Timer(limit, process.kill)
        timer.start()
        try:
            run.events.extend(json.loads(line) for line in process.stdout if line.startswith('{"event"'))
            process.wait()
        except KeyboardInterrupt:
            process.kill()
            raise
        finally:
            expired = not timer.is_alive()
            timer.cancel()
            reader.join()
    if expired:
        run.problem = f"did not finish in {limit:g} s"
    elif process.returncode:
        print(*errors[-5:], sep="", file=sys.stderr)
        # Only the kind of error: the message may hold paths.
        kind = errors[-1].split(":")[0].strip() if errors else ""
        run.problem = f"failed: {kind if kind.isidentifier() else f'exit code {process.returncode}'}"
    return run
