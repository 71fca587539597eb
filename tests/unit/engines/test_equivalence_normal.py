"""The normal form: it has the same scores on every input, and clauses that must cancel do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.copies import REWRITINGS
from support.tiny import all_inputs, random_model
from tmverify.engines.engine import Deadline
from tmverify.engines.equivalence.normal import normal_form
from tmverify.engines.equivalence.structure import narrow
from tmverify.model.clauses import Clauses


def sums(clauses: Clauses, votes: NDArray[np.int64], X: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.asarray(clauses.outputs(X, empty_fires=True).astype(np.int64) @ votes.T)


def test_sums_stay_and_clauses_do_not_multiply() -> None:
    rng = np.random.default_rng(21)
    shorter = 0
    for _ in range(400):
        n_features = int(rng.integers(1, 6))
        a = random_model(rng, n_features, int(rng.integers(1, 4)))
        b = REWRITINGS[int(rng.integers(len(REWRITINGS)))](a, rng)
        query = tv.equivalence_query(a, b)
        form = normal_form(query, Deadline(None))
        X = all_inputs(n_features)
        before = sums(query.clauses, query.votes, X)
        assert (sums(form.clauses, form.votes, X) + form.always == before).all()
        assert len(form.clauses) <= len(query.clauses)
        assert len(set(form.clauses)) == len(form.clauses)
        assert (form.clauses.lengths > 0).all()
        shorter += len(form.clauses) < len(query.clauses)
    assert shorter > 100


def test_halves_within_halves_become_one_clause() -> None:
    parts = [[3, 1, 2], [3, 1, -2], [3, -1, 4, 5], [3, -1, 4, -5], [3, -1, -4]]
    model = tv.Model.from_clauses(5, parts, [[2] * 5])
    form = normal_form(tv.equivalence_query(model, model), Deadline(None))
    assert form.clauses == [(3,)]
    assert form.votes.tolist() == [[2], [2]]


def test_halves_of_everything_are_a_constant() -> None:
    model = tv.Model.from_clauses(2, [[1], [-1]], [[3, 3]])
    form = normal_form(tv.equivalence_query(model, model), Deadline(None))
    assert len(form.clauses) == 0
    assert form.always.tolist() == [3, 3]


def test_large_weights_stop_the_rewriting_before_they_overflow() -> None:
    """A chain in which every rewriting adds up what the ones before have left."""
    n = 40
    chain = [list(range(-k, 0)) for k in range(1, n + 1)]
    weights = [[(2**31 - 1) * (-1) ** k for k in range(n)]]
    model = tv.Model.from_clauses(n, chain, weights)
    query = tv.equivalence_query(model, model)
    form = normal_form(query, Deadline(None))
    X = np.tril(np.ones((n, n), np.uint8))
    assert (sums(form.clauses, form.votes, X) + form.always == sums(query.clauses, query.votes, X)).all()


def test_narrowing_keeps_the_sum_and_leaves_less() -> None:
    rng = np.random.default_rng(22)
    X = all_inputs(4)
    less = 0
    for _ in range(500):
        clauses = {
            tuple(int(s * (f + 1)) for f, s in enumerate(rng.integers(-1, 2, size=4)) if s): int(w)
            for w in rng.integers(-4, 5, size=8)
        }
        rest = {clause: w for clause, w in clauses.items() if w and clause}
        narrowed, _ = narrow(rest)
        assert all(narrowed.values())
        assert (value(rest, X) == value(narrowed, X)).all()
        assert sum(map(abs, narrowed.values())) <= sum(map(abs, rest.values()))
        less += sum(w for w in narrowed.values() if w > 0) < sum(w for w in rest.values() if w > 0)
    assert less > 50


def value(rest: dict[tuple[int, ...], int], X: NDArray[np.uint8]) -> NDArray[np.int64]:
    clauses = Clauses.from_lists(X.shape[1], list(rest))
    return sums(clauses, np.array([[*rest.values()]], np.int64).reshape(1, -1), X)
