"""Small models and data files for the tests of the command line, and ways to run it in this process."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify.cli import main

Capture = pytest.CaptureFixture[str]

XOR = [[1, 2], [-1, -2], [1, -2], [-1, 2]]
TMVERIFY = [sys.executable, "-c", "import sys; from tmverify.cli import main; sys.exit(main())"]

# Some build services ask every program for colours; the tests read plain text.
os.environ.pop("FORCE_COLOR", None)
os.environ["_TYPER_FORCE_DISABLE_TERMINAL"] = "1"
ENVIRONMENT = {**os.environ, "COLUMNS": "100"}


def majority(n_features: int = 9) -> tv.Model:
    """Says 1 iff more than half of the features are 1; its classes have names."""
    return tv.Model.from_clauses(
        n_features,
        [[i + 1] for i in range(n_features)],
        [2] * n_features,
        bias=-n_features,
        classes=["low", "high"],
        feature_names=[f"[red]f{i}" for i in range(n_features)],
    )


def three_classes() -> tv.Model:
    """Class c is the c-th feature; ties go to the lowest."""
    return tv.Model.from_clauses(6, [[1], [2], [3], [4], []], np.eye(3, 5, dtype=int) * 2)


def hard(seed: int = 3) -> tv.Model:
    """A machine that keeps the paper's engine busy for minutes at a large epsilon, and is quick at 0."""
    rng = np.random.default_rng(seed)
    clauses = [rng.choice(300, 12, replace=False) + 1 for _ in range(200)]
    signed = [(clause * rng.choice([-1, 1], 12)).tolist() for clause in clauses]
    return tv.Model.from_clauses(300, signed, [[1, -1] * 100], bias=-20)


def near_and_far() -> tuple[tv.Model, np.ndarray]:
    """A machine and two inputs: radius 1, quick for every engine; radius 5, too far for the paper's."""
    rng = np.random.default_rng(0)
    clauses = [(rng.choice(80, 4, replace=False) + 1) * rng.choice([-1, 1], 4) for _ in range(300)]
    machine = tv.Model.from_clauses(80, [c.tolist() for c in clauses], rng.choice([-1, 1], size=(1, 300)))
    X = rng.integers(0, 2, size=(300, 80), dtype=np.uint8)
    scores = machine.scores(X)[:, 0]
    return machine, X[[np.abs(scores).argmin(), scores.argmax()]]


def save(model: tv.Model, path: Path) -> str:
    model.save(path)
    return str(path)


def save_inputs_of_majority(path: Path) -> str:
    """Rows with 0, 2, 4, 5, 7 and 9 ones: 5, 3, 1, 1, 3 and 5 flips from the other class."""
    X = np.array([[int(i < ones) for i in range(9)] for ones in (0, 2, 4, 5, 7, 9)])
    np.savez(path, X=X, y=["low", "low", "low", "high", "high", "high"])
    return str(path)


def run(command: str) -> int:
    """The exit code of a command whose words have no spaces."""
    return main(command.split())


def ask_json(capsys: Capture, *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and what ``--json`` printed."""
    code = main([*arguments, "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, document


def expect_error(capsys: Capture, command: str, message: str) -> None:
    """One line on standard error that contains ``message``, exit code 3, and no file made or removed."""
    before = sorted(Path().iterdir())
    assert run(command) == 3
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("error: ")
    assert message in err
    assert sorted(Path().iterdir()) == before
