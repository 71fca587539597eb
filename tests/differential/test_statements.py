"""Statements about random tiny models: every engine, held against all inputs, or pairs, of a space."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import pytest

import tmverify as tv
from support.batteries import battery
from support.statements import (
    Case,
    Seen,
    changed_columns,
    lead,
    only_known,
    possible_inputs,
    random_case,
    random_input,
    seen,
)
from tmverify.properties.allowed import Allowed
from tmverify.verify.stated import Stated, ask_property
from tmverify.verify.vacuous import VACUOUS

T = TypeVar("T")
ENGINES = ("auto", "search", "sat", "brute")


def stated(case: Case) -> Stated:
    return Stated(
        case.model, case.assumption, case.expect, margin=case.margin, known_values=case.known_values
    )


def unless_too_long(ask: Callable[[], T]) -> T | None:
    """The answer, or None if the statement would have too many cases."""
    try:
        return ask()
    except tv.InvalidInputError as error:
        if "too long" in str(error):
            return None
        raise


def check(case: Case, rng: np.random.Generator) -> str:
    """Ask every engine; returns the answer, or "long" if there would be too many cases."""
    asked, inputs = stated(case), possible_inputs(case.model.space)
    x = random_input(rng, case) if rng.random() < 0.4 else None
    epsilon = int(rng.integers(min(3, case.model.n_features + 1)))
    pairs = [
        pair
        for pair in case.pairs(inputs)
        if x is None or changed_columns(case.model.space, x, pair[0]) <= epsilon
    ]
    truth = np.array([case.violated(pair) for pair in pairs], np.bool_)
    copies = asked.statement.copies
    joint = np.array([copies.joined(*pair) for pair in pairs])
    assert (asked.statement.violated(joint) == truth).all()
    assert (asked.statement.violated(joint, fast=True) == truth).all()
    query = unless_too_long(lambda: asked.query(x, epsilon, asked.rules(Allowed())))
    if query is None:
        return "long"
    known = {z.tobytes() for z in joint}
    assert query.region.size(10**6) <= len(known)  # an assumption may restrict it
    for engine in ENGINES:
        verdict = tv.decide(query, engine=engine)
        assert verdict.status == ("violated" if truth.any() else "holds"), (engine, case)
        if verdict.witness is not None:
            found = verdict.pair or (verdict.witness,)
            assert copies.joined(*found).tobytes() in known
            assert case.violated(found)
    return str(verdict.status)


@battery((range(20), 60), (range(100, 500), 60))
def test_engines_agree_with_a_meaning_of_their_own(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng([22, seed])
    counts = Counter(check(random_case(rng), rng) for _ in range(n_cases))
    assert min(counts["holds"], counts["violated"]) > n_cases // 10
    assert counts["long"] <= n_cases // 10


def check_share(case: Case, rng: np.random.Generator) -> str:
    """Shares of rows: those count around which something possible meets the assumption."""
    inputs = possible_inputs(case.model.space)
    X = np.array([random_input(rng, case) for _ in range(int(rng.integers(1, 7)))])
    epsilon = min(int(rng.choice([0, 0, 0, 1, 2])), case.model.n_features)
    eta = Fraction(int(rng.integers(5)), 4)
    about, good = [], []
    for place, x in enumerate(X):
        near = [p for p in case.pairs(inputs) if changed_columns(case.model.space, x, p[0]) <= epsilon]
        if any(case.assumed([seen(case.model, z) for z in pair]) for pair in near):
            about.append(place)
            good.append(not any(map(case.violated, near)))
    told: dict[int, tv.Verdict | None] = {}
    every = bool(rng.random() < 0.5)

    def ask() -> tv.Verdict | tv.UniversalVerdict:
        return ask_property(
            stated(case), None, epsilon, X, eta, engine="search", on_row=told.__setitem__, every=every
        )

    found = unless_too_long(ask)
    if found is None:
        return "long"
    assert isinstance(found, tv.UniversalVerdict)
    required = math.ceil(eta * len(about))
    assert (found.n_inputs, found.required, found.vacuous) == (len(about), required, not about)
    assert found.status == ("holds" if sum(good) >= required else "violated")
    assert found.about in (tuple(about), None)
    verdicts = {place: verdict for place, verdict in told.items() if verdict is not None}
    assert set(told) - set(verdicts) == set(range(len(X))) - set(about)
    assert list(verdicts) == about[: len(found.verdicts)]
    assert [verdict.status == "holds" for verdict in verdicts.values()] == good[: len(found.verdicts)]
    assert len(found.verdicts) == len(about) or not every
    if not about:
        return "vacuous"
    return "some" if len(about) < len(X) else "all"


@battery((range(2), 80), (range(100, 120), 500))
def test_rows_that_the_assumption_is_not_about_do_not_count(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng([24, seed])
    counts: Counter[str] = Counter()
    while counts.total() < n_cases:
        case = random_case(rng)
        if case.assume is not None or case.known_values:
            counts[check_share(case, rng)] += 1
    assert min(counts["some"], counts["vacuous"]) > n_cases // 15, counts


def check_monotone(rng: np.random.Generator) -> str:
    """More of a column, held against all pairs; a premise by a margin, and what follows by as much."""
    case = random_case(rng)
    model = case.model
    names = [column.name for column in model.space.columns if column.kind != "category"]
    if not names:
        return "none"
    name, c = str(rng.choice(names)), int(rng.integers(len(model.classes)))
    most = 4 if model.clamp is None else min(4, model.clamp * min(2, model.n_outputs))
    margin, known = min(most, int(rng.choice([0, 1, 1, 2, 3]))), bool(rng.random() < 0.3)
    place = next(i for i, column in enumerate(model.space.columns) if column.name == name)
    gone = len(model.space.columns[place].values) - 1
    gone = gone if getattr(model.space.columns[place].part, "missing", False) else gone + 1

    def stands(one: Seen) -> bool:
        return one.decision == c and (
            not margin or lead(one.votes, frozenset([c]), len(model.classes)) >= margin
        )

    supposed = violated = False
    whole = replace(case, differ=(name,), assume=None, assumed=lambda s: True, known_values=known)
    if known:
        whole = replace(whole, assumed=only_known(model, whole.assumed))
    for pair in whole.pairs(possible_inputs(model.space)):
        a, b = (seen(model, z) for z in pair)
        if a.values[place] <= b.values[place] < gone and whole.assumed([a, b]):
            supposed |= stands(a)
            violated |= stands(a) and not stands(b)
    engine = str(rng.choice(ENGINES))
    found = tv.check_monotonicity(
        model, name, model.classes[c], margin=margin, known_values=known, engine=engine
    )
    assert found.status == ("violated" if violated else "holds"), (engine, margin, model)
    assert found.vacuous == (not supposed)
    if found.pair is not None:
        a, b = (seen(model, z) for z in found.pair)
        assert stands(a)
        assert not stands(b)
    by = "by votes" if margin else "as such"
    return "vacuous" if found.vacuous else f"{found.status.value} {by}"


@battery((range(2), 120), (range(100, 110), 1500))
def test_more_never_hurts_by_a_margin(seed: int, n_cases: int) -> None:
    rng = np.random.default_rng([25, seed])
    counts = Counter(check_monotone(rng) for _ in range(n_cases))
    assert min(counts[f"{word} by votes"] for word in ("holds", "violated")) > n_cases // 30, counts
    assert counts["vacuous"] > n_cases // 30, counts


@pytest.mark.parametrize("seed", range(30))
def test_nothing_possible_meets_the_assumption(seed: int) -> None:
    rng = np.random.default_rng([23, seed])
    case = random_case(rng)
    inputs = possible_inputs(case.model.space)
    met = any(case.assumed([seen(case.model, z) for z in pair]) for pair in case.pairs(inputs))
    how: Any = {"margin": case.margin, "known_values": case.known_values}
    verdict = unless_too_long(lambda: tv.prove(case.model, case.assumption, case.expect, **how))
    if verdict is None:
        return
    assert verdict.vacuous == (verdict.status == "holds" and not met)
    assert (VACUOUS in verdict.detail) == verdict.vacuous
