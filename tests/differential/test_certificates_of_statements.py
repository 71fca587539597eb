"""Every verdict about a property that people could state is certified, and the checker accepts it.

The truth is known by looking at every input, or at every two, with an evaluator of the tests' own.
"""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

import tmverify as tv
from support.certified import refusal, text_of
from support.statement_claims import is_true, random_case
from tmverify.verify.stated import ask_property

ENGINES = {"search": 0.6, "auto": 0.2, "sat": 0.2}


def check_seed(seed: int, n: int) -> Counter[str]:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    for number in range(n):
        case = random_case(rng)
        model, query = case.stated.model, case.query
        engine = str(rng.choice(list(ENGINES), p=list(ENGINES.values())))
        verdict = tv.decide(query, engine=engine, certificate=True)
        assert verdict.certificate is not None, (seed, number, verdict)
        text = text_of(verdict.certificate)
        assert is_true(text, model), (seed, number, text.decode())
        assert refusal(text, [model]) is None, (seed, number, engine, text.decode())
        seen[verdict.status.value] += 1
        seen["pair" if case.stated.statement.copies.n == 2 else "single"] += 1
        seen["everywhere" if case.x is None else "around"] += 1
        seen["proved with steps"] += verdict.status == "holds" and b"\nrefute" in text
    return seen


@pytest.mark.parametrize("seed", range(3))
def test_every_verdict_is_certified(seed: int) -> None:
    seen = check_seed(seed, 120)
    assert min(seen.values()) > 10, seen


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(100, 108))
def test_every_verdict_is_certified_more(seed: int) -> None:
    check_seed(seed, 1000)


def check_shares(seed: int, n: int) -> Counter[str]:
    """Shares of rows for which a property holds, with one certificate for all."""
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    while n:
        case = random_case(rng)
        if case.x is None:
            continue
        model = case.stated.model
        rows = [column.part.patterns for column in model.space.columns]
        X = np.array(
            [np.concatenate([rng.choice(some, axis=0) for some in rows]) for _ in range(4)], np.uint8
        )
        eta = str(rng.choice(["1/4", "1/2", "3/4", "1"]))
        verdict = ask_property(
            case.stated, None, case.epsilon, X, eta, case.allowed, engine="search", certificate=True
        )
        assert isinstance(verdict, tv.UniversalVerdict)
        n -= 1
        if verdict.vacuous:  # there is no row to claim anything about
            assert verdict.certificate is None
            continue
        assert verdict.certificate is not None
        text = text_of(verdict.certificate)
        assert is_true(text, model), (seed, n, text.decode())
        assert refusal(text, [model]) is None, (seed, n, text.decode())
        assert json.loads(text.splitlines()[0])["inputs"] == verdict.n_inputs
        seen[verdict.status.value] += 1
    return seen


def test_shares_of_rows_are_certified() -> None:
    seen = check_shares(0, 40)
    assert min(seen["holds"], seen["violated"]) > 5, seen


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 14))
def test_shares_of_rows_are_certified_more(seed: int) -> None:
    check_shares(seed, 500)
