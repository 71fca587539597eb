"""Drawing inputs: even over the labels, without repetition, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

from tmverify.asking.subject import draw, quotas
from tmverify.errors import InvalidInputError


def test_all_inputs_in_order() -> None:
    assert draw(4, None, None, 0).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("y", [None, np.arange(1000) % 7, np.array(["a", "b"] * 500)])
def test_a_draw_is_seeded_and_without_repetition(y: np.ndarray | None) -> None:
    rows = draw(1000, y, 60, 5)
    assert len(set(rows.tolist())) == 60
    assert np.array_equal(rows, np.sort(rows))
    assert np.array_equal(rows, draw(1000, y, 60, 5))
    assert not np.array_equal(rows, draw(1000, y, 60, 6))


def test_the_papers_200_are_20_a_class() -> None:
    y = np.random.default_rng(0).integers(0, 10, 10_000)
    assert np.bincount(y[draw(len(y), y, 200, 0)]).tolist() == [20] * 10


def test_everything_can_be_drawn() -> None:
    y = np.array([0, 0, 0, 1, 2, 2])
    assert draw(6, y, 6, 0).tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(InvalidInputError, match=r"at most the number of inputs, 6. Got 7"):
        draw(6, y, 7, 0)


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [
        ([5, 5, 5], 6, [2, 2, 2]),
        ([1, 9, 9], 9, [1, 4, 4]),
        ([9, 1, 3], 13, [9, 1, 3]),
        ([4, 4, 4], 2, [0, 1, 1]),
    ],
)
def test_quotas_are_even(sizes: list[int], n: int, expected: list[int]) -> None:
    assert quotas(sizes, n) == expected
