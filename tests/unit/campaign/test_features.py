"""``features``: names, indices and ranges, and nothing that could be read in two ways."""

from __future__ import annotations

import numpy as np
import pytest

import tmverify as tv
from tmverify.asking.features import read_features
from tmverify.bnn import BnnModel
from tmverify.errors import InvalidInputError

PLAIN = tv.Model.from_clauses(12, [], [])


def named(*names: str) -> tv.Model:
    return tv.Model.from_clauses(len(names), [], [], feature_names=names)


def chosen(model: tv.Model | BnnModel, text: str) -> list[int]:
    mask = read_features(model, text)
    assert mask is not None
    assert len(mask) == model.n_features
    found: list[int] = np.flatnonzero(mask).tolist()
    return found


def test_no_list_is_all() -> None:
    assert read_features(PLAIN, None) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4", [4]),
        ("x4", [4]),
        ("x4,4, 4", [4]),
        ("x0 , 3-5,x11", [0, 3, 4, 5, 11]),
        ("04", [4]),
        ("11-11", [11]),
    ],
)
def test_features_without_names(text: str, expected: list[int]) -> None:
    assert chosen(PLAIN, text) == expected
    assert chosen(BnnModel.from_layers([([[1] * 12], [2])], [[-1], [1]]), text) == expected


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        (("a", "b", "c"), "b,2", [1, 2]),
        (("a", "b", "c"), "x2,x0-x1", [0, 1, 2]),
        (("x1", "x2", "x0"), "x1", [0]),  # a name; a feature that has one is never called by its index
        (("x1", "x2", "x0"), "1-1", [1]),
        (("x0", "x1", "x2"), "1,x2", [1, 2]),
        (("0", "1", "b"), "1", [1]),  # the name and the index say the same
        (("a", "1984", "b"), "1984", [1]),  # there is no such index
        (("a, b", "c"), "a, b", [0]),
        (("a,b", "c"), "c,a,b", None),
        ((" a", "a"), " a", [0]),
        ((" a", "a"), "a", [1]),
        (("0,1", "c"), "0, 1", [0, 1]),
        (("1", "0", "b"), "1-1", [1]),  # a range is no name
    ],
)
def test_features_with_names(names: tuple[str, ...], text: str, expected: list[int] | None) -> None:
    if expected is None:
        with pytest.raises(InvalidInputError, match="is not a name"):
            chosen(named(*names), text)
    else:
        assert chosen(named(*names), text) == expected


@pytest.mark.parametrize(
    ("names", "text", "remedy"),
    [
        (("1", "0", "b"), "1", "feature 0 is called so, and feature 1 has that index. Write 0-0 .* 1-1"),
        (("x1", "x2", "x3"), "1", "feature 0 is called so, and feature 1 has that index. Write 0-0 .* 1-1"),
        (("a", "b", "0-1"), "0-1", "feature 2 is called so, and feature 0 has that index. Write 2-2 .* 0-0"),
        (("a", "b", "0,1"), "0,1", "as a name and as a list. Write 2-2 .*spaces behind the commas"),
        (("a", "b", "a,b"), "a,b", "as a name and as a list"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(names: tuple[str, ...], text: str, remedy: str) -> None:
    with pytest.raises(InvalidInputError, match=f"can be read in two ways.*{remedy}"):
        chosen(named(*names), text)


@pytest.mark.parametrize(
    ("model", "text", "message"),
    [
        (PLAIN, "x12", "must lie between 0 and 11"),
        (PLAIN, "x1-3", "'x1-3' is not an index .*they are called x0 to x11"),
        (PLAIN, "12", "must lie between 0 and 11, ranges rising. Got '12'"),
        (PLAIN, "5-3", "ranges rising"),
        (PLAIN, "X4", "'X4' is not an index"),
        (PLAIN, "colour", "'colour' is not an index"),
        (PLAIN, "", "'' is not an index"),
        (PLAIN, "1,", "'' is not an index"),
        (PLAIN, "\u0661", "is not an index"),
        (named("x1", "x2"), "x0", "'x0' is not a name of the model's features"),  # it counts from 1
        (named("age > 25", "age > 40", "sex = m"), "age", "names of 0, 1 begin with it"),
        (named("a", "b"), "2", "must lie between 0 and 1"),
    ],
)
def test_what_is_no_feature(model: tv.Model, text: str, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        chosen(model, text)
