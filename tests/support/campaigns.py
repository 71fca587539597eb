"""Small campaigns for the tests: models, inputs and plans in a folder, quick for the engine ``brute``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tmverify as tv
from tmverify.campaign import Asked, Plan, Store, read_plan

N_FEATURES = 9


def voters(bias: int = 0) -> tv.Model:
    """A machine whose positive class is the inputs with more ones than zeros; a bias shifts the limit."""
    clauses = [[i + 1] for i in range(N_FEATURES)]
    return tv.Model.from_clauses(N_FEATURES, clauses, [2] * N_FEATURES, bias=bias - N_FEATURES)


def inputs(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, size=(n, N_FEATURES), dtype=np.uint8)


def make_plan(folder: Path, text: str, n: int = 4) -> Plan:
    """``text`` as a plan, beside the models ``a.tm`` and ``b.tm`` and the inputs ``d.npz`` with labels."""
    voters().save(folder / "a.tm")
    voters(bias=2).save(folder / "b.tm")
    X = inputs(n)
    np.savez(folder / "d.npz", X=X, y=voters().predict(X))
    (folder / "plan.toml").write_text(text)
    return read_plan(folder / "plan.toml")


def quick_plan(folder: Path, n: int = 4, more: str = "") -> Plan:
    """All four questions, ``6 n + 1`` tasks."""
    text = f"""
        engine = "brute"
        timeout = 20
        {more}
        [models]
        a = "a.tm"
        b = "b.tm"
        [inputs.d]
        file = "d.npz"
        [[ask]]
        question = "robustness"
        epsilons = [1, 2]
        [[ask]]
        question = "radius"
        models = ["a"]
        [[ask]]
        question = "similarity"
        [[ask]]
        question = "equivalence"
    """
    return make_plan(folder, text, n)


def n_answered(path: Path) -> int:
    """How many tasks have an answer; 0 while there is no store yet, or it is being made."""
    try:
        return sum(record.answer is not None for record in stored(path))
    except tv.StoreError:
        return 0


def stored(path: Path) -> list[Asked]:
    with Store.reading(path) as store:
        return list(store.rows())


def told(rows: list[Asked]) -> dict[str, object]:
    """The parts of answers that do not depend on who answered, when and how fast."""
    return {
        row.task.id: None if row.answer is None else (row.answer.status, row.answer.lower, row.answer.upper)
        for row in rows
    }
