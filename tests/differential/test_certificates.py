"""Every answer of the battery of tiny models carries a certificate that both front ends accept.

The questions and regions are those of ``test_engines_agree``, where the answers themselves are compared, and
where universal questions are certified too.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import battery, first
from support.certified import check_by_both, stubborn_model, text_of
from support.copies import CHANGES, REWRITINGS
from support.tiny import Case, random_case, random_model
from tmverify import engines
from tmverify.engines import auto
from tmverify.engines.engine import Answer, Deadline
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.sat import refutation
from tmverify.engines.sat.engine import SAT

SWEEPS = {"sat": True, "solver": False}
ENGINES = ("search", "auto", *SWEEPS)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """``sat`` without a worker, and once more with everything left to the solver; ``auto`` soon asks it."""

    def sat(sweep: bool) -> Callable[..., Answer]:
        def decide(query: tv.Query, deadline: Deadline, log: ProofLog | None = None) -> Answer:
            return refutation.prove(query, ProofLog() if log is None else log, sweep=sweep)

        return decide

    others = [engine for engine in engines.ENGINES if engine.name != "sat"]
    both = [replace(SAT, name=name, decide=sat(sweep)) for name, sweep in SWEEPS.items()]
    monkeypatch.setattr(engines, "ENGINES", (*others, *both))
    monkeypatch.setattr(engines, "ENGINE_NAMES", (*engines.ENGINE_NAMES, "solver"))
    monkeypatch.setattr(engines, "_TRUST", {**engines._TRUST, "solver": SAT.trust["sat"]})
    monkeypatch.setattr(auto, "sat", sat(True))
    monkeypatch.setattr(auto, "NODES", 1)
    monkeypatch.setattr(refutation, "NODES", 0)  # no search before the sweeps and the solver


def certified_answers(
    case: Case, engine: str
) -> Iterator[tuple[str, tv.Verdict | tv.UniversalVerdict | tv.Radius, tuple[tv.Model, ...]]]:
    """Every question about one input, or about every input, with the models it is about."""
    a, b, x, epsilon, options = case.a, case.b, case.x, case.epsilon, case.options
    how: dict[str, Any] = {"engine": engine, "certificate": True}
    yield "robustness", tv.check_robustness(a, x, epsilon, **how, **options), (a,)
    yield "similarity", tv.check_similarity(a, b, x, epsilon, **how, **options), (a, b)
    yield "equivalence", tv.check_equivalence(a, b, scope=case.scope, **how), (a, b)
    yield "radius", tv.robustness_radius(a, x, **how, **options), (a,)
    yield "radius", tv.similarity_radius(a, b, x, **how, **options), (a, b)


def run(seed: int, n_cases: int, folder: Path, *, in_turn: bool) -> None:
    """Every case is put to one engine after the other, or to one in turn."""
    rng = np.random.default_rng(seed)
    seen: Counter[Any] = Counter()
    for number in range(n_cases):
        case = random_case(rng)
        for name in [ENGINES[number % len(ENGINES)]] if in_turn else ENGINES:
            for question, answer, models in certified_answers(case, name):
                check_by_both(answer.certificate, models, folder)
                outcome = answer.radius if isinstance(answer, tv.Radius) else answer.status.value
                seen[question, outcome] += 1
                seen.update(_steps(text_of(answer.certificate)))
    for question in ("robustness", "similarity", "equivalence"):
        assert min(seen[question, outcome] for outcome in ("holds", "violated")) > 3
    assert min(seen["radius", outcome] for outcome in (0, 1, math.inf)) > 1
    assert min(seen[step] for step in ("mix", "fix", "shrink", "close", "lrat")) > 0


def _steps(text: bytes) -> set[str]:
    return {line.split(b" ")[0].decode() for line in text.splitlines()[1:]}


@pytest.mark.parametrize("seed", first(4, range(15)))
def test_single_questions(seed: int, tmp_path: Path) -> None:
    run(seed, 70, tmp_path, in_turn=True)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(1000, 1020))
def test_single_questions_deep(seed: int, tmp_path: Path) -> None:
    run(seed, 400, tmp_path, in_turn=False)


@battery((range(2), 80), (range(1000, 1005), 2000))
def test_copies(seed: int, n_cases: int, tmp_path: Path) -> None:
    """Two models made from each other: proofs by structure, alone and with subcubes that are searched."""
    rng = np.random.default_rng([seed, 2])
    seen: Counter[Any] = Counter()
    for _ in range(n_cases):
        a = b = random_model(rng, int(rng.integers(3, 9)), int(rng.integers(1, 4)))
        for _ in range(int(rng.integers(1, 4))):
            changes = REWRITINGS if rng.random() < 0.75 else CHANGES
            with contextlib.suppress(ValueError, IndexError):  # nothing to change in it
                b = changes[rng.integers(len(changes))](b, rng)
        if a.classes != b.classes:
            continue
        verdict = tv.check_equivalence(a, b, certificate=True)
        check_by_both(verdict.certificate, (a, b), tmp_path)
        seen[verdict.status.value, verdict.engine] += 1
        seen.update(_steps(text_of(verdict.certificate)))
    assert seen["holds", "structure"] > 3
    assert seen["rewrite"] > 3


def test_trees_with_many_nodes(tmp_path: Path) -> None:
    """Models in which the bound leaves room: splits, multipliers on record, and problems rebuilt."""
    rng = np.random.default_rng(6)
    seen: Counter[Any] = Counter()
    for share in np.linspace(0.2, 0.35, 12):
        a, b = (stubborn_model(rng, 20, share) for _ in range(2))
        x = rng.integers(0, 2, 20)
        for answer, models in (
            (tv.robustness_radius(a, x, engine="search", certificate=True), (a,)),
            (tv.check_robustness(a, x, 6, engine="search", certificate=True), (a,)),
            (tv.similarity_radius(a, b, x, engine="search", certificate=True), (a, b)),
        ):
            check_by_both(answer.certificate, models, tmp_path)
            seen.update(_steps(text_of(answer.certificate)))
    assert min(seen[step] for step in ("split", "set", "fix", "shrink", "close")) > 3


def test_a_case_that_structure_confines_to_subcubes(tmp_path: Path) -> None:
    """The two differ by one clause, and where it is true both are far from a change: a search shows it."""
    rng = np.random.default_rng(4)
    seen: Counter[Any] = Counter()
    for _ in range(20):
        clauses = [
            [int(f) * int(rng.choice([-1, 1])) for f in rng.choice(range(1, 13), 4, replace=False)]
            for _ in range(10)
        ]
        clauses.append([1, 2])
        weights = [*rng.integers(1, 3, size=10).tolist(), -30]
        a = tv.Model.from_clauses(12, clauses, [weights], bias=-2)
        b = tv.Model.from_clauses(12, [*clauses, [1, 2, 3]], [[*weights, 1]], bias=-2)
        verdict = tv.check_equivalence(a, b, certificate=True)
        assert verdict.status is tv.Status.HOLDS
        check_by_both(verdict.certificate, (a, b), tmp_path)
        seen.update(_steps(text_of(verdict.certificate)))
    assert seen["cover"] > 3
