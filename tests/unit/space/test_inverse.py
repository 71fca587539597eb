"""encode, decode and possible are each other's inverse: by enumeration, and on rows of every kind."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tmverify as tv
from support.spaces import all_bits, raw_examples, rows, spaces
from tmverify import InvalidInputError

quick = settings(deadline=None, max_examples=100)


@quick
@given(spaces())
def test_possible_bits_are_those_of_some_row(space: tv.Space) -> None:
    """By enumeration of all bits and of a row for each value."""
    names = [part.name for part in space.parts]
    examples = [dict(zip(names, row, strict=True)) for row in product(*map(raw_examples, space.parts))]
    reached = {tuple(row) for row in space.encode(examples).tolist()}
    bits = all_bits(space.n_bits)
    possible = space.possible(bits)
    assert {tuple(row) for row in bits[possible].tolist()} == reached
    assert np.array_equal(space.encode(space.decode(bits[possible])), bits[possible])
    for row in bits[~possible][:64]:
        with pytest.raises(InvalidInputError, match="no possible input"):
            space.decode(row[None])


@quick
@given(spaces().flatmap(lambda space: st.tuples(st.just(space), rows(space))))
def test_rows_survive(case: tuple[tv.Space, list[dict[str, Any]]]) -> None:
    space, found = case
    bits = space.encode(found)
    assert bits.dtype == np.uint8
    assert bits.shape == (len(found), space.n_bits)
    assert space.possible(bits).all()
    assert np.array_equal(space.encode(space.decode(bits)), bits)
    one_by_one = [space.encode([row])[0] for row in found]
    assert np.array_equal(np.stack(one_by_one), bits)


@quick
@given(spaces().flatmap(lambda space: st.tuples(st.just(space), rows(space), st.randoms())))
def test_the_order_of_names_does_not_matter(case: Any) -> None:
    space, found, random = case
    bits = space.encode(found)
    names = [*found[0], "more"]
    random.shuffle(names)
    mixed = [{name: row.get(name, object()) for name in names} for row in found]
    assert np.array_equal(space.encode(mixed), bits)
    listed = [[row[part.name] for part in space.parts] for row in found]
    if not space.is_text:
        assert np.array_equal(space.encode(listed), bits)


@quick
@given(spaces())
def test_columns_share_out_the_bits(space: tv.Space) -> None:
    assert [bit for column in space.columns for bit in column.bits] == [*range(space.n_bits)]
    for place, column in enumerate(space.columns):
        assert len(column.values) == len(set(column.values)) == len(column.part.patterns)
        assert [space.column_of(bit) for bit in column.bits] == [place] * len(column.bits)
        assert column.part.value_indices(column.part.patterns).tolist() == [*range(len(column.values))]
        held = [column.part.holding(i) for i in range(len(column.bits))]
        assert np.array_equal(np.array(held).T.reshape(column.part.patterns.shape), column.part.patterns)
    assert len(set(space.bit_names)) == space.n_bits


@quick
@given(spaces().flatmap(lambda space: st.tuples(st.just(space), st.data())))
def test_changes_and_words_take_any_bits(case: Any) -> None:
    space, data = case
    pick = st.sampled_from(all_bits(space.n_bits).tolist())
    before, after = (np.array(data.draw(pick), np.uint8) for _ in range(2))
    changes = space.changes(before, after)
    differ = {space.columns[space.column_of(int(bit))].name for bit in np.flatnonzero(before != after)}
    assert {change.column for change in changes} == differ
    assert all(change.before and change.after for change in changes)
    for change in changes:
        assert change.before != change.after or change.before.startswith("impossible")
    sound = space.possible(before[None])[0]
    said = [column.words(before) for column in space.columns]
    assert any(text.startswith("impossible (") for text in said) or sound


def test_impossible_bits_in_words() -> None:
    space = tv.Space([tv.Number("age", [25, 40], missing=True), tv.Category("city", ["Bergen", "="])])
    age, city = space.columns
    assert age.words(np.array([0, 1, 0, 0, 0], np.uint8)) == "impossible (over 40, not over 25)"
    assert age.words(np.array([1, 1, 1, 0, 0], np.uint8)) == "impossible (missing and over 40)"
    assert city.words(np.array([0, 0, 0, 1, 1], np.uint8)) == "impossible (Bergen and =)"
    assert city.words(np.array([0, 0, 0, 0, 0], np.uint8)) == "impossible (no value)"


@pytest.mark.parametrize(
    "bits",
    [[1, 0], [[1, 0, 0]], [[2, 0]], [[0.0, 1.0]], [["0", "1"]], [[-1, 0]], [[1, 0], [1]], None, 5],
    ids=str,
)
def test_bits_of_another_form_are_refused(bits: Any) -> None:
    space = tv.Space.flags(["a", "b"])
    for ask in (space.possible, space.decode):
        with pytest.raises(InvalidInputError, match="bits must be"):
            ask(bits)


def test_no_bits_at_all() -> None:
    space = tv.Space([tv.Number("a", [1], missing=True), tv.Category("b", ["x"], other=True)])
    assert space.possible(np.zeros((0, 3), np.uint8)).tolist() == []
    assert space.decode(np.zeros((0, 3), np.uint8)) == []
