"""freeze: the model of a pipeline decides raw rows as the pipeline does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tmverify as tv
from tmverify import InvalidInputError

RNG = np.random.default_rng(5)
FRAME = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, 60).astype(float),
        "city": RNG.choice(["Bergen", "Oslo", "Bodø"], 60),
        "owner": RNG.choice(["no", "yes"], 60),
    }
)
FRAME.loc[3, "age"] = np.nan
Y = (FRAME["age"].fillna(0) > 45).astype(int).to_numpy()


def classifier() -> tv.TsetlinMachineClassifier:
    return tv.TsetlinMachineClassifier(8, 4, n_epochs=3, random_state=0)


def test_a_table() -> None:
    pipeline = make_pipeline(tv.TableBinarizer(n_bins=4), classifier()).fit(FRAME, Y)
    model = tv.freeze(pipeline)
    assert [part.kind for part in model.space.parts] == ["number", "category", "flag"]
    turned = FRAME[["owner", "city", "age"]]
    for rows in (FRAME, turned, turned.to_dict("records")):
        assert model.predict(rows).tolist() == pipeline.predict(FRAME).tolist()
    unseen = pd.DataFrame({"age": [np.nan], "city": ["Tromsø"], "owner": ["no"]})
    assert model.predict(unseen).tolist() == pipeline.predict(unseen).tolist()
    assert tv.robustness_radius(model, turned.iloc[0]).lower >= 1


def test_the_classifier_alone_learns_the_same_space() -> None:
    alone = classifier().fit(FRAME, Y)
    assert tv.freeze(alone) is alone.model_
    assert alone.model_.predict(FRAME).tolist() == alone.predict(FRAME).tolist()
    assert alone.model_.predict(FRAME.iloc[0].to_dict()).tolist() == alone.predict(FRAME.iloc[:1]).tolist()


@pytest.mark.parametrize(
    ("binarizer", "X"),
    [
        (tv.WordBinarizer(n_words=5), ["good \r\n film", "a bad \xa0 film", "it's good", "no"]),
        (tv.ThermometerBinarizer(3), [[1.0, 5.0], [2.0, 4.0], [3.0, 9.0], [4.0, 1.0]]),
        (tv.ThresholdBinarizer(75), RNG.integers(0, 256, (4, 6))),
        (tv.ThresholdBinarizer(75, image_shape=(2, 3)), RNG.integers(0, 256, (4, 6))),
        (tv.AdaptiveGaussianBinarizer((2, 3), window=3), RNG.integers(0, 256, (4, 6))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_binarizers(binarizer: Any, X: Any) -> None:
    pipeline = make_pipeline(binarizer, "passthrough", classifier()).fit(X, [0, 1, 0, 1])
    model = tv.freeze(pipeline)
    assert model.space == pipeline[0].space_
    wanted = pipeline.predict(X).tolist()
    assert model.predict(model.space.encode(X)).tolist() == wanted
    if model.space.is_text:
        assert model.predict(X).tolist() == wanted
    if model.space.image_shape is not None:
        assert model.predict(np.asarray(X).reshape(-1, 2, 3)).tolist() == wanted


GREY = RNG.integers(0, 17, (40, 6)).astype(float)


@pytest.mark.parametrize(
    "binarizer",
    [
        tv.ThresholdBinarizer(8),
        tv.ThresholdBinarizer(8, image_shape=(2, 3)),
        tv.AdaptiveGaussianBinarizer((2, 3), window=3),
    ],
    ids=["columns", "threshold", "surroundings"],
)
@pytest.mark.parametrize("named", [False, True], ids=["array", "frame"])
def test_raw_rows_of_0_and_1_are_not_taken_for_bits(binarizer: Any, named: bool) -> None:
    """Grey levels 0.0 and 1.0 are dark: as bits they would be something else than for the pipeline."""
    X: Any = GREY if not named else pd.DataFrame(GREY, columns=tv.Image((2, 3)).bit_names)
    pipeline = make_pipeline(binarizer, classifier()).fit(X, GREY[:, 0] > 8)
    model = tv.freeze(pipeline)
    dark = (X > 8).astype(float)
    table = model.space.image_shape is None
    if named and table:  # its columns are found by name
        assert model.predict(dark).tolist() == pipeline.predict(dark).tolist()
    else:
        rows = dark.iloc[0] if named else dark[0]
        for ask in (model.predict, model.scores, lambda X: tv.check_universal_robustness(model, X, 1, 1)):
            with pytest.raises(InvalidInputError, match=r"could be bits or raw rows.*space\.encode\(X"):
                ask(dark)
        with pytest.raises(InvalidInputError, match=r"could be bits or raw rows.*space\.encode\(\[x"):
            tv.robustness_radius(model, rows)
        one = model.space.encode([np.asarray(GREY[0])])[0]
        assert tv.robustness_radius(model, one).lower >= 0
        with pytest.raises(InvalidInputError, match=r"could be bits or raw rows"):
            model.predict(dark.to_numpy().tolist() if named else dark.tolist())
    bits = model.space.encode(GREY)
    wanted = pipeline.predict(X).tolist()
    for plain in (bits, bits.astype(int), bits.astype(bool), bits.tolist(), csr_array(bits)):
        assert model.predict(plain).tolist() == wanted
    with pytest.raises(InvalidInputError, match=r"only 0 and 1.*model\.space\.encode"):
        model.predict(GREY.astype(int))
    if not table:
        assert model.predict(GREY.reshape(-1, 2, 3)).tolist() == wanted


def test_a_search_over_pipelines() -> None:
    pipeline = make_pipeline(tv.TableBinarizer(missing=["age"]), classifier())
    search = GridSearchCV(pipeline, {"tablebinarizer__n_bins": [2, 4]}, cv=2).fit(FRAME, Y)
    assert tv.freeze(search).predict(FRAME).tolist() == search.predict(FRAME).tolist()


def test_what_has_no_model_of_raw_rows() -> None:
    numbers = FRAME[["age"]].fillna(0)
    scaled = make_pipeline(StandardScaler(), tv.ThermometerBinarizer(), classifier()).fit(numbers, Y)
    with pytest.raises(InvalidInputError, match=r"step 'standardscaler' of the pipeline, StandardScaler"):
        tv.freeze(scaled)
    twice = make_pipeline(tv.ThermometerBinarizer(), tv.ThresholdBinarizer(0), classifier()).fit(numbers, Y)
    with pytest.raises(InvalidInputError, match="One binarizer"):
        tv.freeze(twice)
    for wrong in (StandardScaler(), make_pipeline(StandardScaler()), None, "pipeline"):
        with pytest.raises(InvalidInputError, match="freeze takes"):
            tv.freeze(wrong)


def test_the_space_of_another_model() -> None:
    """So that two models can be compared: both see the same intervals and categories."""
    first = classifier().fit(FRAME[:40], Y[:40])
    second = tv.TsetlinMachineClassifier(8, 4, n_epochs=3, random_state=1, binarize=first.space_)
    second.fit(FRAME[20:], Y[20:])
    assert second.model_.space == first.model_.space
    row = FRAME.iloc[0].to_dict()
    assert tv.check_similarity(first.model_, second.model_, row, 0).status != "unknown"
    learnt = classifier().fit(FRAME[20:], Y[20:])
    with pytest.raises(InvalidInputError, match=r"binarize=first\.space"):
        tv.check_similarity(first.model_, learnt.model_, row, 0)


def test_a_training_in_another_space_goes_on(tmp_path: Any) -> None:
    space = classifier().fit(FRAME, Y).space_
    settings: dict[str, Any] = {"random_state": 1, "binarize": space}
    straight = tv.TsetlinMachineClassifier(8, 4, n_epochs=4, **settings).fit(FRAME, Y)
    file = tmp_path / "x.state"
    tv.TsetlinMachineClassifier(8, 4, n_epochs=2, **settings).fit(FRAME, Y, checkpoint=file)
    assert tv.TsetlinMachineClassifier.resume(file).space_ == space
    again = tv.TsetlinMachineClassifier(8, 4, n_epochs=4, **settings).fit(FRAME, Y, checkpoint=file)
    assert again.model_ == straight.model_


@pytest.mark.parametrize("numbers", [False, True])
def test_a_space_goes_by_names_in_every_frame(numbers: bool) -> None:
    """Frames of numbers and of 0 and 1 too: by position, another column would be learnt under that name."""
    frame = pd.DataFrame(RNG.integers(0, 2, (200, 2)) * (9 if numbers else 1), columns=["a", "b"])
    swapped = frame[["b", "a"]]
    first = classifier().fit(frame, frame["a"] > 0)
    second = tv.TsetlinMachineClassifier(8, 4, n_epochs=3, random_state=0, binarize=first.space_)
    second.fit(swapped, frame["b"] > 0)
    assert (second.predict(swapped) == second.model_.predict(swapped)).all()
    assert (second.predict(swapped) == (frame["b"] > 0)).mean() > 0.95
    assert tv.check_equivalence(first.model_, second.model_).status == "violated"
    with pytest.raises(InvalidInputError, match="lacks 'a', 'b'"):
        tv.TsetlinMachineClassifier(8, 4, binarize=first.space_).fit(
            frame.set_axis(["p", "q"], axis=1), [0, 1] * 100
        )


def test_columns_that_are_numbered_or_left_over() -> None:
    a, b = RNG.integers(0, 99, (2, 300))
    y = (a > 50).astype(int)
    space = tv.Space([tv.Number("0", [50]), tv.Number("1", [50])])
    swapped = pd.DataFrame({0: a, 1: b})[[1, 0]]
    settings: dict[str, Any] = {"n_clauses": 20, "n_epochs": 10, "random_state": 1}
    clf = tv.TsetlinMachineClassifier(binarize=space, **settings).fit(swapped, y)
    assert (clf.predict(swapped) == clf.model_.predict(swapped)).all()
    assert clf.score(swapped, y) > 0.95
    named = tv.Space([tv.Number("a", [50]), tv.Number("b", [50])])
    frame = pd.DataFrame({"b": b, "a": a})
    clf = tv.TsetlinMachineClassifier(binarize=named, **settings).fit(np.stack([a, b], axis=1), y)
    assert (clf.model_.predict(frame) == y).mean() > 0.95
    picture = tv.Space([tv.Image((1, 2), threshold=50.0)])
    assert tv.TsetlinMachineClassifier(binarize=picture, **settings).fit(frame, y).score(frame, y) > 0.95


def test_a_frame_with_more_columns_than_the_space_can_be_resumed(tmp_path: Any) -> None:
    space = classifier().fit(FRAME, Y).space_
    clf = tv.TsetlinMachineClassifier(8, 4, n_epochs=2, binarize=space).fit(FRAME.assign(more=1.5), Y)
    clf.save(tmp_path / "x.state")
    assert tv.TsetlinMachineClassifier.resume(tmp_path / "x.state").model_ == clf.model_
