"""The tree: its steps against their twins, and planted witnesses that no pruned node may contain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from support.batteries import few_or_many
from support.flips import (
    Flips,
    Multipliers,
    Toy,
    Walk,
    credits_of,
    dead_under,
    mask,
    random_fixed,
    random_flips,
    random_toy,
)
from support.parts import from_python
from tmverify.engines.engine import Deadline
from tmverify.engines.search import _bound, _tree, tree
from tmverify.engines.search._bound import FREE
from tmverify.engines.search.problem import shrunk
from tmverify.engines.search.tree import Budget, Found, Tree, votes_with

choose_flips, mix_votes = from_python(_bound.choose_flips), from_python(_bound.mix_votes)
enough, least_flips = from_python(_tree.enough), from_python(_tree.least_flips)
fix, unfix_last, remix = from_python(_tree.fix), from_python(_tree.unfix_last), from_python(_tree.remix)
Disturb = Callable[[Walk, np.random.Generator], None]


def unlimited() -> Budget:
    return Budget(Deadline(None), 1 << 62)


def planted(rng: np.random.Generator, **shape: int) -> tuple[Toy, Flips]:
    """A problem, and flips that just meet its needs.

    The first need is raised as long as the search finds that met: where hardly anything is a witness, the
    tree is deep.
    """
    toy = random_toy(rng, **shape)
    witness = random_flips(rng, toy.n, toy.radius)
    while True:
        first, *others = toy.sums(witness)
        toy = replace(
            toy, needs=(first + 1, *(min(a, b) for a, b in zip(others, toy.needs[1:], strict=True)))
        )
        _, solution = Tree(toy.problem()).search(Budget(Deadline(None), 200))
        if solution is None:
            return replace(toy, needs=(first, *toy.needs[1:])), witness
        witness = frozenset(solution.flips)
        assert toy.solved_by(witness)


def random_shape(rng: np.random.Generator, largest: int = 25) -> dict[str, int]:
    n = int(rng.integers(8, largest))
    return {
        "n": n,
        "n_clauses": int(rng.integers(n, 4 * n)),
        "n_constraints": int(rng.integers(1, 4)),
        "longest": int(rng.integers(2, 7)),
        "heaviest": int(rng.choice([1, 3, 50])),
        "radius": int(rng.integers(1, n // 2 + 1)),
    }


def test_fixing_and_unfixing() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        toy = random_toy(rng, n=8, n_clauses=15)
        problem = toy.problem()
        fixed, dead = np.full(8, FREE, np.int8), np.zeros(15, np.int32)
        trail, decisions = np.empty(8, np.int32), np.empty(8, np.bool_)
        counts = np.zeros(_tree.N_COUNTS, np.int64)
        state = tree.State(fixed, trail, decisions, dead, np.empty(8, np.bool_), counts)
        path: list[tuple[int, int, bool]] = []
        for _ in range(60):
            free = np.flatnonzero(fixed == FREE)
            if len(free) and (not path or rng.random() < 0.6):
                step = (int(rng.choice(free)), int(rng.integers(2)), bool(rng.random() < 0.5))
                fix(*step, problem, state)
                path.append(step)
            else:
                unfix_last(problem, state)
                path.pop()
            expected = np.full(8, FREE)
            for feature, value, _ in path:
                expected[feature] = value
            assert fixed.tolist() == expected.tolist()
            assert trail[: len(path)].tolist() == [feature for feature, _, _ in path]
            assert decisions[: len(path)].tolist() == [decision for _, _, decision in path]
            assert counts[_tree.TRAIL] == len(path)
            assert counts[_tree.FLIPPED] == (expected == 1).sum()
            assert (dead == dead_under(toy, fixed)).all()


def test_enough_is_enough_for_each() -> None:
    for sums in np.ndindex(3, 3):
        assert enough(np.array(sums), np.array([1, 1])) == all(s >= 1 for s in sums)
    assert enough(np.empty(0, np.int64), np.empty(0, np.int64))


@few_or_many(200, 500)
def test_the_least_number_of_flips(n_cases: int) -> None:
    rng = np.random.default_rng(1)
    for _ in range(n_cases):
        n = int(rng.integers(1, 9))
        credits = rng.integers(-4, 5, size=n)
        fixed = random_fixed(rng, n, 0.3)
        flipped, left = int((fixed == 1).sum()), int(rng.integers(0, n + 1))
        constant, need = int(rng.integers(-5, 6)), int(rng.integers(-5, 20))
        got = least_flips(constant, need, credits, fixed, flipped, left, np.empty(n, np.int64))
        best = sorted((int(c) for i, c in enumerate(credits) if fixed[i] == FREE and c > 0), reverse=True)
        start = constant + int(credits[fixed == 1].sum())
        reach = [k for k in range(left + 1) if start + sum(best[:k]) >= need]
        assert got == flipped + (reach[0] if reach else left + 1)


def test_mixtures_shift_to_where_votes_are_missing() -> None:
    """weight_c -= pace * (surplus_c - mean surplus), not below 0, and again a mixture."""
    rng = np.random.default_rng(2)
    for _ in range(300):
        n = int(rng.integers(2, 6))
        weight, gap = rng.dirichlet(np.ones(n)), float(rng.choice([0.01, 1, 1e6]))
        sums, needs = rng.normal(0, 10, size=n), rng.integers(-10, 11, size=n)
        surplus = sums - needs - (sums - needs).mean()
        expected = np.maximum(0, weight - _tree._PACE * gap / (surplus**2).sum() * surplus)
        mix = np.zeros(n, np.int64)
        remix(mix, weight, sums, needs, gap)
        assert weight == pytest.approx(expected / expected.sum())
        assert mix.tolist() == [int(w * _tree.MIX_UNIT + 0.5) for w in weight]
    mix, weight = np.array([1, 2]), np.array([0.5, 0.5])
    remix(mix, weight, np.array([3.0, 4.0]), np.array([1, 2]), 1.0)  # equally short: nothing to shift
    assert mix.tolist() == [1, 2]


def test_the_unit_leaves_room_for_every_sum() -> None:
    """With the worst multipliers no sum leaves 64 bits; where any might, there is no unit."""
    rng = np.random.default_rng(3)
    for heaviest in (1, 2**20, 2**31, 2**50):
        for n_constraints in (1, 3):
            toy = random_toy(rng, n=10, n_clauses=40, n_constraints=n_constraints, heaviest=heaviest)
            unit = tree.unit_of(toy.problem())
            weights = [sum(abs(row[j]) for row in toy.votes) for j in range(40)]
            mixed = _tree.MIX_UNIT if n_constraints > 1 else 1
            worst = sum(w * (len(c.literals()) + 2) for w, c in zip(weights, toy.clauses, strict=True))
            worst += sum(map(abs, toy.needs))
            assert worst * mixed * unit < 2**63
            assert bool(unit) == (heaviest < 2**50)
            assert unit == 0 or unit >= 64
    assert tree.unit_of(random_toy(rng, n=3, n_clauses=3).problem()) == 1 << 20


def test_the_tree_finds_a_solution_or_proves_that_there_is_none() -> None:
    rng = np.random.default_rng(4)
    seen = {Found.SOLUTION: 0, Found.NOTHING: 0}
    for _ in range(300):
        toy = random_toy(
            rng,
            n=int(rng.integers(1, 9)),
            n_clauses=int(rng.integers(0, 25)),
            n_constraints=int(rng.integers(1, 4)),
            heaviest=int(rng.choice([1, 3, 10**6])),
        )
        toy = replace(toy, needs=tuple(need + int(rng.integers(0, 3)) for need in toy.needs))
        result, solution = Tree(toy.problem()).search(unlimited())
        solutions = toy.solutions()
        assert result is (Found.SOLUTION if solutions else Found.NOTHING)
        assert (solution is None) == (result is Found.NOTHING)
        assert solution is None or toy.solved_by(solution.flips)
        seen[result] += 1
    assert min(seen.values()) > 80


def test_more_flips_forced_than_allowed_is_no_solution() -> None:
    toy = random_toy(np.random.default_rng(5), n=5, n_clauses=8, radius=1)
    assert Tree(shrunk(toy.problem(), np.full(5, 1, np.int8))).search(unlimited()) == (Found.NOTHING, None)


def test_votes_with_flips() -> None:
    rng = np.random.default_rng(6)
    for _ in range(50):
        toy = random_toy(rng, n=6, n_clauses=12, n_constraints=2)
        flips = random_flips(rng, 6, 6)
        assert votes_with(toy.problem(), mask(flips, 6)).tolist() == toy.sums(flips)


@few_or_many(100, 250)
def test_the_bound_never_falls_below_a_planted_witness(n_cases: int) -> None:
    """Whatever the multipliers, the mixture, and the features fixed as the witness has them."""
    rng = np.random.default_rng(7)
    for _ in range(n_cases):
        toy, witness = planted(rng, **random_shape(rng))
        problem = toy.problem()
        fixed = random_fixed(rng, toy.n, float(rng.random()), witness)
        left = toy.radius - int((fixed == 1).sum())
        mix = rng.integers(0, _tree.MIX_UNIT + 1, size=len(toy.needs))
        total = np.empty(len(toy.clauses), np.int64)
        need = mix_votes(problem.arrays, mix, total)
        unit = int(rng.choice([1, 64, 1 << 20]))
        given = Multipliers(
            rng.exponential(0.5, size=len(problem.features)).astype(np.float32),
            rng.normal(0.5, 0.5, size=len(total)).astype(np.float32),
            rng.random(toy.n).astype(np.float32),
            float(rng.choice([0.0, 1.0])),
            int(rng.integers(4)),
            rng.random(len(total)) < 0.5,
        )
        constant, credits, _ = credits_of(problem, total, dead_under(toy, fixed), given, unit)
        scratch, flips = np.empty(toy.n, np.int64), np.empty(toy.n, np.bool_)
        gain, _, _ = choose_flips(credits, fixed, left, scratch, flips)
        assert constant + gain >= need * unit
        lower = least_flips(constant, need * unit, credits, fixed, toy.radius - left, left, scratch)
        assert lower <= len(witness)


def leave_alone(walk: Walk, rng: np.random.Generator) -> None:
    """The search as it is."""


def upset_multipliers(walk: Walk, rng: np.random.Generator) -> None:
    """Between two nodes, other multipliers and another mixture: all are as good, only not as tight."""
    for name in ("share", "load", "lean"):
        state = walk.state(name)
        state[:] = rng.random(len(state))
    walk.state("wide")[:] = rng.random(len(walk.state("wide"))) < 0.5
    if rng.random() < 0.3:
        walk.state("share")[:] *= rng.exponential(1.0, size=len(walk.state("share")))
    if len(walk.state("mix")) > 1:
        walk.state("mix")[:] = rng.integers(0, _tree.MIX_UNIT + 1, size=len(walk.state("mix")))


@few_or_many(20, 50)
@pytest.mark.parametrize(("steps", "largest"), [(0, 20), (1, 30), (10, 60)])
@pytest.mark.parametrize("disturb", [leave_alone, upset_multipliers])
def test_no_pruned_node_contains_a_planted_witness(
    n_cases: int, monkeypatch: pytest.MonkeyPatch, disturb: Disturb, steps: int, largest: int
) -> None:
    """Node by node: whatever is cut off, and whatever is fixed, the witness is in what is left.

    With no steps the bound is weak and the tree large; with many it prunes near the root.
    """
    monkeypatch.setattr(tree, "STEPS", tree.Steps(steps, steps))
    rng = np.random.default_rng(8 + steps)
    nodes = 0
    for _ in range(n_cases):
        toy, witness = planted(rng, **random_shape(rng, largest))
        walk = Walk(toy)
        result, solution = Found.OPEN, None
        while result is Found.OPEN and walk.nodes < 300:
            disturb(walk, rng)
            result, solution = walk.step()
            assert result is not Found.NOTHING
            if result is Found.OPEN:
                assert walk.may_still_find(witness)
                assert walk.tree.lower <= len(witness)
        assert result is Found.OPEN or (solution is not None and toy.solved_by(solution.flips))
        nodes += walk.nodes
    assert nodes > 4 * n_cases


def test_a_walk_can_tell() -> None:
    """The test above is as good as its eyes: a trail that excludes the witness is seen to."""
    toy, witness = planted(np.random.default_rng(9), n=12, n_clauses=40, longest=4, radius=4)
    walk = Walk(toy)
    problem, state = walk.tree.problem, walk.tree.state
    inside, outside = min(witness), min(set(range(12)) - witness)
    fix(outside, 1, True, problem, state)
    assert walk.may_still_find(witness)  # beside the decision
    unfix_last(problem, state)
    fix(outside, 1, False, problem, state)
    assert not walk.may_still_find(witness)
    unfix_last(problem, state)
    fix(inside, 0, False, problem, state)
    assert not walk.may_still_find(witness)
