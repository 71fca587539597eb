"""Raw rows wherever bits are taken: mappings, series, frames, texts, pictures; and nothing is misread."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import dok_matrix

import tmverify as tv
from tmverify import InvalidInputError, Model
from tmverify.data import load_inputs

SPACE = tv.Space(
    [
        tv.Flag("owner", ("no", "yes")),
        tv.Number("age", [25, 40]),
        tv.Category("city", ["Bergen", "Oslo"], other=True),
    ]
)
MODEL = Model.from_clauses(5, [[2, -5], [1], [3]], [2, 1, -1], bias=-2, space=SPACE)
ROW = {"city": "Bergen", "age": 31, "owner": "yes"}
X = np.array([[1, 1, 0, 1, 0]], np.uint8)
Named = namedtuple("Named", ["city", "age", "owner"])

ONE_ROW: dict[str, Any] = {
    "bits": X[0],
    "bits in a matrix": X,
    "list of bits": X[0].tolist(),
    "mapping": ROW,
    "series": pd.Series(ROW),
    "series of bits": pd.Series(X[0], SPACE.bit_names)[::-1],
    "frame": pd.DataFrame([ROW]),
    "row of a frame": pd.DataFrame([ROW, ROW]).iloc[0],
    "frame of bits": pd.DataFrame(X, columns=SPACE.bit_names).iloc[:, ::-1],
    "numbered frame of bits": pd.DataFrame(X).iloc[:, ::-1],
    "named tuple": Named(**ROW),
    "words of decode": SPACE.decode(X)[0],
}


@pytest.mark.parametrize("name", ONE_ROW)
def test_one_row_in_any_form(name: str) -> None:
    x, bits = ONE_ROW[name], X[0]
    assert tv.check_robustness(MODEL, x, 1).status is tv.check_robustness(MODEL, bits, 1).status
    assert tv.robustness_radius(MODEL, x).lower == tv.robustness_radius(MODEL, bits).lower
    assert tv.check_similarity(MODEL, MODEL, x, 1).status is tv.Status.HOLDS
    if name not in ("bits", "list of bits", "series", "series of bits", "row of a frame", "named tuple"):
        assert MODEL.predict(x).tolist() == MODEL.predict(X).tolist()
        assert MODEL.scores(x).tolist() == MODEL.scores(X).tolist()


@pytest.mark.parametrize(
    "rows",
    [
        [ROW, ROW],
        pd.DataFrame([ROW, ROW]),
        [pd.Series(ROW), pd.Series(ROW)],
        [Named(**ROW), Named(**ROW)],
        np.repeat(X, 2, axis=0),
    ],
    ids=lambda rows: type(rows).__name__,
)
def test_many_rows(rows: Any) -> None:
    wanted = np.repeat(X, 2, axis=0)
    assert MODEL.predict(rows).tolist() == MODEL.predict(wanted).tolist()
    found = tv.check_universal_robustness(MODEL, rows, 1, 0)
    assert found.status is tv.check_universal_robustness(MODEL, wanted, 1, 0).status
    assert tv.check_equivalence(MODEL, MODEL, X=rows).status is tv.Status.HOLDS


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"age": 31, "owner": 1}, "lacks 'city'"),
        ({**ROW, "age": None}, "missing value"),
        ({**ROW, "age": "old"}, "must be a number"),
        ({**ROW, "age": [31]}, "must be a number"),
        (dict(zip(SPACE.bit_names, X[0].tolist(), strict=True)), "lacks"),
        ("Bergen", "only if the model was trained on texts"),
        (["Bergen"], "must be an array of 0 and 1"),
        ([1, 31, "Bergen"], "must be an array of 0 and 1"),
        (np.array([1, 31, 0]), "must hold only 0 and 1"),
        (pd.DataFrame([ROW, ROW]), "must be one input"),
        (pd.Series([1, 31, 31, "x"], ["owner", "age", "age", "city"]), "twice"),
        (pd.DataFrame([ROW]).drop(columns="age"), "lacks"),
        (np.zeros((2, 2)), "one input of shape"),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_what_is_refused(x: Any, message: str) -> None:
    for ask in (tv.check_robustness, lambda model, x, _: tv.robustness_radius(model, x)):
        with pytest.raises(InvalidInputError, match=message):
            ask(MODEL, x, 1)


def test_columns_that_are_called_like_numbered_bits() -> None:
    """x0 and x1 are columns of this space; its bits are x0 > 75 and x1 > 75."""
    model = Model.from_clauses(
        2, [[1], [2]], [[1, 0], [0, 1]], space=tv.Space([tv.Number("x0", [75]), tv.Number("x1", [75])])
    )
    for low, high in ((0, 1), (0, 100)):
        frame = pd.DataFrame({"x1": [high], "x0": [low]})
        assert model.scores(frame).tolist() == [[0, int(high > 75)]]
        assert model.scores(frame.iloc[0].to_dict()).tolist() == [[0, int(high > 75)]]
    assert model.scores(pd.DataFrame([[0, 1]])).tolist() == [[0, 1]]  # labels 0 and 1 number the bits
    bits = pd.DataFrame({"x1 > 75": [1], "x0 > 75": [0]})
    assert model.scores(bits).tolist() == [[0, 1]]


def test_flags_in_words() -> None:
    """Columns of flags are called like their bits: 0 and 1 are the same in both, words are raw."""
    space = tv.Space([tv.Flag("a", ("no", "yes")), tv.Flag("b", ("left", "right"))])
    model = Model.from_clauses(2, [[1], [2]], [[1, 0], [0, 1]], space=space)
    pairs: Any = (("no", "right"), (0, 1), (False, True), (0.0, 1.0))
    for a, b in pairs:
        frame = pd.DataFrame({"b": [b], "a": [a]})
        assert model.scores(frame).tolist() == [[0, 1]]
        row: Any = {"b": b, "a": a}
        assert model.scores(row).tolist() == [[0, 1]]
        assert tv.robustness_radius(model, frame.iloc[0]).lower == 1
    with pytest.raises(InvalidInputError):
        model.scores(pd.DataFrame({"a": ["right"], "b": ["no"]}))


def test_texts() -> None:
    model = Model.from_clauses(2, [[1], [2]], [[1, 0], [0, 1]], space=tv.Space([tv.Text(["good", "bad"])]))
    texts = ["a Bad one", "good!"]
    for rows in (texts, np.array(texts), pd.Series(texts), pd.DataFrame({"text": texts}), tuple(texts)):
        assert model.scores(rows).tolist() == [[0, 1], [1, 0]]
    one_text: Any = ("a Bad one", {"text": "a Bad one"})
    for one in one_text:
        assert model.predict(one).tolist() == [1]
        assert tv.robustness_radius(model, one).lower == 1
    assert model.predict("").tolist() == [0]
    assert model.predict(np.array([[0, 1]])).tolist() == [1]


@pytest.mark.parametrize("shape", [(2, 2), (1, 4), (4, 1), (2, 2, 1)], ids=str)
def test_pictures(shape: tuple[int, ...]) -> None:
    space = tv.Space([tv.Image(shape, 75)])
    model = Model.from_clauses(4, [[1], [2]], [[1, 0], [0, 1]], space=space)
    picture = np.array([0, 200, 76, 75], np.uint8).reshape(shape)
    bits = [0, 1, 1, 0]
    assert model.predict(picture[None]).tolist() == model.predict([bits]).tolist() == [1]
    assert model.scores([picture]).tolist() == [[0, 1]]
    row: Any = {"image": picture}
    assert model.scores(row).tolist() == [[0, 1]]
    assert tv.robustness_radius(model, picture).lower == 1
    assert tv.robustness_radius(model, picture > 75).lower == 1
    assert tv.robustness_radius(model, bits).lower == 1
    with pytest.raises(InvalidInputError, match=r"0 and 1 alone|must hold only"):
        tv.robustness_radius(model, np.array(bits).reshape(shape) if shape != (1, 4) else picture.ravel())
    with pytest.raises(InvalidInputError, match="must hold only 0 and 1"):
        model.predict(picture.reshape(1, -1) if len(shape) == 2 else picture.ravel())


def test_files_are_read_by_the_same_rules(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("city;more;age;owner\nBergen;;31;yes\n")
    found = load_inputs(path, MODEL)
    assert found.X.tolist() == X.tolist()
    assert found.ignored == ("more",)
    numbers = Model.from_clauses(
        2, [[1]], [1], space=tv.Space([tv.Number("x0", [75]), tv.Number("x1", [75])])
    )
    path.write_text("x1,x0\n1,100\n")
    assert load_inputs(path, numbers).X.tolist() == [[1, 0]]
    path.write_text("x1 > 75,x0 > 75\n1,0\n")
    assert load_inputs(path, numbers).X.tolist() == [[0, 1]]
    flags = Model.from_clauses(2, [[1]], [1], space=tv.Space([tv.Flag("a", ("no", "yes")), tv.Flag("b")]))
    path.write_text("b,a\n1,no\n0,yes\n1,0\n")
    assert load_inputs(path, flags).X.tolist() == [[0, 1], [1, 0], [0, 1]]


def test_a_sparse_matrix_that_is_a_dictionary_is_no_mapping() -> None:
    sparse = dok_matrix(X)
    assert MODEL.predict(sparse).tolist() == MODEL.predict(X).tolist()
    assert tv.robustness_radius(MODEL, sparse).lower == tv.robustness_radius(MODEL, X[0]).lower
