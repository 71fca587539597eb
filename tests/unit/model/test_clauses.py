"""Clauses: canonical literals, validation, the two edge cases, immutability."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tmverify.errors import ModelError
from tmverify.model.clauses import MAX_FEATURES, Clauses, check_n_features, concatenate


def all_inputs(n_features: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.array([*product([0, 1], repeat=n_features)], np.uint8)


@st.composite
def clause_lists(draw: st.DrawFn) -> tuple[int, list[list[int]]]:
    n_features = draw(st.integers(1, 6))
    literal = st.integers(1, n_features).flatmap(lambda i: st.sampled_from([i, -i]))
    return n_features, draw(st.lists(st.lists(literal, max_size=8), max_size=8))


# Canonical form


@pytest.mark.parametrize(
    ("given_literals", "stored"),
    [
        ([], ()),
        ([2], (2,)),
        ([3, 1, 2], (1, 2, 3)),
        ([-3, 1, -2], (1, -2, -3)),
        ([1, 1, 1], (1,)),
        ([-2, -2, 1], (1, -2)),
        ([1, -1], (-1, 1)),
        ([-1, 1, -1], (-1, 1)),
        ([3, -1, -3, 1], (-1, 1, -3, 3)),
    ],
)
def test_literals_are_sorted_by_feature_without_repetition(
    given_literals: list[int], stored: tuple[int, ...]
) -> None:
    assert [*Clauses.from_lists(3, [given_literals])] == [stored]


@given(clause_lists(), st.randoms(use_true_random=False))
def test_order_and_repetition_do_not_matter(case: tuple[int, list[list[int]]], random: Any) -> None:
    n_features, lists = case
    shuffled = [random.sample(clause * 2, 2 * len(clause)) for clause in lists]
    assert Clauses.from_lists(n_features, lists) == Clauses.from_lists(n_features, shuffled)


@given(clause_lists())
def test_each_clause_keeps_its_set_of_literals(case: tuple[int, list[list[int]]]) -> None:
    n_features, lists = case
    clauses = Clauses.from_lists(n_features, lists)
    assert [set(clause) for clause in clauses] == [set(clause) for clause in lists]
    assert clauses.lengths.tolist() == [len(set(clause)) for clause in lists]
    assert [clauses[j] for j in range(len(lists))] == [*clauses]
    assert all(type(lit) is int for clause in clauses for lit in clause)


def test_any_iterable_of_any_integers_will_do() -> None:
    lists = (iter(clause) for clause in ([np.int8(-2), np.uint64(1)], np.array([3, -1], np.int16)))
    assert [*Clauses.from_lists(3, lists)] == [(1, -2), (-1, 3)]


def test_a_numpy_integer_for_n_features_becomes_an_int() -> None:
    clauses = Clauses.from_lists(np.int64(3), [[1]])  # type: ignore[arg-type]
    assert type(clauses.n_features) is int


# A sequence


def test_it_is_a_sequence_of_tuples() -> None:
    clauses = Clauses.from_lists(3, [[1], [], [2, -3]])
    assert len(clauses) == 3
    assert clauses[2] == clauses[-1] == (2, -3)
    assert clauses[np.int64(1)] == ()  # type: ignore[call-overload]
    assert clauses[1:] == ((), (2, -3))
    assert clauses[::-1] == ((2, -3), (), (1,))
    assert (2, -3) in clauses
    assert clauses.index((2, -3)) == 2
    assert repr(clauses) == "<3 clauses over 3 features, 3 literals>"


@pytest.mark.parametrize("index", [2, -3, 1 << 40])
def test_an_index_beyond_the_end_is_an_index_error(index: int) -> None:
    with pytest.raises(IndexError):
        Clauses.from_lists(3, [[1], [2]])[index]


def test_equality() -> None:
    clauses = Clauses.from_lists(3, [[1], [2, -3]])
    assert clauses == Clauses.from_lists(3, [[1], [-3, 2]])
    assert clauses == [(1,), (2, -3)]
    assert clauses == ((1,), (2, -3))
    assert clauses != Clauses.from_lists(4, [[1], [2, -3]])
    assert clauses != Clauses.from_lists(3, [[2, -3], [1]])
    assert clauses != Clauses.from_lists(3, [[1, 2], [-3]])
    assert clauses != [(1,)]
    assert clauses != 5


@pytest.mark.parametrize("other", [[1, 2], [None], "ab", [[1], 2], range(2)])
def test_equality_with_a_sequence_of_something_else_is_false(other: object) -> None:
    assert Clauses.from_lists(3, [[1], [2]]) != other


def test_pickle_round_trip() -> None:
    clauses = Clauses.from_lists(3, [[1], [], [2, -3]])
    again = pickle.loads(pickle.dumps(clauses))
    assert again == clauses
    assert not again.literals.flags.writeable
    assert not again.offsets.flags.writeable


def test_select_and_concatenate() -> None:
    clauses = Clauses.from_lists(3, [[1], [], [2, -3], [-1, 1]])
    assert clauses.select(np.array([3, 1, 0, 3])) == [(-1, 1), (), (1,), (-1, 1)]
    assert clauses.select(np.zeros(0, np.int64)) == []
    assert concatenate([clauses, Clauses.from_lists(3, []), clauses]) == [*clauses, *clauses]


# What a clause outputs


def plain_output(clause: tuple[int, ...], bits: tuple[int, ...], empty: bool) -> bool:
    return all(bits[abs(lit) - 1] == (lit > 0) for lit in clause) if clause else empty


@given(clause_lists(), st.booleans())
def test_outputs_on_every_input(case: tuple[int, list[list[int]]], empty_fires: bool) -> None:
    clauses = Clauses.from_lists(*case)
    inputs = all_inputs(clauses.n_features)
    expected = [[plain_output(clause, tuple(x), empty_fires) for clause in clauses] for x in inputs.tolist()]
    outputs = clauses.outputs(inputs, empty_fires=empty_fires)
    assert outputs.shape == (len(inputs), len(clauses))
    assert outputs.tolist() == expected


@given(clause_lists())
def test_contradictory_clauses_are_found_and_never_fire(case: tuple[int, list[list[int]]]) -> None:
    clauses = Clauses.from_lists(*case)
    expected = [any(-lit in clause for lit in clause) for clause in clauses]
    assert clauses.contradictory.tolist() == expected
    fires = clauses.outputs(all_inputs(clauses.n_features), empty_fires=True).any(axis=0)
    assert (fires == ~clauses.contradictory).all()


def test_neighbouring_clauses_on_one_feature_are_no_contradiction() -> None:
    assert not Clauses.from_lists(2, [[1, -2], [2], [-2], [-1], [1]]).contradictory.any()


def test_many_rows_are_taken_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    clauses = Clauses.from_lists(4, [[1, 2], [], [-3, 4], [-4]])
    whole = clauses.outputs(all_inputs(4), empty_fires=True)
    monkeypatch.setattr("tmverify.model.clauses._CELLS_AT_ONCE", 7)
    assert (clauses.outputs(all_inputs(4), empty_fires=True) == whole).all()


def test_no_rows_and_no_clauses() -> None:
    assert Clauses.from_lists(2, [[1]]).outputs(np.zeros((0, 2), np.uint8), empty_fires=True).shape == (0, 1)
    assert Clauses.from_lists(2, []).outputs(np.zeros((3, 2), np.uint8), empty_fires=True).shape == (3, 0)


# What is refused


@pytest.mark.parametrize("literal", [0, 4, -4, 1 << 24, 1 << 31, -(1 << 31), 1 << 63, 1 << 64, -(10**30)])
def test_a_literal_out_of_range(literal: int) -> None:
    with pytest.raises(
        ModelError, match=r"between 1 and n_features=3.* Clause 1 has -?\d+ instead"
    ) as caught:
        Clauses.from_lists(3, [[1], [2, literal]])
    assert str(literal) in str(caught.value)


@pytest.mark.parametrize("literal", [10**5000, -(10**5000)], ids=["large", "small"])
def test_a_literal_too_long_to_print(literal: int) -> None:
    with pytest.raises(ModelError, match="n_features=3"):
        Clauses.from_lists(3, [[literal]])


@pytest.mark.parametrize(
    "literal", [True, False, np.True_, 1.0, np.float64(2), float("nan"), "1", None, 1j, [1], b"1"], ids=repr
)
def test_a_literal_that_is_no_integer(literal: Any) -> None:
    with pytest.raises(ModelError, match=r"A literal must be a signed integer\. Clause 0 has .* instead"):
        Clauses.from_lists(3, [[literal]])


@pytest.mark.parametrize("clauses", [[1, -2], [[1], None], 5, None, [[1], 2.5]], ids=repr)
def test_clauses_that_are_no_lists_of_lists(clauses: Any) -> None:
    with pytest.raises(ModelError, match="clause"):
        Clauses.from_lists(3, clauses)


@pytest.mark.parametrize("n_features", [0, -1, MAX_FEATURES + 1, 1 << 63, -(1 << 64)])
def test_n_features_out_of_range(n_features: int) -> None:
    with pytest.raises(ModelError, match=rf"between 1 and {MAX_FEATURES}\. Got {n_features} instead"):
        Clauses.from_lists(n_features, [])


@pytest.mark.parametrize("n_features", [True, 1.0, "3", None, float("nan"), [3], np.True_], ids=repr)
def test_n_features_that_is_no_integer(n_features: Any) -> None:
    with pytest.raises(ModelError, match=r"n_features must be an integer\. Got .* instead"):
        Clauses.from_lists(n_features, [])


def test_n_features_too_long_to_print() -> None:
    with pytest.raises(ModelError, match="n_features must be between"):
        Clauses.from_lists(10**5000, [])


def test_n_features_at_its_limits() -> None:
    assert check_n_features(1) == 1
    assert check_n_features(np.uint32(MAX_FEATURES)) == MAX_FEATURES
    assert [*Clauses.from_lists(MAX_FEATURES, [[-MAX_FEATURES]])] == [(-MAX_FEATURES,)]


# Immutability


@pytest.mark.parametrize("name", ["literals", "offsets"])
def test_stored_arrays_are_read_only(name: str) -> None:
    clauses = Clauses.from_lists(3, [[1], [2, -3]])
    with pytest.raises(ValueError, match="read-only"):
        getattr(clauses, name)[0] = 7


def test_attributes_cannot_be_replaced() -> None:
    clauses = Clauses.from_lists(3, [[1], [2, -3]])
    for name, value in [("n_features", 5), ("literals", np.zeros(3, np.int32)), ("offsets", np.zeros(3))]:
        with pytest.raises(AttributeError):
            setattr(clauses, name, value)


def test_derived_arrays_can_not_be_changed() -> None:
    """Some are kept for the next caller."""
    clauses = Clauses.from_lists(3, [[1], [2, -3]])
    for array in (clauses.features, clauses.owners, clauses.contradictory):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    clauses.lengths[:] = 9
    assert clauses.features.tolist() == [0, 1, 2]
    assert clauses.owners.tolist() == [0, 1, 1]
    assert clauses.lengths.tolist() == [1, 2]


def test_arrays_passed_in_stay_the_callers_own() -> None:
    literals, offsets = np.array([1, 2, -3, 3, 3], np.int32), np.array([0, 1, 3, 9], np.int64)
    clauses = Clauses(3, literals[:3], offsets[:3])
    literals[:] = 2
    offsets[:] = 0
    assert clauses == [(1,), (2, -3)]


def test_lists_passed_in_stay_the_callers_own() -> None:
    lists = [np.array([1]), np.array([2, -3])]
    clauses = Clauses.from_lists(3, lists)
    lists[1][:] = 1
    assert clauses == [(1,), (2, -3)]
