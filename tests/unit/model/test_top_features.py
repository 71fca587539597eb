"""Which facts bring a class the most votes: the clauses that ask for them, minus those for their opposite."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import tmverify as tv


def random_model(space: tv.Space, rng: np.random.Generator, n_outputs: int) -> tv.Model:
    n = space.n_bits
    sizes = rng.integers(0, 4, size=30)
    clauses = [((rng.choice(n, size) + 1) * rng.choice([-1, 1], size)).tolist() for size in sizes]
    distinct = [sorted(set(clause)) for clause in clauses]  # x and not x may both be there
    return tv.Model.from_clauses(n, distinct, rng.integers(-3, 4, size=(n_outputs, 30)), space=space)


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_words_count_by_being_there(n_outputs: int) -> None:
    rng = np.random.default_rng(n_outputs)
    space = tv.Space([tv.Text(("good", "bad", "long", "dull"))])
    for _ in range(20):
        model = random_model(space, rng, n_outputs)
        for place, c in enumerate(model.classes):
            row = model.weights[place] if n_outputs > 1 else model.weights[0] * (1 if place else -1)
            votes: Counter[str] = Counter()
            for j, clause in enumerate(model.clauses):
                if not any(-lit in clause for lit in clause):
                    for lit in clause:
                        votes[f'"{space.bit_names[abs(lit) - 1]}"'] += int(row[j]) * (1 if lit > 0 else -1)
            found = model.top_features(c, 100)
            said = {each.condition: each.votes for each in (*found.supporting, *found.opposing)}
            assert said == {name: n for name, n in votes.items() if n}
            ranked = sorted(n for n in votes.values() if n > 0)[::-1]
            assert [each.votes for each in found.supporting] == ranked
            assert model.top_features(c, 2).opposing == found.opposing[:2]
            assert model.top_features(c, 1).supporting == found.supporting[:1]


def test_numbers_count_by_their_direction() -> None:
    space = tv.Space([tv.Number("age", (25, 40, 60)), tv.Category("city", ("Bergen", "Oslo"))])
    clauses = [[1, 2], [2], [-3], [1, -2], [4, 5], [5], [-4]]  # the fifth is true of no row
    model = tv.Model.from_clauses(5, clauses, [3, 1, -1, 2, 7, -4, 1], space=space)
    found = model.top_features(1)
    assert found.supporting == (("age", "age higher", 5),)  # 3 + 1 + 2, and -2 for the opposite, +1
    assert found.opposing == (
        ("age", "age lower", -5),
        ("city", "city is Oslo", -3),  # not Bergen is Oslo: there is no other
    )
    assert model.top_features(0).supporting == tuple(
        (column, said, -votes) for column, said, votes in found.opposing
    )


def test_both_values_of_a_flag_are_facts() -> None:
    space = tv.Space([tv.Flag("owner"), tv.Flag("married", ("no", "yes")), tv.Number("age", (40,), True)])
    model = tv.Model.from_clauses(4, [[1], [-1], [-2], [4], [-4]], [[2, -1, 1, 5, -2]], space=space)
    found = model.top_features(1, 3)
    assert found.supporting == (
        ("age", "age is missing", 7),
        ("owner", "owner", 3),
        ("married", "married is no", 1),
    )
    assert found.opposing == (("owner", "not owner", -3), ("married", "married is yes", -1))
    assert model.top_features(1, 0) == ((), ())
    with pytest.raises(tv.InvalidInputError, match="n must be"):
        model.top_features(1, -1)


def test_literals_that_say_nothing_new_do_not_count() -> None:
    city = tv.Category("city", ["Bergen", "Oslo"], other=True)
    space = tv.Space([city, tv.Number("age", [25, 40], missing=True)])
    for one, other in (([5], [5, -3, -4]), ([2], [2, -1]), ([4], [3, 4, -5])):
        facts = [
            tv.Model.from_clauses(5, [clause], [1], space=space).top_features(1) for clause in (one, other)
        ]
        assert facts[0] == facts[1]
    found = tv.Model.from_clauses(5, [[-1], [-5]], [1, 2], space=space).top_features(1)
    assert found.opposing == (("age", "age is missing", -2), ("city", "city is Bergen", -1))


def test_a_column_with_one_value_says_nothing() -> None:
    space = tv.Space([tv.Category("c", ["a"]), tv.Flag("f")])
    model = tv.Model.from_clauses(2, [[1], [2]], [1, 1], space=space)
    assert model.top_features(1).supporting == (("f", "f", 1),)
