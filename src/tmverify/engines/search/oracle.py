"""The oracle of the search: a question with other columns free is asked of problems that were built once.

There is a *lane* for each case of the query, with its problem over all columns. A question

1. walks in each lane over free flips towards a witness (``_ascend``), starting from what earlier witnesses
   have in common with the free columns,
2. searches the tree of each lane, restricted to the free columns, starting from the multipliers of the
   lane's last tree. They fit: from one question to the next the problem changes by a column or two. On MNIST
   that makes trees five times faster.

Walks also look at columns that are not free: if the change of a single one is what lacks, that is a witness
for it (``near``). Where columns are more than flips there are no walks, only greedy moves.

Tried and dropped: freeing columns by their credits, without a tree. Multipliers that leave room for further
columns are not those that are best for the free ones, and the room was next to nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Answer, Deadline, Engine, Outcome, found, none_exists, stopped
from tmverify.engines.follow import check_withdrawn
from tmverify.engines.oracle import Effort, Input, Mask, Oracle
from tmverify.engines.search._ascend import ascend, count_position, ease, ease_columns, try_all
from tmverify.engines.search._bound import FREE, first_multipliers
from tmverify.engines.search._problem import inherit
from tmverify.engines.search.engine import UNLIMITED, fault, why_open
from tmverify.engines.search.problem import Moves, Problem, Solution, part, problem_of, shrunk
from tmverify.engines.search.tree import Budget, Found, Steps, Tree, greedy
from tmverify.properties.query import Query

NODES = {Effort.LITTLE: 500, Effort.MORE: 10_000, Effort.ALL: 100_000}  # then another engine is asked
PATIENCE = 20  # steps of a walk without progress
SWEEPS = 30  # earlier witnesses from which a thorough search for ``near`` ones starts
# Of flips there are many: a few good bounds are cheaper than many nodes. Where columns are more than flips,
# there are few of them, and a node is soon decided.
_STEPS_OF_FLIPS, _STEPS_OF_MOVES = Steps(60, 30), Steps(20, 2)
_FEW_COLUMNS, _FEW_INPUTS = 8, 512  # that are tried one by one, faster than a problem is made for them
_FOUND = 1 << 16  # numbers for the witnesses that one walk may find


class SearchOracle(Oracle):
    """Asks the search; what that leaves open, with all effort, the engine."""

    query: Query

    def __init__(self, query: Query, engine: Engine) -> None:
        super().__init__(query, engine)
        compile_walks()
        check_withdrawn()  # all this takes long if the model is large
        whole = problem_of(query, query.region.radius, distinct=False)
        self.lanes: list[_Lane] = []
        for case in dict.fromkeys(tuple(dict.fromkeys(case)) for case in query.cases):
            check_withdrawn()
            problem = part(whole, case, whole.radius, distinct=False)
            check_withdrawn()
            self.lanes.append(_Lane(problem, self.columns))

    def ask(
        self, free: Mask, deadline: Deadline, effort: Effort = Effort.ALL, *, must: int | None = None
    ) -> Answer:
        """Is there a witness that differs from the input in ``free`` columns only?

        It is known already that every such witness changes the column ``must``.
        """
        answer = self._within(deadline, effort, lambda budget: self._ask(free, budget, must))
        if answer.outcome is Outcome.STOPPED and effort is Effort.ALL and self.engine.name != "search":
            return super().ask(free, deadline)
        return answer

    def ask_among(self, values: Mapping[int, Sequence[int]], deadline: Deadline) -> Answer:
        """Is there a witness whose columns (by their number in the space) have these values?"""
        if self.query.region.plain:
            return super().ask_among(values, deadline)
        answer = self._within(deadline, Effort.ALL, lambda budget: self._among(values, budget))
        if answer.outcome is Outcome.STOPPED and self.engine.name != "search":
            return super().ask_among(values, deadline)
        return answer

    def _within(self, deadline: Deadline, effort: Effort, ask: Callable[[Budget], Answer]) -> Answer:
        """Ask with what a question of that effort may use."""
        self.asked += 1
        self.rely("search")
        budget = Budget(deadline, NODES[effort])
        if effort is Effort.ALL:
            alone = self.engine.name == "search"
            budget = Budget(deadline, UNLIMITED) if alone else Budget(deadline.share(1 / 2), NODES[effort])
        try:
            return ask(budget)
        except Exception as error:  # after an error of any kind there is no answer
            return stopped(*fault(error))

    def guess(self, free: Mask) -> Input | None:
        """A witness that differs in ``free`` columns only, if a walk finds one."""
        return self._guess(free, None).witness

    def _guess(self, free: Mask, must: int | None) -> Answer:
        for lane in self.lanes:
            solution = lane.walk(free, must)
            if solution is not None:
                return self._found(lane, solution)
        return none_exists()  # as far as walks see

    def _ask(self, free: Mask, budget: Budget, must: int | None) -> Answer:
        if all(lane.has_few(free) for lane in self.lanes):
            return self._first(budget, lambda lane: lane.try_all(free))
        guess = self._guess(free, must)
        if guess.witness is not None:
            return guess
        return self._first(budget, lambda lane: lane.search(lane.changing(free, must), budget))

    def _among(self, values: Mapping[int, Sequence[int]], budget: Budget) -> Answer:
        return self._first(budget, lambda lane: lane.search_among(values, budget))

    def _first(self, budget: Budget, ask: Callable[[_Lane], tuple[Found, Solution | None]]) -> Answer:
        """The first witness of a lane."""
        still_open = False
        for lane in list(self.lanes):
            result, solution = (Found.OPEN, None) if budget.spent() else ask(lane)
            if solution is not None:
                return self._found(lane, solution)
            still_open |= result is Found.OPEN
        if still_open:
            reason, detail = why_open(budget)
            return stopped(reason, detail, **budget.used)
        return none_exists(**budget.used)

    def _found(self, lane: _Lane, solution: Solution) -> Answer:
        """The witness; the lane that had it comes first in the next question."""
        self.lanes.remove(lane)
        self.lanes.insert(0, lane)
        return found(self.query.region.with_flips(solution.flips))

    def near(self, free: Mask, wanted: Mask, *, thorough: bool) -> list[Input]:
        """Witnesses at hand that differ in ``free`` columns and in one ``wanted``; at most one for each.

        Unless ``thorough``, only the lane of the last witness is looked at, from there.
        """
        left = wanted.copy()
        witnesses = []
        for lane in self.lanes if thorough else self.lanes[:1]:
            check_withdrawn()
            for flips in lane.sweep(free, left, SWEEPS if thorough else 1):
                witnesses.append(self.query.region.with_flips(flips))
        return witnesses

    def eased(self, z: Input, order: NDArray[np.int64]) -> Input:
        """The witness with changes taken back that are not needed, those of least ``order`` first."""
        flips = np.flatnonzero(z != self.query.region.origin)
        for lane in self.lanes:
            fewer = lane.eased(flips, order)
            if fewer is not None:
                return self.query.region.with_flips(fewer)
        return super().eased(z, order)

    def weights(self) -> NDArray[np.int64]:
        """The votes of the clauses that look at each column."""
        total = np.zeros(len(self.columns), np.int64)
        for lane in self.lanes:
            check_withdrawn()
            lane.add_weights(total)
        return total


class Position(NamedTuple):
    """Some flips of a lane, and what they make of its n features, m clauses and k constraints."""

    flips: NDArray[np.bool_]  # (n,)
    false: NDArray[np.int32]  # (m,): false literals of each clause
    sums: NDArray[np.int64]  # (k,): votes
    gains: NDArray[np.int64]  # (k, n): what each toggle would add to them
    lone: NDArray[np.int32]  # (m,): the exclusive or of the features of the false literals

    def copy(self) -> Position:
        """Another one at the same flips."""
        return Position(
            self.flips.copy(), self.false.copy(), self.sums.copy(), self.gains.copy(), self.lone.copy()
        )


class _Lane:
    """One case: its problem over all columns, and what was learnt of it."""

    def __init__(self, problem: Problem, columns: NDArray[np.int64]) -> None:
        self.problem, self._arrays = problem, problem.arrays
        size, m = len(problem.features), problem.votes.shape[1]
        self._share, self._load = np.empty(size, np.float32), np.empty(m, np.float32)
        first_multipliers(problem.offsets, problem.middles, self._share, self._load)
        self._owners = np.repeat(np.arange(m, dtype=np.int32), np.diff(problem.offsets))
        moves = problem.moves
        own = problem.feature_ids if moves is None else np.repeat(moves.columns, np.diff(moves.first))
        # The place, among the oracle's columns, of each feature, or of each option.
        self.places = np.searchsorted(columns, own)
        n, k = len(problem.feature_ids), len(problem.bounds)
        self._here = Position(
            np.zeros(n, np.bool_), np.zeros(m, np.int32), np.zeros(k, np.int64), np.zeros((k, n), np.int64),
            np.zeros(m, np.int32),
        )  # fmt: skip
        self._until, self._watched = np.zeros(n, np.int64), np.zeros(n, np.int64)
        self._ends = np.zeros(n + 2, np.int64)
        self._found = np.zeros(_FOUND, np.int32)
        if moves is None:
            count_position(self._arrays, self._here)
            self._still = self._here.flips.copy(), self._here.copy()
            # Flips of earlier witnesses, each with a position near them.
            self._starts: deque[tuple[Mask, Position]] = deque(maxlen=SWEEPS)
            self._feature_of = np.full(len(problem.origin), n)
            self._feature_of[problem.feature_ids] = np.arange(n)
        else:
            self._column_places = self.places[moves.first[:-1]]
            self._column_of, self._option_of = _by_bits(moves)
            numbers = np.repeat(moves.columns, np.diff(moves.first))
            self._values = list(zip(numbers.tolist(), moves.values.tolist(), strict=True))

    def walk(self, free: Mask, must: int | None = None) -> Solution | None:
        """A witness by local search, or None."""
        if self._lacks(must):
            return None
        if self.problem.moves is not None:
            return greedy(self.problem, free[self.places])
        may = free[self.places]
        fixed = self.places == (-1 if must is None else must)
        start, near = self._starts[-1] if self._starts else self._still
        if not self._ascend(may & ~fixed, np.zeros_like(may), (start & may) | fixed, near):
            return None
        self._starts.append((self._here.flips.copy(), self._here.copy()))
        return self.problem.solution(self._here.flips)

    def _lacks(self, must: int | None) -> bool:
        """Whether the lane does not know the column: then it has no witness that needs it."""
        return must is not None and not (self.places == must).any()

    def sweep(self, free: Mask, wanted: Mask, n_starts: int) -> Iterator[list[int]]:
        """Flips of witnesses with one wanted column, which is no longer wanted then."""
        if self.problem.moves is not None:
            return
        may = free[self.places]
        for start, near in (self._still, *list(self._starts)[-n_starts:]):
            beyond = wanted[self.places]
            if not beyond.any():
                return
            self._ascend(may, beyond, start & may, near)
            for i in range(self._ends[-1]):
                found = self._found[self._ends[i] : self._ends[i + 1]]
                wanted[self.places[found[0]]] = False
                yield self.problem.feature_ids[found].tolist()

    def _ascend(self, may: Mask, beyond: Mask, start: Mask, near: Position) -> bool:
        self._ends[:1], self._ends[-1:] = 0, 0
        if np.count_nonzero(start) > self.problem.radius:
            return False
        reached: bool = ascend(
            self._arrays, may, beyond, self.problem.radius, PATIENCE, start, near, self._here, self._until,
            self._watched, self._ends, self._found,
        )  # fmt: skip
        return reached

    def has_few(self, free: Mask) -> bool:
        """Whether all inputs can be tried in which only free columns change."""
        if self.problem.moves is None:
            return False
        sizes = np.diff(self.problem.moves.first)[free[self._column_places]]
        return len(sizes) <= _FEW_COLUMNS and int(sizes.prod()) <= _FEW_INPUTS

    def try_all(self, free: Mask) -> tuple[Found, Solution | None]:
        """Try all inputs in which only free columns change."""
        moves = self.problem.moves
        assert moves is not None
        columns, choice = np.flatnonzero(free[self._column_places]), moves.first[:-1].copy()
        if try_all(self._arrays, moves, columns, choice, *self._here[:3]):
            return Found.SOLUTION, self.problem.solution(choice)
        return Found.NOTHING, None

    def search_among(
        self, values: Mapping[int, Sequence[int]], budget: Budget
    ) -> tuple[Found, Solution | None]:
        """Search where columns have some of these values, one of which is the input's own; greedily first."""
        alive = np.array([c not in values or value in values[c] for c, value in self._values], np.bool_)
        solution = greedy(self.problem, alive)
        if solution is not None:
            return Found.SOLUTION, solution
        return self.search(np.where(alive, FREE, 0).astype(np.int8), budget)

    def search(self, fixed: NDArray[np.int8] | None, budget: Budget) -> tuple[Found, Solution | None]:
        """Search the tree of what is not ``fixed``; there is no witness if that is None."""
        if fixed is None:
            return Found.NOTHING, None
        problem = shrunk(self.problem, fixed)
        if problem.radius < 0:
            return Found.NOTHING, None
        tree = Tree(problem, steps=_STEPS_OF_FLIPS if problem.moves is None else _STEPS_OF_MOVES)
        if len(problem.features):
            inherit(
                problem.offsets, problem.came_from, self._owners, self._share, self._load,
                tree.multipliers.share, tree.multipliers.load,
            )  # fmt: skip
        result, solution = tree.search(budget)
        if len(tree.came_from):
            self._share[tree.came_from] = tree.multipliers.share
            first = tree.came_from[tree.problem.offsets[:-1]]
            self._load[self._owners[first]] = tree.multipliers.load
        return result, solution if solution is None else self._keep(solution)

    def changing(self, free: Mask, must: int | None) -> NDArray[np.int8] | None:
        """What is fixed if only the free columns may change, and ``must`` does; None if that can't be."""
        if self._lacks(must):
            return None
        fixed = np.where(free[self.places], FREE, 0).astype(np.int8)
        moves = self.problem.moves
        if moves is not None:
            fixed[moves.first[:-1]] = np.where(self.places[moves.first[:-1]] == must, 0, FREE)
        elif must is not None:
            fixed[self.places == must] = 1
        return fixed

    def _keep(self, solution: Solution) -> Solution:
        """Remember a witness as a start of later walks."""
        if self.problem.moves is None:
            flips = self._flipped(solution.flips)
            self._starts.append((flips, self._last_position().copy()))
        return solution

    def _flipped(self, flips: list[int] | NDArray[np.int64]) -> Mask:
        """Which features are flipped."""
        found = np.zeros(len(self.problem.feature_ids) + 1, np.bool_)
        found[self._feature_of[flips]] = True
        return found[:-1]

    def _last_position(self) -> Position:
        return self._starts[-1][1] if self._starts else self._still[1]

    def eased(self, flips: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """The flips that are needed for this case; None if they do not do for it."""
        if self.problem.moves is not None:
            return self._eased_moves(self.problem.moves, flips, order)
        here = self._last_position().copy()
        if not ease(self._arrays, order[self.places], self._flipped(flips), here):
            return None
        self._starts.append((here.flips.copy(), here))
        left: NDArray[np.int64] = self.problem.feature_ids[here.flips]
        return left

    def _eased_moves(
        self, moves: Moves, flips: NDArray[np.int64], order: NDArray[np.int64]
    ) -> NDArray[np.int64] | None:
        choice = moves.first[:-1].copy()
        by_column: dict[int, list[int]] = {}
        for bit in flips.tolist():
            by_column.setdefault(self._column_of.get(bit, -1), []).append(bit)
        for column, bits in by_column.items():
            option = self._option_of.get(tuple(bits))
            if option is None:
                return None  # the problem does without it: another option does the same
            choice[column] = option
        ranked = np.argsort(order[self._column_places], kind="stable")
        if not ease_columns(self._arrays, moves, ranked, choice, *self._here[:3]):
            return None
        return np.sort(self.problem.solution(choice).flips)

    def add_weights(self, total: NDArray[np.int64]) -> None:
        """Add the votes of the clauses that look at each column."""
        problem, moves = self.problem, self.problem.moves
        votes = np.abs(problem.votes).max(axis=0, initial=0)[self._owners]
        places = self.places if moves is None else self.places[moves.first[:-1]][problem.feature_ids]
        np.add.at(total, places[problem.features], votes)


def _by_bits(moves: Moves) -> tuple[dict[int, int], dict[tuple[int, ...], int]]:
    """The column of each bit, and the option that flips certain bits of a column."""
    home = np.repeat(np.arange(len(moves.columns)), np.diff(moves.first)).tolist()
    columns: dict[int, int] = {}
    options: dict[tuple[int, ...], int] = {}
    for option, column in enumerate(home):
        bits = sorted(moves.bits[moves.bits_at[option] : moves.bits_at[option + 1]].tolist())
        columns.update(dict.fromkeys(bits, column))
        options[tuple(bits)] = option
    return columns, options


@cache
def compile_walks() -> None:
    """Compile the kernels of walks, before any clock starts; once in a process."""
    one, ends = np.zeros(1, np.int64), np.array([0, 1], np.int64)
    none = np.zeros(1, np.bool_)
    clause = np.zeros(1, np.int32)
    problem = Problem(
        ends, one + 1, clause, np.ones((1, 1), np.int64), one + 1, 1, one, one[:0], 0,
        np.zeros(1, np.uint8), clause, ends, clause, ~none,
    )  # fmt: skip
    masks, costs = np.full((1, 1), 2, np.uint64), np.array([0, 1], np.int64)
    at, bits = np.array([0, 0, 1], np.int64), np.zeros(1, np.int32)
    moves = Moves(np.array([0, 2], np.int64), costs, at, bits, ends, masks, one, costs, at, bits)
    for each in (problem, problem._replace(moves=moves)):
        lane = _Lane(each, one)
        lane.walk(~none)
        lane.eased(one, one)
    lane.try_all(~none)
