"""A model in words."""

from __future__ import annotations

from typing import Any

import pytest

from tmverify import InvalidInputError, Model
from tmverify.model.names import printable_name
from tmverify.model.rules import clause_text


def test_a_binary_machine_in_full() -> None:
    model = Model.from_clauses(
        3,
        [[1, -2], [], [3, -3], [2]],
        [2, 1, -7, -1],
        bias=-4,
        tie="negative",
        classes=["ham", "spam"],
        feature_names=["free", "meeting", "win"],
    )
    assert model.to_text().splitlines() == [
        "Tsetlin machine: 3 features, 4 clauses",
        "decision: class spam if the votes sum to > 0, else class ham",
        "votes on class spam, starting from -4:",
        "  -7  not win and win  (contradictory: never true)",
        "  +2  free and not meeting",
        "  +1  (empty: never true)",
        "  -1  meeting",
    ]


def test_a_multiclass_machine_in_full() -> None:
    model = Model.from_clauses(
        2,
        [[1, 2], [-1], []],
        [[1, 0, 3], [0, -2, 0], [0, 0, 0]],
        clamp=5,
        empty_clause="fires",
        bias=[0, 1, 0],
    )
    assert model.to_text().splitlines() == [
        "Tsetlin machine: 2 features, 3 clauses",
        "decision: the class with the most votes; on a tie the first in order, each score cut to [-5, 5]",
        "votes on class 0:",
        "  +3  (empty: always true)",
        "  +1  x0 and x1",
        "votes on class 1, starting from +1:",
        "  -2  not x0",
        "votes on class 2:",
    ]


def test_the_tie_rule_is_told() -> None:
    assert "sum to >= 0" in Model.from_clauses(1, [[1]], [1]).to_text()
    assert "sum to > 0" in Model.from_clauses(1, [[1]], [1], tie="negative").to_text()


@pytest.mark.parametrize(
    ("limit", "shown", "rest"),
    [(None, 5, None), (0, 0, 5), (1, 1, 4), (4, 4, 1), (5, 5, None), (99, 5, None)],
)
def test_a_limit_on_clauses(limit: int | None, shown: int, rest: int | None) -> None:
    model = Model.from_clauses(5, [[1], [2], [3], [4], [5], [-1]], [1, 1, 1, 1, 1, 0])
    lines = model.to_text(limit).splitlines()[3:]
    assert lines[:shown] == [f"  +1  x{i}" for i in range(shown)]
    assert lines[shown:] == ([] if rest is None else [f"  … and {rest} more"])


@pytest.mark.parametrize("limit", [-1, 1.5, "3", True])
def test_a_limit_that_is_no_count(limit: Any) -> None:
    with pytest.raises(InvalidInputError, match="max_clauses"):
        Model.from_clauses(2, [[1], [2]], [1, 1]).to_text(limit)


def test_zero_clauses() -> None:
    assert Model.from_clauses(1, [], []).to_text().splitlines()[-1] == "votes on class 1:"


def test_names_and_single_clauses() -> None:
    plain = Model.from_clauses(2, [[1, -2]], [1])
    named = Model.from_clauses(2, [[1, -2]], [1], feature_names=["a b", "c"])
    assert [printable_name(plain, i) for i in range(2)] == ["x0", "x1"]
    assert [printable_name(named, i) for i in range(2)] == ["a b", "c"]
    assert clause_text(plain, 0) == "x0 and not x1"
    assert clause_text(named, 0) == "a b and not c"


@pytest.mark.parametrize(
    "name", ["a\n  +9  b", "a\rb", "a\x1b[2Jb", "a\x00b", "a\u2028b", "a\x85b"], ids=ascii
)
def test_a_name_cannot_forge_lines_or_drive_the_terminal(name: str) -> None:
    model = Model.from_clauses(1, [[1]], [1], feature_names=[name], classes=["no", name])
    text = model.to_text()
    assert len(text.splitlines()) == 4
    assert all(char.isprintable() for char in text.replace("\n", ""))
