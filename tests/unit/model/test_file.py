"""The model file: round trips, one encoding per model, the content hash, what safetensors sees in it."""

from __future__ import annotations

import hashlib
import os
import struct
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors import safe_open

import tmverify as tv
from support.file_builder import dump, lay_out, take_apart
from tmverify import Model, ModelError, ModelFormatError
from tmverify.model.container import MAX_FILE_BYTES
from tmverify.model.file import decode, encode


def rich_model(**changes: Any) -> Model:
    """Three classes, an odd number of literals (so that later arrays are not aligned), every option set."""
    options: dict[str, Any] = {
        "bias": [1, -2, 0],
        "tie": "negative",
        "clamp": 4,
        "empty_clause": "fires",
        "classes": ["red", "green", "blue \U0001f535"],
        "feature_names": ["hot", 'wet "\\\n\0', "größe"],
    }
    weights = [[3, 1, 2, -4], [-1, 5, 0, 2], [0, -2, 7, 1]]
    return Model.from_clauses(3, [[1, -2], [], [3, -3], [-1, 2, 3]], weights, **{**options, **changes})


def assert_round_trip(model: Model, path: Path) -> None:
    model.save(path)
    again = tv.load(path)
    assert again == model
    assert encode(again) == path.read_bytes() == encode(model)
    assert again.clauses == model.clauses
    assert again.weights.tolist() == model.weights.tolist()
    assert again.bias.tolist() == model.bias.tolist()
    for name in ("n_features", "tie", "clamp", "empty_clause", "classes", "space", "feature_names"):
        assert getattr(again, name) == getattr(model, name)
    for array in (again.weights, again.bias, again.clauses.literals, again.clauses.offsets):
        assert not array.flags.writeable


OPTIONS = [
    *({"tie": tie, "clamp": clamp, "empty_clause": empty} for tie, clamp, empty in product(
        ("positive", "negative"), (None, 1, (1 << 31) - 1), ("silent", "fires"))),
    {"classes": [-(1 << 63), 0, (1 << 63) - 1]},
    {"classes": ["", " ", "\x7f"]},
    {"classes": None},
    {"feature_names": None},
    {"feature_names": [" a ", "\u2028b", "\U0010ffff"]},
    {"bias": (1 << 31) - 1},
]  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=ascii)
def test_round_trip_of_every_option(options: dict[str, Any], tmp_path: Path) -> None:
    assert_round_trip(rich_model(**options), tmp_path / "a.tm")


@pytest.mark.parametrize(
    "model",
    [
        Model.from_clauses(1, [], []),
        Model.from_clauses(1, [[]], [0]),
        Model.from_clauses(1, [[], [], []], np.zeros((5, 3), int)),
        Model.from_clauses(2, [], np.zeros((2, 0))),
        Model.from_clauses(1 << 24, [[1 << 24, -1]], [-(1 << 31) + 1]),
        Model.from_clauses(70, [[*range(1, 71)], [-i for i in range(1, 71)]] * 50, [1, -1] * 50),
    ],
    ids=["zero clauses", "empty clause", "five classes", "two biases", "widest", "hundred clauses"],
)
def test_round_trip_at_the_edges(model: Model, tmp_path: Path) -> None:
    assert_round_trip(model, tmp_path / "a.tm")


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(text, min_size=2, max_size=2, unique=True), st.lists(text, min_size=3, max_size=3, unique=True)
)
def test_any_text_survives(classes: list[str], names: list[str]) -> None:
    try:
        model = Model.from_clauses(3, [[1], [2]], [1, -1], classes=classes, feature_names=names)
    except ModelError:
        return
    again = decode(encode(model))
    assert (again.classes, again.feature_names) == (tuple(classes), tuple(names))
    assert encode(again) == encode(model)


def test_equal_models_are_equal_files() -> None:
    one = Model.from_clauses(3, [[1, -2, 3], []], [1, -1])
    two = Model.from_clauses(3, iter([[3, 1, -2, 3], []]), np.array([[1, -1]], np.int8), classes=[0, 1])
    assert encode(one) == encode(two)


def test_the_tests_own_writer_lays_out_the_same_bytes() -> None:
    for model in (rich_model(), Model.from_clauses(1, [], []), rich_model(feature_names=None, classes=None)):
        assert take_apart(encode(model)).to_bytes() == encode(model)


def test_the_hash_is_that_of_the_file_with_the_field_empty() -> None:
    model = rich_model()
    parts = take_apart(encode(model))
    body = b"".join(array.tobytes() for array in parts.arrays.values())
    assert hashlib.sha256(lay_out(dump(parts.header()), body)).hexdigest() == model.content_hash
    assert model.content_hash.encode() in encode(model)


def test_the_arrays_start_at_a_multiple_of_8() -> None:
    for name in ("", "a", "ab", "abcdefg"):
        (size,) = struct.unpack_from("<Q", encode(rich_model(classes=["r", "g", name])))
        assert size % 8 == 0


@pytest.mark.parametrize("model", [rich_model(), Model.from_clauses(1, [], [])], ids=["rich", "zero clauses"])
def test_safetensors_sees_the_same_arrays(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "a.tm")
    with safe_open(str(tmp_path / "a.tm"), framework="numpy") as file:
        seen = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    expected: dict[str, NDArray[Any]] = {
        "bias": model.bias,
        "literals": model.clauses.literals,
        "offsets": model.clauses.offsets,
        "weights": model.weights,
    }
    assert {name: array.tolist() for name, array in seen.items()} == {
        name: array.tolist() for name, array in expected.items()
    }
    assert {name: str(array.dtype) for name, array in seen.items()} == {
        "bias": "int64",
        "literals": "int32",
        "offsets": "int64",
        "weights": "int32",
    }
    assert metadata["format"] == "tmverify-model"
    assert metadata["version"] == "2"
    assert metadata["sha256"] == model.content_hash


@pytest.mark.parametrize("version", ["1", "3", "", "2.0", 2, None, ["2"]], ids=repr)
def test_another_version_is_named(version: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.tm"
    path.write_bytes(take_apart(encode(rich_model())).with_metadata(version=version).to_bytes())
    with pytest.raises(
        ModelFormatError, match=r"a\.tm: format version .*; this tmverify reads version '2'"
    ) as caught:
        tv.load(path)
    assert repr(version) in str(caught.value)


def test_a_model_too_large_for_the_format_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = rich_model()
    monkeypatch.setattr("tmverify.model.container.MAX_FILE_BYTES", len(encode(model)) - 1)
    with pytest.raises(ModelError, match=f"{len(encode(model))} bytes"):
        model.save(tmp_path / "a.tm")
    assert os.listdir(tmp_path) == []
    assert MAX_FILE_BYTES >= 1 << 20


def test_names_too_large_for_the_header_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tmverify.model.container.MAX_HEADER_BYTES", 100)
    with pytest.raises(ModelError, match="names and options"):
        rich_model().save(tmp_path / "a.tm")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", [str, Path])
def test_paths_of_either_kind(kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rich_model().save(kind("a.tm"))
    assert tv.load(kind("a.tm")) == rich_model()


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tv.load(tmp_path / "none.tm")
