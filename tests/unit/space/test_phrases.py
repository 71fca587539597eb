"""Conditions in words are true: a clause holds of a possible input iff all its conditions do."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tmverify as tv
from support.spaces import all_bits, categories, literals, numbers, spaces
from tmverify.model.rules import clause_text
from tmverify.space.parts import ABSENT, OneColumn
from tmverify.space.phrases import Condition, conditions_of, joined

quick = settings(deadline=None, max_examples=150)


def holds(condition: Condition, bits: Any) -> bool:
    """Whether the column's value, by its words, is one that the condition allows."""
    allowed = {value for value, yes in zip(condition.column.values, condition.allowed, strict=True) if yes}
    return condition.column.words(bits) in allowed


@quick
@given(spaces().flatmap(lambda space: st.tuples(st.just(space), literals(space))))
def test_a_clause_is_its_conditions(case: tuple[tv.Space, list[int]]) -> None:
    space, clause = case
    conditions = conditions_of(space, clause)
    bits = all_bits(space.n_bits)
    model = tv.Model.from_clauses(space.n_bits, [clause], [1], space=space, empty_clause="fires")
    for row in bits[space.possible(bits)]:
        fires = all((row[abs(lit) - 1] == 1) == (lit > 0) for lit in clause)
        assert fires == all(holds(condition, row) for condition in conditions)
        assert fires == (model.scores(row[None])[0, 0] == 1)
    for condition in conditions:  # a column that may have any value is not mentioned
        assert not all(condition.allowed)
    assert len({condition.column.name for condition in conditions}) == len(conditions)
    assert clause_text(model, 0).isprintable()


def all_conditions(part: OneColumn) -> list[Condition]:
    """Every condition that literals can put on a part."""
    space = tv.Space([part, tv.Flag("another flag")])
    found = {}
    for signs in product((-1, 0, 1), repeat=part.n_bits):
        clause = [sign * (i + 1) for i, sign in enumerate(signs) if sign]
        for condition in conditions_of(space, clause):
            found[condition.allowed] = condition
    return [*found.values()]


@quick
@given(numbers("n") | categories("c"))
def test_different_conditions_have_different_words(part: OneColumn) -> None:
    said = [str(condition) for condition in all_conditions(part)]
    assert len(set(said)) == len(said)


def test_many_categories_have_different_words_too() -> None:
    part = tv.Category("c", [f"v{i}" for i in range(8)], other=True, missing=True)
    conditions = all_conditions(part)
    assert len({str(condition) for condition in conditions}) == len(conditions)


def test_a_number_in_words_means_its_intervals() -> None:
    """Read the words back, with cuts only, and compare them with the intervals."""
    part = tv.Number("n", [1, 2.5, 4])
    middle = [0, 2, 3, 5]  # a number in each interval
    for condition in all_conditions(part):
        if condition.is_impossible:
            continue
        words = str(condition).split()[1:]
        if words[0] == "up":
            inside = [value <= float(words[2]) for value in middle]
        elif words[0] == "over":
            inside = [value > float(words[1]) for value in middle]
        else:
            inside = [float(words[0]) < value <= float(words[2]) for value in middle]
        assert tuple(inside) == condition.allowed


SPACE = tv.Space(
    [
        tv.Flag("owner"),
        tv.Flag("member", ("no", "yes")),
        tv.Number("age", [25, 40, 60], missing=True),
        tv.Category("city", ["Bergen", "Oslo", "Trinidad and Tobago"], other=True, missing=True),
        tv.Text(["good"], "review"),
        tv.Image((1, 2), 75),
        tv.Number("none", (), missing=True),
    ]
)


@pytest.mark.parametrize(
    ("literals", "words"),
    [
        ([1], "owner"),
        ([-1, -2], "not owner and member is no"),
        ([2], "member is yes"),
        ([4], "age over 40"),
        ([3, 4], "age over 40"),
        ([3, 4, -6], "age over 40"),
        ([3, -5], "age 25 to 60"),
        ([3, -4], "age 25 to 40"),
        ([3, -4, -5], "age 25 to 40"),
        ([-4], "age up to 40 or missing"),
        ([-4, -5, -6], "age up to 40"),
        ([-3, -4, -5], "age up to 25 or missing"),
        ([6], "age is missing"),
        ([-6], "age is not missing"),
        ([6, 3], "age has no possible value"),
        ([-4, 5], "age has no possible value"),
        ([7], "city is Bergen"),
        ([-8], "city is not Oslo"),
        ([-7, -8], "city is neither Bergen nor Oslo"),
        ([9], 'city is "Trinidad and Tobago"'),
        ([-7, -8, -9, -10], "city is unseen"),
        ([-7, -8, -9], "city is unseen or missing"),
        ([7, -8, -9], "city is Bergen"),
        ([7, 8], "city has no possible value"),
        ([10], "city is missing"),
        ([11, -12], 'review: "good" and image: pixel_0_0 off'),
        ([-11, 13], 'review: no "good" and image: pixel_0_1 on'),
        ([14], "none is missing"),
        ([-14], "none is not missing"),
        ([4, -8], "age over 40 and city is not Oslo"),
        ([], ""),
    ],
    ids=str,
)
def test_words(literals: list[int], words: str) -> None:
    assert joined(conditions_of(SPACE, literals)) == words


def test_a_literal_that_says_nothing() -> None:
    """A category of one value is always that value."""
    space = tv.Space([tv.Category("c", ["a"]), tv.Flag("f")])
    model = tv.Model.from_clauses(2, [[1], [-1], [1, 2]], [1, 1, 1], space=space)
    assert clause_text(model, 0) == "(true of every possible input)"
    assert clause_text(model, 1) == "c has no possible value  (no possible input: never true)"
    assert clause_text(model, 2) == "f"


def test_long_lists_are_shortened_only_in_short_texts() -> None:
    space = tv.Space([tv.Category("c", [*"abcdefghijklmnop"])])
    conditions = conditions_of(space, [-i for i in range(1, 8)])
    assert joined(conditions) == "c is neither a nor b nor c nor d nor e nor f nor g"
    assert joined(conditions, 5) == "c is neither a nor b nor c nor d nor 3 more"
    assert joined(conditions * 3, 1).endswith(" and 2 more")


def test_impossible_bits_have_no_value() -> None:
    part = tv.Number("n", [1, 2])
    assert part.value_indices(np.array([[0, 1]], np.uint8)).tolist() == [ABSENT]
