"""The bound where columns move: every kernel against its twin, and the bound against every choice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.batteries import few_or_many
from support.moves import ColumnToy, flat, numbers, random_alive, random_column_toy
from support.parts import from_python
from tmverify.engines.search import _columns
from tmverify.engines.search.problem import Problem
from tmverify.engines.search.tree import Moving, State, all_alive

look_at_columns, choose_moves = from_python(_columns.look_at_columns), from_python(_columns.choose_moves)
rule_out_by_bound, least_cost = from_python(_columns.rule_out_by_bound), from_python(_columns.least_cost)
rule_out, bring_back_last = from_python(_columns.rule_out), from_python(_columns.bring_back_last)


@dataclass(frozen=True)
class Node:
    """A node of a tree: some options are ruled out."""

    toy: ColumnToy
    problem: Problem
    state: State
    moving: Moving
    alive: list[list[bool]]

    @cached_property
    def options(self) -> list[list[int]]:
        return [[o for o, lives in enumerate(row) if lives] for row in self.alive]

    @cached_property
    def low(self) -> list[int]:
        return [min(own[o] for o in some) for own, some in zip(self.toy.costs, self.options, strict=True)]

    @cached_property
    def slack(self) -> int:
        return self.toy.radius - sum(self.low)

    @cached_property
    def feasible(self) -> list[list[int]]:
        costs, low = self.toy.costs, self.low
        return [
            [o for o in some if costs[c][o] - low[c] <= self.slack] for c, some in enumerate(self.options)
        ]

    def choices(self) -> list[tuple[int, ...]]:
        """Every choice of the node within the radius."""
        return [choice for choice in product(*self.options) if self.toy.cost(choice) <= self.toy.radius]


def new_state(problem: Problem) -> State:
    assert problem.moves is not None
    n, m, k = len(problem.feature_ids), len(problem.middles), len(problem.moves.costs)
    return State(
        fixed=np.full(n, -1, np.int8),
        trail=np.empty(k, np.int32),
        decisions=np.empty(k, np.bool_),
        dead=np.zeros(m, np.int32),
        flips=np.zeros(n, np.bool_),
        counts=np.zeros(16, np.int64),
    )


def node_of(toy: ColumnToy, alive: list[list[bool]]) -> Node:
    problem = toy.problem()
    state, moving = new_state(problem), all_alive(problem)
    assert moving is not None
    for option in np.flatnonzero(~flat(alive)).tolist():
        rule_out(option, problem, problem.moves, state, moving, np.int64(-1))
    return Node(toy, problem, state, moving, alive)


def random_node(rng: np.random.Generator, **changes: Any) -> Node:
    shape = {"n": int(rng.integers(1, 5)), "n_clauses": 6, "dearest": int(rng.choice([1, 4, 50]))}
    toy = random_column_toy(rng, **{**shape, **changes})
    return node_of(toy, random_alive(rng, toy, float(rng.choice([0.0, 0.3]))))


def gains_of(node: Node, credits: NDArray[np.int64]) -> list[list[int]]:
    """What each option is granted: the credits of its atoms."""
    moves = node.problem.moves
    assert moves is not None
    return [
        [int(credits[moves.atoms[moves.at[o] : moves.at[o + 1]]].sum()) for o in range(a, b)]
        for a, b in zip(moves.first[:-1].tolist(), moves.first[1:].tolist(), strict=True)
    ]


def best_at(node: Node, gains: list[list[int]], price: int, c: int) -> int:
    costs, low = node.toy.costs[c], node.low[c]
    return max(gains[c][o] - price * (costs[o] - low) for o in node.feasible[c])


def sum_at(node: Node, gains: list[list[int]], price: int) -> int:
    return price * node.slack + sum(best_at(node, gains, price, c) for c in range(len(gains)))


def chosen(node: Node, credits: NDArray[np.int64]) -> tuple[int, int, int]:
    """The kernel's gain, p2 and p1, on a node with some slack."""
    moves = node.problem.moves
    slack, _ = look_at_columns(node.toy.radius, moves, node.moving)
    scratch = np.empty(len(node.moving.alive), np.int64)
    gain, p2, p1 = choose_moves(slack, moves, node.moving, credits, scratch, node.state.flips)
    return int(gain), int(p2), int(p1)


def random_credits(rng: np.random.Generator, node: Node) -> NDArray[np.int64]:
    largest = int(rng.choice([3, 20, 200]))
    return rng.integers(-largest, largest + 1, size=len(node.problem.feature_ids))


