"""Data with feature names: columns are put in the model's order or refused; position does not count."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tmverify as tv
from tmverify.bnn import BnnModel
from tmverify.errors import InvalidInputError
from tmverify.model.names import check_same_features, column_order, in_order
from tmverify.properties.allowed import Allowed

NAMES = ("age", "sex", "rash")
FIRST = tv.Model.from_clauses(3, [[1]], [1], bias=-1, feature_names=NAMES)  # 1 iff age
FIRST_OF_NONE = replace(FIRST, space=tv.Space.flags(3))
NETWORK = BnnModel.from_layers([([[1, 1, 1], [1, 1, 1]], [1, 4])], [[-1, -1], [1, -1]], feature_names=NAMES)


def order(columns: list[str], names: tuple[str, ...] | None, n: int = 3) -> list[int]:
    model = tv.Model.from_clauses(n, [], [], feature_names=names)
    found: list[int] = column_order(columns, model, what="d.csv", remedy="drop the header").tolist()
    return found


@pytest.mark.parametrize("columns", list(permutations(NAMES)))
def test_the_model_s_names_in_any_order(columns: tuple[str, ...]) -> None:
    assert [columns[i] for i in order([*columns], NAMES)] == [*NAMES]


@pytest.mark.parametrize(
    ("columns", "names", "expected"),
    [
        (["x2", "x0", "x1"], None, [1, 2, 0]),
        (["2", "0", "1"], None, [1, 2, 0]),
        (["X2", "x00", "1"], None, [1, 2, 0]),
        (["x2", "x0", "x1"], NAMES, [1, 2, 0]),  # a numbering, whatever the features are called
        (["2", "0", "1"], NAMES, [1, 2, 0]),
        (["rash", "x1", "age"], None, [0, 1, 2]),  # names that say nothing to a model without names
        (["x2", "x0", "x1"], ("x1", "x2", "x0"), [2, 0, 1]),  # names, although they look like numbers
        (["2", "0", "1"], ("0", "1", "2"), [1, 2, 0]),
    ],
)
def test_what_is_put_in_order(columns: list[str], names: tuple[str, ...] | None, expected: list[int]) -> None:
    assert order(columns, names) == expected


@pytest.mark.parametrize(
    ("columns", "names", "message"),
    [
        (["age", "sex", "fever"], NAMES, "it lacks 'rash', and the model has no 'fever'"),
        (["age", "sex"], NAMES, r"it lacks 'rash'\."),
        (["age", "sex", "rash", "income"], NAMES, r"features: the model has no 'income'\."),
        (["Age", "sex", "rash"], NAMES, "it lacks 'age', and the model has no 'Age'"),
        (["x2", "x1", "x0"], ("2", "1", "0"), "it lacks '2', '1', '0'"),  # numbers that mean something else
        (["0", "1", "2"], ("x1", "x2", "x0"), "it lacks 'x1', 'x2', 'x0'"),
        (["a", "b", "c", "d", "e"], NAMES, "the model has no 'a', 'b', 'c' and 2 more"),
        (["x1", "x2", "x3"], NAMES, "it lacks 'age', 'sex', 'rash'"),
        (["x1", "x2", "x3"], None, "it lacks 'x0', and the model has no 'x3'"),  # counted from 1: or not?
        (["1", "2", "3"], None, "it lacks 'x0', and the model has no 'x3'"),
        (["x0", "x1"], None, r"it lacks 'x2'\."),
        (["x0", "x1", "x2", "0"], None, "it has some of them twice"),
        (["x0", "x1", "x2"], ("x1", "x2", "x3"), "it lacks 'x3', and the model has no 'x0'"),
        (["x0", "x1", "age"], ("x1", "x0", "rash"), "it lacks 'rash', and the model has no 'age'"),
    ],
)
def test_what_is_refused(columns: list[str], names: tuple[str, ...] | None, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message) as caught:
        order(columns, names)
    assert str(caught.value).startswith("d.csv must have columns that are named like the model's features")
    assert str(caught.value).endswith("Rename or drop columns, or drop the header.")


def frames() -> list[Any]:
    """Who is of age: nobody, then everybody; the columns in other orders than the model's."""
    table = pd.DataFrame({"rash": [1, 0], "sex": [1, 0], "age": [0, 1]})
    rows = [row for _, row in table.iterrows()]
    return [table, table.astype(bool), table[["sex", "age", "rash"]], rows, tuple(rows), pa.table(table)]


