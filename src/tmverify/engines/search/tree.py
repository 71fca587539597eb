"""Searching one problem: bound at the root, shrink, branch; in slices, so that limits hold.

The kernel is asked for a slice of work at a time. When the bound has fixed enough features at the root, the
problem is rebuilt without them: clauses shorten, become equal, cancel, and every later step is cheaper.

With a draft of a refutation, every node is written down in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.proof_log import Draft
from tmverify.engines.protocol import Deadline
from tmverify.engines.search import _tree
from tmverify.engines.search._bound import FREE, count_votes, first_multipliers
from tmverify.engines.search._climb import climb
from tmverify.engines.search._record import first_parts, pack_changes
from tmverify.engines.search._shrink import inherit
from tmverify.engines.search.problem import Problem, shrunk

ROOT_STEPS = 60
NODE_STEPS = 6
ATTEMPT = 20_000  # nodes
CLIMB = 50_000_000  # cells that greedy flips may look at, some 50 ms
SLICE = 20_000_000  # literals looked at between two looks at the clock, some 50 ms
_INT64 = 1 << 62
_FINEST = 1 << 20  # the unit of multipliers, where sums leave room for it
_COARSEST = 1 << 6
RECORD_UNIT = 1 << 8  # of multipliers on record: coarser is shorter


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

    def some(self, nodes: int) -> Budget:
        """At most so many further nodes of it."""
        return replace(self, nodes=min(self.nodes, self.used["nodes"] + nodes))

    def attempt(self) -> Budget:
        """Half the time, and not too many nodes, for an attempt that may lead nowhere."""
        left = self.deadline.remaining()
        return replace(self.some(ATTEMPT), deadline=Deadline(None if left is None else left / 2))

    def spent(self) -> bool:
        """Whether there is nothing left."""
        return self.used["nodes"] >= self.nodes or self.deadline.passed()


class Tree:
    """The search of one problem, which can go on where it stopped."""

    def __init__(self, problem: Problem, draft: Draft | None = None) -> None:
        self._draft = draft
        self.lower = 0  # no solution has fewer flips than this
        n_constraints = len(problem.needs)
        self._weight = _first_mixture(problem)
        unit = 1 if n_constraints == 1 else _tree.MIX_UNIT
        self._mix = np.rint(self._weight * unit).astype(np.int64)
        self._recorded_mix = [1] * n_constraints
        self._share = np.empty(len(problem.features), np.float32)
        self._load = np.empty(problem.votes.shape[1], np.float32)
        first_multipliers(problem.offsets, problem.middles, self._share, self._load)
        self._lean = np.zeros(len(problem.names), np.float32)
        self._record_unit = 0 if draft is None else min(unit_of(problem), RECORD_UNIT)
        if draft is not None:
            draft.start(max(1, self._record_unit))
        self._plant(problem)

    def _shrink(self) -> None:
        """Rebuild the problem without the features that are fixed; multipliers go along."""
        old = self.problem
        new = shrunk(old, self._fixed)
        owners = np.repeat(np.arange(len(old.middles), dtype=np.int32), np.diff(old.offsets))
        share, load = np.empty(len(new.features), np.float32), np.empty(new.votes.shape[1], np.float32)
        inherit(new.offsets, new.came_from, owners, self._share, self._load, share, load)
        self._share, self._load = share, load
        self._lean = self._lean[np.searchsorted(old.names, new.names)]
        self._plant(new)

    def _plant(self, problem: Problem) -> None:
        self.problem = problem
        n, m, size = len(problem.names), problem.votes.shape[1], len(problem.features)
        n_constraints = len(problem.needs)
        self.unit = unit_of(problem)
        self._fixed = np.full(n, FREE, np.int8)
        self._flips = np.zeros(n, np.bool_)
        self._counts = np.zeros(_tree.N_COUNTS, np.int64)
        self._total = np.empty(m, np.int64)
        self.unit = self.unit if self.unit >= self._record_unit else 0
        recorded = self._record_unit > 0
        self._parts = np.zeros((2, size * recorded), np.int32)  # now, and on record
        self._loads = np.zeros((2, m * recorded), np.int32)
        if recorded:
            for parts, loads in zip(self._parts, self._loads, strict=True):
                first_parts(problem.offsets, problem.middles, self._record_unit, parts, loads)
        self._arguments = (
            *(problem.offsets, problem.middles, problem.features, problem.votes, problem.needs),
            problem.radius,
            *(problem.where, problem.clauses, problem.waking),
            self._fixed,
            np.empty(n, np.int32),  # trail
            np.empty(n, np.bool_),  # decisions
            np.zeros(m, np.int32),  # dead
            *(self._mix, self._weight, self._share, self._load),
            np.ones(m, np.bool_),  # wide
            *(self._lean, self._flips, self._counts),
            self._total,
            np.empty(n, np.int64),  # credits
            np.empty(n, np.int64),  # scratch
            np.empty(size, np.float32),  # slant
            np.empty(n_constraints, np.int64),  # exact_sums
            np.empty(n_constraints, np.float64) if n_constraints > 1 else None,  # sums
            self.unit,
            *((self._record_unit, self._parts[0], self._loads[0]) if recorded else (0, None, None)),
            ROOT_STEPS,
            NODE_STEPS,
        )

    def search(self, budget: Budget) -> tuple[Found, list[int]]:
        """Go on until an end or until the budget is spent; a solution is in features of the Query."""
        while self.unit and not budget.spent():
            result = self._slice(budget)
            self.lower = max(self.lower, len(self.problem.flipped) + int(self._counts[_tree.LOWER]))
            if result == _tree.WITNESS:
                return Found.SOLUTION, self.problem.named(self._flips)
            if self._draft is not None:
                self._write(self._draft, result)
            if result == _tree.REFUTED:
                return Found.NOTHING, []
            if result == _tree.SHRUNK:
                self._shrink()
        return Found.OPEN, []

    def _write(self, draft: Draft, result: int) -> None:
        """Write down what happened to a node."""
        event = int(self._counts[_tree.EVENT])
        if event & (_tree.BY_FIXING | _tree.BY_BOUND):
            self._write_multipliers(draft)
        if event & _tree.BY_FIXING:
            draft.step("fix")
        if event & (_tree.BY_BOUND | _tree.AS_SUCH):
            draft.step("close")
        if event & _tree.BY_SPLIT:
            draft.step("split", int(self.problem.names[self._counts[_tree.BRANCH]]))
        if result == _tree.SHRUNK:
            draft.step("shrink")
        elif result == _tree.REFUTED:
            draft.keep()

    def _write_multipliers(self, draft: Draft) -> None:
        mix = self._mix.tolist()
        if mix != self._recorded_mix:
            draft.step("mix", *mix)
            self._recorded_mix = mix
        (parts, old_parts), (loads, old_loads) = self._parts, self._loads
        out = np.empty(5 * (len(parts) + 2 * len(loads)), np.uint8)
        n = pack_changes(self.problem.offsets, self._total, parts, loads, old_parts, old_loads, out)
        if n:
            draft.packed("set", out[:n].tobytes())

    def _slice(self, budget: Budget) -> int:
        nodes, steps = self._counts[_tree.NODES], self._counts[_tree.STEPS]
        result = _tree.explore(*self._arguments, budget.nodes - budget.used["nodes"], SLICE)
        budget.used["nodes"] += int(self._counts[_tree.NODES] - nodes)
        budget.used["steps"] += int(self._counts[_tree.STEPS] - steps)
        return int(result)


def greedy(problem: Problem) -> list[int] | None:
    """A solution by greedy flips, in features of the Query, or None."""
    n, n_constraints, m = len(problem.names), *problem.votes.shape
    flips = np.zeros(n, np.bool_)
    most = CLIMB // max(1, n * n_constraints)
    met = climb(
        *(problem.offsets, problem.middles, problem.features, problem.votes, problem.needs),
        min(problem.radius, max(16, most)),
        *(problem.where, problem.clauses, problem.waking, flips),
        np.zeros(m, np.int32),  # false
        np.zeros(n_constraints, np.int64),  # sums
        np.zeros((n_constraints, n), np.int64),  # gains
    )
    return problem.named(flips) if met else None


def votes_with(problem: Problem, flips: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The votes of each constraint with exactly these flips."""
    sums = np.empty(len(problem.needs), np.int64)
    alive = np.zeros(problem.votes.shape[1], np.int32)
    count_votes(problem.offsets, problem.middles, problem.features, problem.votes, alive, flips, sums)
    return sums


