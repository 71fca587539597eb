"""What is said beside the answer to a property, and what may change around an input."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify.properties.expressions import ExpressionError
from tmverify.verify.vacuous import VACUOUS, is_vacuous

SPACE = tv.Space([tv.Flag("owner"), tv.Number("age", [25, 60]), tv.Category("sex", ["f", "m"])])


@pytest.fixture
def model() -> tv.Model:
    """Says yes with two votes: an owner has two, being over 60 one, and m one."""
    return tv.Model.from_clauses(5, [[1], [3], [5]], [[2, 1, 1]], bias=-2, space=SPACE, classes=("no", "yes"))


ROWS = [{"owner": 1, "age": 70, "sex": "f"}, {"owner": 0, "age": 30, "sex": "m"}]


def test_an_assumption_that_nothing_satisfies_is_visible(model: tv.Model) -> None:
    found = tv.prove(model, "age > 60 and age <= 25", "decision == 'no'")
    assert (found.status, found.detail) == (tv.Status.HOLDS, VACUOUS)
    assert is_vacuous(found)
    assert repr(found).startswith(f"holds: proved ({VACUOUS}), ")
    assert not is_vacuous(tv.prove(model, "age > 60 and owner", "decision == 'yes'"))
    assert not is_vacuous(tv.prove(model, None, "decision == 'yes'"))


def test_rows_that_do_not_meet_the_assumption_are_counted(model: tv.Model) -> None:
    some = tv.prove(model, "age > 60", "decision == 'yes'", X=ROWS, eta=1)
    assert some.status is tv.Status.HOLDS
    assert some.detail == f"{VACUOUS} around 1 of the 2 rows looked at"
    assert [is_vacuous(verdict) for verdict in some.verdicts] == [False, True]
    assert not is_vacuous(some)
    assert f"2 required ({some.detail}), " in repr(some)
    none = tv.prove(model, "age <= 25", "decision == 'yes'", X=ROWS, eta=1)
    assert is_vacuous(none)
    assert not is_vacuous(tv.prove(model, "age <= 25", "decision == 'yes'", X=ROWS, eta=1, epsilon=2))


def test_what_was_rounded_is_said_once_and_of_shares_too(model: tv.Model) -> None:
    text = "age > 50 and not (age > 50)"
    found = tv.prove(model, text, "decision == 'no'", round="inner")
    assert found.detail.count("rounded: age > 50 was taken for over 60") == 1
    share = tv.prove(model, "age > 50", "decision == 'yes'", round="inner", X=ROWS, eta=1)
    assert "; rounded: age > 50 was taken for over 60" in share.detail


@pytest.mark.parametrize(("label", "status"), [("yes", "holds"), ("no", "violated")])
def test_an_answer_that_rounding_may_have_made_says_so(model: tv.Model, label: str, status: str) -> None:
    for way, about_rounded in (("outer", "violated"), ("inner", "holds")):
        found = tv.prove(model, "owner and age > 50", f"decision == '{label}'", round=way)  # type: ignore[call-overload]
        assert found.status == status
        assert ("about the rounded statement" in found.detail) == (status == about_rounded)


@pytest.mark.parametrize(("direction", "status"), [("add", "holds"), ("remove", "violated")])
def test_directions_of_a_pair_of_bits(direction: str, status: str) -> None:
    """Of x0, x1 and x2 two must be set; a may lose one of them, or else b can't do without x2."""
    bits = tv.Model.from_clauses(3, [[1], [2], [3]], [[1, 1, 1]], bias=-2)
    found = tv.check_fairness(
        bits,
        ["x2"],
        x=np.array([1, 1, 0]),
        epsilon=1,
        allowed=tv.Allowed(direction=direction, features=[1, 1, 0]),  # type: ignore[arg-type]
    )
    assert found.status == status


def test_an_error_keeps_its_place(model: tv.Model) -> None:
    with pytest.raises(ExpressionError) as caught:
        tv.prove(model, "age > 60 and ", "decision == 'no'")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.said, again.place) == (
        str(caught.value),
        caught.value.said,
        caught.value.place,
    )
    assert again.place is not None


@pytest.mark.parametrize("allowed", [{"within": {"age": (25, 40)}}, {"increase": ["age"]}])
def test_what_may_change_says_nothing_of_the_second_input(model: tv.Model, allowed: dict[str, Any]) -> None:
    with pytest.raises(tv.InvalidInputError, match=r"may differ in 'age'.*\(b.age in …\)"):
        tv.check_fairness(model, ["age"], X=ROWS, eta=1, allowed=tv.Allowed(**allowed))