@pytest.mark.parametrize("frame", frames(), ids=lambda frame: type(frame).__name__)
def test_a_frame_goes_by_its_names(frame: Any) -> None:
    assert FIRST.predict(frame).tolist() == [0, 1]
    assert FIRST.scores(frame).ravel().tolist() == [-1, 0]
    assert np.array_equal(in_order(frame, FIRST), [[0, 1, 1], [1, 0, 0]])
    found = tv.check_universal_robustness(FIRST, frame, 1, 1, features=["sex", "rash"])
    assert [verdict.status.value for verdict in found.verdicts] == ["holds", "holds"]
    found = tv.check_universal_similarity(FIRST_OF_NONE, FIRST, frame, 0, 1)
    assert found.status == "holds"


def test_a_network_reads_frames_too() -> None:
    table = pd.DataFrame({"rash": [1], "sex": [0], "age": [0]})
    with pytest.raises(InvalidInputError, match=r"X must have columns .*the model has no 'fever'"):
        NETWORK.predict(table.rename(columns={"sex": "fever"}))
    picky = BnnModel.from_layers([([[1, -1, -1]], [3])], [[-1], [1]], feature_names=NAMES)  # age alone
    assert picky.predict(table[["sex", "rash", "age"]]).tolist() == [0]
    assert picky.predict(1 - table).tolist() == [0]
    assert picky.predict(pd.DataFrame({"rash": [0], "sex": [0], "age": [1]})).tolist() == [1]


def test_a_series_goes_by_its_names() -> None:
    x = pd.Series({"rash": 1, "sex": 1, "age": 0})
    verdict = tv.check_robustness(FIRST, x, 1)
    assert verdict.status == "violated"
    assert verdict.flips == [0]
    assert tv.robustness_radius(FIRST, x).flips == [0]
    assert tv.check_similarity(FIRST_OF_NONE, FIRST, x, 0).status == "holds"
    mask = pd.Series({"rash": 0, "sex": 1, "age": 1})
    assert tv.check_robustness(FIRST, x, 1, features=mask).flips == [0]
    assert tv.check_robustness(FIRST, x, 1, features=1 - mask).status == "holds"


def test_words_that_are_attributes_of_a_series() -> None:
    words = ("columns", "index", "axes")
    model = replace(FIRST, space=tv.Space.flags(words))
    x = pd.Series({"axes": 0, "index": 0, "columns": 1})
    assert tv.check_robustness(model, x, 1).decisions == (1, 0)


def test_frames_without_names_of_their_own() -> None:
    bits = np.array([[0, 1, 1], [1, 0, 0]])
    for model in (FIRST, FIRST_OF_NONE):
        assert model.predict(pd.DataFrame(bits)).tolist() == [0, 1]
        assert model.predict(pd.DataFrame(bits)[[2, 0, 1]]).tolist() == [0, 1]
        assert model.predict(pd.DataFrame(bits, columns=["x0", "x1", "x2"])[["x2", "x0", "x1"]]).tolist() == [
            0,
            1,
        ]
    assert FIRST_OF_NONE.predict(pd.DataFrame(bits, columns=[*"abc"])).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (["age", "sex", "fever"], r"it lacks 'rash', and the model has no 'fever'.*pass X.to_numpy\(\)"),
        (["age", "age", "rash"], "X must name each column once. Got 'age' twice"),
        ([1, 2, 3], "it lacks 'age'"),
    ],
)
def test_frames_that_are_refused(columns: list[Any], message: str) -> None:
    frame = pd.DataFrame([[0, 1, 1]], columns=columns)
    for ask in (FIRST.predict, FIRST.scores, NETWORK.predict):
        with pytest.raises(InvalidInputError, match=message):
            ask(frame)
    with pytest.raises(InvalidInputError, match=message.replace("X", "x")):
        tv.check_robustness(FIRST, frame.iloc[0], 1)
    with pytest.raises(InvalidInputError, match=message):
        tv.check_equivalence(FIRST_OF_NONE, FIRST, X=frame)


def test_what_has_no_names_is_left_alone() -> None:
    several: list[Any] = [[[0, 1, 1]], ((0, 1, 1),), np.ones((1, 3)), "no data", None, [[]], []]
    for values in several:
        assert in_order(values, FIRST) is values


