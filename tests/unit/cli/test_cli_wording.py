"""Small things that readers stumble over: how many, which file comes first, what is hidden."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import Capture, expect_error, majority, run, save, save_inputs_of_majority


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    save(majority(), tmp_path / "m.tm")
    save_inputs_of_majority(tmp_path / "d.npz")
    space = tv.Space([tv.Number("age", (25, 40, 60)), tv.Flag("owner")])
    save(tv.Model.from_clauses(4, [[3]], [-2], bias=1, space=space), tmp_path / "age.tm")
    (tmp_path / "ages.csv").write_text("age,owner\n31,1\n20,1\n65,1\n")
    return tmp_path


def test_counterexamples_are_impossible_not_inputs(capsys: Capture) -> None:
    assert run("universal-robustness age.tm ages.csv --eta 0.1 --distance bits") == 1
    out = capsys.readouterr().out
    assert "not robust: 3 inputs have a counterexample (2 of these are no possible row); eta = 1/10" in out
    assert run("universal-robustness age.tm ages.csv --eta 1 --distance bits") == 1
    out = capsys.readouterr().out
    assert "not robust: 1 input has a counterexample (no possible row); eta = 1 of 3 inputs allows 0" in out


def test_one_is_one(capsys: Capture) -> None:
    np.save("one.npy", np.ones((1, 9), np.uint8))
    assert run("robustness m.tm one.npy") == 0
    assert "proved for the one query" in capsys.readouterr().out
    assert run("robustness m.tm one.npy -e 9") == 1
    assert "1 of 1 query has a counterexample" in capsys.readouterr().out
    assert run("universal-robustness m.tm one.npy --eta 1") == 0
    assert "at least 1 of 1 input, as eta = 1 asks" in capsys.readouterr().out
    assert run("predict m.tm one.npy -o p.csv") == 0
    assert "1 prediction written" in capsys.readouterr().out


def test_files_in_the_wrong_order_and_of_the_wrong_kind(capsys: Capture) -> None:
    for command in ("predict d.npz m.tm", "radius ages.csv age.tm", "robustness ages.csv age.tm"):
        expect_error(capsys, command, "It looks like data: the model comes first, then the data.")
    Path("own.xlsx").write_bytes(b"PK\x03\x04")
    for command in ("predict age.tm own.xlsx", "train own.xlsx --target y -o x.tm"):
        expect_error(capsys, command, "It is a spreadsheet: save it there as CSV (UTF-8).")


def test_dots_hide_more_than_one_value(capsys: Capture) -> None:
    for n in range(2, 9):
        names = tuple(f"a rather long city {i}" for i in range(n))
        save(tv.Model.from_clauses(n, [[1]], [1], space=tv.Space([tv.Category("c", names)])), Path("c.tm"))
        assert run("info c.tm --top 0") == 0
        out = " ".join(capsys.readouterr().out.replace("│", " ").split())
        hidden = sum(name not in out for name in names)
        assert hidden != 1
        assert ("…," in out) == (hidden > 0)


@pytest.mark.parametrize("rows", [0, 2, 6, 9])
def test_as_many_changes_as_rows(rows: int, capsys: Capture) -> None:
    assert run(f"radius m.tm d.npz --rows {rows}") == 0
    assert capsys.readouterr().out.count(" if ") == min(rows, 6)


def test_answers_as_csv(capsys: Capture) -> None:
    assert run("robustness m.tm d.npz -e 1 -e 3 --csv r.csv") == 1
    assert "answers: 12 written to r.csv" in capsys.readouterr().out
    found = list(csv.DictReader(Path("r.csv").read_text().splitlines()))
    assert [row["status"] for row in found].count("violated") == 6
    third = found[2]
    assert (third["index"], third["epsilon"], third["before"], third["after"]) == ("2", "1", "low", "high")
    assert json.loads(third["changes"])[0]["after"] == "1"
    assert (found[0]["before"], found[0]["flips"], found[0]["changes"]) == ("", "", "")
    assert "radius" not in third
    assert run("similarity m.tm m.tm d.npz --csv s.csv") == 0
    assert len(Path("s.csv").read_text().splitlines()) == 7
