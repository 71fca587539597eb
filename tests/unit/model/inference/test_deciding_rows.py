"""The decision kernel says what ``model.evaluate`` says."""

from __future__ import annotations

import numpy as np
import pytest

from tmverify.model.evaluate import Tie, decide, least_positive_score
from tmverify.model.inference._batch import decide_rows
from tmverify.model.inference.packed import NO_CLAMP


@pytest.mark.parametrize("tie", ["positive", "negative"])
@pytest.mark.parametrize("clamp", [None, 1, 2, (1 << 31) - 1])
@pytest.mark.parametrize("n_outputs", [1, 2, 3, 10, 17])
def test_equal_to_numpy(tie: Tie, clamp: int | None, n_outputs: int) -> None:
    rng = np.random.default_rng(n_outputs)
    for largest in (1, 3, 1 << 32, 1 << 55):
        scores = rng.integers(-largest, largest, (300, n_outputs), endpoint=True)
        classes = np.full(len(scores), -1, np.int64)
        decide_rows(scores, least_positive_score(tie), NO_CLAMP if clamp is None else clamp, classes)
        assert (classes == decide(scores, tie, clamp)).all()


def test_no_rows() -> None:
    decide_rows(np.zeros((0, 3), np.int64), 0, 1, np.zeros(0, np.int64))
