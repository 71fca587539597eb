"""The tree where columns move: no false claim, and no pruned node contains a planted witness."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from support.batteries import few_or_many
from support.flips import random_toy
from support.moves import (
    Choice,
    ColumnToy,
    flat,
    named,
    random_alive,
    random_choice,
    random_column_toy,
    toy_of,
)
from support.parts import from_python
from tmverify.engines.engine import Deadline
from tmverify.engines.search import _columns, _tree, sweep, tree
from tmverify.engines.search.problem import Problem, Solution, nothing_fixed, shrunk
from tmverify.engines.search.sweep import swept
from tmverify.engines.search.tree import Budget, Found, Moving, Tree, greedy

rule_out, bring_back_last = from_python(_columns.rule_out), from_python(_columns.bring_back_last)
split_column = from_python(_columns.split_column)
Disturb = Callable[["Walk", np.random.Generator], None]


def unlimited() -> Budget:
    return Budget(Deadline(None), 1 << 62)


def compact(toy: ColumnToy) -> Problem:
    """The problem as questions make it."""
    problem = toy.problem()
    return shrunk(problem, nothing_fixed(problem))


def choice_of(toy: ColumnToy, solution: Solution) -> Choice:
    """The toy's choice that a solution stands for: option number o flips bit o."""
    first, found = toy.first(), [0] * len(toy.costs)
    for bit in solution.flips:
        column = int(np.searchsorted(first, bit, side="right")) - 1
        found[column] = bit - first[column]
    return tuple(found)


def expect_solution(toy: ColumnToy, solution: Solution | None) -> None:
    assert solution is not None
    choice = choice_of(toy, solution)
    assert toy.solved_by(choice)
    assert toy.cost(choice) == solution.cost


def knotty(rng: np.random.Generator) -> ColumnToy:
    return random_column_toy(
        rng,
        n=int(rng.integers(1, 7)),
        n_clauses=int(rng.integers(0, 25)),
        n_constraints=int(rng.integers(1, 4)),
        heaviest=int(rng.choice([1, 3, 10**6])),
        dearest=int(rng.choice([1, 4])),
    )


@few_or_many(300, 3000)
def test_the_tree_finds_a_solution_or_proves_that_there_is_none(n_cases: int) -> None:
    rng = np.random.default_rng(0)
    seen = {Found.SOLUTION: 0, Found.NOTHING: 0}
    for _ in range(n_cases):
        toy = knotty(rng)
        toy = replace(toy, needs=tuple(need + int(rng.integers(0, 3)) for need in toy.needs))
        searched = Tree(compact(toy) if rng.random() < 0.7 else toy.problem())
        result, solution = searched.search(unlimited())
        costs = [toy.cost(choice) for choice in toy.choices() if toy.solved_by(choice)]
        assert result is (Found.SOLUTION if costs else Found.NOTHING)
        assert searched.lower <= min(costs, default=searched.lower)
        if costs:
            expect_solution(toy, solution)
        seen[result] += 1
    assert min(seen.values()) > n_cases // 5


def shortfall(toy: ColumnToy, choice: Choice) -> int:
    return sum(max(0, need - votes) for need, votes in zip(toy.needs, toy.sums(choice), strict=True))


def twin_climb(toy: ColumnToy) -> Choice | None:
    """Move one column after another, each once, to the first option that leaves the least shortfall."""
    choice = (0,) * len(toy.costs)
    while shortfall(toy, choice):
        room = toy.radius - toy.cost(choice)
        others = [
            (*choice[:c], o, *choice[c + 1 :])
            for c, own in enumerate(toy.costs)
            if choice[c] == 0
            for o in range(1, len(own))
            if own[o] <= room
        ]
        if not others:
            return None
        choice = min(others, key=lambda each: shortfall(toy, each))
    return choice


@few_or_many(300, 3000)
def test_one_move_after_another(n_cases: int) -> None:
    rng = np.random.default_rng(1)
    met = {True: 0, False: 0}
    for _ in range(n_cases):
        toy = knotty(rng)
        expected, solution = twin_climb(toy), greedy(toy.problem())
        assert (solution is None) == (expected is None)
        if solution is not None:
            assert choice_of(toy, solution) == expected
            expect_solution(toy, solution)
        met[expected is None] += 1
    assert min(met.values()) > n_cases // 5


