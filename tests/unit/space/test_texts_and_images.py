"""Texts and pictures have the bits that the binarizers make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tmverify as tv
from tmverify import AdaptiveGaussianBinarizer, InvalidInputError, ThresholdBinarizer, WordBinarizer
from tmverify.space.text import split_words

TEXTS = ["Good, good film!", "a BAD\r\n film", "it's \xa0 ü", "", "no-one's", "tab\there", "\x85"]
GREY = np.random.default_rng(3).integers(0, 256, (4, 5, 7)).astype(np.uint8)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(max_size=12) | st.sampled_from(TEXTS), min_size=1, max_size=5))
def test_texts_are_cut_as_the_binarizer_cuts_them(texts: list[str]) -> None:
    binarizer = WordBinarizer().fit(TEXTS)
    wanted = binarizer.transform(texts).toarray()
    assert np.array_equal(binarizer.space_.encode(texts), wanted)
    decoded = binarizer.space_.decode(wanted)
    assert np.array_equal(binarizer.space_.encode(decoded), wanted)
    assert np.array_equal(binarizer.space_.encode([row["text"] for row in decoded]), wanted)


@settings(deadline=None, max_examples=100)
@given(st.text(max_size=20))
def test_words_are_words(text: str) -> None:
    for word in split_words(text):
        assert split_words(word) == [word]


def test_a_text_is_called_like_the_series_that_it_comes_from() -> None:
    texts = ["good film", "bad film", "good", "bad"]
    for series, name in ((pd.Series(texts, name="snippet"), "snippet"), (pd.Series(texts), "text")):
        assert WordBinarizer().fit(series).space_.parts[0].name == name
        model = tv.TsetlinMachineClassifier(8, 4, n_epochs=3).fit(series, [1, 0, 1, 0]).model_
        assert model.predict({name: "bad film"}).tolist() == model.predict("bad film").tolist()
    assert WordBinarizer(name="review").fit(pd.Series(texts, name="snippet")).name_ == "review"
    assert WordBinarizer().fit(pd.Series(texts, name=3)).name_ == "text"


def test_words_that_look_blank_are_words() -> None:
    """Texts with Windows' line ends, or with spaces that are not broken, can be trained on."""
    space = WordBinarizer().fit(["good \r\nfilm", "a \xa0 b"]).space_
    assert "\r" not in space.bit_names
    assert [column.kind for column in space.columns] == ["word"] * space.n_bits
    assert tv.Space.from_json(space.to_json(), space.n_bits) == space


TEXT = tv.Space([tv.Text(["good", "bad"], "review")])


@pytest.mark.parametrize(
    "rows",
    [
        ["Good!", "bad bad", ""],
        ("Good!", "bad bad", ""),
        np.array(["Good!", "bad bad", ""]),
        np.array([["Good!"], ["bad bad"], [""]], object),
        [["Good!"], ["bad bad"], [""]],
        pd.Series(["Good!", "bad bad", None], index=[5, 6, 7]),
        pd.DataFrame({"id": [1, 2, 3], "review": ["Good!", "bad bad", None]}),
        [{"review": "Good!"}, {"review": "bad bad"}, {"review": None}],
        [("good",), ("bad",), ()],
        [{"review": ("good",)}, {"review": ("bad",)}, {"review": ()}],
    ],
    ids=lambda rows: ascii(rows)[:40],
)
def test_forms_of_texts(rows: Any) -> None:
    assert TEXT.encode(rows).tolist() == [[1, 0], [0, 1], [0, 0]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("good", "must be a list"),
        ([], "at least one text"),
        ([5], "'review' must be a text"),
        ([["good film", "bad film"]], "'review' must be a text"),
        ([{"review": ["good film", "bad film"]}], "'review' must be a text"),
        ([{"text": "good"}], "lacks 'review'"),
        ([b"good"], "'review' must be a text"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_what_is_no_text(rows: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        TEXT.encode(rows)


@pytest.mark.parametrize(
    "binarizer",
    [
        ThresholdBinarizer(75, image_shape=(5, 7)),
        ThresholdBinarizer(np.arange(35) * 7.25, image_shape=(5, 7)),
        AdaptiveGaussianBinarizer((5, 7), window=3),
        AdaptiveGaussianBinarizer((5, 7), window=11, offset=-1.5),
    ],
    ids=["one threshold", "a threshold a pixel", "window 3", "window 11"],
)
def test_pictures_are_cut_as_the_binarizer_cuts_them(binarizer: Any) -> None:
    flat = GREY.reshape(4, -1)
    wanted = binarizer.fit_transform(flat)
    space = binarizer.space_
    assert space.image_shape == (5, 7)
    for pictures in (GREY, flat, GREY.astype(float), list(GREY), GREY.tolist()):
        assert np.array_equal(space.encode(pictures), wanted)
    assert np.array_equal(space.encode([{"image": picture} for picture in GREY]), wanted)
    decoded = space.decode(wanted)
    assert decoded[0]["image"].shape == (5, 7)
    assert np.array_equal(space.encode(decoded), wanted)
    assert space.possible(wanted).all()
    assert tv.Space.from_json(space.to_json(), 35) == space


@pytest.mark.parametrize(
    "image",
    [
        tv.Image((2, 2), 75),
        tv.Image((2, 2), 1),
        tv.Image((2, 2), -1),
        tv.Image((2, 2), (0.5, 0.5, 0.5, 75)),
        tv.Image((2, 2), window=3, offset=2),
        tv.Image((2, 2), window=3),
    ],
    ids=str,
)
def test_bits_are_not_taken_for_grey_levels(image: tv.Image) -> None:
    bits = np.array([[[0, 1], [0, 1]]])
    for picture in (bits, bits.astype(float), bits.reshape(1, 4)):
        with pytest.raises(InvalidInputError, match="0 and 1 alone"):
            tv.Space([image]).encode(picture)
    assert tv.Space([image]).encode(bits.astype(bool)).tolist() == [[0, 1, 0, 1]]


def test_levels_whose_bits_are_themselves() -> None:
    for threshold in (0, 0.5, None):
        assert tv.Space([tv.Image((1, 2), threshold)]).encode(np.array([[[0, 1]]])).tolist() == [[0, 1]]
    assert tv.Space([tv.Image((1, 2), 75)]).encode(np.zeros((1, 1, 2))).tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (np.full((1, 2, 2), 300), "whole numbers from 0 to 255"),
        (np.full((1, 2, 2), 0.5), "whole numbers from 0 to 255"),
        (np.full((1, 2, 2), np.nan), "finite"),
        (np.zeros((2, 2)), "must be an array of numbers, of shape"),
        (np.zeros((1, 2, 3)), "must be an array of numbers, of shape"),
        (np.zeros((1, 2, 2), complex), "must be an array of numbers"),
        (np.full((1, 2, 2), "a"), "must be an array of numbers"),
        ([[[1, 2], [3]]], "must all have the shape"),
        (np.ma.MaskedArray(np.full((1, 2, 2), 9), np.eye(2, dtype=bool)[None]), "masked"),
        (5, "must be an array of numbers"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_is_no_picture(picture: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        tv.Space([tv.Image((2, 2), window=3)]).encode(picture)


def test_a_picture_of_unknown_levels() -> None:
    with pytest.raises(InvalidInputError, match="does not know how grey levels become bits"):
        tv.Space([tv.Image((2, 2))]).encode(np.full((1, 2, 2), 200))
