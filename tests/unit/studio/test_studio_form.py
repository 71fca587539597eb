"""What the page is told: parts, columns, values and patterns of every kind of space."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tmverify as tv
from support.spaces import spaces
from support.studios import as_bits, opened
from support.tiny_columns import random_row, random_space
from tmverify.errors import InvalidInputError
from tmverify.space.parts import OneColumn
from tmverify.studio.form import form_of


def model_of(space: tv.Space | None, n: int = 0) -> tv.Model:
    return tv.Model.from_clauses(n if space is None else space.n_bits, [[1]], [[1]], space=space)


@pytest.mark.parametrize(
    ("space", "kind"),
    [
        (tv.Space([tv.Image((2, 3))]), "image"),
        (tv.Space([tv.Image((2, 2, 3))]), "image"),
        (tv.Space([tv.Flag(f"pixel_{r}_{c}") for r in range(2) for c in range(3)]), "image"),
        (tv.Space([tv.Text(["good", "bad"])]), "text"),
        (tv.Space([tv.Text(["good", "bad"], "note"), tv.Flag("paid")]), "table"),
        (tv.Space([tv.Number("age", (25, 40), True), tv.Category("city", ["Oslo"], True, True)]), "table"),
        (tv.Space([tv.Flag("smoker", ("no", "yes"))]), "table"),
        (tv.Space([tv.Flag("fever"), tv.Flag("rash")]), "bits"),
        (None, "bits"),
    ],
)
def test_every_kind_of_space_is_described(space: tv.Space | None, kind: str) -> None:
    model = model_of(space, 3)
    form = form_of(opened(model))
    assert form["kind"] == kind
    assert as_bits(form["start"]["bits"]).shape == (model.n_features,)
    assert form["models"][0]["n_features"] == model.n_features


@given(spaces())
def test_patterns_write_every_value(space: tv.Space) -> None:
    """What the page does: it puts the pattern of a value into the bits of its column."""
    form = form_of(opened(model_of(space)))
    bits = list(form["start"]["bits"])
    assert space.possible(as_bits("".join(bits))[None, :])[0]
    for place, told in form["columns"].items():
        column = space.columns[int(place)]
        start, stop = told["bits"]
        for value, pattern in zip(told["values"], told["patterns"], strict=True):
            bits[start:stop] = pattern
            assert column.words(as_bits("".join(bits))) == value
    assert space.possible(as_bits("".join(bits))[None, :])[0]


@given(spaces())
def test_parts_say_where_their_columns_and_bits_begin(space: tv.Space) -> None:
    form = form_of(opened(model_of(space)))
    if form["kind"] == "image":
        assert len(form["parts"]) == 1
        return
    assert [part["name"] for part in form["parts"]] == [part.name for part in space.parts]
    for told, part in zip(form["parts"], space.parts, strict=True):
        if isinstance(part, OneColumn) or not part.n_bits:
            assert space.columns[told["start"]].name == part.name
        if part.n_bits:
            assert space.column_of(told["bit"]) == told["start"]
    words = [part.words for part in space.parts if isinstance(part, tv.Text)]
    assert form["words"] == [word for own in words for word in own]


@given(st.integers(0, 10_000))
def test_what_is_impossible_is_named(seed: int) -> None:
    rng = np.random.default_rng(seed)
    space = random_space(rng)
    about = opened(model_of(space))
    assert about.impossible(random_row(rng, space)) == []
    bits = rng.integers(0, 2, space.n_bits).astype(np.uint8)
    wrong = [i for i, column in enumerate(space.columns) if column.words(bits).startswith("impossible")]
    assert about.impossible(bits) == wrong


def test_the_model_that_knows_its_columns_speaks_for_the_other() -> None:
    space = tv.Space([tv.Flag("owner"), tv.Flag("member")])
    a, b = model_of(None, 2), model_of(space)
    about = opened(a, b)
    assert about.space == space
    assert [each.asked.space for each in about.models] == [space, space]
    assert [each.model for each in about.models] == [a, b]
    assert all(each.certifiable for each in about.models)
    wide = model_of(tv.Space([tv.Number("age", (1, 2))]))
    assert [each.certifiable for each in opened(a, wide).models] == [False, True]


def test_models_too_large_for_a_page_are_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"up to 65,536 features\. a.tm has 65,537"):
        opened(model_of(None, 65_537))


def test_python_rows_and_labels() -> None:
    from tmverify.studio.opened import open_objects

    space = tv.Space([tv.Number("age", (25, 40)), tv.Flag("owner")], target="paid")
    model = tv.Model.from_clauses(3, [[2]], [[1]], bias=-1, space=space, classes=("no", "yes"))
    rows: list[dict[str, Any]] = [{"age": 20, "owner": 1}, {"age": 60, "owner": 0}]
    about = open_objects([model], rows, ["yes", "yes"], None)
    assert about.data is not None
    assert about.data.decisions == (("no", "yes"),)
    assert about.data.accuracy == 0.5
    with pytest.raises(InvalidInputError, match=r"against must be a tmverify\.Model"):
        open_objects([model, "other.tm"], None, None, None)
