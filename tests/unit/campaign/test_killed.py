"""``kill -9`` at random moments: nothing finished is lost, nothing is done twice, no process is left."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import tmverify as tv
from support.batteries import few_or_many
from support.campaigns import quick_plan, stored, told
from support.cli_cases import TMVERIFY


def start(folder: Path, jobs: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*TMVERIFY, "campaign", "run", "plan.toml", "--store", "s.db", "-j", str(jobs)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"TMVERIFY_TEST": folder.name},
    )


def n_answers(path: Path) -> int:
    """By SQLite alone; 0 while there is nothing to ask."""
    if not path.exists():
        return 0
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("SELECT count(*) FROM result").fetchone()[0])
    except sqlite3.OperationalError:  # killed before the tables were made
        return 0
    finally:
        connection.close()


def wait_for_more(path: Path, seen: int) -> None:
    end = time.monotonic() + 60
    while n_answers(path) <= seen:
        assert time.monotonic() < end, "no answer comes"
        time.sleep(0.02)


def left_of(mark: str) -> list[str]:
    """The processes whose environment has ``mark``: all that was started with it and has not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()[:200])
    return found


def check_nothing_is_left(mark: str) -> None:
    deadline = time.monotonic() + 10
    while left := left_of(mark):
        assert time.monotonic() < deadline, left
        time.sleep(0.2)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
@few_or_many(4, 20)
def test_killed_at_random_moments_and_resumed(n_cases: int, tmp_path: Path) -> None:
    rng = random.Random(0)
    n_inputs = 25 * n_cases  # so many that none of the kills comes too late
    plan, path = quick_plan(tmp_path, n=n_inputs), tmp_path / "s.db"
    seen = 0
    for kill in range(n_cases):
        process = start(tmp_path, jobs=2 if kill % 5 == 1 else 1)
        if kill % 4:
            wait_for_more(path, seen)
            time.sleep(rng.uniform(0.0, 0.08))  # while answers come in
        else:
            time.sleep(rng.uniform(0.0, 1.2))  # while it starts
        process.send_signal(signal.SIGKILL)
        process.communicate()
        now = n_answers(path)
        assert now >= seen, "an answer was lost"
        seen = now
    n_tasks = 6 * n_inputs + 1
    assert seen < n_tasks, "the last kills met a campaign that was done"
    with start(tmp_path, jobs=2) as last:
        _, errors = last.communicate(timeout=120)
    assert last.returncode == 0, errors
    rows = stored(path)
    assert len(rows) == len({row.task.id for row in rows}) == n_tasks
    tv.run_campaign(plan, tmp_path / "quiet.db")
    assert told(rows) == told(stored(tmp_path / "quiet.db"))
    check_nothing_is_left(f"TMVERIFY_TEST={tmp_path.name}")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for processes in /proc")
def test_killed_while_it_starts_its_workers(tmp_path: Path) -> None:
    """Before these could ask the kernel to die with it: they see that nobody is at the other end."""
    quick_plan(tmp_path, n=20)
    script = """
import os, signal, sys
from tmverify.cli import main
from tmverify.engines.subprocesses.call import _Worker

start = _Worker.__init__

def start_and_die(self):
    start(self)
    os.kill(os.getpid(), signal.SIGKILL)

_Worker.__init__ = start_and_die
main(["campaign", "run", "plan.toml", "--store", "s.db", "-j", "2"])
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=tmp_path, env=os.environ | {"TMVERIFY_TEST": tmp_path.name}
    )
    assert process.wait(timeout=60) == -signal.SIGKILL
    check_nothing_is_left(f"TMVERIFY_TEST={tmp_path.name}")
