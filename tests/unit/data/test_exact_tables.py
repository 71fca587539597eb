"""Tables of every form give the bits of their values: digits, missing entries and names are kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tmverify as tv
from tmverify.data import TableBinarizer
from tmverify.errors import InvalidInputError
from tmverify.space import Category

BIG = [10**17 + 1, 10**17 + 2, 5 * 10**17]


@pytest.mark.parametrize(
    "ids",
    [
        BIG,
        pd.Series(BIG, dtype="Int64"),
        pd.Series([*BIG, None], dtype="Int64"),
        pd.Categorical([*BIG, None]),
        [*BIG, None],
        [str(value) for value in BIG],
    ],
    ids=["integers", "Int64", "gaps in Int64", "categorical", "objects", "texts"],
)
def test_integers_as_categories_keep_their_digits(ids: Any) -> None:
    frame = pd.DataFrame({"id": pd.Series(ids, dtype=object) if isinstance(ids, list) else ids})
    for X in (frame, frame.astype(object).to_numpy()):
        binarizer = TableBinarizer(kinds={"id": "category"}, column_names=["id"]).fit(X)
        (part,) = binarizer.space_.parts
        assert isinstance(part, Category)
        assert part.categories == tuple(map(str, BIG))
        bits = binarizer.transform(X)
        assert bits.tolist() == np.eye(len(frame), dtype=int).tolist()
        assert np.array_equal(bits, binarizer.space_.encode(X))
        assert np.array_equal(
            bits, binarizer.space_.encode([{"id": value} for value in frame["id"].astype(object)])
        )


def test_the_classifier_keeps_the_digits_of_categories() -> None:
    frame = pd.DataFrame({"id": BIG * 4, "x": [0.5, 1.5, 2.5] * 4})
    classifier = tv.TsetlinMachineClassifier(
        4, 2, n_epochs=1, random_state=0, binarize=TableBinarizer(kinds={"id": "category"})
    ).fit(frame, [0, 1, 1] * 4)
    assert classifier.space_.parts[0] == Category("id", tuple(map(str, BIG)), other=True)
    assert np.array_equal(
        classifier.decision_function(frame), classifier.decision_function(frame.to_dict("records"))
    )
    with pytest.raises(InvalidInputError, match="does not hold all digits of 1e"):
        TableBinarizer(kinds={"x0": "category"}).fit(frame.to_numpy())


def test_categories_that_are_no_texts_are_refused() -> None:
    ages = pd.cut(pd.Series([1.0, 20.0, 30.0]), 3)
    days = pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-02", "2020-01-02"]))
    for column in (ages, days):
        with pytest.raises(InvalidInputError, match=r"make texts of them.*astype\(str\)"):
            TableBinarizer().fit(pd.DataFrame({"c": column}))
    texts = pd.DataFrame({"c": ages.astype(str)})
    assert TableBinarizer().fit_transform(texts).sum(axis=1).tolist() == [1, 1, 1]


def test_frames_go_by_name_as_in_the_space() -> None:
    frame = pd.DataFrame({0: [1.0, 2.0, 3.0], 1: [30.0, 20.0, 10.0]})
    binarizer = TableBinarizer().fit(frame)
    turned = frame[[1, 0]]
    assert np.array_equal(binarizer.transform(turned), binarizer.transform(frame))
    assert np.array_equal(binarizer.transform(turned), binarizer.space_.encode(turned))
    with pytest.raises(InvalidInputError, match="lacks '0'"):
        binarizer.transform(frame.rename(columns={0: 7}))
    without = TableBinarizer().fit(frame.to_numpy())
    assert np.array_equal(without.transform(frame), binarizer.transform(frame))  # by position


def test_a_missing_entry_of_a_dictionary_of_pyarrow() -> None:
    table = pa.table(
        {"city": pa.array(["a", None, "b"]).dictionary_encode(), "id": pa.array([BIG[0], None, 2])}
    )
    space = tv.Space(
        [Category("city", ("a", "b"), missing=True), Category("id", (str(BIG[0]), "2"), missing=True)]
    )
    assert space.encode(table).tolist() == [[1, 0, 0, 1, 0, 0], [0, 0, 1, 0, 0, 1], [0, 1, 0, 0, 1, 0]]
