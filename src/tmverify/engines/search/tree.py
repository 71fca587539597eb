"""Searching one problem: bound at the root, shrink, branch.

The kernel does a slice of work at a time, so that limits are enforced. When the bound has fixed enough
features at the root, the problem is rebuilt without them: clauses become shorter or equal, or cancel, and
every later step is cheaper.

If there is a draft of a refutation, every node is written into it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline
from tmverify.engines.proof_log import Draft, packed_step
from tmverify.engines.search import _tree
from tmverify.engines.search._bound import FREE, count_votes, first_multipliers
from tmverify.engines.search._climb import climb, climb_columns
from tmverify.engines.search._problem import inherit
from tmverify.engines.search._record import first_record, pack_changes
from tmverify.engines.search.problem import Problem, Solution, shrunk

ATTEMPT = 20_000  # nodes
CLIMB = 50_000_000  # cells that greedy flips may look at, about 50 ms
SLICE = 20_000_000  # literals looked at between two checks of the clock, about 50 ms
_INT64 = 1 << 62
_FINEST = 1 << 20  # the largest unit of multipliers, used if sums can't overflow
_COARSEST = 1 << 6
RECORD_UNIT = 1 << 8  # the unit of recorded multipliers: a coarser one makes shorter certificates


class Steps(NamedTuple):
    """How many steps improve the multipliers, at most."""

    root: int
    node: int


STEPS = Steps(60, 6)


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
        """The same budget with at most ``nodes`` further nodes."""
        return replace(self, nodes=min(self.nodes, self.used["nodes"] + nodes))

    def attempt(self) -> Budget:
        """Half the time, and not too many nodes, for an attempt that may lead nowhere."""
        return replace(self.some(ATTEMPT), deadline=self.deadline.share(1 / 2))

    def spent(self) -> bool:
        """Whether there is nothing left."""
        return self.used["nodes"] >= self.nodes or self.deadline.passed()


class State(NamedTuple):
    """The current node of a tree over n features, of which some are fixed, and m clauses.

    Where columns move, the trail lists the options that are ruled out instead.
    """

    fixed: NDArray[np.int8]  # (n,): 1 flips (or holds), 0 does not, or FREE
    trail: NDArray[np.int32]  # (n,): the features that are fixed, in order …
    decisions: NDArray[np.bool_]  # (n,): … and whether the other value is still to be tried
    dead: NDArray[np.int32]  # (m,): literals of each clause that are fixed to false
    flips: NDArray[np.bool_]  # (n,): those that maximise the bound; at the end, perhaps a solution
    counts: NDArray[np.int64]


class Moving(NamedTuple):
    """The current node, where k columns have options."""

    home: NDArray[np.int64]  # (n_options,): the column of each
    alive: NDArray[np.bool_]  # (n_options,): whether it is not ruled out
    n_alive: NDArray[np.int64]  # (k,)
    inside: NDArray[np.int64]  # (n,): how many alive options each atom has
    marks: NDArray[np.int64]  # (n_options,): for the trail: the option that was split on, or -1
    low: NDArray[np.int64]  # (k,): the least cost of an alive option
    feasible: NDArray[np.bool_]  # (n_options,): whether the budget allows it
    gains: NDArray[np.int64]  # (n_options,): what the bound grants for it
    rises: NDArray[np.int64]  # (k,): scratch
    choice: NDArray[np.int64]  # (k,): the options that maximise the bound; at the end, perhaps a solution
    lean: NDArray[np.float32]  # (n_options,): a running mean of the choices


class Multipliers(NamedTuple):
    """The multipliers that define the bound, for k constraints."""

    mix: NDArray[np.int64]  # (k,): the mixture of constraints, in integers …
    weight: NDArray[np.float64]  # (k,): … which are rounded from these
    share: NDArray[np.float32]  # (n_literals,)
    load: NDArray[np.float32]  # (m,)
    wide: NDArray[np.bool_]  # (m,)
    lean: NDArray[np.float32]  # (n,): fractional flips


class Scratch(NamedTuple):
    """Scratch arrays, which the kernels write before they read them."""

    total: NDArray[np.int64]  # (m,): the votes of the mixture
    credits: NDArray[np.int64]  # (n,)
    sorted: NDArray[np.int64]  # (n,)
    slant: NDArray[np.float32]  # (n_literals,)
    sums: NDArray[np.int64]  # (k,)


class Record(NamedTuple):
    """Multipliers in integers, as a certificate contains them."""

    unit: int
    parts: NDArray[np.int32]  # (n_literals,)
    loads: NDArray[np.int32]  # (m,)


class Tree:
    """The search of one problem, which can stop and continue later."""

    def __init__(self, problem: Problem, draft: Draft | None = None, *, steps: Steps | None = None) -> None:
        self._draft, self._steps = draft, steps or STEPS
        self.lower = 0  # no solution has fewer flips than this
        n_constraints = len(problem.bounds)
        weight = _first_mixture(problem)
        unit = 1 if n_constraints == 1 else _tree.MIX_UNIT
        self._recorded_mix = [1] * n_constraints
        self.multipliers = Multipliers(
            mix=np.rint(weight * unit).astype(np.int64),
            weight=weight,
            share=np.empty(len(problem.features), np.float32),
            load=np.empty(problem.votes.shape[1], np.float32),
            wide=np.ones(problem.votes.shape[1], np.bool_),
            lean=np.zeros(len(problem.feature_ids), np.float32),
        )
        first_multipliers(problem.offsets, problem.middles, self.multipliers.share, self.multipliers.load)
        self._record_unit = 0 if draft is None else min(unit_of(problem), RECORD_UNIT)
        if draft is not None:
            draft.start(max(1, self._record_unit))
        self.came_from = problem.came_from  # of each literal, in what the first problem was shrunk from
        self._plant(problem)

    def rebuild(self) -> None:
        """Rebuild the problem without the features that are fixed; multipliers are kept."""
        old = self.problem
        new = shrunk(old, self.state.fixed if self._moving is None else self._moving.alive.astype(np.int8))
        owners = np.repeat(np.arange(len(old.middles), dtype=np.int32), np.diff(old.offsets))
        mix, weight, old_share, old_load, _, lean = self.multipliers
        m = new.votes.shape[1]
        share, load = np.empty(len(new.features), np.float32), np.empty(m, np.float32)
        inherit(new.offsets, new.came_from, owners, old_share, old_load, share, load)
        if new.moves is None:
            lean = lean[np.searchsorted(old.feature_ids, new.feature_ids)]
        else:
            lean = np.zeros(len(new.feature_ids), np.float32)  # the first step sets it
        self.multipliers = Multipliers(mix, weight, share, load, np.ones(m, np.bool_), lean)
        self.came_from = self.came_from[new.came_from] if len(self.came_from) else new.came_from
        self._plant(new)

    def _plant(self, problem: Problem) -> None:
        self.problem, self._arrays = problem, problem.arrays
        self._moving = all_alive(problem)
        n, m, size = len(problem.feature_ids), problem.votes.shape[1], len(problem.features)
        n_fixable = n if problem.moves is None else len(problem.moves.costs)
        n_constraints = len(problem.bounds)
        unit = unit_of(problem)
        self.unit = unit if unit >= self._record_unit else 0
        self.state = State(
            fixed=np.full(n, FREE, np.int8),
            trail=np.empty(n_fixable, np.int32),
            decisions=np.empty(n_fixable, np.bool_),
            dead=np.zeros(m, np.int32),
            flips=np.zeros(n, np.bool_),
            counts=np.zeros(_tree.N_COUNTS, np.int64),
        )
        self._scratch = Scratch(
            total=np.empty(m, np.int64),
            credits=np.empty(n, np.int64),
            sorted=np.empty(n_fixable, np.int64),
            slant=np.empty(size, np.float32),
            sums=np.empty(n_constraints, np.int64),
        )
        # None makes numba compile the kernel without the code for several constraints, or for a record.
        self._relaxed_sums = np.empty(n_constraints, np.float64) if n_constraints > 1 else None
        self._record, self._written = None, None
        if self._record_unit:
            self._record = new_record(problem, self._record_unit)
            self._written = new_record(problem, self._record_unit)

    def search(self, budget: Budget) -> tuple[Found, Solution | None]:
        """Search until it is decided or the budget is spent."""
        while self.unit and not budget.spent():
            counts = self.state.counts
            nodes, steps = counts[_tree.NODES], counts[_tree.STEPS]
            result = _tree.explore(
                self._arrays, self.state, self.problem.moves, self._moving, self.multipliers, self._scratch,
                self._relaxed_sums, self._record, self.unit, *self._steps,
                budget.nodes - budget.used["nodes"], SLICE,
            )  # fmt: skip
            budget.used["nodes"] += int(counts[_tree.NODES] - nodes)
            budget.used["steps"] += int(counts[_tree.STEPS] - steps)
            self.lower = max(self.lower, self.problem.spent + int(counts[_tree.LOWER]))
            if result == _tree.WITNESS:
                taken = self.state.flips if self._moving is None else self._moving.choice
                return Found.SOLUTION, self.problem.solution(taken)
            if self._draft is not None:
                self._write(self._draft, result)
            if result == _tree.REFUTED:
                return Found.NOTHING, None
            if result == _tree.SHRUNK:
                self.rebuild()
        return Found.OPEN, None

    def _write(self, draft: Draft, result: int) -> None:
        """Write down what happened to a node."""
        event = int(self.state.counts[_tree.EVENT])
        if event & (_tree.BY_FIXING | _tree.BY_BOUND):
            self.write_multipliers(draft)
        if event & _tree.BY_FIXING:
            draft.step("fix")
        if event & (_tree.BY_BOUND | _tree.BY_COUNT):
            draft.step("close")
        if event & _tree.BY_SPLIT:
            draft.step("split", *self._named_branch())
        if result == _tree.SHRUNK:
            draft.step("shrink")
        elif result == _tree.REFUTED:
            draft.keep()

    def _named_branch(self) -> tuple[int, int]:
        """The column that was split, and the value that it was given first."""
        branch = int(self.state.counts[_tree.BRANCH])
        moves, moving = self.problem.moves, self._moving
        if moves is None or moving is None:
            feature = int(self.problem.feature_ids[branch])
            return feature, int(not self.problem.origin[feature])
        return int(moves.columns[moving.home[branch]]), int(moves.values[branch])

    def write_multipliers(self, draft: Draft) -> None:
        """Write down the mixture and the multipliers that have changed."""
        mix = self.multipliers.mix.tolist()
        if mix != self._recorded_mix:
            draft.step("mix", *mix)
            self._recorded_mix = mix
        assert self._record is not None
        out = np.empty(5 * (len(self._record.parts) + 2 * len(self._record.loads)), np.uint8)
        n = pack_changes(self._arrays, self._scratch.total, self._record, self._written, out)
        if n:
            draft.block(packed_step("set", out[:n].tobytes()))


def new_record(problem: Problem, unit: int) -> Record:
    """A record with the multipliers that a checker begins with."""
    size, m = len(problem.features), problem.votes.shape[1]
    record = Record(unit, np.empty(size, np.int32), np.empty(m, np.int32))
    first_record(problem.arrays, record)
    return record


def all_alive(problem: Problem) -> Moving | None:
    """The node in which nothing is ruled out; None if features flip by themselves."""
    moves = problem.moves
    if moves is None:
        return None
    n_options, sizes = len(moves.costs), np.diff(moves.first)
    return Moving(
        home=np.repeat(np.arange(len(sizes)), sizes),
        alive=np.ones(n_options, np.bool_),
        n_alive=sizes,
        inside=np.bincount(moves.atoms, minlength=len(problem.feature_ids)),
        marks=np.empty(n_options, np.int64),
        low=np.empty(len(sizes), np.int64),
        feasible=np.empty(n_options, np.bool_),
        gains=np.empty(n_options, np.int64),
        rises=np.empty(len(sizes), np.int64),
        choice=moves.first[:-1].copy(),
        lean=np.zeros(n_options, np.float32),
    )


def greedy(problem: Problem, alive: NDArray[np.bool_] | None = None) -> Solution | None:
    """A solution by greedy moves, or None; if there are ``moves``, by the options that are ``alive``."""
    n, n_constraints, m = len(problem.feature_ids), *problem.votes.shape
    flips = np.zeros(n, np.bool_)
    most = min(problem.radius, max(16, CLIMB // max(1, n * n_constraints)))
    false, sums = np.zeros(m, np.int32), np.zeros(n_constraints, np.int64)
    gains = np.zeros((n_constraints, n), np.int64)
    moves = problem.moves
    if moves is None:
        return problem.solution(flips) if climb(problem.arrays, most, flips, false, sums, gains) else None
    choice = moves.first[:-1].copy()
    if alive is not None:  # what costs more than there is can't be taken
        moves = moves._replace(costs=np.where(alive, moves.costs, problem.radius + 1))
    if climb_columns(problem.arrays, moves, problem.radius, choice, flips, false, sums, gains):
        return problem.solution(choice)
    return None


def votes_with(problem: Problem, flips: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The votes of each constraint with exactly these flips."""
    sums = np.empty(len(problem.bounds), np.int64)
    count_votes(problem.arrays, np.zeros(problem.votes.shape[1], np.int32), flips, sums)
    return sums


