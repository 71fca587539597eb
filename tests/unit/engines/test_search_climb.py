"""Greedy flips: the kernel takes the step that the definition says, and never makes a false claim."""

from __future__ import annotations

import numpy as np

from support.flips import Flips, Toy, random_toy
from tmverify.engines.search._climb import climb
from tmverify.engines.search.problem import Solution
from tmverify.engines.search.tree import greedy


def shortfall(toy: Toy, flips: Flips) -> int:
    return sum(max(0, need - votes) for need, votes in zip(toy.needs, toy.sums(flips), strict=True))


def twin_climb(toy: Toy) -> tuple[bool, Flips]:
    flips: Flips = frozenset()
    for _ in range(toy.radius):
        if shortfall(toy, flips) == 0:
            return True, flips
        others = [f for f in range(toy.n) if f not in flips]
        if not others:
            return False, flips
        flips |= {min(others, key=lambda f: shortfall(toy, flips | {f}))}
    return shortfall(toy, flips) == 0, flips


def test_one_flip_after_another() -> None:
    rng = np.random.default_rng(0)
    met = {True: 0, False: 0}
    for _ in range(400):
        toy = random_toy(
            rng,
            n=int(rng.integers(1, 9)),
            n_clauses=int(rng.integers(0, 20)),
            n_constraints=int(rng.integers(1, 4)),
            heaviest=int(rng.choice([1, 3, 2**32])),
        )
        problem = toy.problem()
        flips = np.zeros(toy.n, np.bool_)
        n_constraints, m = problem.votes.shape
        scratch = (
            np.zeros(m, np.int32),
            np.zeros(n_constraints, np.int64),
            np.zeros((n_constraints, toy.n), np.int64),
        )
        reached = climb(problem.arrays, problem.radius, flips, *scratch)
        expected, path = twin_climb(toy)
        assert reached == expected
        if reached:
            assert frozenset(np.flatnonzero(flips).tolist()) == path
            assert toy.solved_by(path)
        assert greedy(problem) == (Solution(sorted(path), len(path)) if expected else None)
        met[expected] += 1
    assert min(met.values()) > 100
