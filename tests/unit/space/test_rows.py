"""The forms in which raw rows come: names in any order, one row, no row, and forms that are refused."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tmverify as tv
from tmverify import InvalidInputError

SPACE = tv.Space(
    [
        tv.Flag("owner"),
        tv.Number("age", [25, 40], missing=True),
        tv.Category("city", ["Bergen", "Oslo"], other=True),
    ]
)
ROWS: list[dict[str, Any]] = [
    {"owner": 1, "age": 31, "city": "Oslo"},
    {"owner": 0, "age": 25, "city": "Bodø"},
    {"owner": 1, "age": None, "city": "Bergen"},
]
BITS = [[1, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0], [1, 0, 0, 1, 1, 0]]
FRAME = pd.DataFrame(ROWS)


class Polars:
    """What we use of a frame of polars."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self.columns = list(map(str, frame.columns))
        self.shape = frame.shape
        self._frame = frame

    def __getitem__(self, name: str) -> Any:
        return self._frame[name].to_numpy()


def forms() -> dict[str, Any]:
    pyarrow = pytest.importorskip("pyarrow")
    Row = namedtuple("Row", ["city", "owner", "age"])
    turned = FRAME[["city", "age", "owner"]]
    return {
        "frame": FRAME,
        "frame in another order": turned,
        "frame with more": turned.assign(name="x", when=pd.Timestamp("2020")),
        "frame of other types": FRAME.astype({"owner": "boolean", "age": "Int64", "city": "category"}),
        "frame of objects": FRAME.astype(object),
        "polars": Polars(turned),
        "pyarrow": pyarrow.Table.from_pandas(turned),
        "mappings": [dict(reversed(row.items())) for row in ROWS],
        "ordered": (OrderedDict(row) for row in ROWS),
        "series": [row for _, row in turned.astype(object).iterrows()],
        "named tuples": [Row(row["city"], row["owner"], row["age"]) for row in ROWS],
        "tuples": [tuple(row.values()) for row in ROWS],
        "lists": [list(row.values()) for row in ROWS],
        "array": np.array([list(row.values()) for row in ROWS], object),
    }


@pytest.mark.parametrize("name", forms().keys())
def test_forms_of_rows(name: str) -> None:
    assert SPACE.encode(forms()[name]).tolist() == BITS


def test_numbers_in_arrays() -> None:
    space = tv.Space([tv.Number("a", [1]), tv.Number("b", [2, 3], missing=True)])
    wanted = [[1, 1, 0, 0], [0, 0, 0, 1]]
    array = np.array([[2.0, 3.0], [1.0, np.nan]])
    assert space.encode(array).tolist() == wanted
    assert space.encode(array.astype(np.float32)).tolist() == wanted
    assert space.encode(np.asfortranarray(array)).tolist() == wanted
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(array)
    assert space.encode(matrix).tolist() == wanted
    masked = np.ma.MaskedArray([[2.0, 3.0], [1.0, 9.0]], [[False, False], [False, True]])
    assert space.encode(masked).tolist() == wanted


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[0], "must be a list"),
        ("Oslo", "must be a list"),
        (b"abc", "must be a list"),
        (FRAME.iloc[0], "put it into a list"),
        (None, "frame, a list of mappings or an array"),
        (5, "frame, a list of mappings or an array"),
        ([], "at least one row"),
        (FRAME.iloc[:0], "at least one row"),
        (np.zeros((0, 3)), "column for each of the 3"),
        (np.zeros(3), "column for each of the 3"),
        (np.zeros((2, 6)), r"column for each of the 3 columns .*'owner', 'age', 'city'.*shape \(2, 6\)"),
        ([[1, 2]], "Got 2 values in row 0"),
        ([[1, 31, "Oslo"], 5], "Got 5 in row 1"),
        (["abc"], "Got 'abc' in row 0"),
        ([b"abc"], "Got b'abc' in row 0"),
        ([{1, 31, "Oslo"}], "in row 0 instead"),
        ({(1, 31, "Oslo")}, "frame, a list of mappings"),
        ([ROWS[0], [1, 31, "Oslo"]], "Row 1 is"),
        ([{"owner": 1, "age": 31}], "Row 0 must have all columns.*lacks 'city'; it has 'owner', 'age'"),
        (FRAME[["age"]], "A table must have all columns.*lacks 'owner', 'city'"),
        (pd.concat([FRAME, FRAME[["age"]]], axis=1), "'age' twice"),
        ([pd.Series([1, 31, 32, "Oslo"], ["owner", "age", "age", "city"])], "'age' twice"),
        ([{"owner": 1, "age": 3, "city": "x", 1: 0, "1": 0}], "'1' twice"),
        ([{"owner": [1], "age": 31, "city": "Oslo"}], "'owner' must be 0 or 1"),
        ({"owner": [1], "age": [31], "city": ["Oslo"]}, "must be a list"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else type(value).__name__,
)
def test_forms_that_are_refused(rows: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        SPACE.encode(rows)


def test_rows_are_called_by_their_names_in_errors() -> None:
    with pytest.raises(InvalidInputError, match="in line 7 instead"):
        SPACE.encode([ROWS[0], {**ROWS[0], "age": "old"}], row_names=["line 5", "line 7"])
    with pytest.raises(InvalidInputError, match="Line 7 must have all columns"):
        SPACE.encode([ROWS[0], {}], row_names=["line 5", "line 7"])


def test_labels_that_are_no_texts() -> None:
    space = tv.Space([tv.Number("0", [1]), tv.Number("1", [5])])
    assert space.encode(pd.DataFrame({1: [6], 0: [0]})).tolist() == [[0, 1]]
    assert space.encode([{1: 6, 0: 0}]).tolist() == [[0, 1]]
