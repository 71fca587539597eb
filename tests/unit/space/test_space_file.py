"""Spaces in files: round trips, the hash, clause lists, and forged ones that are refused."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import tmcheck
import tmverify as tv
from support.file_builder import take_apart
from support.spaces import spaces
from tmverify import Model, ModelError, ModelFormatError
from tmverify.model.file import decode, encode
from tmverify.space.parts import Part

SPACE = tv.Space(
    [
        tv.Flag("owner", ("no", "yes")),
        tv.Number("age", [25, 40.5], missing=True),
        tv.Category("city", ["Bergen", "Oslo"], other=True),
        tv.Text(["good"], "review"),
        tv.Image((1, 2), (75.0, 80.0), name="photo"),
    ],
    target="income",
)


def model_of(space: tv.Space) -> Model:
    return Model.from_clauses(space.n_bits, [[1], [-1, space.n_bits], []], [2, -1, 1], space=space)


@settings(deadline=None, max_examples=100)
@given(spaces())
def test_round_trips(space: tv.Space) -> None:
    model = model_of(space)
    again = decode(encode(model))
    assert again == model
    assert again.space == space
    assert encode(again) == encode(model)
    assert again.space.bit_names == space.bit_names
    listed = Model.from_json(model.to_json())
    assert listed == model
    assert listed.space == space
    assert tmcheck.read_model(encode(model))[1] == model.content_hash


@pytest.mark.parametrize(
    "part",
    [
        tv.Image((3, 2)),
        tv.Image((3, 2, 2), 75),
        tv.Image((3, 2), [0.1, 1, 2, 3, 4, 1e308]),
        tv.Image((3, 2), window=11, offset=-2.5),
        tv.Text(["it's", "ü", "\xa0"], "review"),
        tv.Number("n", [-1e308, -5e-324, 0.0, 0.1 + 0.2, 2.0**53]),
    ],
    ids=repr,
)
def test_round_trips_of_other_parts(part: Part, tmp_path: Path) -> None:
    model = model_of(tv.Space([part, tv.Flag("f")]))
    model.save(tmp_path / "a.tm")
    assert tv.load(tmp_path / "a.tm") == model
    assert tv.load(tmp_path / "a.tm").space.parts[0] == part


def test_flags_without_names_but_with_a_target() -> None:
    model = model_of(tv.Space.flags(3).with_target("y"))
    assert decode(encode(model)) == Model.from_json(model.to_json()) == model
    assert not decode(encode(model)).space.named
    assert model != model_of(tv.Space.flags(3))


def changed_parts() -> list[Part]:
    return [
        tv.Flag("a"),
        tv.Flag("b"),
        tv.Flag("a", kind="word"),
        tv.Flag("a", kind="pixel"),
        tv.Flag("a", ("no", "yes")),
        tv.Number("a", [1]),
        tv.Number("a", [1.0000000000000002]),
        tv.Number("a", [], missing=True),
        tv.Category("a", ["1"]),
        tv.Category("a", ["2"]),
        tv.Category("a", ["1"], other=True),
        tv.Text(["a"]),
        tv.Text(["a"], "a"),
        tv.Image((1, 1)),
        tv.Image((1, 1, 1)),
        tv.Image((1, 1), 1),
        tv.Image((1, 1), 2),
        tv.Image((1, 1), window=3),
        tv.Image((1, 1), window=5),
        tv.Image((1, 1), window=3, offset=1),
        tv.Image((1, 1), name="b"),
    ]


def test_anything_changed_in_the_space_changes_the_hash() -> None:
    models = [Model.from_clauses(1, [[1]], [1], space=tv.Space([part])) for part in changed_parts()]
    models += [Model.from_clauses(1, [[1]], [1])]
    models += [Model.from_clauses(1, [[1]], [1], space=tv.Space([tv.Flag("a")], target=t)) for t in "xy"]
    assert len({model.content_hash for model in models}) == len(models)


def test_a_space_of_another_size_is_refused() -> None:
    with pytest.raises(ModelError, match=r"n_features=3 bits\. Got 9"):
        Model.from_clauses(3, [[1]], [1], space=SPACE)
    with pytest.raises(ModelError, match=r"tmverify\.Space"):
        Model.from_clauses(3, [[1]], [1], space=["a", "b", "c"])  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="not both"):
        Model.from_clauses(1, [[1]], [1], space=tv.Space.flags(1), feature_names=["a"])


FLAG = {"kind": "flag", "name": "a", "values": ["0", "1"]}
NUMBER = {"kind": "number", "name": "a", "cuts": [1.5], "missing": False}
CATEGORY = {"kind": "category", "name": "a", "categories": ["x"], "other": False, "missing": False}
TEXT = {"kind": "text", "name": "a", "words": ["x"]}
IMAGE = {"kind": "image", "name": "a", "shape": [1, 1], "threshold": 75.0, "window": None, "offset": 0.0}
GOOD = (FLAG, NUMBER, CATEGORY, TEXT, IMAGE)


def nested(depth: int) -> Any:
    found: Any = []
    for _ in range(depth):
        found = [found]
    return found


NAMES: list[Any] = ["", " ", None, 1, True, ["a"], {}, "\ud800"]
CUTS: list[Any] = ["1.5", None, 1.5, {}, [1.7976931348623157e308], [-0.0]]
THRESHOLDS: list[Any] = [75, True, "75", [75.0, 75.0], [], [75], [75.0], {}, -0.0]
FORGED_PARTS = [
    None,
    [],
    "flag",
    5,
    {},
    {"name": "a"},
    *({**part, "kind": kind} for part in GOOD for kind in ("", "Flag", "bit", None, 1, ["flag"])),
    *({**part, "more": 1} for part in GOOD),
    *({key: value for key, value in part.items() if key != left} for part in GOOD for left in part),
    *({**part, "name": name} for part in GOOD for name in NAMES),
    *({**FLAG, "values": values} for values in (["a"], ["a", "a"], ["1", "0"], [0, 1], "01", None, [""])),
    *({**NUMBER, "cuts": cuts} for cuts in ([1], [True], ["1.5"], [None], [[1.5]], [2.5, 1.5], [1.5, 1.5])),
    *({**NUMBER, "cuts": cuts} for cuts in CUTS),
    *({**NUMBER, "missing": missing} for missing in (0, 1, None, "no")),
    *({**CATEGORY, "categories": found} for found in ([], ["x", "x"], [1], [True], [None], "x", [""])),
    *({**CATEGORY, key: value} for key in ("other", "missing") for value in (0, 1, None, "no")),
    *({**TEXT, "words": words} for words in ([], ["X"], ["x", "x"], ["a b"], [""], [1], "x", [None])),
    *({**IMAGE, "shape": shape} for shape in ([], [1], [1, 0], [1, 1.0], [1, True], [-1, -1], "11", [1] * 4)),
    *({**IMAGE, "shape": shape} for shape in ([1 << 14, 1 << 14], [1 << 40, 1], [2, 1])),
    *({**IMAGE, "threshold": found} for found in THRESHOLDS),
    *({**IMAGE, "window": window} for window in (3, 3.0, True, "3")),
    *({**IMAGE, "threshold": None, "window": window} for window in (4, 1, -3, 3.0, True, (1 << 14) + 1)),
    *({**IMAGE, "offset": offset} for offset in (0, 1.0, None, "0", True, -0.0)),
    {**NUMBER, "cuts": nested(900)},
    nested(900),
]  # fmt: skip


def forged(space: Any, n_features: int = 1) -> bytes:
    """A file with the right hash, of a model with this space."""
    model = Model.from_clauses(1, [[1]], [1], feature_names=["a"])
    return take_apart(encode(model)).with_options(space=space, n_features=n_features).to_bytes()


def refuse(data: bytes, path: Path) -> None:
    path.write_bytes(data)
    with pytest.raises(ModelFormatError) as caught:
        tv.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert len(str(caught.value)) < len(str(path)) + 600


def test_what_is_not_forged_passes() -> None:
    for part in GOOD:
        assert decode(forged({"parts": [part], "target": None})).space.parts[0].to_json() == part


def test_forged_parts(tmp_path: Path) -> None:
    for part in FORGED_PARTS:
        refuse(forged({"parts": [part], "target": None}), tmp_path / "a.tm")


@pytest.mark.parametrize(
    ("space", "n_features"),
    [
        ({}, 1),
        ([], 1),
        (False, 1),
        ({"parts": [FLAG]}, 1),
        ({"parts": [FLAG], "target": None, "more": 1}, 1),
        ({"target": None, "parts": [FLAG]}, 1),
        ({"parts": [FLAG], "target": 5}, 1),
        ({"parts": [FLAG], "target": ""}, 1),
        ({"parts": [FLAG], "target": "\ud800"}, 1),
        ({"parts": [], "target": None}, 1),
        ({"parts": FLAG, "target": None}, 1),
        ({"parts": None, "target": "y"}, 1),
        ({"parts": [FLAG], "target": None}, 2),
        ({"parts": [FLAG, FLAG], "target": None}, 2),
        ({"parts": [FLAG, {**NUMBER}], "target": None}, 2),
        ({"parts": [{**FLAG, "name": "a > 1.5"}, NUMBER], "target": None}, 2),
        ({"parts": [{**FLAG, "name": "a: pixel_0_0"}, IMAGE], "target": None}, 2),
        ({"parts": 1, "target": None}, 1),
        ({"parts": 2, "target": "y"}, 1),
        ({"parts": True, "target": "y"}, 1),
        ({"parts": 1.0, "target": "y"}, 1),
        ({"parts": [{**IMAGE, "shape": [4096, 4096]}], "target": None}, 1 << 24),
        ({"parts": [{**IMAGE, "name": n, "shape": [1024, 1024]} for n in "ab"], "target": None}, 1 << 21),
    ],
    ids=lambda value: ascii(value)[:50],
)  # fmt: skip
def test_forged_spaces(space: Any, n_features: int, tmp_path: Path) -> None:
    refuse(forged(space, n_features), tmp_path / "a.tm")


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("1.5", "1.50"),
        ("1.5", "15e-1"),
        ("1.5", "NaN"),
        ("1.5", "Infinity"),
        ("1.5", "1e999"),
        ("1.5", "1.5, 1e999"),
        ('"a"', '"\\u0061"'),
        ("false", "0"),
        ('"missing":false', '"missing":false,"missing":false'),
        ('"cuts":[1.5]', '"cuts": [1.5]'),
        ('"cuts":[1.5],"missing":false', '"missing":false,"cuts":[1.5]'),
    ],
)
def test_json_that_is_written_otherwise(written: str, instead: str, tmp_path: Path) -> None:
    parts = take_apart(forged({"parts": [NUMBER], "target": None}))
    text = json.dumps(parts.options, separators=(",", ":"))
    assert text.count(written) == 1
    parts.options = text.replace(written, instead)
    refuse(parts.to_bytes(), tmp_path / "a.tm")


def test_the_checker_reads_spaces_too() -> None:
    tmcheck.read_model(forged({"parts": [FLAG], "target": None}))
    wrong: list[Any] = [[], 5, "a", False]
    for space in wrong:
        with pytest.raises(tmcheck.Unreadable, match="space"):
            tmcheck.read_model(forged(space))


def test_many_values_take_little_memory() -> None:
    """What is asked of a column with many values is not quadratic in them."""
    many = {**CATEGORY, "categories": [str(i) for i in range(200_000)]}
    model = decode(forged({"parts": [many], "target": None}, 200_000))
    assert model.to_text().splitlines()[-1] == "  +1  a is 0"
    image = {**IMAGE, "shape": [1024, 1024]}
    assert decode(forged({"parts": [image], "target": None}, 1 << 20)).space.image_shape == (1024, 1024)


# Clause lists


def test_clause_lists_name_bits_as_the_space_does() -> None:
    document = json.loads(model_of(SPACE).to_json())
    assert "feature_names" not in document
    document["clauses"] = [{"literals": ["age > 25", "not city = Oslo", "review: good"], "weights": [1]}]
    read = Model.from_json(json.dumps(document))
    assert read.space == SPACE
    assert read.to_text().splitlines()[-1] == '  +1  age over 25 and city is not Oslo and review: "good"'


def edited(**changes: Any) -> str:
    return json.dumps({**json.loads(model_of(SPACE).to_json()), **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (edited(space=5), '"space": A space must have parts'),
        (edited(space={"parts": [], "target": None}), "The space has 0 bits"),
        (edited(n_features=None), '"n_features" must be a number'),
        (edited(n_features=10), "has 9 bits, and there are 10"),
        (edited(feature_names=["a"] * 9), "not both"),
        (edited(n_features=10**9, space={"parts": 10**9, "target": "y"}), "parts of a space must be a list"),
        (edited(n_features=10**9, space={"parts": [IMAGE], "target": "y"}), "has 1 bits"),
        *((edited(n_features=1, space={"parts": [part], "target": None}), ".") for part in FORGED_PARTS[:20]),
    ],
    ids=lambda value: ascii(value)[-40:],
)
def test_clause_lists_with_forged_spaces(text: str, message: str) -> None:
    with pytest.raises(ModelFormatError, match=message):
        Model.from_json(text)


def test_clause_lists_take_integers_for_nothing_else() -> None:
    for part in ({**CATEGORY, "categories": [1]}, {**FLAG, "values": [0, 1]}, {**NUMBER, "cuts": [1]}):
        text = edited(n_features=1, space={"parts": [part], "target": None}, clauses=[])
        with pytest.raises(ModelFormatError, match=re.escape('"space"')):
            Model.from_json(text)


def test_a_wide_space_without_names_is_read_at_once() -> None:
    space = {"parts": 1 << 24, "target": "y"}
    clauses = [{"literals": ["x5", "not x16777215"], "weights": [1]}]
    model = Model.from_json(edited(n_features=1 << 24, space=space, clauses=clauses))
    assert model.clauses[0] == (6, -(1 << 24))
