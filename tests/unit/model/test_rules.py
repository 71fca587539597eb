"""Clause lists in JSON: every model comes back equal, and nothing is guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.tiny import random_model


def test_every_model_comes_back_equal(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        model = random_model(rng, int(rng.integers(1, 7)), int(rng.integers(1, 5)))
        assert tv.Model.from_json(model.to_json()) == model
    text = model.to_json(tmp_path / "rules.json")
    assert (tmp_path / "rules.json").read_text() == text


def test_names_and_labels_come_back(tmp_path: Path) -> None:
    model = tv.Model.from_clauses(
        2, [[1], [-2]], [[1, -1], [0, 2]], classes=["ja", "nein"], feature_names=['"a"\n', "é\u2028"], clamp=7
    )
    assert tv.Model.from_json(model.to_json()) == model


def rules(**changes: Any) -> str:
    document = {
        "format": "tsetlin-clauses",
        "version": 1,
        "feature_names": ["fever", "cough", "rash"],
        "clauses": [{"literals": ["fever", "not rash"], "weights": [2]}, {"literals": [-2], "weights": [-1]}],
    }
    document.update(changes)
    return json.dumps({key: value for key, value in document.items() if value != "left out"})


def test_a_list_written_by_hand() -> None:
    model = tv.Model.from_json(rules(classes=["well", "ill"], bias=-1))
    assert model.n_features == 3
    assert [*model.clauses] == [(1, -3), (-2,)]
    assert model.weights.tolist() == [[2, -1]]
    assert model.bias.tolist() == [-1]
    assert model.predict([[1, 1, 0], [0, 1, 0]]).tolist() == ["ill", "well"]


def test_without_clauses() -> None:
    model = tv.Model.from_json(rules(clauses=[], bias=[1, 2, 3]))
    assert model.n_outputs == 3
    assert tv.Model.from_json(rules(clauses=[])).n_outputs == 1


def clause(literals: Any, weights: Any) -> dict[str, Any]:
    return {"clauses": [{"literals": literals, "weights": weights}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "tmverify"}, "not a clause list"),
        ({"version": 2}, "version 2; this tmverify reads 1"),
        ({"version": True}, "version True"),
        ({"version": 1.0}, r"version 1\.0"),
        ({"clas": []}, "unknown key 'clas'"),
        ({"clauses": {}}, '"clauses" must be a list'),
        ({"clauses": [[1]]}, "clause 0 must be an object"),
        ({"clauses": [{"literals": [1]}]}, 'clause 0 must have a list "weights"'),
        ({"clauses": [{"literals": [1], "weights": [1], "w": 1}]}, "clause 0 has the unknown key 'w'"),
        (clause([1.0], [1]), "must be a signed integer. Clause 0 has 1.0"),
        (clause([True], [1]), "must be a signed integer. Clause 0 has True"),
        (clause([4], [1]), "n_features=3"),
        (clause([0], [1]), "n_features=3"),
        (clause(["red"], [1]), "'red', which names no feature"),
        (clause(["not not rash"], [1]), "which names no feature"),
        (clause([1], [1.5]), "the weights of clause 0 must be integers"),
        (clause([1], [2**31]), "the weights of clause 0 must be integers within"),
        (clause([1], []), "weights must have shape"),
        ({"bias": [0, 0]}, "clause 0 has 1 weights, and there are 2 outputs"),
        ({"bias": "0"}, '"bias" must be integers'),
        ({"bias": 10**400}, '"bias" must be integers'),
        ({"clamp": 0}, "clamp must be between 1"),
        ({"tie": "none"}, "tie must be"),
        ({"empty_clause": None}, "empty_clause must be"),
        ({"classes": ["a"]}, "classes must name 2 classes"),
        ({"classes": {"a": 1, "b": 2}}, '"classes" must be a list'),
        ({"classes": [[1], [2]]}, "classes must be all int or all str"),
        ({"feature_names": ["a", "b"]}, "which names no feature"),
        ({"feature_names": ["a", "a", "b"], **clause([1], [1])}, "'a' twice"),
        ({"feature_names": "left out"}, "n_features must be an integer|names no feature"),
        ({"n_features": 4}, "feature_names must have n_features=4 names"),
        ({"n_features": 10**30}, "n_features"),
        ({"feature_names": ["a", "not a", "b"], **clause(["not a"], [1])}, "can be read in two ways"),
        ({"feature_names": ["not a", "a", "b"], **clause(["not a"], [1])}, "can be read in two ways"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(tv.ModelFormatError, match=message):
        tv.Model.from_json(rules(**changes))


@pytest.mark.parametrize(
    "text",
    ["", "[" * 100_000, "{", "null", '{"format": NaN}', '{"format": 1, "format": 2}', "9" * 5000, '"\ud800"'],
)
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(tv.ModelFormatError):
        tv.Model.from_json(text)
