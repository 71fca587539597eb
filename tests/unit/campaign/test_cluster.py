"""A real Dask scheduler and two worker processes on loopback; one is killed in the middle."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path

import pytest

import tmverify as tv
from support.campaigns import make_plan, quick_plan, stored, told
from support.failing_deciders import kill_worker
from tmverify.asking.answer import decide_task
from tmverify.campaign import Store, Task, TaskAnswer
from tmverify.campaign.cluster import ClusterWorkers
from tmverify.campaign.expansion import expand

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
    """A scheduler and workers, started as their users do."""

    def __init__(self, folder: Path, stack: ExitStack, n_workers: int = 2, **environment: str) -> None:
        self.environment = {"PYTHONPATH": os.pathsep.join(sys.path), **environment}
        self.folder, self.stack = folder, stack
        self.address = f"tcp://127.0.0.1:{free_port()}"
        port = self.address.rsplit(":", 1)[1]
        options = ["--no-dashboard", "--host", "127.0.0.1"]
        self.scheduler = self._start(
            "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show"
        )
        wait_for(folder / "scheduler.log", "Scheduler at")
        options += ["--nthreads", "1", "--no-nanny"]
        self.workers = [self._start("worker", self.address, *options, number=n) for n in range(n_workers)]
        for number in range(n_workers):
            wait_for(folder / f"worker{number}.log", "Registered to")

    def _start(self, kind: str, *arguments: str, number: int | str = "") -> subprocess.Popen[bytes]:
        with open(self.folder / f"{kind}{number}.log", "wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + kind, *arguments],
                cwd=self.folder,
                env=os.environ | self.environment,
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


@pytest.fixture
def own_cluster(tmp_path: Path) -> Iterator[Cluster]:
    """One to spoil, which gives a task up with the first worker that it kills."""
    (tmp_path / "cluster").mkdir()
    with ExitStack() as stack:
        yield Cluster(tmp_path / "cluster", stack, 3, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")


def test_a_task_that_kills_its_worker_is_unknown(
    own_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no other: those that waited for the same worker are asked again."""
    monkeypatch.setattr("tmverify.campaign.cluster.see_through", kill_worker)
    files = "[models]\na = 'a.tm'\n[inputs.d]\nfile = 'd.npz'"
    plan = make_plan(tmp_path, f"engine = 'brute'\n{files}\n[[ask]]\nquestion = 'radius'", n=12)
    tally = tv.run_campaign(plan, tmp_path / "s.db", cluster=own_cluster.address)
    assert (tally.done, tally.unknown) == (12, 1)
    (lost,) = [row.answer for row in stored(tmp_path / "s.db") if row.task.index == 1]
    assert lost is not None
    assert lost.stop_reason == "crashed"
    assert lost.detail.startswith("its workers died, twice")


def test_a_scheduler_that_is_lost_ends_the_run(
    own_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = quick_plan(tmp_path, n=30)
    keep, kept = Store.keep, []

    def keep_and_kill(store: Store, task: Task, answer: TaskAnswer) -> TaskAnswer:
        kept.append(task.id)
        if len(kept) == 20:
            own_cluster.scheduler.send_signal(signal.SIGKILL)
        return keep(store, task, answer)

    monkeypatch.setattr(Store, "keep", keep_and_kill)
    with pytest.raises(tv.ClusterError, match="the connection to the scheduler was lost"):
        tv.run_campaign(plan, tmp_path / "s.db", cluster=own_cluster.address)
    assert sum(row.answer is not None for row in stored(tmp_path / "s.db")) == len(kept) >= 20


def test_what_a_worker_may_not_say(cluster: Cluster, tmp_path: Path) -> None:
    campaign = expand(quick_plan(tmp_path, n=1))
    task = campaign.tasks[0]
    true = decide_task(task, [campaign.models[key] for key in task.models])
    with closing(ClusterWorkers(campaign.models, cluster.address)) as workers:
        for outcome, match in (
            (replace(true, versions={"tmverify": "0.0"}), "a worker runs tmverify 0.0"),
            (ModuleNotFoundError("No module named 'tmverify'"), "a worker failed .ModuleNotFoundError"),
        ):
            future: Future[TaskAnswer] = Future()
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)
            with pytest.raises(tv.ClusterError, match=match):
                workers.answer(task, future)
