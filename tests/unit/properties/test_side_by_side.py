"""Counterexamples in words."""

from __future__ import annotations

import numpy as np
import pytest

import tmverify as tv
from support.stated import SPACE, lender, three_parties


def test_a_pair() -> None:
    model = lender()
    found = tv.check_fairness(model, "sex", assume="not owner and age > 60 and a.sex == 'f'")
    words = tv.side_by_side(model, found)
    assert str(words).splitlines() == [
        "          a              b",
        "sex       f              m              ←",
        "owner     0              0",
        "age       over 60        over 60",
        "decision  no, by 1 vote  yes, on a tie  ←",
    ]
    assert [line.column for line in words.lines if line.differs] == ["sex"]
    assert [(each.decision, each.lead, each.votes) for each in words.decided] == [
        ("no", 1, None),
        ("yes", 0, None),
    ]


def test_one_input_and_the_row_it_comes_from() -> None:
    model = lender()
    x = SPACE.encode([{"owner": 1, "age": 30, "sex": "f"}])[0]
    found = tv.prove(model, None, "decision == 'yes'", x=x, epsilon=1)
    assert str(tv.side_by_side(model, found)).splitlines()[0] == "owner     0"
    assert str(tv.side_by_side(model, found, x)).splitlines() == [
        "          row            counterexample",
        "owner     1              0               ←",
        "age       25 to 60       25 to 60",
        "sex       f              f",
        "decision  yes, on a tie  no, by 2 votes  ←",
    ]
    itself = tv.prove(model, None, "decision == 'no'", x=x)
    assert tv.side_by_side(model, itself, x).heads == ("counterexample",)


def test_votes_of_several_classes() -> None:
    model = three_parties()
    found = tv.prove(model, "x0 and x1 and x2", "decision != 'green'")
    words = tv.side_by_side(model, found)
    assert str(words.decided[0]) == "green, by 1 vote (3 to 2)"
    assert words.decided[0].votes == (2, 3, 1)


def test_votes_are_counted_after_the_clamp() -> None:
    clamped = tv.Model.from_clauses(1, [[1]], [[9], [1]], classes=("a", "b"), clamp=4)
    found = tv.prove(clamped, "x0", "decision == 'b'")
    assert str(tv.side_by_side(clamped, found).decided[0]) == "a, by 3 votes (4 to 1)"


def test_words_and_pixels_that_are_0_are_left_out() -> None:
    image = tv.Space([tv.Image((2, 3), name="pixel")])
    model = tv.Model.from_clauses(6, [[2]], [[1]], bias=-1, space=image)
    words = tv.side_by_side(model, tv.check_fairness(model, "pixel_0_1"))
    assert [line.column for line in words.lines if line.differs] == ["pixel_0_1"]
    assert len(words.lines) + words.hidden == 6
    assert str(words).endswith(f"({words.hidden} that are 0 are left out)")


def test_there_must_be_a_counterexample() -> None:
    model = lender()
    with pytest.raises(tv.InvalidInputError, match="no counterexample to be shown: the answer is holds"):
        tv.side_by_side(model, tv.prove(model, "owner", "decision == 'yes'"))


def test_the_words_are_those_of_the_plain_evaluator() -> None:
    """Random machines: the decisions are what the model says, and the lead is that of its scores."""
    rng = np.random.default_rng(0)
    for _ in range(30):
        clauses = [(rng.choice(4, 2, replace=False) + 1) * rng.choice([-1, 1], 2) for _ in range(5)]
        weights = rng.integers(-3, 4, (3, 5))
        model = tv.Model.from_clauses(4, [clause.tolist() for clause in clauses], weights)
        found = tv.check_fairness(model, "x0")
        if found.pair is None:
            continue
        words = tv.side_by_side(model, found)
        assert [each.decision for each in words.decided] == model.predict(np.stack(found.pair)).tolist()
        scores = np.sort(model.scores(np.stack(found.pair)), axis=1)
        assert [each.lead for each in words.decided] == (scores[:, -1] - scores[:, -2]).tolist()
