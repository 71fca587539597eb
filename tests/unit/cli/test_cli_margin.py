"""``--margin``, in this process: the same answers as the API, in words, as JSON and as CSV."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import tmverify as tv
from support.campaigns import voters
from support.cli_cases import Capture, ask_json, expect_error, majority, save, save_inputs_of_majority
from tmverify.bnn import BnnModel
from tmverify.cli import main

# Rows with 0, 2, 4, 5, 7 and 9 ones: the decision stands by 9, 5, 1, 1, 5 and 9 votes, and each flip takes 2.


@pytest.fixture
def model(tmp_path: Path) -> str:
    return save(majority(), tmp_path / "majority.tm")


@pytest.fixture
def data(tmp_path: Path) -> str:
    return save_inputs_of_majority(tmp_path / "d.npz")


def test_robustness(capsys: Capture, model: str, data: str) -> None:
    assert main(["robustness", model, data, "--margin", "3"]) == 1
    out = capsys.readouterr().out
    assert "robustness of majority.tm, by at least 3 votes\n" in out
    assert "│       1 │      6 │      6 │      4 │        2 │" in out
    assert "  input 2, epsilon 1: class low by 1 vote, at the input itself\n" in out
    assert "→ class" not in out.replace("class low → class high", "")
    assert main(["robustness", model, data, "--margin", "3", "--epsilon", "0", "--features", "0"]) == 1


def test_a_proof_says_that_the_decision_stands(capsys: Capture, model: str, data: str) -> None:
    assert main(["robustness", model, data, "--margin", "1", "--epsilon", "0"]) == 0
    assert "HOLDS  proved for all 6 queries: the decision stays and stands by at least 1 vote\n" in (
        capsys.readouterr().out
    )
    assert main(["similarity", model, model, data, "--margin", "1", "--epsilon", "0"]) == 0
    assert ": the models agree, each by at least 1 vote\n" in capsys.readouterr().out


def test_radius(capsys: Capture, model: str, data: str, tmp_path: Path) -> None:
    """To fall below 3 votes, 9 votes take 4 flips and 5 votes 2; 1 vote is below it already."""
    table = tmp_path / "r.csv"
    assert main(["radius", model, data, "--margin", "3", "--csv", str(table)]) == 0
    out = capsys.readouterr().out
    assert "radius of majority.tm, by at least 3 votes\n" in out
    assert "│     2 │   low │      0 │  low by 1 vote │" in out
    assert "│     0 │   low │      4 │  low by 1 vote │" in out
    assert "  input 2: class low by 1 vote, at the input itself\n" in out
    with open(table, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["radius"] for line in lines] == ["4", "2", "0", "0", "2", "4"]
    assert {line["leads"] for line in lines} == {"1"}
    plain = tmp_path / "p.csv"
    assert main(["radius", model, data, "--csv", str(plain)]) == 0
    assert "leads" not in plain.read_text(encoding="utf-8")


def test_two_models(capsys: Capture, model: str, data: str, tmp_path: Path) -> None:
    shifted = tv.Model.from_clauses(
        9, [[i + 1] for i in range(9)], [2] * 9, bias=-11, classes=["low", "high"]
    )
    other = save(shifted, tmp_path / "other.tm")
    assert main(["similarity", model, other, data, "--epsilon", "0", "--margin", "2"]) == 1
    out = capsys.readouterr().out
    assert "similarity of majority.tm and other.tm, by at least 2 votes\n" in out
    assert (
        "  input 2, epsilon 0: A says class low by 1 vote, B says class low by 3 votes, at the input" in out
    )
    assert "  input 3, epsilon 0: A says class high, B says class low, at the input itself\n" in out
    assert main(["radius", model, data, "--against", other, "--margin", "2"]) == 0
    assert "low by 1 vote │ low by 3 votes │" in capsys.readouterr().out


@pytest.mark.parametrize("question", ["robustness", "radius", "universal-robustness"])
def test_json(capsys: Capture, model: str, data: str, question: str) -> None:
    for margin in (0, 3):
        _, document = ask_json(capsys, question, model, data, "--margin", str(margin))
        assert document["margin"] == margin
        for result in document["results"]:
            assert (result["leads"] is None) == (margin == 0 or result["decisions"] is None)


def test_universal(capsys: Capture, model: str, data: str) -> None:
    ask: list[Any] = [model, data, "--epsilon", "0", "--margin", "3"]
    assert main(["universal-robustness", *ask, "--eta", "2/3"]) == 0
    out = capsys.readouterr().out
    assert "universal-robustness of majority.tm, by at least 3 votes\n" in out
    assert "HOLDS  robust by at least 3 votes: at least 4 of 6 inputs, as eta = 2/3 asks\n" in out
    assert main(["universal-robustness", *ask, "--eta", "5/6"]) == 1
    assert "not robust by at least 3 votes: 2 inputs have a counterexample" in capsys.readouterr().out
    assert main(["universal-similarity", model, *ask, "--eta", "2/3"]) == 0
    assert "similar by at least 3 votes" in capsys.readouterr().out


def test_a_store_keeps_margins_apart(capsys: Capture, model: str, data: str, tmp_path: Path) -> None:
    store = str(tmp_path / "s.db")
    for margin, code in (("0", 0), ("3", 1), ("3", 1)):
        assert main(["robustness", model, data, "-e", "0", "--margin", margin, "--store", store]) == code
    capsys.readouterr()
    assert main(["campaign", "status", store]) == 0
    out = capsys.readouterr().out
    assert "12 of 12 tasks done" in out
    assert "robustness of majority, by at least 3 votes, d\n" in out


def test_errors(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(majority(), tmp_path / "m.tm")
    save_inputs_of_majority(tmp_path / "d.npz")
    save(tv.Model.from_clauses(9, [[1]], [[1]], clamp=2, classes=["low", "high"]), tmp_path / "c.tm")
    BnnModel.from_layers([([[1] * 9] * 2, [4, 5])], [[1, 1], [-1, 1]]).save(tmp_path / "n.tm")
    voters().save(tmp_path / "v.tm")
    expect_error(capsys, "robustness m.tm d.npz --margin -1", "--margin")
    expect_error(capsys, "robustness m.tm d.npz --margin 1.5", "--margin")
    expect_error(capsys, "robustness m.tm d.npz --margin 9999999999", "from 0 to 2147483647")
    expect_error(capsys, "radius c.tm d.npz --margin 3", "no decision stands by more")
    expect_error(capsys, "universal-robustness c.tm d.npz --margin 3", "no decision stands by more")
    expect_error(capsys, "radius n.tm d.npz --margin 1", "a margin: its outputs are no votes")
    for command in ("equivalence m.tm m.tm", "explain m.tm d.npz", "changes m.tm d.npz"):
        expect_error(capsys, f"{command} --margin 1", "No such option: --margin")