class Walk:
    """A tree over columns that is explored one node at a time, and a witness that must stay in it."""

    def __init__(self, toy: ColumnToy, witness: Choice) -> None:
        self.toy, self.cost = toy, toy.cost(witness)
        self.tree = Tree(toy.problem())
        self.witness: Choice | None = witness  # a choice of the problem as it is now; None if it is lost
        self.nodes = 0

    @property
    def moving(self) -> Moving:
        moving = self.tree._moving
        assert moving is not None
        return moving

    def step(self) -> tuple[Found, Solution | None]:
        """Explore one more node."""
        before, budget = self.tree.problem, Budget(Deadline(None), 1)
        result = self.tree.search(budget)
        self.nodes += budget.used["nodes"]
        if self.tree.problem is not before and self.witness is not None:
            self.witness = self._in_new_problem(before, self.witness)
        return result

    def may_still_find(self) -> bool:
        """Whether the part of the tree that is not done yet contains the witness.

        That part is the node that the trail leads to, and beside each split the node without the option.
        """
        if self.witness is None:
            return False
        moves = self.tree.problem.moves
        assert moves is not None
        taken = {int(moves.first[c]) + o for c, o in enumerate(self.witness)}
        length = int(self.tree.state.counts[_tree.TRAIL])
        for option, mark in zip(
            self.tree.state.trail[:length].tolist(), self.moving.marks[:length].tolist(), strict=True
        ):
            if mark >= 0 and mark not in taken:
                return True  # on the other side of the split
            if option in taken:
                return False
        return True

    def _in_new_problem(self, before: Problem, witness: Choice) -> Choice | None:
        """The witness, or one as good, where options that make no difference are gone."""
        old, new = before.moves, self.tree.problem.moves
        assert old is not None
        assert new is not None
        had = old.values[old.first[:-1] + np.array(witness, np.int64)]
        values = dict(zip(old.columns.tolist(), had.tolist(), strict=True))
        rows = []
        for i, c in enumerate(new.columns.tolist()):
            own = new.values[new.first[i] : new.first[i + 1]].tolist()
            rows.append([own.index(values[c])] if values[c] in own else list(range(len(own))))
        for choice in product(*rows):
            origin, cost = named(self.toy, self.tree.problem, choice)
            if cost <= self.cost and toy_of(self.tree.problem).solved_by(choice):
                assert self.toy.solved_by(origin)
                return choice
        return None


def planted(rng: np.random.Generator, largest: int) -> tuple[ColumnToy, Choice]:
    """A problem, and a choice that just meets its needs, which hardly any other does."""
    n = int(rng.integers(4, largest))
    toy = random_column_toy(
        rng,
        n=n,
        n_clauses=int(rng.integers(n, 4 * n)),
        n_constraints=int(rng.integers(1, 4)),
        longest=int(rng.integers(2, 6)),
        heaviest=int(rng.choice([1, 3, 50])),
        options=int(rng.choice([2, 4, 6])),
        dearest=int(rng.choice([1, 4])),
        radius=int(rng.integers(1, n)),
    )
    witness = random_choice(rng, toy)
    while True:
        first, *others = toy.sums(witness)
        toy = replace(
            toy, needs=(first + 1, *(min(a, b) for a, b in zip(others, toy.needs[1:], strict=True)))
        )
        _, solution = Tree(toy.problem()).search(Budget(Deadline(None), 200))
        if solution is None:
            return replace(toy, needs=(first, *toy.needs[1:])), witness
        witness = choice_of(toy, solution)
        expect_solution(toy, solution)


def leave_alone(walk: Walk, rng: np.random.Generator) -> None:
    """The search as it is."""


def upset_multipliers(walk: Walk, rng: np.random.Generator) -> None:
    """Between two nodes, other multipliers and another mixture: all are as good, only not as tight."""
    multipliers = walk.tree.multipliers
    for array in (multipliers.share, multipliers.load, multipliers.lean, walk.moving.lean):
        array[:] = rng.random(len(array))
    multipliers.wide[:] = rng.random(len(multipliers.wide)) < 0.5
    if len(multipliers.mix) > 1:
        multipliers.mix[:] = rng.integers(0, _tree.MIX_UNIT + 1, size=len(multipliers.mix))