def test_ruling_out_and_bringing_back() -> None:
    """At every step: what is alive, what is fixed and which clauses are dead, as the definitions say."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        toy = random_column_toy(rng, n=3, n_clauses=8, options=5)
        node = node_of(toy, [[True] * len(own) for own in toy.costs])
        problem, moving, state = node.problem, node.moving, node.state
        moves = problem.moves
        assert moves is not None
        path: list[tuple[int, int]] = []
        for _ in range(25):
            living = [o for o in np.flatnonzero(moving.alive).tolist() if moving.n_alive[moving.home[o]] > 1]
            if living and (not path or rng.random() < 0.6):
                option, mark = int(rng.choice(living)), int(rng.integers(-1, 5))
                rule_out(option, problem, moves, state, moving, np.int64(mark))
                path.append((option, mark))
            else:
                assert bring_back_last(problem, moves, state, moving) == path.pop()[1]
            gone = {option for option, _ in path}
            assert moving.alive.tolist() == [o not in gone for o in range(len(moving.alive))]
            assert state.counts[0] == len(path)
            assert state.trail[: len(path)].tolist() == [option for option, _ in path]
            assert moving.n_alive.tolist() == [
                int(moving.alive[a:b].sum()) for a, b in zip(moves.first, moves.first[1:], strict=False)
            ]
            for a in range(len(state.fixed)):
                c = int(problem.feature_ids[a])
                options = [o for o in range(moves.first[c], moves.first[c + 1]) if moving.alive[o]]
                held = [a in moves.atoms[moves.at[o] : moves.at[o + 1]].tolist() for o in options]
                assert moving.inside[a] == sum(held)
                assert state.fixed[a] == (1 if all(held) else 0 if not any(held) else -1)
            for j in range(len(toy.clauses)):
                false = 0
                for k in range(problem.offsets[j], problem.offsets[j + 1]):
                    value = state.fixed[problem.features[k]]
                    false += value != -1 and bool(value) != (k < problem.middles[j])
                assert state.dead[j] == false


@few_or_many(300, 3000)
def test_looking_at_columns(n_cases: int) -> None:
    rng = np.random.default_rng(1)
    negative = 0
    for _ in range(n_cases):
        node = random_node(rng)
        slack, n_choices = look_at_columns(node.toy.radius, node.problem.moves, node.moving)
        if node.slack < 0:
            assert slack < 0
            assert not node.choices()
            negative += 1
            continue
        assert slack == node.slack
        assert node.moving.low.tolist() == [node.low[c] for c in range(len(node.toy.costs))]
        feasible = [set(node.feasible[c]) for c in range(len(node.toy.costs))]
        assert node.moving.feasible.tolist() == [
            o in feasible[c] for c, own in enumerate(node.toy.costs) for o in range(len(own))
        ]
        assert n_choices == sum(len(some) > 1 for some in feasible)
        used = {(c, o) for choice in node.choices() for c, o in enumerate(choice)}
        assert used == {(c, o) for c, some in enumerate(feasible) for o in some}
    assert negative > n_cases // 50


def test_a_column_without_options_has_no_slack() -> None:
    node = node_of(random_column_toy(np.random.default_rng(2), n=2, n_clauses=3), [[True] * 2] * 2)
    node.moving.n_alive[1] = 0
    assert look_at_columns(node.toy.radius, node.problem.moves, node.moving)[0] < 0


@few_or_many(600, 6000)
def test_the_best_moves(n_cases: int) -> None:
    """The bound is the least over all prices; p1 is the first at which it is reached, p2 the last."""
    rng = np.random.default_rng(3)
    seen: Counter[str] = Counter()
    for _ in range(n_cases):
        node = random_node(rng)
        if node.slack < 0:
            continue
        credits = random_credits(rng, node)
        gain, p2, p1 = chosen(node, credits)
        gains = gains_of(node, credits)
        assert all(
            node.moving.gains[node.toy.first()[c] + o] == gains[c][o]
            for c in range(len(gains))
            for o in node.feasible[c]
        )
        highest = max(max(own) - min(own) for own in gains) + 2
        sums = [sum_at(node, gains, price) for price in range(highest + 1)]
        assert gain == min(sums)
        if node.slack > 0:
            assert p1 == sums.index(min(sums))
            assert p2 == max(price for price, total in enumerate(sums) if total == min(sums))
            seen["apart"] += p1 < p2
        else:
            assert p1 == p2 == 0
        choice = [int(o) - first for o, first in zip(node.moving.choice, node.toy.first(), strict=False)]
        assert all(o in node.feasible[c] for c, o in enumerate(choice))
        assert node.toy.cost(choice) <= node.toy.radius
        best = max(sum(gains[c][o] for c, o in enumerate(each)) for each in node.choices())
        reached = sum(gains[c][o] for c, o in enumerate(choice))
        assert reached <= best <= gain
        seen["best"] += reached == best
        seen["tight"] += best == gain
        moves = node.problem.moves
        assert moves is not None
        held = {a for o in node.moving.choice for a in moves.atoms[moves.at[o] : moves.at[o + 1]].tolist()}
        assert np.flatnonzero(node.state.flips).tolist() == sorted(held)
    assert seen["best"] > n_cases // 2
    assert min(seen["tight"], seen["apart"]) > n_cases // 10


def is_out(
    node: Node, gains: list[list[int]], option: tuple[int, int], surplus: int, prices: tuple[int, int]
) -> bool:
    """Whether an option is not feasible, or loses more than the surplus at a price."""
    c, o = option
    if o not in node.feasible[c]:
        return True
    extra = node.toy.costs[c][o] - node.low[c]
    return any(best_at(node, gains, p, c) - gains[c][o] + p * extra > surplus for p in prices)


@few_or_many(400, 4000)
def test_what_the_bound_rules_out(n_cases: int) -> None:
    """Exactly the options that bring the bound below the need at p1 or p2; none that a solution has."""
    rng = np.random.default_rng(4)
    ruled = 0
    for _ in range(n_cases):
        node = random_node(rng)
        if node.slack < 0:
            continue
        credits = random_credits(rng, node)
        gain, p2, p1 = chosen(node, credits)
        gains, n = gains_of(node, credits), len(node.toy.costs)
        constant = int(rng.integers(-5, 6))
        bound = constant + gain
        need = bound - int(rng.integers(0, 12))

        expected = [
            (c, o)
            for c in range(n)
            if len(node.options[c]) > 1
            for o in node.options[c]
            if is_out(node, gains, (c, o), bound - need, (p1, p2))
        ]
        arguments = (bound, need, p2, p1, node.problem, node.problem.moves, node.state, node.moving)
        before = node.moving.alive.copy()
        assert rule_out_by_bound(False, *arguments) == len(expected)
        assert (node.moving.alive == before).all()
        assert rule_out_by_bound(True, *arguments) == len(expected)
        first = node.toy.first()
        gone = {(c, o) for c in range(n) for o in node.options[c] if not node.moving.alive[first[c] + o]}
        assert gone == set(expected)
        for choice in node.choices():
            if constant + sum(gains[c][o] for c, o in enumerate(choice)) >= need:
                assert gone.isdisjoint(enumerate(choice))
        ruled += len(gone)
    assert ruled > n_cases // 2


@few_or_many(400, 4000)
def test_the_least_cost(n_cases: int) -> None:
    """No choice that reaches the need costs less; often one costs just that."""
    rng = np.random.default_rng(5)
    tight = 0
    for _ in range(n_cases):
        node = random_node(rng)
        if node.slack < 0:
            continue
        credits = random_credits(rng, node)
        gain, p2, p1 = chosen(node, credits)
        gains, constant = gains_of(node, credits), int(rng.integers(-5, 6))
        need = constant + gain + int(rng.integers(-8, 4))
        radius = node.toy.radius
        lower = least_cost(constant, need, node.slack, p1, p2, radius, node.problem.moves, node.moving)
        enough = [
            node.toy.cost(choice)
            for choice in node.choices()
            if constant + sum(gains[c][o] for c, o in enumerate(choice)) >= need
        ]
        assert radius - node.slack <= lower <= radius + 1
        assert lower <= min(enough, default=radius + 1)
        tight += lower == min(enough, default=radius + 1)
    assert tight > n_cases // 4


@pytest.mark.parametrize("options", [70, 150])
def test_columns_of_many_options(options: int) -> None:
    rng = np.random.default_rng(6)
    for _ in range(10):
        toy = random_column_toy(rng, n=2, n_clauses=8, options=options, dearest=30)
        node = node_of(toy, random_alive(rng, toy, 0.3))
        if node.slack < 0:
            continue
        credits = random_credits(rng, node)
        gain, _, _ = chosen(node, credits)
        gains = gains_of(node, credits)
        highest = max(max(own) - min(own) for own in gains) + 2
        assert gain == min(sum_at(node, gains, price) for price in range(highest + 1))


def test_numbers_of_options() -> None:
    toy = random_column_toy(np.random.default_rng(7), n=3, n_clauses=4)
    assert numbers(toy.problem(), [1, 0, 1]).tolist() == [1, toy.first()[1], toy.first()[2] + 1]
