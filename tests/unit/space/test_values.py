"""What single values become: extremes, missing ones, unseen ones, and texts that look like something else."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tmverify as tv
from tmverify import InvalidInputError, ModelError
from tmverify.space.parts import Part
from tmverify.space.values import as_number, as_text, is_missing, number_text

MAX = sys.float_info.max
untyped: Any = tv  # what is given here, mypy would refuse


def bits(part: Part, value: Any) -> list[int]:
    """The bits of one value, alone and as part of a typed column."""
    (found,) = part.encode([value]).tolist()
    if isinstance(value, int | float | str | np.generic) and not (
        isinstance(value, int) and abs(value) >= 2**63
    ):
        assert part.encode(np.array([value])).tolist() == [found]
    return list(found)


@pytest.mark.parametrize(
    ("value", "above"),
    [
        (-MAX, 0),
        (-1e308, 0),
        (math.nextafter(-1e308, 0), 1),
        (-5e-324, 1),
        (0.0, 2),
        (-0.0, 2),
        (0, 2),
        (False, 2),
        (5e-324, 3),
        ("5e-324", 3),
        (Fraction(1, 3), 4),
        (Decimal("0.1"), 3),
        (0.1, 3),
        (np.float32(0.1), 4),
        (np.float16(0.1), 3),
        (1, 4),
        (True, 4),
        (np.bool_(True), 4),
        (" 1 ", 4),
        ("+1.", 4),
        (2**53, 4),
        (2**53 + 2, 5),
        (np.uint64(2**64 - 1), 5),
        (10**308, 5),
        (1e308, 5),
        (MAX, 6),
        (Decimal("1.5e308"), 6),
    ],
    ids=lambda value: re.sub(" at 0x.*", "", repr(value)),
)
def test_numbers_at_the_extremes(value: Any, above: int) -> None:
    part = tv.Number("n", [-1e308, -5e-324, 0.0, 0.1, 2.0**53, 1e308])
    assert bits(part, value) == [1] * above + [0] * (6 - above)


@pytest.mark.parametrize(
    "value",
    [math.inf, "-inf", "Infinity", 10**400, Decimal("1e400"), Fraction(10**400), np.float32(np.inf), "1e999"],
    ids=lambda value: repr(value)[:20],
)
def test_infinity_is_refused(value: Any) -> None:
    for part in (tv.Number("n", [1.0]), tv.Number("n", [1.0], missing=True)):
        with pytest.raises(InvalidInputError, match="finite number"):
            part.encode([value])


MISSING = [None, math.nan, np.nan, np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), "", " \t", "\xa0"]
MISSING += [Decimal("nan"), Decimal("sNaN")]


@pytest.mark.parametrize("value", MISSING, ids=lambda value: re.sub(" at 0x.*", "", repr(value)))
def test_missing_values(value: Any) -> None:
    assert is_missing(value)
    assert tv.Number("n", [1.0], missing=True).encode([value]).tolist() == [[0, 1]]
    assert tv.Category("c", ["a"], other=True, missing=True).encode([value]).tolist() == [[0, 1]]
    for part in (tv.Number("n", [1.0]), tv.Category("c", ["a"], other=True)):
        with pytest.raises(InvalidInputError, match=r"has a missing value.*in row 0"):
            part.encode([value])
    with pytest.raises(InvalidInputError, match="must be 0 or 1"):
        tv.Flag("f").encode([value])


@pytest.mark.parametrize("text", ["NA", "n/a", "nan", "NaN", "?", "-", "None", "null", "missing", " NA "])
def test_marks_are_missing_among_numbers_and_values_among_categories(text: str) -> None:
    assert bits(tv.Number("n", [1.0], missing=True), text) == [0, 1]
    assert bits(tv.Category("c", [text], other=True, missing=True), text) == [1, 0]
    assert bits(tv.Category("c", ["a"], other=True, missing=True), text) == [0, 1]
    assert bits(tv.Category("c", ["a"], other=True), text) == [0]


@pytest.mark.parametrize(
    "value",
    ["20,5", "1_000", "0x10", "ten", "12 %", b"1", [1], (1,), {}, object(), 1j],
    ids=lambda value: re.sub(" at 0x.*", "", repr(value)),
)
def test_what_is_no_number(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="'n' must be a number"):
        tv.Number("n", [1.0], missing=True).encode([value])


@pytest.mark.parametrize(
    "column",
    [
        np.array(["2020-01-01"], "datetime64[ns]"),
        np.array([5], "timedelta64[ns]"),
        [np.timedelta64(1, "s")],
        [pd.Timestamp("2020-01-01")],
        pd.Series(pd.to_datetime(["2020-01-01"])),
    ],
    ids=lambda value: re.sub(" at 0x.*", "", repr(value)),
)
def test_times_are_not_silently_integers(column: Any) -> None:
    for part in (tv.Number("n", [1.0]), tv.Category("c", ["a"], other=True), tv.Flag("f")):
        with pytest.raises(InvalidInputError, match="must be"):
            part.encode(column)


def test_categories_that_look_like_others() -> None:
    part = tv.Category("c", ["unseen", "missing", "nan", "1", "2.0"], other=True, missing=True)
    assert part.values == ("unseen", "missing", "nan", "1", "2.0", "unseen value", "not given")
    for i, value in enumerate(("unseen", "missing", "nan", "1")):
        assert bits(part, value).index(1) == i
    unseen, gone = [0] * 6, [0, 0, 0, 0, 0, 1]
    for value in ("unseen value", "inf", "Infinity", "NaN", "Oslo"):
        assert bits(part, value) == unseen
    assert bits(part, "not given") == bits(part, " not given ") == gone
    assert part.encode([math.nan]).tolist() == [gone]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("1", "1"),
        (" 1 ", "1"),
        (1, "1"),
        (1.0, "1"),
        ("1.0", "1"),
        ("1.00", "1"),
        (np.int8(1), "1"),
        (Decimal("1.0"), "1"),
        (2, "2.0"),
        (2.0, "2.0"),
        ("2", "unseen"),
        (True, "True"),
        ("01", "unseen"),
        ("1e0", "unseen"),
        ("٣", "unseen"),
        (7, "unseen"),
        ("7", "unseen"),
        ("007", "007"),
        (2**53, "9007199254740992"),
        (2**53 + 1, "9007199254740993"),
        (2.0**53, "9007199254740992"),
        (2**53 + 2, "unseen"),
        (0.1, "0.1"),
        (np.float32(0.5), "0.5"),
    ],
    ids=lambda value: re.sub(" at 0x.*", "", repr(value)),
)
def test_numbers_as_categories(value: Any, found: str) -> None:
    categories: Any = ["1", "2.0", "True", "007", 2**53, 2**53 + 1, 0.1, "0.5"]
    space = tv.Space([tv.Category("c", categories, other=True)])
    assert space.decode(space.encode([{"c": value}])) == [{"c": found}]


@pytest.mark.parametrize(
    "value",
    [b"a", ["a"], ("a",), {"a"}, object(), 1j, np.array(["a", "b"])],
    ids=lambda value: re.sub(" at 0x.*", "", repr(value)),
)
def test_what_is_no_category(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="must be text"):
        tv.Category("c", ["a"], other=True, missing=True).encode([value])


def test_unseen_values_are_refused_unless_allowed() -> None:
    with pytest.raises(InvalidInputError, match=r"'c' must be one of 'a', 'b'\. Got 'z' in row 1"):
        tv.Category("c", ["a", "b"]).encode(["a", "z"])


@pytest.mark.parametrize("value", [1, "1", 1.0, "1.0", True, "true", "TRUE", " yes ", "yes", np.True_])
def test_flags(value: Any) -> None:
    assert bits(tv.Flag("f", ("no", "yes")), value) == [1]


@pytest.mark.parametrize(
    "value",
    [2, -1, 0.5, "maybe", "Yes!", None, [1], b"1"],
    ids=lambda value: re.sub(" at 0x.*", "", repr(value)),
)
def test_what_is_no_flag(value: Any) -> None:
    with pytest.raises(InvalidInputError, match="'f' must be no or yes or 0 or 1"):
        tv.Flag("f", ("no", "yes")).encode([value])


@pytest.mark.parametrize(
    "values", [("1", "0"), ("1", "2"), ("true", "false"), ("yes", "0"), ("True", "x"), ("1.0", "b")]
)
def test_values_of_a_flag_do_not_contradict_its_bit(values: tuple[str, str]) -> None:
    with pytest.raises(ModelError, match="read in two ways"):
        tv.Flag("f", values)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: untyped.Flag(""), "must have a name"),
        (lambda: untyped.Flag(" "), "must have a name"),
        (lambda: untyped.Flag(None), "must be text"),
        (lambda: untyped.Flag("\ud800"), "valid Unicode"),
        (lambda: untyped.Flag("f", ("a", "a")), "two different values"),
        (lambda: untyped.Flag("f", ("a", " a ")), "two different values"),
        (lambda: untyped.Flag("f", ("a",)), "two different values"),
        (lambda: untyped.Flag("f", ("", "a")), "can't be blank"),
        (lambda: untyped.Flag("f", "ab"), "list of texts"),
        (lambda: untyped.Flag("f", kind="bit"), "flag, word or pixel"),
        (lambda: untyped.Number("n", [2, 1]), "must increase"),
        (lambda: untyped.Number("n", [1, 1.0]), "must increase"),
        (lambda: untyped.Number("n", [0.0, -0.0]), "must increase"),
        (lambda: untyped.Number("n", [math.nan]), "finite numbers"),
        (lambda: untyped.Number("n", [math.inf]), "finite numbers"),
        (lambda: untyped.Number("n", [10**400]), "finite numbers"),
        (lambda: untyped.Number("n", [2**53 + 1]), "holds exactly"),
        (lambda: untyped.Number("n", [Decimal("0.1")]), "holds exactly"),
        (lambda: untyped.Number("n", ["1"]), "finite numbers"),
        (lambda: untyped.Number("n", [True]), "finite numbers"),
        (lambda: untyped.Number("n", "12"), "must be a list"),
        (lambda: untyped.Number("n", 5), "must be a list"),
        (lambda: untyped.Number("n", [MAX]), "largest float"),
        (lambda: untyped.Number("n", [1], missing=1), "missing must be True or False"),
        (lambda: untyped.Category("c", []), "at least one category"),
        (lambda: untyped.Category("c", ["a", "a"]), "differ from each other"),
        (lambda: untyped.Category("c", [1, "1"]), "differ from each other"),
        (lambda: untyped.Category("c", ["a", " "]), "can't be blank"),
        (lambda: untyped.Category("c", [None]), "must be text"),
        (lambda: untyped.Category("c", "abc"), "list of texts"),
        (lambda: untyped.Category("c", ["a"], other="yes"), "other must be True or False"),
        (lambda: untyped.Text([]), "at least one word"),
        (lambda: untyped.Text(["Good"]), "lowercase"),
        (lambda: untyped.Text(["a b"]), "lowercase"),
        (lambda: untyped.Text([""]), "lowercase"),
        (lambda: untyped.Text(["a", "a"]), "differ from each other"),
        (lambda: untyped.Image((2,)), "shape must be"),
        (lambda: untyped.Image((2, 0)), "sides of shape"),
        (lambda: untyped.Image((2, 2.0)), "sides of shape"),
        (lambda: untyped.Image((1 << 15, 1)), "sides of shape"),
        (lambda: untyped.Image((2, 2), [1, 2, 3]), "one number, or 4"),
        (lambda: untyped.Image((2, 2), math.nan), "finite"),
        (lambda: untyped.Image((2, 2), 75, window=3), "not both"),
        (lambda: untyped.Image((2, 2, 3), window=3), "not both"),
        (lambda: untyped.Image((2, 2), window=4), "odd"),
        (lambda: untyped.Image((2, 2), window=True), "odd"),
        (lambda: untyped.Image((2, 2), offset=2), "goes with window"),
        (lambda: untyped.Space([]), "between 1 and"),
        (lambda: untyped.Space([tv.Number("n", [])]), "between 1 and"),
        (lambda: untyped.Space(5), "made of Flag"),
        (lambda: untyped.Space("ab"), "made of Flag"),
        (lambda: untyped.Space([tv.Image((1 << 13, 1 << 13))]), "between 1 and"),
        (lambda: untyped.Space([tv.Flag("a"), tv.Number("a", [1])]), "'a' twice"),
        (lambda: untyped.Space([tv.Flag("a > 1"), tv.Number("a", [1])]), "'a > 1' twice"),
        (lambda: untyped.Space([tv.Flag("t: w"), tv.Text(["w"], "t")]), "'t: w' twice"),
        (lambda: untyped.Space([tv.Flag("a")], target=""), "must have a name"),
        (lambda: tv.Space.flags(0), "between 1 and"),
        (lambda: tv.Space.flags(["a", "a"]), "'a' twice"),
    ],
)  # fmt: skip
def test_parts_and_spaces_that_make_no_sense(make: Any, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        make()


def test_a_space_is_a_value() -> None:
    def made() -> tv.Space:
        return tv.Space([tv.Number("n", [1, 2.0]), tv.Category("c", ["a"])], target="y")

    assert made() == made()
    assert hash(made()) == hash(made())
    assert made() != made().with_target(None)
    assert made() != tv.Space.flags(3)
    assert tv.Space.flags(3) == tv.Space.flags(3) != tv.Space.flags(["x0", "x1", "x2"])
    with pytest.raises(AttributeError, match="frozen"):
        made().parts = ()
    assert repr(made()) == "<Space: 1 number, 1 category; 3 bits>"


@pytest.mark.parametrize(
    "value", [0.0, 1.0, 75, 37.5, 1e-07, 5e-324, 1e308, -2.5, 2.0**53, 2.0**53 + 2, 0.1 + 0.2]
)
def test_the_text_of_a_number_reads_back(value: float) -> None:
    assert float(number_text(value)) == as_number(number_text(value)) == value
    assert as_text(float(value)) == number_text(value)


def test_the_word_for_unseen_is_no_category_with_blanks_around() -> None:
    """And it is found at once, also if a forged file has taken all its numbers."""
    for taken in ([" unseen"], ["unseen ", "unseen value", "\xa0none of these", "unseen (2) "]):
        city = tv.Category("city", taken, other=True, missing=True)
        bits = np.eye(city.n_bits + 1, city.n_bits, dtype=np.uint8)
        space = tv.Space([city])
        assert np.array_equal(space.encode(space.decode(bits)), bits)
    gone = tv.Space([tv.Category("city", [" missing"], missing=True)])
    assert gone.encode(gone.decode([[0, 1]])).tolist() == [[0, 1]]
    many = ["unseen", "unseen value", "none of these", *(f"unseen ({i})" for i in range(2, 50_000))]
    assert tv.Category("city", many, other=True).values[-1] == "unseen (50000)"


@pytest.mark.parametrize("name", [5, True, None, 1.5, np.int64(3), b"a"], ids=repr)
def test_names_are_texts(name: Any) -> None:
    """Others could be saved, and not be loaded."""
    makers: list[Callable[[], Any]] = [
        lambda: untyped.Flag(name),
        lambda: untyped.Flag(name, kind="word"),
        lambda: untyped.Number(name, [1]),
        lambda: untyped.Category(name, ["a"]),
        lambda: untyped.Text(["a"], name),
        lambda: untyped.Image((2, 2), name=name),
        lambda: untyped.Space([tv.Flag("a")], target=7),
    ]
    for make in makers:
        with pytest.raises(ModelError, match=r"must be (a )?text"):
            make()


def test_images_of_numpy_numbers_can_be_saved() -> None:
    for image in (
        untyped.Image((np.int64(4), 4), window=np.int64(3), offset=np.float32(2)),
        untyped.Image((4, 4), threshold=np.array(5.0)),
        untyped.Image((4, 4), threshold=np.arange(16.0).reshape(4, 4)),
    ):
        space = tv.Space([image])
        assert tv.Space.from_json(json.loads(json.dumps(space.to_json())), 16) == space
        assert space.encode(np.zeros((0, 4, 4))).shape == (0, 16)
