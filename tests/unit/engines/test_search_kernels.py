"""Warming up calls every kernel with the types that questions use: nothing is compiled during timed work."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.columns import random_row
from tmverify.engines.engine import Deadline
from tmverify.engines.search import _bound, _climb, _columns, _moves, _problem, _record, _tree, kernels
from tmverify.engines.search.kernels import compile_kernels, compile_tree


def signatures() -> dict[str, int]:
    return {
        f"{module.__name__}.{name}": len(kernel.signatures)
        for module in (_bound, _climb, _columns, _moves, _problem, _record, _tree)
        for name, kernel in vars(module).items()
        if hasattr(kernel, "signatures")
    }


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("certificate", [False, True])
def test_a_question_compiles_nothing(several: bool, certificate: bool, columns: bool) -> None:
    compile_kernels(several=several, recorded=certificate, columns=columns)
    before = signatures()
    rng = np.random.default_rng(0)
    numbers = [tv.Number(f"n{i}", (1, 2, 3, 4)) for i in range(15)]
    space = tv.Space(numbers) if columns else tv.Space.flags(60)
    features = [rng.choice(60, 3, replace=False) + 1 for _ in range(400)]
    clauses = [(each * rng.choice([-1, 1], 3)).tolist() for each in features]
    model = tv.Model.from_clauses(60, clauses, rng.integers(-2, 3, size=(4, 400)), space=space)
    other = tv.Model.from_clauses(60, clauses, rng.integers(-2, 3, size=(4, 400)), space=space)
    rows = [random_row(rng, space) for _ in range(20)]
    for x in rows:
        how: dict[str, Any] = {"timeout": 5.0, "engine": "search", "certificate": certificate}
        tv.robustness_radius(model, x, **how)
        tv.check_robustness(model, x, 3, **how)
        if several:
            tv.check_similarity(model, other, x, 1, **how)
    assert signatures() == before


def test_the_tree_of_another_process_is_the_one_that_questions_meet() -> None:
    """One set of types: else it would be compiled twice."""
    compile_kernels(several=False, recorded=False)
    before = set(_tree.explore.signatures)
    compile_tree()
    assert set(_tree.explore.signatures) == before


def test_the_first_time_is_shared_with_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def call(function: str, arguments: tuple[()], deadline: Deadline) -> None:
        asked.append(function)
        raise RuntimeError("whatever becomes of it")

    monkeypatch.setattr(kernels, "call", call)
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    for first in (True, False):
        monkeypatch.setattr(kernels, "_is_first_time", lambda first=first: first)
        compile_kernels.__wrapped__(several=False, recorded=False)
    assert asked == ["tmverify.engines.search.kernels:compile_tree"]
