"""The commands that decide nothing: info, predict, export, help."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from pysat.formula import CNF
from pysat.solvers import Solver

import tmverify as tv
from support.cli_cases import majority, save, three_classes
from tmverify.cli import main
from tmverify.cli.app import app

Capture = pytest.CaptureFixture[str]
COMMANDS = [command.name or "" for command in app.registered_commands]
GROUPED = [f"campaign {name}" for name in ("run", "status", "export")] + ["import green", "import clauses"]
# Those without a word about Ctrl-C.
QUIET = (
    "info",
    "predict",
    "export",
    "report",
    "campaign status",
    "campaign export",
    "import green",
    "import clauses",
    "studio",
)


@pytest.mark.parametrize("command", [*COMMANDS, *GROUPED])
def test_help_of_every_command(capsys: Capture, command: str) -> None:
    assert main([*command.split(), "--help"]) == 0
    out = capsys.readouterr().out
    assert f"Example: tmverify {command}" in out
    assert "Exit codes" in out
    assert ("130" in out) == (command not in QUIET)


def test_every_option_has_help() -> None:
    import typer

    commands = dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    for group in ("campaign", "import"):
        commands.update(commands.pop(group).commands)
    for name, command in commands.items():
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{name}: {parameter.name}"


def test_help_and_version(capsys: Capture) -> None:
    assert main(["--help"]) == 0
    assert main(["--version"]) == 0
    out = capsys.readouterr().out
    assert "Exit codes" in out
    assert f"tmverify {tv.__version__}\n" in out
    single = {
        "train",
        "info",
        "predict",
        "robustness",
        "similarity",
        "equivalence",
        "radius",
        "prove",
        "fairness",
        "monotonicity",
        "check",
        "changes",
        "explain",
        "certify",
        "report",
        "export",
        "studio",
    }
    assert set(COMMANDS) == single | {"universal-robustness", "universal-similarity"}


def test_info(capsys: Capture, tmp_path: Path) -> None:
    path = save(three_classes(), tmp_path / "m.tm")
    assert main(["info", path, "--clauses", "1"]) == 0
    out = capsys.readouterr().out
    for text in (
        "0, 1, 2",
        "0 min, 0.8 mean, 1 max",
        "1 (an empty clause",
        "votes on class 2:",
        tv.load(path).content_hash,
    ):
        assert text in out
    assert main(["info", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["features"], found["clauses"], found["outputs"]) == (6, 5, 3)
    assert found["literals_per_clause"] == {"min": 0, "mean": 0.8, "max": 1}
    assert (found["empty_clauses"], found["contradictory_clauses"]) == (1, 0)


def test_info_of_a_model_without_clauses(capsys: Capture, tmp_path: Path) -> None:
    path = save(tv.Model.from_clauses(2, [], np.zeros((1, 0), int)), tmp_path / "m.tm")
    assert main(["info", path]) == 0
    assert main(["info", path, "--json"]) == 0
    assert "literals per clause  -" in capsys.readouterr().out


def test_predict(capsys: Capture, tmp_path: Path) -> None:
    path = save(majority(), tmp_path / "m.tm")
    X = np.random.default_rng(0).integers(0, 2, size=(30, 9))
    y = np.where(X.sum(axis=1) > 4, "high", "low")
    wrong = y.copy()
    wrong[:3] = np.where(y[:3] == "high", "low", "high")
    np.savez(tmp_path / "d.npz", X=X, y=wrong)
    data, target = str(tmp_path / "d.npz"), tmp_path / "p.csv"
    assert main(["predict", path, data, "--scores", "-o", str(target)]) == 0
    out = capsys.readouterr().out
    for text in ("… and 10 more", "accuracy 90.00% on 30 inputs", "30 predictions written"):
        assert text in out
    with open(target, newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["index", "label", "expected", "score"]
    assert [row[1] for row in rows[1:]] == y.tolist()
    assert main(["predict", path, data, "-o", str(tmp_path / "p.npy")]) == 0
    assert np.load(tmp_path / "p.npy").tolist() == y.tolist()
    capsys.readouterr()
    assert main(["predict", path, data, "--scores", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["accuracy"] == 0.9
    assert [row["scores"] for row in found["predictions"]] == [[int(2 * row.sum()) - 9] for row in X]


@pytest.mark.parametrize("encoding", ["sat", "paper"])
@pytest.mark.parametrize(("index", "satisfiable"), [(0, False), (4, True)])
def test_export_of_robustness(
    capsys: Capture, tmp_path: Path, encoding: str, index: int, satisfiable: bool
) -> None:
    path = save(majority(), tmp_path / "m.tm")
    np.save(tmp_path / "d.npy", np.tri(9, dtype=int))
    target = tmp_path / "q.cnf"
    arguments = ["export", path, str(tmp_path / "d.npy"), "--index", str(index), "-o", str(target)]
    assert main([*arguments, "--encoding", encoding]) == 0
    assert solve(target) == satisfiable
    out = capsys.readouterr().out
    assert f"robustness of m.tm at input {index}, epsilon 1, scope team" in out
    assert "UNSAT: the property holds" in out


def test_export_of_two_models(capsys: Capture, tmp_path: Path) -> None:
    path = save(majority(), tmp_path / "m.tm")
    np.save(tmp_path / "d.npy", np.tri(9, dtype=int))
    target = tmp_path / "q.cnf"
    assert main(["export", path, "--against", path, "-o", str(target)]) == 0
    assert not solve(target)
    assert main(["export", path, str(tmp_path / "d.npy"), "--against", path, "-o", str(target)]) == 0
    assert not solve(target)
    out = capsys.readouterr().out
    assert "equivalence of m.tm and m.tm" in out
    assert "similarity of m.tm and m.tm at input 0" in out


def solve(path: Path) -> bool:
    with Solver("cadical153", bootstrap_with=CNF(from_file=str(path)).clauses) as solver:
        return bool(solver.solve())
