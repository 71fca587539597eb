"""``tmverify campaign``, ``report``, and ``--store`` on the single commands."""

from __future__ import annotations

import csv
import json
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from support.campaigns import n_answered, quick_plan, stored, told
from support.cli_cases import ENVIRONMENT, TMVERIFY, hard, majority, run, save
from support.engines import stand_in
from tmverify.asking.bits import pack


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    quick_plan(tmp_path)
    return tmp_path


def test_run_status_export_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("campaign run plan.toml --store s.db -j 2") == 0
    assert "COMPLETE  25 of 25 tasks done, 25 solved, 0 unknown" in capsys.readouterr().out
    assert run("campaign status s.db --json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["tasks"], document["solved"], document["unknown"]) == (25, 25, 0)
    first = document["groups"][0]
    assert (first["question"], first["epsilon"], first["tasks"]) == ("robustness", 1, 4)
    assert run("campaign export s.db --csv o.csv --parquet o.parquet") == 0
    rows = list(csv.DictReader((here / "o.csv").read_text().splitlines()))
    assert len(rows) == 25
    assert {"task", "question", "index", "epsilon", "status", "seconds", "engine"} <= set(rows[0])
    assert {row["status"] for row in rows if row["question"] == "radius"} == {"exact"}
    assert all(row["flips"] for row in rows if row["status"] == "violated" and row["index"])
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(here / "o.parquet")
    assert table.column_names == list(rows[0])
    assert table.column("task").to_pylist() == [row["task"] for row in rows]
    assert run("report s.db -o r.html") == 0
    assert "<html" in (here / "r.html").read_text()


def test_unknown_answers_end_with_2_and_their_reasons(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hard().save(here / "hard.tm")
    np.savez(here / "h.npz", X=np.zeros((2, 300), int))
    ask = "[[ask]]\nquestion = 'robustness'\nepsilons = [150]"
    files = "[models]\nh = 'hard.tm'\n[inputs.h]\nfile = 'h.npz'"
    (here / "hard.toml").write_text(f"engine = 'brute'\n{files}\n{ask}")
    assert run("campaign run hard.toml --store s.db") == 2
    out = capsys.readouterr().out
    assert "2 of 2 tasks done, 0 solved, 2 unknown" in out
    assert "unknown, 2: region-too-large" in out
    assert run("campaign run hard.toml --store s.db --retry-unknown") == 2


def test_robustness_with_a_store(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = "robustness a.tm d.npz -e 1 -e 2 --json --engine brute"
    code = run(ask)
    without = json.loads(capsys.readouterr().out)
    assert run(f"{ask} --store s.db -j 2") == code
    first = json.loads(capsys.readouterr().out)
    assert run(f"{ask} --store s.db") == code
    again = json.loads(capsys.readouterr().out)
    assert again == first
    for document in (without, first):
        for each in [*document["results"], *document["epsilons"]]:
            for varying in ("seconds", "mean_seconds", "flips"):
                each.pop(varying, None)
    assert first == without


def test_radius_and_similarity_share_a_store(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("radius a.tm d.npz --engine brute --store s.db --json") == 0
    radii = json.loads(capsys.readouterr().out)
    assert run("radius a.tm d.npz --engine brute --json") == 0
    plain = json.loads(capsys.readouterr().out)
    assert [each["radius"] for each in radii["results"]] == [each["radius"] for each in plain["results"]]
    assert run("similarity a.tm b.tm d.npz -e 1 --engine brute --store s.db") in (0, 1)
    assert run("radius a.tm d.npz --against b.tm --engine brute --store s.db") == 0
    assert sorted({row.task.question for row in stored(here / "s.db")}) == ["radius", "similarity"]


def test_certificates_through_a_store(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask = "radius a.tm d.npz --n 2 --store s.db --certificate proofs"
    for _ in range(2):
        assert run(ask) == 0
        assert "certificates: 2 written to proofs" in capsys.readouterr().out
    for path in (here / "proofs").iterdir():
        assert run(f"certify {path} a.tm") == 0


def forge(path: Path, statement: str, *values: object) -> int:
    database = sqlite3.connect(path)
    changed = database.execute(statement, values).rowcount
    database.commit()
    database.close()
    return changed


def test_a_forged_counterexample_is_not_shown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that its question could have had: an input that is near enough, but decided alike."""
    ask = "robustness a.tm d.npz -e 2 --engine brute --store s.db"
    assert run(ask) == 1
    row = next(row for row in stored(here / "s.db") if row.answer and row.answer.witness)
    assert row.task.x is not None
    near = row.task.x.copy()
    near[np.flatnonzero(near == (near.sum() < 5))[0]] ^= 1  # away from the majority's edge
    forge(here / "s.db", "UPDATE result SET witness = ? WHERE task = ?", pack(near), row.task.id)
    capsys.readouterr()
    assert run(ask) == 3
    captured = capsys.readouterr()
    assert "does not replay" in captured.err
    assert captured.out == ""


def test_answers_that_no_question_can_have_count_as_none_and_are_asked_for_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("campaign run plan.toml --store s.db") == 0
    before = told(stored(here / "s.db"))
    radius = "(SELECT id FROM task WHERE question = 'radius')"
    assert forge(here / "s.db", f"UPDATE result SET lower = -5, upper = -5 WHERE task IN {radius}") == 4
    forge(here / "s.db", "UPDATE result SET trusts = '[[[]]]' WHERE rowid = 1")
    capsys.readouterr()
    assert run("campaign status s.db") == 0
    out = capsys.readouterr().out
    assert "UNFINISHED  20 of 25 tasks done, 20 solved, 0 unknown" in out
    assert "5 answers in the store are not believed, and counted as none; run the plan again" in out
    assert "not believed, 4: its bounds are -5 and -5, not two distances in order (task " in out
    assert "not believed, 1: its trusts can't be [[[]]]" in out
    assert run("campaign export s.db --csv o.csv --parquet o.parquet") == 0
    assert capsys.readouterr().out.count("5 answers in the store are not believed") == 2
    rows = list(csv.DictReader((here / "o.csv").read_text().splitlines()))
    assert sum((row["status"], row["stop_reason"]) == ("unknown", "not-believed") for row in rows) == 5
    assert run("report s.db -o r.html") == 0
    page = (here / "r.html").read_text()
    assert "5 answers in the store are not believed, and counted as none" in page
    assert "5 tasks have no answer yet" in page
    capsys.readouterr()
    assert run("campaign run plan.toml --store s.db") == 0
    captured = capsys.readouterr()
    assert "5 answers in the store were not believed, and asked for anew" in captured.err
    assert "COMPLETE  25 of 25 tasks done, 25 solved, 0 unknown" in captured.out
    assert told(stored(here / "s.db")) == before


def test_a_command_asks_again_what_its_store_can_not_be_believed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = "robustness a.tm d.npz -e 2 --engine brute --store s.db --json"
    assert run(ask) == 1
    first = json.loads(capsys.readouterr().out)
    assert forge(here / "s.db", "UPDATE result SET status = 'exact' WHERE status = 'violated'")
    assert run(ask) == 1
    captured = capsys.readouterr()
    assert "not believed, and asked for anew" in captured.err
    again = json.loads(captured.out)
    assert [each["status"] for each in again["results"]] == [each["status"] for each in first["results"]]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("campaign run none.toml", "No such file"),
        ("campaign run plan.toml --store plan.toml", "must be different files"),
        ("campaign run plan.toml --store none/s.db", "make it first"),
        ("campaign run plan.toml --store a.tm", "not a store"),
        ("campaign run plan.toml -j 0", "jobs must be"),
        ("campaign status none.db", "no such store"),
        ("campaign status a.tm", "not a store"),
        ("campaign export s.db", "Nothing to write"),
        ("campaign export none.db --csv o.csv", "no such store"),
        ("campaign export none.db --csv o.txt", "--csv must end in .csv"),
        ("report none.db", "no such store"),
        ("report a.tm -o r.txt", "--output must end in .html"),
        ("report a.tm --image 8", "--image must be rows x columns"),
        ("robustness a.tm d.npz --store a.tm", "must be different files"),
        ("robustness a.tm d.npz --store d.toml/s.db", "make it first"),
        ("radius a.tm d.npz -j 0", "jobs must be"),
    ],
)
def test_errors(command: str, message: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command) == 3
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("error: ")
    assert captured.out == ""


@pytest.mark.parametrize(
    ("package", "command"),
    [("distributed", "campaign run plan.toml --cluster tcp://127.0.0.1:1"), ("jinja2", "report s.db")],
)
def test_a_missing_extra_is_named(
    package: str,
    command: str,
    here: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(__import__("sys").modules, package, None)
    assert run(command) == 3
    assert "pip install 'tmverify[" in capsys.readouterr().err


def test_ctrl_c_keeps_what_is_answered(tmp_path: Path) -> None:
    save(hard(), tmp_path / "hard.tm")
    save(majority(300), tmp_path / "easy.tm")
    X = np.random.default_rng(1).integers(0, 2, size=(3, 300))
    np.savez(tmp_path / "d.npz", X=X)
    (tmp_path / "plan.toml").write_text(
        "engine = 'paper'\n[models]\neasy = 'easy.tm'\nhard = 'hard.tm'\n[inputs.d]\nfile = 'd.npz'\n"
        "[[ask]]\nquestion = 'robustness'\nmodels = ['hard']\nepsilons = [0]\n"
        "[[ask]]\nquestion = 'robustness'\nmodels = ['hard']\nepsilons = [150]\n"
    )
    command = [*TMVERIFY, "campaign", "run", "plan.toml", "--store", "s.db", "-j", "2"]
    with subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        end = time.monotonic() + 60
        while n_answered(tmp_path / "s.db") < 3:
            assert time.monotonic() < end
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "UNFINISHED  3 of 6 tasks done" in out
    assert "To go on: tmverify campaign run plan.toml --store s.db" in err
    assert "Traceback" not in err


def test_hints_are_a_reason_to_ask_again(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are no part of the question, so the store knows the task; but they may decide it."""
    ask = "equivalence a.tm a.tm --store s.db"
    assert run(ask) == 0
    changed = forge(
        here / "s.db",
        "UPDATE result SET status = 'unknown', stop_reason = 'timeout', trusts = '[]', trusts_alone = '[]'",
    )
    assert changed == 1
    assert run(ask) == 2
    assert run(f"{ask} --data d.npz") == 0


def test_seconds_are_not_those_of_preparing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is loaded or compiled at first use belongs to no answer, in this process as in a worker."""

    def slow(*_: object) -> None:
        time.sleep(1.0)

    with pytest.MonkeyPatch.context() as patched:
        stand_in(patched, "brute", prepare=slow)
        assert run("radius a.tm d.npz --n 1 --engine brute --json") == 0
    assert json.loads(capsys.readouterr().out)["results"][0]["seconds"] < 1.0
