"""The names of features, and finding a feature by its name."""

from __future__ import annotations

import pytest

from tmverify import Model
from tmverify.bnn import BnnModel
from tmverify.model.names import (
    Named,
    counted,
    default_name,
    feature_finder,
    feature_name,
    feature_names,
    named_first,
)

PLAIN = Model.from_clauses(12, [[1, -3]], [1])
NAMED = Model.from_clauses(3, [[1, -3]], [1], feature_names=["x2", "age", "1"])
NETWORK = BnnModel.from_layers([([[1, 1, -1]], [2])], [[-1], [1]])


@pytest.mark.parametrize("model", [PLAIN, NAMED, NETWORK])
def test_a_name_and_back(model: Named) -> None:
    find = feature_finder(model)
    names = feature_names(model)
    assert len(names) == model.n_features
    assert [feature_name(model, i) for i in range(model.n_features)] == list(names)
    assert [find(name) for name in names] == list(range(model.n_features))


def test_the_number_of_a_feature_is_its_index() -> None:
    assert feature_names(PLAIN)[:3] == ("x0", "x1", "x2")
    assert (default_name(43), counted("x43")) == ("x43", 43)
    assert PLAIN.to_text().endswith("x0 and not x2")
    assert NAMED.to_text().endswith("x2 and not 1")


def test_names_that_no_feature_has() -> None:
    for name in ("x12", "x-1", "1", "X1", "x01", "x", "", "x1 ", "x\u0661", "x9999999999999"):
        assert feature_finder(PLAIN)(name) is None
    for name in ("x0", "x1", "0", "Age", ""):
        assert feature_finder(NAMED)(name) is None


def test_names_that_are_numbers() -> None:
    assert [counted(name) for name in ("0", "x7", "X7", "x007")] == [0, 7, 7, 7]
    assert [counted(name) for name in ("", "x", "x-1", "x1.0", "x1 > 5", "1e3", "xx1", "\u0661")] == [
        None
    ] * 8


def test_the_first_model_with_names() -> None:
    two = Model.from_clauses(3, [[1]], [1])
    assert named_first([two, NAMED]) is NAMED
    assert named_first([NAMED, two]) is NAMED
    assert named_first([two]) is two