def model(*names: str) -> tv.Model:
    return tv.Model.from_clauses(2, [[1]], [1], feature_names=names or None)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a", "b"), ("a", "b")),
        (("a", "b"), ()),
        ((), ()),
        (("x0", "x1"), ()),
    ],
)
def test_models_of_the_same_features(first: tuple[str, ...], second: tuple[str, ...]) -> None:
    for a, b in ((first, second), (second, first)):
        check_same_features(model(*a), model(*b))
        assert tv.check_equivalence(model(*a), model(*b)).status == "holds"


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (("a", "b"), ("b", "a"), "Feature 0 is '[ab]' to the one and '[ab]' to the other"),
        (("a", "b"), ("a", "c"), "Feature 1 is '[bc]' to the one and '[bc]' to the other"),
        (("x1", "x0"), (), "Feature 0 is 'x[01]' to the one"),
        (("x0", "x1"), ("a", "b"), "Feature 0 is"),
        (("x1", "x2"), (), "Feature 0 is"),
        (("x1", "x2"), ("x0", "x1"), "Feature 0 is"),
    ],
)
def test_models_of_other_features(first: tuple[str, ...], second: tuple[str, ...], message: str) -> None:
    for a, b in ((model(*first), model(*second)), (model(*second), model(*first))):
        for ask in (
            lambda a=a, b=b: tv.check_equivalence(a, b),
            lambda a=a, b=b: tv.check_similarity(a, b, [0, 1], 1),
            lambda a=a, b=b: tv.check_universal_similarity(a, b, [[0, 1]], 1, 1),
            lambda a=a, b=b: tv.similarity_radius(a, b, [0, 1]),
        ):
            with pytest.raises(InvalidInputError, match=f"in the same order. {message}.*feature_names"):
                ask()


def test_the_names_of_either_model_can_be_used() -> None:
    for pair in ((FIRST_OF_NONE, FIRST), (FIRST, FIRST_OF_NONE)):
        query = tv.similarity_query(*pair, [0, 0, 0], 1, allowed=Allowed(features=["sex"]))
        assert query.region.mutable.tolist() == [False, True, False]


def test_the_fields_of_named_tuples_are_names() -> None:
    frame = pd.DataFrame([[0, 0, 1], [1, 1, 0]], columns=["rash", "sex", "age"])
    assert FIRST.predict(frame).tolist() == [1, 0]
    assert FIRST.predict(list(frame.itertuples(index=False))).tolist() == [1, 0]
    with pytest.raises(InvalidInputError, match="it lacks"):
        FIRST.predict(list(frame.rename(columns={"sex": "fever"}).itertuples(index=False)))


def test_models_that_read_pictures_in_other_ways_are_not_compared() -> None:
    def model(space: tv.Space) -> tv.Model:
        return tv.Model.from_clauses(4, [[1]], [1], space=space)

    dark, light = (model(tv.Space([tv.Image((2, 2), threshold=level)])) for level in (3.0, 200.0))
    with pytest.raises(InvalidInputError, match=r"'image' becomes bits by one rule .* train --like FIRST"):
        tv.check_equivalence(dark, light)
    names_alone = model(tv.Space.flags(dark.space.bit_names))
    assert tv.check_equivalence(dark, names_alone).status == "holds"


def test_one_picture_is_one_input() -> None:
    model = tv.Model.from_clauses(4, [[1]], [1], bias=-1, space=tv.Space([tv.Image((2, 2), threshold=3.0)]))
    picture = np.array([[5, 0], [0, 0]])
    assert model.predict(picture).tolist() == model.predict(picture[None]).tolist() == [1]
    assert model.predict(np.zeros((2, 2))).tolist() == [0]
    assert tv.robustness_radius(model, picture).changes == (tv.Change("pixel_0_0", "on", "off"),)


def test_models_that_read_words_the_other_way_round_are_not_compared() -> None:
    """They have the same clauses and the same names of bits, and decide every row differently."""
    a, b = (
        tv.Model.from_clauses(1, [[1]], [1], bias=-1, space=tv.Space([tv.Flag("sex", values)]))
        for values in (("f", "m"), ("m", "f"))
    )
    assert a.predict({"sex": "m"}) != b.predict({"sex": "m"})
    with pytest.raises(InvalidInputError, match="read raw rows in the same way"):
        tv.check_equivalence(a, b)
    with pytest.raises(InvalidInputError, match="read raw rows in the same way"):
        tv.check_similarity(a, b, {"sex": "m"}, 0)
