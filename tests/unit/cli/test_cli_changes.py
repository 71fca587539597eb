"""``tmverify changes``: lists, JSON, certificates, and what is said about their ends."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import tmcheck.cli
import tmverify as tv
from support.cli_cases import Capture, expect_error, save
from tmverify.cli import main
from tmverify.cli.changes import _Asked

SPACE = tv.Space(
    [tv.Flag("owner"), tv.Number("age", [25, 40, 60]), tv.Category("savings", ["little", "moderate", "rich"])]
)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    model = tv.Model.from_clauses(
        7, [[1, 2], [3, -5]], [[1, 1]], bias=-1, space=SPACE, classes=["bad", "good"]
    )
    save(model, tmp_path / "loan.tm")
    (tmp_path / "own.csv").write_text("name,owner,age,savings\nann,0,30,little\nbob,1,50,rich\n")


def said(capsys: Capture, *arguments: str, code: int = 0) -> str:
    assert main(["changes", "loan.tm", "own.csv", *arguments]) == code
    return capsys.readouterr().out


def test_every_row(capsys: Capture) -> None:
    lines = said(capsys, "--id", "name").splitlines()
    assert lines == [
        "nearest changes of loan.tm",
        "2 inputs · at most 5 each · cost in columns · engine auto",
        "ann: class bad",
        "  class good, 1 column: owner 0 → 1",
        "  class good, 2 columns: age 25 to 40 → 40 to 60, savings little → moderate",
        "  proved: these are all; nothing else that is allowed alters the decision without one of them",
        "bob: class good",
        "  class bad, 1 column: age 40 to 60 → up to 25",
        "  class bad, 2 columns: owner 1 → 0, savings rich → little",
        "  proved: these are all; nothing else that is allowed alters the decision without one of them",
    ]


def test_one_row_and_rules(capsys: Capture) -> None:
    text = said(capsys, "--index", "0", "--freeze", "owner", "--cost", "age=2", "--target", "good")
    assert "nearest changes to good of loan.tm" in text
    assert "1 input · owner frozen · cost age 2 · at most 5 each · weighted cost · engine auto" in text
    assert "  class good, cost 3: age 25 to 40 → 40 to 60, savings little → moderate" in text
    assert "bob" not in text
    assert "there may be others (--k 2)" in said(capsys, "--index", "0", "--k", "1")
    nothing = said(capsys, "--index", "0", "--columns", "savings", "--target", "good")
    assert "  proved: nothing that is allowed leads to class good" in nothing
    assert "  class bad, 0 columns: no change at all" in said(capsys, "--index", "0", "--target", "bad")


def test_json(capsys: Capture) -> None:
    found: dict[str, Any] = json.loads(said(capsys, "--index", "0", "--json", "--id", "name"))
    (row,) = found["results"]
    assert (row["line"], row["name"], row["decision"], row["complete"], row["exhausted"]) == (
        2,
        "ann",
        "bad",
        True,
        True,
    )
    assert [change["cost"] for change in row["changes"]] == [1, 2]
    assert row["changes"][0]["changes"] == [{"column": "owner", "before": "0", "after": "1"}]
    assert all(change["optimal"] for change in row["changes"])


def test_certificates(capsys: Capture) -> None:
    text = said(capsys, "--certificate", "proofs")
    assert "certificates: 6 written to proofs" in text
    said(capsys, "--certificate", "proofs", "--freeze", "owner")  # another question: other files
    files = sorted(Path("proofs").glob("*.tmcert"))
    assert len(files) == 6 + 4
    assert sum("no-more" in file.name for file in files) == 4
    assert tmcheck.cli.main(["--dir", "proofs", "loan.tm"]) == 0


def test_csv_labels_and_rows(capsys: Capture) -> None:
    Path("own.csv").write_text("name,owner,age,savings,y\nann,0,30,little,good\nbob,1,50,rich,good\n")
    text = said(capsys, "--id", "name", "--index", "bob,0", "--csv", "out.csv", "--columns", "owner,age")
    assert "ann: class bad, but labelled good\n" in text
    assert "bob: class good, as labelled\n" in text
    assert text.endswith("2 sets of changes of 2 rows written to out.csv\n")
    with open("out.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [(line["name"], line["number"], line["cost"], line["outcome"]) for line in lines] == [
        ("bob", "1", "1", "bad"),
        ("ann", "1", "1", "good"),
    ]
    assert json.loads(lines[1]["changes"]) == [{"column": "owner", "before": "0", "after": "1"}]
    found = json.loads(said(capsys, "--json", "--columns", "savings", "--csv", "out.csv"))
    assert [row["label"] for row in found["results"]] == ["good", "good"]
    assert Path("out.csv").read_text().splitlines()[1].startswith("0,2,,bad,good,,,,,,True,True,")
    expect_error(capsys, "changes loan.tm own.csv --csv own.csv", "must be different files")


def test_ctrl_c_keeps_what_is_found(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = _Asked._ask

    def interrupted(self: _Asked, place: int) -> tv.NearestChanges:
        if place == 1:
            raise KeyboardInterrupt
        return ask(self, place)

    monkeypatch.setattr(_Asked, "_ask", interrupted)
    lines = said(capsys, code=130).splitlines()
    assert lines[2] == "line 2: class bad"
    assert lines[-1] == "INTERRUPTED after 1 of 2 rows"
    found = json.loads(said(capsys, "--json", code=130))
    assert (found["interrupted"], len(found["results"])) == (True, 1)


def test_errors(capsys: Capture) -> None:
    ask = "changes loan.tm own.csv --id name"
    expect_error(capsys, f"{ask} --target Good", "--target must be a class of the model")
    expect_error(capsys, f"{ask} --within age=20,60", "must be a range, such as")
    expect_error(capsys, f"{ask} --within age=20.. --within age=..60", "names the number 'age' twice")
    expect_error(capsys, f"{ask} --index 9", "index")
    expect_error(capsys, f"{ask} --freeze ownr", "is 'owner' meant?")
