"""A real Dask scheduler and two worker processes on loopback; one is killed in the middle."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import tmverify as tv
from support.campaigns import quick_plan, stored, told
from tmverify.campaign import Store, Task, TaskAnswer

pytest.importorskip("distributed", reason="the extra [dask] is not installed")

# Dask's own threads and sockets are none of our business.
pytestmark = pytest.mark.filterwarnings("default")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(log: Path, text: str) -> None:
    end = time.monotonic() + 60
    while not (log.exists() and re.search(text, log.read_text())):
        assert time.monotonic() < end, log.read_text() if log.exists() else log
        time.sleep(0.1)


class Cluster:
    """A scheduler and two workers, started as their users do."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder, self.stack = folder, stack
        self.address = f"tcp://127.0.0.1:{free_port()}"
        port = self.address.rsplit(":", 1)[1]
        self._start("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show")
        wait_for(folder / "scheduler.log", "Scheduler at")
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
        self.workers = [self._start("worker", self.address, *options, number=n) for n in (1, 2)]
        for number in (1, 2):
            wait_for(folder / f"worker{number}.log", "Registered to")

    def _start(self, kind: str, *arguments: str, number: int | str = "") -> subprocess.Popen[bytes]:
        with open(self.folder / f"{kind}{number}.log", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + kind, *arguments],
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(tmp_path_factory.mktemp("cluster"), stack)


def test_a_worker_is_killed_and_the_campaign_goes_on(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = quick_plan(tmp_path, n=12)
    keep, kept = Store.keep, []

    def keep_and_kill(store: Store, task: Task, answer: TaskAnswer) -> TaskAnswer:
        kept.append(task.id)
        if len(kept) == 20:
            cluster.workers[0].send_signal(signal.SIGKILL)
        return keep(store, task, answer)

    with monkeypatch.context() as patched:
        patched.setattr(Store, "keep", keep_and_kill)
        tally = tv.run_campaign(plan, tmp_path / "s.db", cluster=cluster.address)
    assert cluster.workers[0].wait(10) == -signal.SIGKILL
    assert (tally.done, tally.unknown) == (73, 0)
    assert len(kept) == len(set(kept)) == 73
    tv.run_campaign(plan, tmp_path / "quiet.db")
    assert told(stored(tmp_path / "s.db")) == told(stored(tmp_path / "quiet.db"))


def test_no_scheduler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tmverify.campaign.cluster._CONNECT", "0.3s")
    with pytest.raises(tv.ClusterError, match="no Dask scheduler answers at tcp://127"):
        tv.run_campaign(quick_plan(tmp_path), tmp_path / "s.db", cluster=f"tcp://127.0.0.1:{free_port()}")
