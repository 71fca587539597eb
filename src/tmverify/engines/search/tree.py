"""Searching one problem: bound at the root, shrink, branch; in slices, so that limits hold.

The kernel is asked for a slice of work at a time. When the bound has fixed enough features at the root, the
problem is rebuilt without them: clauses shorten, become equal, cancel, and every later step is cheaper.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.protocol import Deadline
from tmverify.engines.search import _tree
from tmverify.engines.search._bound import FREE, count_votes, first_multipliers
from tmverify.engines.search._climb import climb
from tmverify.engines.search._shrink import index_features
from tmverify.engines.search.problem import Problem, shrunk

ROOT_STEPS = 60
NODE_STEPS = 10
SLICE = 20_000_000  # literals looked at between two looks at the clock, some 50 ms
_INT64 = 1 << 62
_FINEST = 1 << 20  # the unit of multipliers, where sums leave room for it
_COARSEST = 1 << 6


class Found(Enum):
    """How a search ended."""

    SOLUTION = auto()
    NOTHING = auto()
    OPEN = auto()


@dataclass(slots=True)
class Budget:
    """What a search may use, shared by all searches of a question."""

    deadline: Deadline
    nodes: int
    used: dict[str, int] = field(default_factory=lambda: {"nodes": 0, "steps": 0})

    def spent(self) -> bool:
        """Whether there is nothing left."""
        return self.used["nodes"] >= self.nodes or self.deadline.passed()


class Tree:
    """The search of one problem, which can go on where it stopped."""

    def __init__(self, problem: Problem) -> None:
        self.lower = 0  # no solution has fewer flips than this
        self._plant(problem)

    def _plant(self, problem: Problem) -> None:
        self.problem = problem
        n, m, size = len(problem.names), problem.votes.shape[1], len(problem.features)
        n_constraints = len(problem.needs)
        self.unit = _unit(problem)
        self.fixed = np.full(n, FREE, np.int8)
        self.flips = np.zeros(n, np.bool_)
        self.counts = np.zeros(_tree.N_COUNTS, np.int64)
        even = 1 if n_constraints == 1 else _tree.MIX_UNIT // n_constraints
        self.mix = np.full(n_constraints, even, np.int64)
        where = np.empty(n + 1, np.int64)
        clauses = np.empty(size, np.int32)
        waking = np.empty(size, np.bool_)
        index_features(problem.offsets, problem.features, problem.wakes, where, clauses, waking)
        share, load = np.empty(size, np.float32), np.empty(m, np.float32)
        first_multipliers(problem.offsets, problem.wakes, share, load)
        self._index = (where, clauses, waking)
        self._state = (
            self.fixed,
            np.empty(n, np.int32),  # trail
            np.empty(n, np.bool_),  # decisions
            np.zeros(m, np.int32),  # dead
            self.mix,
            np.full(n_constraints, 1.0 / max(n_constraints, 1)),  # weight
            share,
            load,
            np.zeros(n, np.float32),  # lean
            self.flips,
            self.counts,
        )
        self._scratch = (
            np.empty(m, np.int64),  # total
            np.empty(n, np.int64),  # credits
            np.empty(n, np.int64),
            np.empty(size, np.float32),  # slant
            np.empty(m, np.float32),  # middle
            np.empty(n_constraints, np.int64),
            np.empty(n_constraints, np.float64),
        )

    def search(self, budget: Budget) -> tuple[Found, list[int]]:
        """Go on until an end or until the budget is spent; a solution is in features of the Query."""
        if self.unit == 0:
            return Found.OPEN, []
        while not budget.spent():
            result = self._slice(budget)
            self.lower = max(self.lower, len(self.problem.flipped) + int(self.counts[_tree.LOWER]))
            if result == _tree.WITNESS:
                return Found.SOLUTION, self.problem.named(self.flips)
            if result == _tree.REFUTED:
                return Found.NOTHING, []
            if result == _tree.SHRUNK:
                self._plant(shrunk(self.problem, self.fixed))
        return Found.OPEN, []

    def _slice(self, budget: Budget) -> int:
        problem = self.problem
        before = self.counts.copy()
        shrink_at = max(4, len(problem.names) // 4)
        result = _tree.explore(
            problem.offsets, problem.features, problem.wakes, problem.votes, problem.needs, problem.radius,
            *self._index, *self._state, *self._scratch,
            self.unit, ROOT_STEPS, NODE_STEPS, shrink_at, budget.nodes - budget.used["nodes"], SLICE,
        )  # fmt: skip
        budget.used["nodes"] += int(self.counts[_tree.NODES] - before[_tree.NODES])
        budget.used["steps"] += int(self.counts[_tree.STEPS] - before[_tree.STEPS])
        return int(result)


def greedy(problem: Problem) -> list[int] | None:
    """A solution by greedy flips, in features of the Query, or None."""
    flips = np.zeros(len(problem.names), np.bool_)
    met = climb(
        problem.offsets, problem.features, problem.wakes, problem.votes, problem.needs, problem.radius, flips
    )
    return problem.named(flips) if met else None


def votes_with(problem: Problem, flips: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The votes of each constraint with exactly these flips."""
    sums = np.empty(len(problem.needs), np.int64)
    alive = np.zeros(problem.votes.shape[1], np.int32)
    count_votes(problem.offsets, problem.features, problem.wakes, problem.votes, alive, flips, sums)
    return sums


def _unit(problem: Problem) -> int:
    """The finest unit with which no sum of the bound can leave 64 bits; 0 if there is none."""
    weights = np.abs(problem.votes).sum(axis=0, dtype=object) if problem.votes.size else np.zeros(0, object)
    lengths = np.diff(problem.offsets)
    largest = int((weights * (lengths + problem.radius + 2)).sum()) if len(weights) else 0
    largest += sum(abs(int(need)) for need in problem.needs)
    largest = (largest + 1) * (_tree.MIX_UNIT if len(problem.needs) > 1 else 1)
    unit = _FINEST
    while unit >= _COARSEST and largest * unit >= _INT64:
        unit //= 2
    return unit if unit >= _COARSEST else 0
