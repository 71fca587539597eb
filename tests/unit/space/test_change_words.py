"""Changes and impossible patterns in words."""

from __future__ import annotations

import numpy as np
import pytest

import tmverify as tv

AGE = tv.Number("age", (25, 40, 60), missing=True)
CITY = tv.Category("city", ("Bergen", "Oslo"), missing=True)


@pytest.mark.parametrize(
    ("part", "bits", "words"),
    [
        (AGE, "1000", "25 to 40"),
        (AGE, "0010", "impossible (over 60, not over 25)"),
        (AGE, "1010", "impossible (over 60, not over 40)"),
        (AGE, "1101", "impossible (missing and over 40)"),
        (CITY, "110", "impossible (Bergen and Oslo)"),
        (CITY, "011", "impossible (Oslo and missing)"),
        (CITY, "000", "impossible (no value)"),
    ],
)
def test_a_column_in_words(part: tv.Number | tv.Category, bits: str, words: str) -> None:
    (column,) = tv.Space([part]).columns
    assert column.words(np.array(list(map(int, bits)), np.uint8)) == words


def test_changes() -> None:
    space = tv.Space(
        [AGE, tv.Flag("owner"), tv.Flag("here", ("absent", "present")), tv.Text(("good",), "note")]
    )
    before = np.array([1, 0, 0, 0, 0, 0, 0], np.uint8)
    after = np.array([1, 1, 0, 0, 1, 1, 1], np.uint8)
    changes = space.changes(before, after)
    assert changes[0] == tv.Change("age", "25 to 40", "40 to 60")
    assert list(map(str, changes)) == [
        "age 25 to 40 → 40 to 60",
        "owner 0 → 1",
        "here absent → present",
        'note: "good" added',
    ]
    assert str(space.changes(after, before)[3]) == 'note: "good" removed'