@few_or_many(50, 500)
@pytest.mark.parametrize(("steps", "largest"), [(0, 12), (1, 16), (10, 24)])
@pytest.mark.parametrize("disturb", [leave_alone, upset_multipliers])
def test_no_pruned_node_contains_a_planted_witness(
    n_cases: int, monkeypatch: pytest.MonkeyPatch, disturb: Disturb, steps: int, largest: int
) -> None:
    """Node by node: whatever is cut off, ruled out or rebuilt, the witness is in what is left."""
    monkeypatch.setattr(tree, "STEPS", tree.Steps(steps, steps))
    rng = np.random.default_rng(2 + steps)
    nodes, rebuilt = 0, 0
    for _ in range(n_cases):
        toy, witness = planted(rng, largest)
        walk = Walk(toy, witness)
        start = walk.tree.problem
        result, solution = Found.OPEN, None
        while result is Found.OPEN and walk.nodes < 300:
            disturb(walk, rng)
            result, solution = walk.step()
            assert result is not Found.NOTHING
            assert walk.tree.lower <= walk.cost
            if result is Found.OPEN:
                assert walk.may_still_find()
        if result is Found.SOLUTION:
            expect_solution(toy, solution)
        nodes += walk.nodes
        rebuilt += walk.tree.problem is not start
    assert nodes > 2 * n_cases
    assert steps == 0 or rebuilt > n_cases // 8


def test_a_walk_can_tell() -> None:
    """The test above is as good as its eyes: a trail that excludes the witness is seen to."""
    clauses = (((0, frozenset({1})),), ((1, frozenset({1, 2})),))
    toy = ColumnToy(((0, 1, 2, 1),) * 5, clauses, ((1, 1),), (2,), 20)
    walk = Walk(toy, (1, 2, 0, 0, 0))
    problem, state, moves = walk.tree.problem, walk.tree.state, walk.tree.problem.moves
    assert moves is not None
    for option in (2, 3, 5):  # options that the witness does not have
        rule_out(option, problem, moves, state, walk.moving, np.int64(-1))
    assert walk.may_still_find()
    rule_out(6, problem, moves, state, walk.moving, np.int64(-1))
    assert not walk.may_still_find()
    bring_back_last(problem, moves, state, walk.moving)
    split_column(7, problem, moves, state, walk.moving)  # the witness is on the other side
    assert not walk.moving.alive[6]
    assert walk.may_still_find()


@few_or_many(300, 3000)
def test_a_sweep_keeps_the_solutions(n_cases: int) -> None:
    """Over columns: the cheapest solution, and every one left is a solution at its cost."""
    rng = np.random.default_rng(4)
    refuted = shrunken = 0
    for _ in range(n_cases):
        toy = knotty(rng)
        toy = replace(toy, needs=tuple(need + int(rng.integers(0, 4)) for need in toy.needs))
        problem = compact(toy)
        closed, left = swept(problem)
        costs = [toy.cost(choice) for choice in toy.choices() if toy.solved_by(choice)]
        if closed:
            assert not costs
            refuted += 1
            continue
        smaller = toy_of(left)
        found = []
        for choice in smaller.choices():
            if smaller.solved_by(choice):
                origin, cost = named(toy, left, choice)
                assert toy.solved_by(origin)
                assert cost == toy.cost(origin)
                found.append(cost)
        assert min(found, default=None) == min(costs, default=None)
        shrunken += left is not problem
    assert min(refuted, shrunken) > n_cases // 20


@few_or_many(300, 3000)
def test_a_sweep_over_flips_keeps_the_solutions(n_cases: int) -> None:
    rng = np.random.default_rng(5)
    refuted = shrunken = 0
    for _ in range(n_cases):
        toy = random_toy(
            rng,
            n=int(rng.integers(1, 8)),
            n_clauses=int(rng.integers(1, 20)),
            n_constraints=int(rng.integers(1, 4)),
            heaviest=int(rng.choice([1, 3])),
        )
        toy = replace(toy, needs=tuple(need + int(rng.integers(0, 3)) for need in toy.needs))
        problem = toy.problem()
        problem = shrunk(problem, nothing_fixed(problem))
        closed, left = swept(problem)
        solutions = toy.solutions()
        if closed:
            assert not solutions
            refuted += 1
            continue
        names, flipped = left.feature_ids.tolist(), frozenset(left.flipped.tolist())
        for flips in solutions:
            assert flipped <= flips
            rest = flipped | (flips & frozenset(names))  # what matters no more goes
            assert toy.solved_by(rest)
        shrunken += left is not problem
    assert min(refuted, shrunken) > n_cases // 20


def test_without_a_unit_nothing_is_swept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "unit_of", lambda problem: 0)
    problem = compact(knotty(np.random.default_rng(6)))
    closed, left = swept(problem)
    assert not closed
    assert left is problem


def test_restricting_to_what_the_witness_has_keeps_it() -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        toy, witness = planted(rng, 7)
        alive = random_alive(rng, toy, float(rng.random()), witness)
        left = shrunk(toy.problem(), flat(alive).astype(np.int8))
        smaller = toy_of(left)
        costs = [left.spent + smaller.cost(each) for each in smaller.choices() if smaller.solved_by(each)]
        assert min(costs) <= toy.cost(witness)