def _first_mixture(problem: Problem) -> NDArray[np.float64]:
    """A first mixture: each constraint in proportion to the votes that it lacks without flips."""
    if len(problem.bounds) == 1:
        return np.ones(1)
    now = votes_with(problem, np.zeros(len(problem.feature_ids), np.bool_))
    lacking: NDArray[np.float64] = np.maximum((problem.bounds - now).astype(np.float64), 1e-3)
    lacking /= lacking.sum()
    return lacking


def unit_of(problem: Problem) -> int:
    """The finest unit with which no sum of the bound can overflow 64 bits; 0 if there is none.

    A constant or a credit has at most one part of |weight| per literal or clause; a bound adds a constant and
    the credits of at most ``radius + 1`` flips, and is compared with a constraint's bound. Where columns
    move, it adds a gain for each of them, which has at most one part per literal in all, and a price, at most
    the largest gain, times the slack and times the cost of a move.
    """
    m, size = problem.votes.shape[1], len(problem.features)
    most, least = problem.votes.max(axis=1, initial=0), problem.votes.min(axis=1, initial=0)
    heaviest = sum(np.maximum(most, -least).tolist())  # the largest weight of each constraint, added up
    prices = problem.radius + 3
    if problem.moves is not None:
        prices += 2 * problem.radius + int(problem.moves.costs.max(initial=0)) * len(problem.moves.columns)
        size *= 2
    largest = heaviest * (size + m * prices) + sum(map(abs, problem.bounds.tolist()))
    largest = (largest + 1) * (_tree.MIX_UNIT if len(problem.bounds) > 1 else 1)
    unit = _FINEST
    while unit >= _COARSEST and largest * unit >= _INT64:
        unit //= 2
    return unit if unit >= _COARSEST else 0