def _first_mixture(problem: Problem) -> NDArray[np.float64]:
    """The constraints by what they lack where nothing is flipped."""
    now = votes_with(problem, np.zeros(len(problem.names), np.bool_))
    lacking: NDArray[np.float64] = np.maximum((problem.needs - now).astype(np.float64), 1e-3)
    lacking /= lacking.sum()
    return lacking


def unit_of(problem: Problem) -> int:
    """The finest unit with which no sum of the bound can leave 64 bits; 0 if there is none.

    A constant or a credit has at most one part of |weight| per literal or clause; a bound adds a constant and
    the credits of at most ``radius + 1`` flips, and is compared with a need.
    """
    m, size = problem.votes.shape[1], len(problem.features)
    heaviest = sum(_largest(row) for row in problem.votes)
    largest = heaviest * (size + m * (problem.radius + 3)) + sum(abs(int(need)) for need in problem.needs)
    largest = (largest + 1) * (_tree.MIX_UNIT if len(problem.needs) > 1 else 1)
    unit = _FINEST
    while unit >= _COARSEST and largest * unit >= _INT64:
        unit //= 2
    return unit if unit >= _COARSEST else 0


def _largest(weights: NDArray[np.int64]) -> int:
    return max(abs(int(weights.max())), abs(int(weights.min()))) if len(weights) else 0
