"""The decision rule: ties, argmax, clamp."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmverify.model.evaluate import Tie, decide, least_positive_score

LIMIT = (1 << 55) - 1
TIES: tuple[Tie, ...] = get_args(Tie)


def decide_plainly(scores: list[int], tie: Tie, clamp: int | None) -> int:
    """The rule in words: cut, then sign or first of the largest."""
    if clamp is not None:
        scores = [min(max(score, -clamp), clamp) for score in scores]
    if len(scores) == 1:
        return int(scores[0] > 0 or (scores[0] == 0 and tie == "positive"))
    return scores.index(max(scores))


@pytest.mark.parametrize(
    ("tie", "score", "expected"),
    [
        ("positive", -1, 0),
        ("positive", 0, 1),
        ("positive", 1, 1),
        ("negative", -1, 0),
        ("negative", 0, 0),
        ("negative", 1, 1),
        ("positive", LIMIT, 1),
        ("positive", -LIMIT, 0),
    ],
)
def test_binary_ties(tie: Tie, score: int, expected: int) -> None:
    assert decide(np.array([[score]]), tie, None).tolist() == [expected]


@pytest.mark.parametrize("tie", TIES)
def test_the_least_positive_score_is_the_border(tie: Tie) -> None:
    border = least_positive_score(tie)
    assert decide(np.array([[border - 1], [border]]), tie, None).tolist() == [0, 1]


@pytest.mark.parametrize("tie", TIES)
def test_among_equals_the_lowest_index_wins_whatever_the_tie_rule(tie: Tie) -> None:
    scores = np.array([[0, 0, 0], [1, 2, 2], [-1, -1, -2], [2, 1, 2], [-5, -4, -4]])
    assert decide(scores, tie, None).tolist() == [0, 1, 0, 0, 1]


def test_a_clamp_makes_ties_and_so_changes_an_argmax() -> None:
    scores = np.array([[5, 9], [-9, -5], [2, 9], [3, 4], [-3, 9]])
    assert decide(scores, "positive", None).tolist() == [1, 1, 1, 1, 1]
    assert decide(scores, "positive", 3).tolist() == [0, 0, 1, 0, 1]


@pytest.mark.parametrize("tie", TIES)
@pytest.mark.parametrize("clamp", [1, 2, 1 << 30])
def test_a_clamp_never_changes_a_sign(tie: Tie, clamp: int) -> None:
    scores = np.arange(-4, 5)[:, None]
    assert decide(scores, tie, clamp).tolist() == decide(scores, tie, None).tolist()


@pytest.mark.parametrize("outputs", [1, 2, 5])
def test_no_rows(outputs: int) -> None:
    result = decide(np.zeros((0, outputs), np.int64), "positive", 2)
    assert result.shape == (0,)
    assert result.dtype == np.int64


def test_the_scores_given_are_left_as_they_were() -> None:
    scores = np.array([[5, 9]])
    decide(scores, "positive", 1)
    assert scores.tolist() == [[5, 9]]


@given(
    st.integers(1, 5).flatmap(
        lambda outputs: st.lists(
            st.lists(st.integers(-4, 4) | st.integers(-LIMIT, LIMIT), min_size=outputs, max_size=outputs),
            min_size=1,
            max_size=20,
        )
    ),
    st.sampled_from(TIES),
    st.none() | st.integers(1, 5) | st.integers(1, (1 << 31) - 1),
)
def test_equal_to_the_rule_in_words(scores: list[list[int]], tie: Tie, clamp: int | None) -> None:
    expected = [decide_plainly(row, tie, clamp) for row in scores]
    result = decide(np.array(scores, np.int64), tie, clamp)
    assert result.tolist() == expected
    assert result.dtype == np.int64
