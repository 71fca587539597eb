"""import, and export beyond DIMACS."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tmverify as tv
from support.cli_cases import majority, save, three_classes
from tmverify.cli import main

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save(majority(), tmp_path / "m.tm")
    np.save(tmp_path / "d.npy", np.tri(9, dtype=int))
    np.savez(tmp_path / "labelled.npz", X=np.eye(3, 6, dtype=int), y=[0, 1, 1])
    (tmp_path / "rules.json").write_text(three_classes().to_json())
    (tmp_path / "blank.txt").write_text("a\n\nb")
    automata = np.full((2, 4), -1, np.int8)
    automata[0, 0] = automata[1, 3] = 1
    np.savez(tmp_path / "state.npz", c=automata, w=np.array([[1, 0], [0, 2]], np.int16))
    return tmp_path


def test_import_clauses(here: Path, capsys: Capture) -> None:
    assert main(["import", "clauses", "rules.json", "--data", "labelled.npz"]) == 0
    assert tv.load("rules.tm") == three_classes()
    out = capsys.readouterr().out
    assert "wrote rules.tm: rules.json, 6 features, 5 clauses, 3 classes" in out
    assert "accuracy 66.67% on 3 inputs of labelled.npz" in out
    assert main(["import", "clauses", "rules.json"]) == 3
    assert "rules.tm is there already: say where to write with -o" in capsys.readouterr().err
    assert main(["import", "clauses", "rules.json", "-o", "rules.tm"]) == 0


def test_import_green(here: Path, capsys: Capture) -> None:
    (here / "names.txt").write_text("fever\nrash\n")
    command = [
        "import",
        "green",
        "state.npz",
        "-o",
        "g.tm",
        "--classes",
        "well, ill",
        "--feature-names",
        "names.txt",
    ]
    assert main(command) == 0
    model = tv.load("g.tm")
    assert model.classes == ("well", "ill")
    assert model.feature_names == ("fever", "rash")
    assert [*model.clauses] == [(1,), (-2,)]


def test_there_and_back(here: Path) -> None:
    assert main(["export", "m.tm", "-o", "m.json"]) == 0
    assert main(["import", "clauses", "m.json", "-o", "again.tm"]) == 0
    assert tv.load("again.tm") == majority()


@pytest.mark.parametrize("suffix", ["c", "v", "opb", "wcnf", "smt2", "lp"])
def test_export_in_every_format(here: Path, capsys: Capture, suffix: str) -> None:
    model_alone = suffix in ("c", "v")
    target = here / f"q.{suffix}"
    assert main(["export", "m.tm", *([] if model_alone else ["d.npy"]), "-o", str(target)]) == 0
    text = target.read_text()
    assert "f3" in text  # the map back to features
    assert tv.load("m.tm").content_hash in text
    out = capsys.readouterr().out
    assert "wrote" in out
    if suffix == "wcnf":
        assert "epsilon 9" in out
    assert (
        main(["export", "m.tm", *([] if model_alone else ["d.npy"]), "-o", "other", "--format", suffix]) == 0
    )
    assert Path("other").read_text() == text


def test_export_of_a_model_with_columns(here: Path) -> None:
    space = tv.Space([tv.Number("Age", [40]), tv.Category("city", ["Oslo"], other=True)])
    save(tv.Model.from_clauses(2, [[1]], [[1]], space=space), here / "table.tm")
    assert main(["export", "table.tm", "-o", "t.c", "--name", "loan"]) == 0
    text = Path("t.c").read_text()
    assert "int loan_predict_row(const loan_row *row);" in text
    assert "    double age;\n" in text
    assert 'LOAN_CITY_OSLO = 0, /* "Oslo" */' in text
    assert main(["export", "table.tm", "-o", "t.v", "--name", "loan"]) == 0
    assert "module loan_row (\n    input  [63:0] age,\n    input  city,\n" in Path("t.v").read_text()


def test_the_question_is_said(here: Path, capsys: Capture) -> None:
    command = [
        "export",
        "m.tm",
        "d.npy",
        "-e",
        "2",
        "--features",
        "0-3",
        "--direction",
        "add",
        "--scope",
        "own",
    ]
    assert main([*command, "-o", "q.opb"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "input 0, epsilon 2, scope low, features 0-3, direction add" in out
    text = Path("q.opb").read_text()
    assert "* question robustness, scope class 0 (low)\n" in text
    assert f"* model 0 = sha256 {majority().content_hash}\n" in text
    assert "* region at most 2 flips of the input, only 0 to 1\n" in text
    assert "* input from 0 = 100000000\n* mutable from 0 = 011100000\n" in text


def test_export_nearest(here: Path, capsys: Capture) -> None:
    assert main(["export", "m.tm", "d.npy", "-o", "q.opb", "--nearest"]) == 0
    assert "min:" in Path("q.opb").read_text()
    assert "epsilon 9" in capsys.readouterr().out
    assert main(["export", "m.tm", "d.npy", "-o", "q.lp", "--nearest", "-e", "2"]) == 0
    assert "epsilon 2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("import", ""),
        ("import green none.npz", "there is no such file"),
        ("import green state.npz -o state.npz", "must be different files"),
        ("import green state.npz -o none/g.tm", "there is no folder"),
        ("import green state.npz -o g.tm --classes a", "classes must name 2 classes"),
        ("import green state.npz -o g.tm --data d.npy", "must have n_features=2 columns"),
        ("import green rules.json -o g.tm", "not an .npz file"),
        ("import clauses state.npz -o g.tm", "ends in .json or .csv"),
        ("import clauses none.json -o g.tm", "none.json"),
        ("import clauses m.tm", "must be different files"),
        ("export m.tm -o q.txt", "must end in one of cnf, opb"),
        ("export m.tm d.npy -o q.txt --format exe", "--format must be one of"),
        ("import green . -o g.tm", "not a regular file"),
        ("import clauses .", "not a regular file"),
        ("import green state.npz -o g.tm --classes a,", "--classes must be labels"),
        ("import green state.npz -o g.tm --feature-names .", "not a regular file"),
        ("import green state.npz -o g.tm --feature-names blank.txt", "line 2 is empty"),
        ("export m.tm d.npy -o q.c", "leave DATA out"),
        ("export m.tm --against m.tm -o q.json", "leave --against out"),
        ("export m.tm --scope high -o q.c", "leave --scope out"),
        ("export m.tm --epsilon 2 --nearest -o q.v", "leave --epsilon, --nearest out"),
        (
            "export m.tm --index 1 --features 1 --direction add -o q.v",
            "leave --index, --features, --direction out",
        ),
        ("export m.tm -o q.json --name tm", "--name is for c and v"),
        ("export m.tm d.npy -o q.lp --name tm", "--name is for c and v"),
        ("export m.tm d.npy -o q.lp --encoding sat", "--encoding is for cnf"),
        ("export m.tm --against m.tm -o q.lp --epsilon 2", "need DATA"),
        ("export m.tm --against m.tm -o q.lp --index 2", "need DATA"),
        ("export m.tm -o q.v --name scores", "none of the ports"),
        ("export m.tm -o q.lp", "Give DATA"),
        ("export m.tm d.npy -o q.smt2 --nearest", "--nearest is for opb and lp"),
        ("export m.tm -o q.c --name 3x", "name"),
        ("export m.tm -o q.v --name module", "name"),
    ],
)
def test_errors(here: Path, capsys: Capture, command: str, message: str) -> None:
    assert main(command.split()) == 3
    assert message in capsys.readouterr().err
    assert not list(here.glob("q.*"))
    assert not (here / "g.tm").exists()


def test_the_json_is_one_that_others_read(here: Path) -> None:
    assert main(["export", "m.tm", "-o", "m.json"]) == 0
    found = json.loads(Path("m.json").read_text())
    assert found["clauses"][0] == {"literals": [1], "weights": [2]}
