"""The deciding commands, in this process: tables, JSON, exit codes, witnesses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import (
    XOR,
    Capture,
    ask_json,
    hard,
    majority,
    save,
    save_inputs_of_majority,
    three_classes,
)
from tmverify.cli import main


@pytest.fixture
def model(tmp_path: Path) -> str:
    return save(majority(), tmp_path / "majority.tm")


@pytest.fixture
def data(tmp_path: Path) -> str:
    return save_inputs_of_majority(tmp_path / "d.npz")


def test_robustness_counts_per_epsilon(capsys: Capture, model: str, data: str) -> None:
    code, found = ask_json(capsys, "robustness", model, data, "-e", "0", "-e", "1", "-e", "3", "-e", "1")
    assert code == 1
    assert [(row["epsilon"], row["solved"], row["robust"], row["violated"]) for row in found["epsilons"]] == [
        (0, 6, 6, 0),
        (1, 6, 4, 2),
        (3, 6, 2, 4),
    ]
    assert found["model"] == {"path": model, "sha256": tv.load(model).content_hash}
    assert (found["tmverify"], found["question"]) == (tv.__version__, "robustness")
    assert (found["status"], found["interrupted"], found["engine"]) == ("violated", False, "auto")
    assert {result["engine"] for result in found["results"]} == {"search"}  # the one that answered
    first = next(result for result in found["results"] if result["status"] == "violated")
    assert (first["index"], first["epsilon"], len(first["flips"])) == (2, 1, 1)
    assert first["decisions"] == ["low", "high"]


def test_a_table_with_witnesses(capsys: Capture, model: str, data: str) -> None:
    assert main(["robustness", model, data, "--engine", "brute"]) == 1
    out, err = capsys.readouterr()
    for text in (
        "robustness of majority.tm",
        "6 inputs · scope team · engine brute",
        "mean seconds",
        "timeouts",
    ):
        assert text in out
    assert "input 2, epsilon 1: class low → class high if [red]f4 0 → 1" in out
    assert "VIOLATED  2 of 6 queries" in out
    assert err == ""


def test_many_witnesses_are_cut_short(capsys: Capture, model: str, data: str) -> None:
    assert main(["robustness", model, data, "-e", "5", "--engine", "brute"]) == 1
    out = capsys.readouterr().out
    assert out.count(" if ") == 5
    assert "and 1 more; --save-witnesses" in out


def test_holds(capsys: Capture, model: str, data: str) -> None:
    assert main(["robustness", model, data, "-e", "0"]) == 0
    assert "HOLDS  proved for all 6 queries" in capsys.readouterr().out


def test_unknown_says_why(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    busy = save(hard(), tmp_path / "hard.tm")
    np.save(tmp_path / "one.npy", np.zeros((1, 300)))
    arguments = ["robustness", busy, str(tmp_path / "one.npy"), "-e", "30"]
    assert main([*arguments, "--engine", "brute"]) == 2
    out = capsys.readouterr().out
    assert "UNKNOWN  1 of 1 query undecided: brute force" in out
    assert "other unknown" in out
    code, found = ask_json(capsys, *arguments, "--engine", "paper", "--timeout", "0.3")
    assert code == 2
    row = found["epsilons"][0]
    assert (row["solved"], row["unknown"], row["timeouts"], row["mean_seconds"]) == (0, 1, 1, None)
    assert found["results"][0]["stop_reason"] == "timeout"


def test_region_options(capsys: Capture, model: str, data: str) -> None:
    ask = ["robustness", model, data, "-e", "1", "--engine", "brute"]
    assert main([*ask, "--direction", "remove", "--features", "[red]f8,5-7"]) == 0
    assert main([*ask, "--direction", "remove"]) == 1
    capsys.readouterr()
    _, found = ask_json(capsys, *ask, "--direction", "add", "--features", "4,8")
    assert [r["index"] for r in found["results"] if r["status"] == "violated"] == [2]
    assert (found["features"], found["direction"]) == ([4, 8], "add")


def test_scope_of_one_class_and_own(capsys: Capture, tmp_path: Path) -> None:
    team = save(three_classes(), tmp_path / "m.tm")
    X = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]])
    np.savez(tmp_path / "y.npz", X=X, y=[2.0, 1.0, 0.0])
    np.save(tmp_path / "x.npy", X)
    ask = ["robustness", team, "-e", "0", "--engine", "brute"]
    _, found = ask_json(capsys, *ask, str(tmp_path / "y.npz"), "--scope", "own")
    assert [result["scope"] for result in found["results"]] == [2, 1, 0]
    _, found = ask_json(capsys, *ask, str(tmp_path / "x.npy"), "--scope", "own")
    assert [result["scope"] for result in found["results"]] == [0, 1, 2]
    _, found = ask_json(capsys, *ask, str(tmp_path / "x.npy"), "--scope", "1")
    assert [result["scope"] for result in found["results"]] == [1, 1, 1]


def test_saved_witnesses_replay(capsys: Capture, model: str, data: str, tmp_path: Path) -> None:
    target = tmp_path / "w.npz"
    assert main(["robustness", model, data, "-e", "1", "-e", "3", "--save-witnesses", str(target)]) == 1
    assert "witnesses: 6 written" in capsys.readouterr().out
    machine = tv.load(model)
    with np.load(target) as saved:
        assert saved["X"].dtype == np.uint8
        assert saved["index"].tolist() == [2, 3, 1, 2, 3, 4]
        assert (np.sum(saved["X"] != saved["X0"], axis=1) <= saved["epsilon"]).all()
        assert (machine.predict(saved["X"]) != machine.predict(saved["X0"])).all()
    assert main(["robustness", model, data, "-e", "0", "--save-witnesses", str(target)]) == 0
    with np.load(target) as saved:
        assert saved["X"].shape == saved["X0"].shape == (0, 9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.npz", "majority.tm", "w.npz"]


def test_similarity(capsys: Capture, model: str, data: str, tmp_path: Path) -> None:
    m = majority()
    other = tv.Model.from_clauses(
        9, list(m.clauses), m.weights, bias=-11, classes=m.classes, feature_names=m.feature_names
    )
    b = save(other, tmp_path / "b.tm")
    code, found = ask_json(capsys, "similarity", model, b, data, "-e", "0", "-e", "2")
    assert code == 1
    assert [(row["similar"], row["violated"]) for row in found["epsilons"]] == [(5, 1), (3, 3)]
    assert [each["path"] for each in found["models"]] == [model, b]
    assert main(["similarity", model, b, data, "-e", "0"]) == 1
    assert "A says class high, B says class low, at the input itself" in capsys.readouterr().out
    assert main(["similarity", model, model, data]) == 0


@pytest.mark.parametrize(("eta", "code", "required"), [("2/3", 0, 4), ("0.67", 1, 5), ("0", 0, 0)])
def test_universal_robustness(
    capsys: Capture, model: str, data: str, eta: str, code: int, required: int
) -> None:
    ask = ["universal-robustness", model, data, "--epsilon", "1", "--eta", eta]
    got, found = ask_json(capsys, *ask)
    assert (got, found["required"], found["inputs"]) == (code, required, 6)
    assert found["status"] == ("violated" if code else "holds")
    assert main(ask) == code
    assert f"{'VIOLATED' if code else 'HOLDS'}  " in capsys.readouterr().out


def test_universal_similarity(capsys: Capture, model: str, data: str) -> None:
    code, found = ask_json(capsys, "universal-similarity", model, model, data, "--eta", "1", "--n", "4")
    assert (code, found["similar"], found["eta"]) == (0, 4, "1")


def test_equivalence(capsys: Capture, tmp_path: Path) -> None:
    a = save(tv.Model.from_clauses(2, XOR, [1, 1, -1, -1]), tmp_path / "a.tm")
    b = save(tv.Model.from_clauses(2, XOR[::-1], [-1, -1, 1, 1]), tmp_path / "b.tm")
    c = save(tv.Model.from_clauses(2, [[1]], [1], bias=-1), tmp_path / "c.tm")
    assert main(["equivalence", a, b]) == 0
    target = tmp_path / "w.npz"
    assert main(["equivalence", a, c, "--save-witness", str(target)]) == 1
    out = capsys.readouterr().out
    assert "HOLDS  a.tm and b.tm agree on every input" in out
    assert "VIOLATED  a.tm and c.tm differ: A says class" in out
    with np.load(target) as saved:
        assert tv.load(a).predict(saved["X"])[0] != tv.load(c).predict(saved["X"])[0]
    code, found = ask_json(capsys, "equivalence", a, c, "--scope", "1", "--engine", "brute")
    assert (code, found["status"], len(found["results"][0]["witness"])) == (1, "violated", 2)


def test_control_characters_in_names_are_shown_not_obeyed(capsys: Capture, tmp_path: Path) -> None:
    machine = tv.Model.from_clauses(1, [[1]], [1], bias=-1, feature_names=["a\x1b[31m\nb"])
    path = save(machine, tmp_path / "m.tm")
    np.save(tmp_path / "x.npy", np.ones((1, 1)))
    assert main(["robustness", path, str(tmp_path / "x.npy")]) == 1
    assert main(["info", path, "--clauses", "1"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\\x1b[31m" in out


@pytest.mark.parametrize("command", [["robustness"], ["radius"], ["universal-robustness", "--eta", "0"]])
def test_the_heading_says_what_may_change(capsys: Capture, model: str, data: str, command: list[str]) -> None:
    """Without it, an answer about a few features looks like one about all."""
    main([command[0], model, data, *command[1:], "--features", "0,x3-x4", "--direction", "add"])
    assert "scope team · only features 0,x3-x4 · direction add · engine auto" in capsys.readouterr().out
