"""Answers about properties that a review found called plain, while they are true of whole intervals only."""

from __future__ import annotations

from typing import Any

import pytest

import tmverify as tv
from tmverify.verify.vacuous import PERHAPS

AGE = tv.Number("age", [40, 60])
TWO = [tv.Number("income", [30, 50]), tv.Number("rent", [30, 50]), tv.Flag("f")]
HOMES = [
    tv.Category("home", ["a", "b"], other=True),
    tv.Category("work", ["a", "b"], other=True),
    tv.Flag("f"),
]


def machine(parts: list[Any], clauses: list[list[int]], votes: list[int], bias: int) -> tv.Model:
    space = tv.Space(parts)
    return tv.Model.from_clauses(
        space.n_bits, clauses, [votes], bias=bias, space=space, classes=("no", "yes")
    )


@pytest.mark.parametrize(
    ("where", "eta", "way"),
    [("b.age > 50 and b.age < 45", "0.9", "outer"), ("b.age > 45 and b.age < 50", "0.5", "inner")],
)
def test_which_rows_count_may_rest_on_the_other_input(where: str, eta: str, way: Any) -> None:
    model = machine([AGE, tv.Flag("f"), tv.Flag("g")], [[3]], [2], -1)
    rows = [{"age": 45, "f": 1, "g": 0}] * 9 + [{"age": 45, "f": 0, "g": 0}]
    assume = f"same except age where not f or ({where})"
    found = tv.prove(model, assume, "b.decision == 'yes'", X=rows, eta=eta, round=way)
    assert found.as_rounded


def test_monotonicity_of_a_share_is_exact_unless_it_is_rounded_inwards() -> None:
    model = machine([AGE, tv.Flag("f")], [[1], [2]], [2, -2], -1)
    rows = [{"age": 70, "f": 0}] * 9 + [{"age": 50, "f": 0}]
    cases: list[tuple[Any, str, bool]] = [
        (None, "holds", False),
        ("outer", "holds", False),
        ("inner", "violated", True),
    ]
    for way, status, as_rounded in cases:
        found = tv.check_monotonicity(model, "age", "yes", X=rows, eta="0.9", round=way)
        assert (found.status, found.as_rounded) == (status, as_rounded)


def test_monotonicity_that_is_violated_is_so_as_it_was_written() -> None:
    model = machine([AGE, tv.Flag("f")], [[1], [2]], [2, -2], -1)
    for asked in ({}, {"x": {"age": 50, "f": 0}}, {"X": [{"age": 50, "f": 0}], "eta": 1}):
        found = tv.check_monotonicity(model, "age", "yes", **asked)
        assert (found.status, found.as_rounded) == ("violated", False)


def test_unseen_values_look_alike_and_may_differ() -> None:
    model = machine(HOMES, [[5]], [2], -1)
    rows = [{"home": "x", "work": "y", "f": 1}, {"home": "a", "work": "a", "f": 0}]
    assert tv.prove(model, "home == work", "decision == 'yes'", X=rows, eta="1/2").as_rounded
    never = machine(HOMES, [[5]], [1], -5)
    assert tv.prove(never, "home == work and home != work", "decision == 'yes'").as_rounded
    assert tv.prove(never, "home == work", "decision == 'yes'", X=rows[:1], eta=1).as_rounded
    assert not tv.prove(never, "home == work", "decision == 'yes'").as_rounded  # both are a, or the same


@pytest.mark.parametrize(
    ("assume", "expect"), [("income <= rent", "decision == 'yes'"), (None, "income > rent")]
)
@pytest.mark.parametrize("eta", [None, 1, "1/2"])
def test_a_row_has_numbers_of_its_own(assume: str | None, expect: str, eta: Any) -> None:
    model = machine(TWO, [[5]], [1], -5)
    row = {"income": 40, "rent": 35, "f": 0}
    asked: dict[str, Any] = {"x": row} if eta is None else {"X": [row, row], "eta": eta}
    found = tv.prove(model, assume, expect, **asked)
    assert (found.status, found.as_rounded) == ("violated", True)


def test_assumptions_that_contradict_each_other_within_an_interval() -> None:
    model = machine([tv.Number("income", [30, 50]), tv.Flag("f")], [[1], [3]], [-2, 1], 0)
    found = tv.check_monotonicity(model, "income", "yes", assume="b.income < a.income")
    assert (found.status, found.vacuous) == ("holds", False)
    assert PERHAPS in found.detail
    assert PERHAPS not in tv.check_monotonicity(model, "income", "no", assume="not f").detail
