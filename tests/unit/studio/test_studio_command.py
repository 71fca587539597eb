"""The real command in a process: one line, an address that works, a clean end; and what it refuses."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

import tmverify as tv
from support.cli_cases import ENVIRONMENT, TMVERIFY, majority
from support.studios import Client
from tmverify.bnn import BnnModel
from tmverify.cli import main
from tmverify.errors import InvalidInputError, MissingExtraError

LIMIT = 60.0  # seconds
Process = subprocess.Popen[str]


@pytest.fixture
def model(tmp_path: Path) -> str:
    majority().save(tmp_path / "low high.tm")
    return str(tmp_path / "low high.tm")


@contextmanager
def command(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[tuple[Process, str]]:
    """The command with the first line that it prints; it is killed if the test leaves it running."""
    process = subprocess.Popen(
        [*TMVERIFY, "studio", *arguments, "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, **(environment or {})},
    )
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("presses", [1, 2])
def test_it_prints_one_line_and_ends_cleanly(model: str, presses: int) -> None:
    with command(model) as (process, line):
        said, _, url = line.rstrip("\n").partition(" ")
        assert said == "Studio:"
        client = Client(url)
        assert url == f"http://127.0.0.1:{client.port}/?token={client.token}"
        assert client.request("GET", f"/?token={client.token}")[0].status == 200
        assert b'"name":"low high.tm"' in client.get("api/about")[1]
        with client.stream("watch", tab="a", number=1, bits="110011001") as events:
            assert next(events)[0] == "look"
            for _ in range(presses):
                process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=LIMIT)
    assert (process.returncode, out, errors) == (0, "", "")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", client.port), timeout=1)


def test_it_ends_at_once_while_kernels_are_compiled(model: str, tmp_path: Path) -> None:
    """That can't be interrupted, and takes long."""
    with command(model, environment={"NUMBA_CACHE_DIR": str(tmp_path / "kernels")}) as (process, _):
        time.sleep(1.0)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=LIMIT)
        assert time.monotonic() - start < 8.0
    assert (process.returncode, out) == (0, "")
    assert [line for line in errors.splitlines() if "compiling kernels" not in line] == []


def test_names_are_safe_to_print(tmp_path: Path) -> None:
    majority().save(tmp_path / "low\nhigh.tm")
    with command(str(tmp_path / "low\nhigh.tm")) as (_, line):
        client = Client(line.split()[1])
        assert b'"name":"low\\\\nhigh.tm","title":"low\\\\nhigh"' in client.get("api/about")[1]


def test_another_host_is_explained(model: str) -> None:
    with command(model, "--host", "0.0.0.0") as (process, line):
        assert line.startswith(f"Studio: http://{socket.gethostname()}:")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT)
    told = " ".join(errors.split())
    assert told.startswith("--host 0.0.0.0: other machines can reach this studio.")
    assert "not encrypted" in told


def test_a_port_that_is_taken_is_said(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["studio", model, "--no-browser", "--port", str(port)]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert f"The studio can't listen on 127.0.0.1, port {port}: " in said
    assert "Choose another port with --port" in said


def test_what_is_refused_before_it_starts(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    network = tmp_path / "network.tm"
    BnnModel.from_layers([([[1]], [1])], [[-1], [1]]).save(network)
    other = tmp_path / "other.tm"
    majority(7).save(other)
    for arguments, why in (
        ([str(network)], "is a binarized network. The studio shows Tsetlin machines"),
        ([model, str(network)], "is a binarized network"),
        ([model, str(other)], "only if they read the same features"),
        ([model, "--id", "name"], "--id names a column of the rows: give these with --data FILE."),
        ([str(tmp_path / "none.tm")], "none.tm"),
        ([model, model, model], "one model, or two side by side"),
        ([model, "--host", ""], "The host must be an address or a name of this machine"),
    ):
        assert main(["studio", *arguments, "--no-browser"]) == 3
        assert why in " ".join(capsys.readouterr().err.split())


def test_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    """Whichever way it is imported; the package is called like the function."""
    with tv.studio(majority(), [[1] * 9, [0] * 9], labels=["high", "high"], browser=False) as studio:
        assert capsys.readouterr().out == f"Studio: {studio.url}\n"
        row = Client(studio.url).ask("rows", filter={"wrong": True})["rows"][0]
        assert (row["label"], row["decision"]) == ("high", "low")
    studio.close()  # once more does no harm
    code = "import tmverify.studio.guard, tmverify as tv; print(callable(tv.studio))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\n"
    with pytest.raises(InvalidInputError, match=r"model must be a tmverify\.Model"):
        tv.studio("model.tm", browser=False)


def test_a_program_that_ends_takes_it_along() -> None:
    code = """
import tmverify as tv
tv.studio(tv.Model.from_clauses(2, [[1]], [[1]]), browser=False)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=LIMIT, check=True
    )
    assert done.stdout.startswith("Studio: http://127.0.0.1:")
    assert done.stderr == ""


def test_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(
        MissingExtraError,
        match=r"tmverify studio needs the package uvicorn: pip install 'tmverify\[studio\]'",
    ):
        tv.studio(majority(), browser=False)
