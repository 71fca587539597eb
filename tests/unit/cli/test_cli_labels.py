"""Labels in the user's files: those that are no class of the model are named, and not counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import Capture, ask_json, run, save


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A loan is good if the customer is over 40."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    space = tv.Space([tv.Number("age", (40,)), tv.Flag("owner")], target="loan")
    save(
        tv.Model.from_clauses(2, [[1]], [2], bias=-1, space=space, classes=["bad", "good"]),
        tmp_path / "loan.tm",
    )
    return tmp_path


def test_labels_that_are_no_class(capsys: Capture) -> None:
    """A label spelt otherwise, one of another table, and a gap."""
    Path("own.csv").write_text(
        "age,owner,loan\n50,1,good\n50,1,Good\n30,1,maybe\n30,0,\n30,0,good\n20,0,NA\n"
    )
    assert run("predict loan.tm own.csv") == 0
    out, err = capsys.readouterr()
    assert "accuracy 50.00% on 2 inputs (always good: 100.00%); 4 have no known label\n" in out
    assert [line for line in err.splitlines() if "compiling" not in line] == [
        "own.csv: the label 'Good', of 1 input, is no class of the model (is 'good' meant?)",
        "own.csv: the label 'maybe', of 1 input, is no class of the model (they are 'bad', 'good')",
        "own.csv: 2 inputs have no label",
    ]
    found = ask_json(capsys, "predict", "loan.tm", "own.csv")[1]
    assert (found["inputs"], found["labelled"], found["accuracy"]) == (6, 2, 0.5)


def test_no_label_is_a_class(capsys: Capture) -> None:
    Path("own.csv").write_text("age,owner,loan\n50,1,Good\n30,1,Bad\n")
    assert run("predict loan.tm own.csv") == 0
    out, err = capsys.readouterr()
    assert "accuracy unknown: no input has a label that is a class of the model\n" in out
    assert "None" not in out
    assert err.count("is no class of the model") == 2
    found = ask_json(capsys, "predict", "loan.tm", "own.csv")[1]
    assert (found["labelled"], found["accuracy"]) == (0, None)


def test_numbers_that_are_no_class(capsys: Capture) -> None:
    """No spelling is guessed of a number; of many strange labels, some are named."""
    save(tv.Model.from_clauses(2, [[1]], [2], bias=-1, classes=[1, 2]), Path("m.tm"))
    np.savez("n.npz", X=np.eye(8, 2, dtype=np.uint8), y=[2, 1, 10, 11, 12, 13, 14, 15])
    assert run("predict m.tm n.npz") == 0
    out, err = capsys.readouterr()
    assert "accuracy 100.00% on 2 inputs (always 2: 50.00%); 6 have no known label" in out
    assert "the label '10', of 1 input, is no class of the model (they are '1', '2')" in err
    assert "… and 1 more such labels" in err
