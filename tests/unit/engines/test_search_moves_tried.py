"""Columns that are tried, and taken back, by kernels: held against their definitions."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from support.moves import Choice, ColumnToy, numbers, random_column_toy
from tmverify.engines.search._ascend import ease_columns, try_all
from tmverify.engines.search.problem import Problem
from tmverify.engines.search.tree import greedy

Rng = np.random.Generator


def random_toy(rng: Rng) -> ColumnToy:
    n, n_clauses, k = int(rng.integers(1, 6)), int(rng.integers(0, 15)), int(rng.integers(1, 4))
    return random_column_toy(rng, n=n, n_clauses=n_clauses, n_constraints=k)


def as_choice(toy: ColumnToy, options: NDArray[np.int64]) -> Choice:
    return tuple(o - begin for begin, o in zip(toy.first()[:-1], options.tolist(), strict=True))


def scratch(problem: Problem) -> tuple[NDArray[np.bool_], NDArray[np.int32], NDArray[np.int64]]:
    """Whatever was there before makes no difference."""
    m, k = problem.votes.shape[1], len(problem.bounds)
    return np.ones(len(problem.feature_ids), np.bool_), np.full(m, 7, np.int32), np.full(k, 7, np.int64)


def within(toy: ColumnToy, columns: list[int]) -> list[Choice]:
    """The solutions in which only these columns move."""
    each = [range(len(costs) if c in columns else 1) for c, costs in enumerate(toy.costs)]
    return [choice for choice in product(*each) if toy.solved_by(choice)]


def test_all_options_of_some_columns_are_tried() -> None:
    rng = np.random.default_rng(0)
    met = {True: 0, False: 0}
    for _ in range(600):
        toy = random_toy(rng)
        problem = toy.problem()
        columns = [c for c in range(len(toy.costs)) if rng.random() < 0.6]
        choice = np.full(len(toy.costs), 7, np.int64)
        places = np.array(columns, np.int64)
        there = within(toy, columns)
        assert try_all(problem.arrays, problem.moves, places, choice, *scratch(problem)) == bool(there)
        if there:
            assert as_choice(toy, choice) in there
        met[bool(there)] += 1
    assert min(met.values()) > 50


def test_greedy_moves_to_some_options() -> None:
    rng = np.random.default_rng(1)
    n_found = 0
    for _ in range(600):
        toy = random_toy(rng)
        problem = toy.problem()
        assert problem.moves is not None
        first = problem.moves.first
        alive = rng.random(first[-1]) < 0.6
        found = greedy(problem, alive)
        if found is not None:
            alive[first[:-1]] = True  # the reference always is
            there = [numbers(problem, choice) for choice in within(toy, list(range(len(toy.costs))))]
            assert found in [problem.solution(choice) for choice in there if alive[choice].all()]
            n_found += 1
    assert n_found > 50


def twin_ease(toy: ColumnToy, order: list[int], choice: Choice) -> Choice | None:
    def enough(some: list[int]) -> bool:
        return all(s >= need for s, need in zip(toy.sums(some), toy.needs, strict=True))

    left = list(choice)
    if not enough(left):
        return None
    again = True
    while again:
        again = False
        for c in order:
            fewer = [0 if i == c else o for i, o in enumerate(left)]
            if left[c] and enough(fewer):
                left, again = fewer, True
    return tuple(left)


def test_needless_moves_are_taken_back() -> None:
    rng = np.random.default_rng(2)
    eased = 0
    for _ in range(600):
        toy = random_toy(rng)
        problem = toy.problem()
        start = tuple(int(rng.integers(len(costs))) for costs in toy.costs)
        order = rng.permutation(len(toy.costs))
        options = numbers(problem, start)
        good = ease_columns(problem.arrays, problem.moves, order, options, *scratch(problem))
        expected = twin_ease(toy, order.tolist(), start)
        assert good == (expected is not None)
        assert as_choice(toy, options) == (start if expected is None else expected)
        eased += as_choice(toy, options) != start
    assert eased > 50
