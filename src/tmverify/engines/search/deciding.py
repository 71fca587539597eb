"""The ``search`` engine: is there a witness in the region, and how near is the nearest?

Case by case: greedy flips first, then the constraint that lacks most, alone (most cases fall with it), then
the tree of the whole case. A problem over flips is exact in integers, so nothing here needs a solver.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.protocol import (
    Answer,
    Deadline,
    EncodingTooLargeError,
    Nearest,
    found,
    none_exists,
    stopped,
)
from tmverify.engines.search.problem import Problem, part, problem_of
from tmverify.engines.search.tree import Budget, Found, Tree, greedy, votes_with
from tmverify.properties.query import Query
from tmverify.properties.verdict import StopReason

UNLIMITED = 1 << 62


def decide(query: Query, deadline: Deadline) -> Answer:
    """Decide ``query``."""
    return decide_within(query, Budget(deadline, UNLIMITED))


def decide_within(query: Query, budget: Budget) -> Answer:
    """Decide ``query`` within a budget."""
    try:
        whole = problem_of(query, query.region.radius)
    except EncodingTooLargeError as error:
        return stopped(StopReason.ENCODING_TOO_LARGE, str(error))
    screen = _Screen(whole, whole.radius, budget)
    cases = list(_distinct(query.cases))
    for case in cases:
        flips = greedy(part(whole, case, whole.radius))
        if flips is not None:
            return found(_flipped(query, flips), **budget.used)
    still_open = []
    for case in cases:
        if screen.refutes(case):
            continue
        result, flips = Tree(part(whole, case, whole.radius)).search(budget)
        if result is Found.SOLUTION:
            return found(_flipped(query, flips), **budget.used)
        if result is Found.OPEN:
            still_open.append(case)
    if not still_open:
        return none_exists(**budget.used)
    reason, detail = _why(budget)
    return replace(stopped(reason, detail, **budget.used), open_cases=tuple(still_open))


def nearest(query: Query, deadline: Deadline) -> Nearest:
    """The least number of flips, within the query's region, that makes a witness."""
    return nearest_within(query, Budget(deadline, UNLIMITED))


def nearest_within(query: Query, budget: Budget) -> Nearest:
    """The same within a budget."""
    try:
        return _Hunt(query, budget).run()
    except EncodingTooLargeError as error:
        reason = StopReason.ENCODING_TOO_LARGE
        return Nearest(0, math.inf, None, "search", query.cases, reason, str(error), budget.used)


class _Hunt:
    """The search for the nearest witness: ``upper`` only falls, and no case below ``lower`` is left."""

    def __init__(self, query: Query, budget: Budget) -> None:
        self.query, self.budget = query, budget
        self.cases = tuple(_distinct(query.cases))
        self.best: list[int] | None = None

    def _look_within(self, radius: int) -> None:
        """Set up for at most so many flips."""
        self.whole = problem_of(self.query, radius)
        self.screen = _Screen(self.whole, radius, self.budget)
        self.parts: dict[tuple[int, ...], Problem] = {}

    @property
    def target(self) -> int:
        """A witness within this many flips would be news."""
        return self.whole.radius if self.best is None else len(self.best) - 1

    def run(self) -> Nearest:
        # A near witness keeps all that is far away out of every later step.
        for radius in _widening(self.query.region.reach):
            if self.budget.spent():
                return self._outcome(dict.fromkeys(self.cases, 0.0))
            self._look_within(radius)
            start = {case: self._climb(case) for case in self.cases}
            if self.best is not None:
                break
        # First the cases with a near witness, which make the others easy.
        nearest_first = sorted(self.cases, key=lambda case: start[case])
        return self._outcome({case: self._close(case) for case in nearest_first})

    def _outcome(self, lowers: dict[tuple[int, ...], float]) -> Nearest:
        """What is known when each case holds no witness nearer than its ``lower``."""
        upper = math.inf if self.best is None else len(self.best)
        witness = None if self.best is None else _flipped(self.query, self.best)
        still_open = tuple(case for case, lower in lowers.items() if lower < upper)
        reason, detail = _why(self.budget) if still_open else (None, "")
        lower = min(upper, min(lowers.values(), default=upper))
        return Nearest(lower, upper, witness, "search", still_open, reason, detail, self.budget.used)

    def _climb(self, case: tuple[int, ...]) -> float:
        """Greedy flips: how many, or infinity."""
        flips = greedy(self._part(case))
        if flips is None:
            return math.inf
        self._keep(flips)
        return len(flips)

    def _close(self, case: tuple[int, ...]) -> float:
        """Search one case to the end; the least number of flips that it might still hold, or infinity."""
        while self.target >= 0:
            if self.screen.radius > self.target:
                self.screen = _Screen(self.whole, self.target, self.budget)
            if self.screen.refutes(case):
                return math.inf
            tree = Tree(self._part(case))
            result, flips = tree.search(self.budget)
            if result is Found.NOTHING:
                return math.inf
            if result is Found.OPEN:
                return tree.lower
            self._keep(flips)
        return math.inf

    def _part(self, case: tuple[int, ...]) -> Problem:
        """The problem of one case within the target."""
        known = self.parts.get(case)
        if known is None:
            known = part(self.whole, case, self.target)
        elif known.radius > self.target:
            known = part(known, range(len(case)), self.target)
        self.parts[case] = known
        return known

    def _keep(self, flips: list[int]) -> None:
        if self.best is None or len(flips) < len(self.best):
            self.best = flips


class _Screen:
    """Single constraints that the bound refutes: every case with one of them is refuted."""

    def __init__(self, whole: Problem, radius: int, budget: Budget) -> None:
        self.whole, self.radius, self.budget = whole, radius, budget
        still = np.zeros(len(whole.names), np.bool_)
        self.shortfall = whole.needs - votes_with(whole, still)
        self.refuted: dict[int, bool] = {}

    def refutes(self, case: tuple[int, ...]) -> bool:
        """Whether the constraint of ``case`` that lacks most votes can't have them."""
        if len(case) < 2:
            return False
        hardest = max(case, key=lambda c: self.shortfall[c])
        if hardest not in self.refuted:
            look = replace(self.budget, nodes=min(self.budget.nodes, self.budget.used["nodes"] + 1))
            result, _ = Tree(part(self.whole, (hardest,), self.radius)).search(look)
            self.refuted[hardest] = result is Found.NOTHING
        return self.refuted[hardest]


def _widening(reach: int) -> Iterator[int]:
    """Radii to look within, up to ``reach``."""
    radius = 16
    while radius < reach:
        yield radius
        radius *= 4
    yield reach


def _distinct(cases: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    return iter(dict.fromkeys(tuple(dict.fromkeys(case)) for case in cases))


def _flipped(query: Query, flips: list[int]) -> NDArray[np.uint8]:
    z = query.region.origin.copy()
    z[flips] ^= 1
    return z


def _why(budget: Budget) -> tuple[StopReason, str]:
    if budget.deadline.passed():
        return StopReason.TIMEOUT, f"the search was still open after {budget.deadline.seconds:g} s"
    if budget.used["nodes"] >= budget.nodes:
        return StopReason.NODE_LIMIT, f"the search was still open after {budget.nodes} nodes"
    return StopReason.ENCODING_TOO_LARGE, "the weights are too large for bounds in 64 bits"
