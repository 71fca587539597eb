"""What reviews of regions over columns found, each with its story."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify import verify

OWNER = tv.Space([tv.Flag("owner"), tv.Number("age", [25])])
MODEL = tv.Model.from_clauses(2, [[1]], [[1]], bias=-1, space=OWNER)


def test_arguments_that_can_be_read_once_only() -> None:
    """A generator was empty from the second row on: every column was frozen, and the answer was HOLDS."""
    X = np.zeros((3, 2), np.uint8)
    v = tv.check_universal_robustness(MODEL, X, 1, 1, columns=(name for name in ["owner"]))
    assert v.status is tv.Status.VIOLATED
    allowed = tv.Allowed(freeze=iter(["owner"]), within={"age": iter(["up to 25"])})
    for _ in range(2):
        assert tv.decide(tv.robustness_query(MODEL, [0, 1], 1, allowed=allowed)).status is tv.Status.HOLDS


def test_costs_beyond_the_largest_budget() -> None:
    """They were cut off at the largest budget, and what lies beyond was said not to exist."""
    space = tv.Space([tv.Number("a", [float(i) for i in range(2048)])])
    model = tv.Model.from_clauses(2048, [[2048]], [[1]], bias=-1, space=space)
    x = np.zeros(2048, np.uint8)
    for ask in (tv.robustness_radius, tv.nearest_changes):
        with pytest.raises(tv.InvalidInputError, match=r"may cost at most 2147483647\. Got 2147483648"):
            ask(model, x, distance="steps", cost={"a": 1 << 20})
    assert tv.robustness_radius(model, x, distance="steps", cost={"a": 1 << 19}).radius == 1 << 30


@pytest.mark.parametrize("turned", [False, True])
def test_the_model_that_knows_its_columns_counts(turned: bool) -> None:
    """Beside a model that only names its bits, the order of the two decided what was possible."""
    space = tv.Space([tv.Number("age", [25, 40])])
    knows = tv.Model.from_clauses(2, [[2]], [[1]], bias=-1, space=space)
    names = tv.Model.from_clauses(2, [[1, 2]], [[1]], bias=-1, feature_names=space.bit_names)
    pair = (names, knows) if turned else (knows, names)
    v = tv.check_equivalence(*pair, certificate=True)
    assert v.status is tv.Status.HOLDS
    assert isinstance(v.certificate, tv.Certificate)
    v.certificate.check(*pair)


def test_a_certificate_about_a_target_is_about_the_team() -> None:
    """The checker refused what was written for a class's own machine."""
    with pytest.raises(tv.InvalidInputError, match="needs scope 'team'"):
        tv.nearest_changes(MODEL, [0, 0], target=1, scope=1, certificate=True)


def test_many_equally_cheap_sets() -> None:
    """Parts of equal cost were divided again and again: 2^k questions for k sets."""
    model = tv.Model.from_clauses(48, [[2 * i + 1, 2 * i + 2] for i in range(24)], [[1] * 24], bias=-1)
    begin = time.perf_counter()
    answer = tv.nearest_changes(model, np.zeros(48, np.uint8), 20, timeout=60)
    assert (len(answer), answer.complete) == (20, True)
    assert len({change.columns for change in answer}) == 20
    assert time.perf_counter() - begin < 60
    proofs = tv.nearest_changes(model, np.zeros(48, np.uint8), 12, certificate=True)
    assert [change.certificate is not None for change in proofs] == [True] * 10 + [False] * 2
    assert "too long" in proofs[-1].detail


def test_arguments_as_arrays() -> None:
    assert tv.robustness_radius(MODEL, [0, 0], freeze=np.array(["age"])).radius == 1
    with pytest.raises(tv.InvalidInputError, match="a pair of numbers"):
        tv.robustness_radius(MODEL, [0, 0], within={"age": (0, 10**400)})


def test_a_word_that_is_called_like_its_text() -> None:
    """The text's own name was refused even where it is a word, and so a column."""
    model = tv.Model.from_clauses(
        2, [[1], [2]], [[1, 1]], bias=-1, space=tv.Space([tv.Text(("text", "loan"))])
    )
    assert [c.columns for c in tv.nearest_changes(model, [0, 0], freeze=["text"])] == [("loan",)]
    film = tv.Model.from_clauses(2, [[1]], [[1]], bias=-1, space=tv.Space([tv.Text(("good", "bad"), "film")]))
    with pytest.raises(tv.InvalidInputError, match="those of a text are its words, such as 'good', 'bad'"):
        tv.nearest_changes(film, [0, 0], freeze=["film"])


def test_no_proof_of_the_end_is_said() -> None:
    model = tv.Model.from_clauses(22, [[2 * i + 1, 2 * i + 2] for i in range(11)], [[1] * 11], bias=-1)
    answer = tv.nearest_changes(model, np.zeros(22, np.uint8), 50, certificate=True)
    assert (len(answer), answer.exhausted, answer.certificate) == (11, True, None)
    assert "no others would be too long" in answer.detail


def test_what_is_known_at_a_limit_is_the_cheapest(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that was answered, and waited, was forgotten when another stayed open."""
    space = tv.Space([tv.Flag(name) for name in "abcd"])
    model = tv.Model.from_clauses(4, [[1, 2], [3], [4]], [[1, 1, 1]], bias=-1, space=space)
    real, asked = verify.nearest, []

    def tired(query: Any, **given: Any) -> tv.Radius:
        asked.append(query)
        radius = real(query, **given)
        if len(asked) == 3:
            return replace(radius, lower=0, upper=20, stop_reason=tv.StopReason.TIMEOUT, detail="late")
        return radius

    monkeypatch.setattr("tmverify.verify.changes.nearest", tired)
    answer = tv.nearest_changes(model, np.zeros(4, np.uint8), cost={"c": 3, "d": 9})
    assert [(change.cost, change.optimal) for change in answer] == [(2, True), (3, False)]


def test_arguments_that_are_no_lists() -> None:
    cost: Any = {"owner": np.array(2)}
    assert tv.robustness_radius(MODEL, [0, 0], freeze=np.array("age"), cost=cost).radius == 2
    for within in (dict, {"age": [10**5000, 10**5000]}):
        with pytest.raises(tv.InvalidInputError, match="within must"):
            tv.robustness_radius(MODEL, [0, 0], within=within)  # type: ignore[arg-type]
