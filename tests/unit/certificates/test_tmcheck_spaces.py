"""The checker's own reading of spaces: as the library's, strict, and within bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmcheck
import tmverify as tv
from support.certified import claim, refusal, run_standalone
from support.column_claims import random_space
from support.tiny import all_inputs
from tmcheck import limits
from tmcheck.space import Space, read_space
from tmverify.model.file import encode

ACCEPTED, REFUSED = 0, 1
LITTLE = 150 << 20  # bytes
ROOM = tv.Space(
    [
        tv.Flag("owner", ("no", "yes")),
        tv.Number("age", [25, 37.5], missing=True),
        tv.Number("any", []),
        tv.Category("city", ["Bergen", "Oslo"], other=True, missing=True),
        tv.Text(["good", "bad"], "review"),
        tv.Flag("late"),
        tv.Image((2, 2), 75.0, name="face"),
    ]
)


def read(space: tv.Space) -> Space:
    found = read_space(space.to_json(), space.n_bits)
    assert found is not None
    return found


def test_columns_values_and_patterns_are_those_of_the_library() -> None:
    rng = np.random.default_rng(0)
    for space in [ROOM, *(random_space(rng) for _ in range(60))]:
        found = read(space)
        assert (found.n_columns, found.n_bits) == (len(space.columns), space.n_bits)
        for number, expected in enumerate(space.columns):
            column = found.column(number)
            assert (column.number, found.name(number)) == (number, expected.name)
            assert range(column.first_bit, column.first_bit + column.n_bits) == expected.bits
            assert column.n_values == len(expected.values)
            assert {found.column_of(bit) for bit in expected.bits} <= {number}
            patterns = [column.pattern(value) for value in range(column.n_values)]
            assert patterns == [pattern.tobytes() for pattern in expected.part.patterns]
            if expected.kind in ("flag", "number", "category") and column.n_values > 1:
                words = tuple(found.value(number, value) for value in range(column.n_values))
                assert words == expected.values
        if space.n_bits <= 7:
            everything = all_inputs(space.n_bits)
            possible = [found.is_possible(x.tobytes()) for x in everything]
            assert possible == space.possible(everything).tolist()
        assert found.is_possible(found.first_values())


def test_subcubes_contain_values_iff_some_pattern_agrees() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        space = read(random_space(rng))
        for column in space.several:
            for _ in range(20):
                size = int(rng.integers(0, column.n_bits + 1))
                bits = rng.permutation(column.n_bits)[:size] + 1
                literals = [int(bit) * int(rng.choice([-1, 1])) for bit in bits]
                expected = any(
                    all(column.pattern(value)[abs(literal) - 1] == (literal > 0) for literal in literals)
                    for value in range(column.n_values)
                )
                assert column.has_value(literals) == expected


def test_spaces_are_alike_if_they_make_the_same_bits() -> None:
    city = tv.Category("city", ["a", "b"])
    assert read(tv.Space([city])).is_like(read(tv.Space([city, tv.Number("n", [])], target="y")))
    assert not read(tv.Space([city])).is_like(read(tv.Space([tv.Category("city", ["b", "a"])])))
    assert not read(tv.Space([city])).is_like(read(tv.Space([tv.Flag("x"), tv.Flag("y")])))
    assert read(tv.Space([tv.Text(["w"], "a")])).is_like(read(tv.Space([tv.Text(["w"], "b")])))


def with_space(space: Any, n_features: int) -> bytes:
    from support.file_builder import take_apart

    model = tv.Model.from_clauses(1, [[1]], [1])
    return take_apart(encode(model)).with_options(space=space, n_features=n_features).to_bytes()


FLAG = {"kind": "flag", "name": "a", "values": ["0", "1"]}
NUMBER = {"kind": "number", "name": "b", "cuts": [1.5], "missing": False}
CATEGORY = {"kind": "category", "name": "c", "categories": ["x"], "other": False, "missing": False}
TEXT = {"kind": "text", "name": "d", "words": ["x"]}
IMAGE = {"kind": "image", "name": "e", "shape": [1, 1], "threshold": 75.0, "window": None, "offset": 0.0}
PARTS: list[dict[str, Any]] = [FLAG, NUMBER, CATEGORY, TEXT, IMAGE]
ODD: list[Any] = [None, 0, 1, True, -1, 1.5, "", "x", [], [1], [None], ["x", "x"], {}, [[]], "\ud800", 10**30]


def test_parts_that_are_none_are_unreadable() -> None:
    """Every value of every key, of another type or sense; keys left out, added, in another order."""
    for part in PARTS:
        tmcheck.read_model(with_space({"parts": [part], "target": None}, 1))
        wrong: list[Any] = [{**part, "more": 1}, dict(reversed(part.items())), list(part), None]
        wrong += [{key: value for key, value in part.items() if key != left} for left in part]
        wrong += [{**part, key: odd} for key in part for odd in ODD]
        for each in wrong:
            fine = isinstance(each, dict) and (
                _same(each, part)
                or (each.get("name") == "x" and list(each) == list(part))
                or (each.get("threshold", 0) is None and list(each) == list(part))
                or (each.get("threshold") == 1.5 and list(each) == list(part))
                or (each.get("cuts") == [] or each.get("other") is True or each.get("missing") is True)
            )
            if not fine:
                with pytest.raises(tmcheck.Unreadable):
                    tmcheck.read_model(with_space({"parts": [each], "target": None}, 1))


def _same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return json.dumps(a) == json.dumps(b)


def test_spaces_that_are_none_are_unreadable() -> None:
    spaces: list[tuple[Any, int]] = [
        ({"parts": [FLAG], "target": None}, 2),
        ({"parts": [FLAG, FLAG], "target": None}, 2),
        ({"parts": [], "target": None}, 1),
        ({"parts": [FLAG], "target": "a"}, 1),
        ({"parts": [FLAG], "target": ""}, 1),
        ({"parts": [FLAG]}, 1),
        ({"target": None, "parts": [FLAG]}, 1),
        ({"parts": 1, "target": None}, 1),
        ({"parts": 2, "target": "y"}, 1),
        ({"parts": True, "target": "y"}, 1),
        ({"parts": [{**IMAGE, "shape": [4096, 4096]}], "target": None}, 1 << 24),
        ({"parts": [NUMBER, {**NUMBER, "name": "z", "cuts": [2.5, 1.5]}], "target": None}, 3),
        ([], 1),
        (5, 1),
    ]
    for space, n in spaces:
        with pytest.raises(tmcheck.Unreadable):
            tmcheck.read_model(with_space(space, n))
    assert tmcheck.read_model(with_space({"parts": 1, "target": "y"}, 1)).model.space is None


def test_columns_of_very_many_values(tmp_path: Path) -> None:
    """What a column takes is in proportion to its values, unless very many clauses look at it."""
    n = 100_000
    space = tv.Space([tv.Category("c", [str(i) for i in range(n)], other=True)])
    model = tv.Model.from_clauses(n, [[1], [2], [-3]], [[1, 1, 1]], bias=-4, space=space)
    zero = b"0" * (n // 4)
    head = claim("robustness", model, distance="columns", epsilon=1)
    text = head + b"input " + zero + b"\nconstraints 0:1>=4\nrefute 0 1 1\nclose\nend\n"
    done = run_standalone(tmp_path, text, [encode(model)])
    assert (done.code, done.memory < 2 * LITTLE) == (ACCEPTED, True), done
    clauses = [[i + 1] for i in range(20_000)]
    dense = tv.Model.from_clauses(n, clauses, np.ones((1, 20_000), int), bias=-4, space=space)
    head = claim("robustness", dense, distance="columns", epsilon=1)
    text = head + b"input " + zero + b"\nconstraints 0:1>=4\nrefute 0 1 1\nclose\nend\n"
    done = run_standalone(tmp_path, text, [encode(dense)])
    assert (done.code, "too many values" in done.said) == (REFUSED, True), done
    assert done.memory < 1 << 30


def test_columns_that_no_clause_looks_at_take_next_to_nothing(tmp_path: Path) -> None:
    """Sixteen million flags without names, as columns."""
    n = limits.MOST_FEATURES
    model = tv.Model.from_clauses(n, [[1], [2], [-3, n]], [[1, 1, 1]], bias=-2)
    zeros = b"0" * (n // 4)
    proof = b"input " + zeros + b"\nconstraints 0:1>=2\nrefute 0 1 256\nclose\nend\n"
    head = claim("robustness", model, distance="steps", epsilon=1, columns=[[5, "keep", None, 1]])
    done = run_standalone(tmp_path, head + proof, [encode(model)])
    assert (done.code, done.memory < 3 * LITTLE) == (ACCEPTED, True), done


def test_too_many_values_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    space = tv.Space([tv.Number("a", [1, 2, 3]), tv.Flag("b")])
    model = tv.Model.from_clauses(4, [[1], [2, -3]], [[1, 1]], bias=-3, space=space)
    text = claim("robustness", model, distance="columns", epsilon=1)
    text += b"input 00\nconstraints 0:1>=3\nrefute 0 1 1\nclose\nend\n"
    assert refusal(text, [model]) is None
    for name, value in (("MOST_OPTIONS", 3), ("MOST_PLACES", 8)):
        with monkeypatch.context() as patch:
            patch.setattr(limits, name, value)
            assert "too many values" in str(refusal(text, [model]))
