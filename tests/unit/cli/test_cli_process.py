"""The command line as a process: Ctrl-C, pipes, start-up, exit codes."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from support.cli_cases import ENVIRONMENT, TMVERIFY, hard, majority, near_and_far, save

LIMIT = 30.0


@pytest.fixture
def busy(tmp_path: Path) -> list[str]:
    """A model and data on which epsilon 0 is quick and epsilon 150 takes the paper's engine for ever."""
    np.savez(tmp_path / "d.npz", X=np.random.default_rng(1).integers(0, 2, size=(2, 300)))
    return [save(hard(), tmp_path / "hard.tm"), str(tmp_path / "d.npz")]


def finish(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TMVERIFY, *arguments], env=ENVIRONMENT, capture_output=True, text=True, timeout=LIMIT, check=False
    )


@contextmanager
def watched(*arguments: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A running process whose standard error is a terminal."""
    terminal, end = pty.openpty()
    process = subprocess.Popen([*TMVERIFY, *arguments], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=end)
    os.close(end)
    try:
        yield process, terminal
    finally:
        process.kill()
        process.communicate()
        os.close(terminal)


def read_until(terminal: int, text: bytes) -> bytes:
    seen = b""
    end = time.monotonic() + LIMIT
    while text not in seen:
        assert time.monotonic() < end, seen
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 1 << 16)
    return seen


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_wrong_use_ends_the_process_with_3() -> None:
    """The codes 0 (a reader that leaves early), 1 (a terminal that is not Unicode) and 130: see below."""
    wrong = finish("robustness", "m.tm", "d.npy", "--nonsense")
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert wrong.stderr.startswith("error: No such option: --nonsense")


@pytest.mark.parametrize("command", ["explain", "changes"])
def test_ctrl_c_keeps_the_rows_before(command: str, tmp_path: Path) -> None:
    """The row that is being asked about is lost, the others are shown and written."""
    np.savez(tmp_path / "d.npz", X=np.random.default_rng(1).integers(0, 2, size=(99, 300)))
    model, target = save(hard(), tmp_path / "hard.tm"), tmp_path / "rows.csv"
    asked = [command, model, str(tmp_path / "d.npz"), "--timeout", "0.5", "--csv", str(target)]
    with watched(*asked) as (process, _):
        assert process.stdout is not None
        seen = read_until(process.stdout.fileno(), b"input 1:")
        process.send_signal(signal.SIGINT)
        seen += process.communicate(timeout=LIMIT)[0]
        assert process.returncode == 130
    n = re.search(rb"INTERRUPTED after (\d+) of 99 rows", seen)
    assert n is not None
    lines = target.read_text().splitlines()[1:]
    assert 2 <= int(n[1]) < 99
    assert {line.split(",")[0] for line in lines} == {str(i) for i in range(int(n[1]))}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for child processes in /proc")
def test_ctrl_c_tells_what_is_known(busy: list[str], tmp_path: Path) -> None:
    target = tmp_path / "w.npz"
    options = ["-e", "0", "-e", "150", "--engine", "paper", "--save-witnesses", str(target)]
    with watched("robustness", *busy, *options) as (process, terminal):
        seen = read_until(terminal, b"2/4")
        assert b"0 violated" in seen
        workers = children(process.pid)
        assert len(workers) == 1
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
    text = out.decode()
    assert process.returncode == 130
    assert "INTERRUPTED UNKNOWN  2 of 4 queries answered" in text
    assert "│       0 │      2 │      2 │      2 │        0 │" in text
    assert "Traceback" not in text
    with np.load(target) as saved:
        assert saved["X"].shape == (0, 300)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)


@pytest.mark.parametrize("command", ["universal-robustness", "robustness"])
def test_ctrl_c_with_json(busy: list[str], command: str) -> None:
    options = ["-e", "150", "--engine", "paper", "--json"]
    with watched(command, *busy, *options) as (process, terminal):
        read_until(terminal, b"0/2")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
    found = json.loads(out)
    assert process.returncode == 130
    assert (found["interrupted"], found["status"], found["results"]) == (True, "unknown", [])


def test_ctrl_c_between_properties(tmp_path: Path) -> None:
    """``check`` keeps the answers so far, also for build servers."""
    model, file, junit = save(hard(), tmp_path / "h.tm"), tmp_path / "h.toml", tmp_path / "r.xml"
    easy = '[[property]]\nname = "easy"\nexpect = "x0 or not x0"\n'
    file.write_text(easy + '[[property]]\nname = "hard"\nexpect = "decision == 0"\nassume = "x1 or x2"\n')
    options = ["--engine", "paper", "--timeout", "inf", "--junit", str(junit)]
    with watched("check", model, str(file), *options) as (process, terminal):
        read_until(terminal, b"property 2 of 2")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert "INTERRUPTED UNKNOWN  2 properties: 1 holds, 1 not answered" in out.decode()
    assert junit.read_text().count("<skipped") == 1


@pytest.fixture
def far(tmp_path: Path) -> list[str]:
    """A model and data: one radius that is soon known, and one that the paper's engine does not get to."""
    machine, X = near_and_far()
    np.save(tmp_path / "d.npy", X)
    return [save(machine, tmp_path / "far.tm"), str(tmp_path / "d.npy"), "--engine", "paper"]


def test_ctrl_c_keeps_the_radii_that_are_known(far: list[str], tmp_path: Path) -> None:
    table, witnesses = tmp_path / "r.csv", tmp_path / "w.npz"
    options = ["--csv", str(table), "--save-witnesses", str(witnesses)]
    with watched("radius", *far, *options) as (process, terminal):
        seen = read_until(terminal, b"1/2")
        assert b"1 solved 0 violated 0 unknown" in re.sub(rb"\x1b\[[0-9;]*m", b"", seen)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    text = out.decode()
    assert "INTERRUPTED  1 of 2 inputs answered  EXACT  exact 1 of 1, open 0" in text
    assert "Traceback" not in text
    lines = table.read_text().splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("0,,,team,")
    with np.load(witnesses) as saved:
        assert saved["X"].shape == (1, 80)
        assert saved["upper"].tolist() == [1]


def test_ctrl_c_before_any_radius(far: list[str], tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.load(tmp_path / "d.npy")[1:])
    with watched("radius", *far, "--json") as (process, terminal):
        read_until(terminal, b"0/1")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
    found = json.loads(out)
    assert process.returncode == 130
    assert (found["interrupted"], found["status"], found["answered"]) == (True, "open", 0)
    assert (found["results"], found["histogram"]) == ([], [])


def test_ctrl_c_during_equivalence(busy: list[str]) -> None:
    with watched("equivalence", busy[0], busy[0], "--engine", "paper") as (process, terminal):
        read_until(terminal, b"0/1")
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert b"INTERRUPTED UNKNOWN" in out


@pytest.mark.parametrize("what", ["help", "text", "json"])
def test_a_reader_that_leaves_early(tmp_path: Path, what: str) -> None:
    model = save(hard(), tmp_path / "m.tm")
    arguments = {
        "help": ["--help"],
        "text": ["info", model, "--clauses", "200"],
        "json": ["info", model, "--clauses", "200", "--json"],
    }[what]
    process = subprocess.Popen(
        [*TMVERIFY, *arguments], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    with process.stderr as stderr:
        assert stderr.read() == b""
    # typer prints its help itself, and only says that it was cut off: not a time to say "holds".
    assert process.wait(timeout=LIMIT) == (2 if what == "help" else 0)


def test_a_terminal_that_is_not_unicode(tmp_path: Path) -> None:
    model = save(majority(), tmp_path / "m.tm")
    np.save(tmp_path / "d.npy", np.tri(9, dtype=int)[:5])
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(
        [*TMVERIFY, "robustness", model, str(tmp_path / "d.npy"), "--engine", "brute"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 1
    assert "class low \\u2192 class high" in done.stdout
