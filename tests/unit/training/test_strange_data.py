"""Data that can't be learnt from are refused by an InvalidInputError, and never shown whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tmverify as tv
from tmverify.errors import InvalidInputError
from tmverify.training.tuning import tune

BITS = np.eye(2, dtype=np.uint8)[[0, 1] * 3]
TEXTS = pd.DataFrame({"city": ["Oslo", "Bergen"] * 3})
ROWS = [{"age": 1, "city": "x"}, {"age": 2, "city": "y"}] * 3
Y = [0, 1] * 3


def classifier(**given: Any) -> tv.TsetlinMachineClassifier:
    return tv.TsetlinMachineClassifier(4, 2, n_epochs=1, random_state=0, **given)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (pd.DataFrame({"p": [1, 10**400] * 3}), Y, "finite numbers.*column 'p'"),
        (pd.DataFrame({"p": pd.Series(["a", "\ud800"] * 3, dtype=object)}), Y, "valid Unicode"),
        (BITS, np.array([1, "1"] * 3, object), "all texts or all numbers. Got '1' and 1"),
        (TEXTS, [1, "a"] * 3, "all texts or all numbers"),
        (TEXTS, np.array(["", "a"] * 3), "missing in row 0"),
        (BITS, ["a", " "] * 3, "missing in row 1"),
        (pd.DataFrame([["a", 1.0]] * 6, columns=["a", "a"]), Y, "unique column names"),
        (pd.DataFrame(BITS, columns=["a", "a"]), Y, "unique column names"),
        (ROWS, Y, "Got mappings; make a frame"),
        ({"age": [1] * 6}, Y, "Got mappings; make a frame"),
    ],
)
def test_what_fit_refuses(X: Any, y: Any, message: str) -> None:
    for learn in (classifier().fit, classifier().partial_fit):
        with pytest.raises(InvalidInputError, match=message) as caught:
            learn(X, y)
        assert len(str(caught.value)) < 300


def test_classes_of_two_kinds() -> None:
    with pytest.raises(InvalidInputError, match="all texts or all numbers"):
        classifier().partial_fit(BITS, Y, classes=np.array([0, "1"], object))


def test_mappings_for_a_binarizer() -> None:
    with pytest.raises(InvalidInputError, match="make a frame"):
        tv.TableBinarizer().fit(ROWS)


@pytest.mark.parametrize("seed", range(10))
def test_tuning_on_a_frame_with_rare_values(seed: int) -> None:
    """A value that is missing in one row alone may be in the part that is set aside."""
    frame = pd.DataFrame({"age": [float(i % 7) for i in range(40)], "city": ["Oslo", "Bergen"] * 20})
    frame.loc[3, "age"] = np.nan
    found = tune(frame, [0, 1] * 20, seconds=0.01, estimator=classifier(), random_state=seed)
    assert found.accuracy > 0
