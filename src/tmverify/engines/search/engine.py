"""The ``search`` engine: is there a witness in the region, and how near is the nearest?

Each case is tried by greedy flips, by searching the constraint that lacks most votes alone (this refutes most
cases), and by the tree of the whole case. Problems over flips are exact in integers; no solver is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import (
    Answer,
    Deadline,
    EncodingTooLargeError,
    Nearest,
    found,
    next_radius,
    none_exists,
    stopped,
)
from tmverify.engines.proof_log import Draft, ProofLog
from tmverify.engines.search.problem import Problem, Solution, part, problem_of
from tmverify.engines.search.tree import Budget, Found, Tree, greedy, votes_with
from tmverify.properties.query import Query
from tmverify.properties.verdict import StopReason

UNLIMITED = 1 << 62
SCREEN = 1000  # nodes for one constraint alone
NEAR = 16  # flips: the nearest witness is first looked for within this radius
NARROW = 2  # if the bounds of a case are at most this many flips apart, it is searched at once
STEPS = 500  # nodes for adding one flip at a time if greedy flips find nothing
CLIMBS = 12  # cases in which greedy flips are tried for a first witness

Drafts = Callable[[tuple[int, ...]], Draft | None]


def decide(query: Query, deadline: Deadline, log: ProofLog | None = None) -> Answer:
    """Decide ``query``."""
    return decide_within(query, Budget(deadline, UNLIMITED), log)


def decide_within(query: Query, budget: Budget, log: ProofLog | None = None) -> Answer:
    """Decide ``query`` within a budget."""
    try:
        return _decide(query, budget, log)
    except Exception as error:  # after an error of any kind there is no answer
        return stopped(*fault(error))


def _decide(query: Query, budget: Budget, log: ProofLog | None) -> Answer:
    whole = problem_of(query, query.region.radius)
    draft = _drafts(log, query.region.radius)
    screen = _Screen(whole, whole.radius, budget, draft)
    still_open = []
    for case in screen.likeliest_first(query.cases):
        constraints = screen.remaining(case)
        if constraints is None:
            continue
        if budget.spent():
            still_open.append(case)
            continue
        problem = part(whole, constraints, whole.radius)
        solution = greedy(problem)
        if solution is None:
            result, solution = Tree(problem, draft(constraints)).search(budget)
            if result is Found.OPEN:
                still_open.append(case)
        if solution is not None:
            return found(query.region.with_flips(solution.flips), **budget.used)
    if not still_open:
        return none_exists(**budget.used)
    reason, detail = why_open(budget)
    return replace(stopped(reason, detail, **budget.used), open_cases=tuple(still_open))


def nearest(query: Query, deadline: Deadline, log: ProofLog | None = None) -> Nearest:
    """The least number of flips, within the query's region, that makes a witness."""
    return nearest_within(query, Budget(deadline, UNLIMITED), log)


def nearest_within(query: Query, budget: Budget, log: ProofLog | None = None) -> Nearest:
    """``nearest`` within a budget."""
    hunt = _Hunt(query, budget, log)
    try:
        return hunt.run()
    except Exception as error:  # there is no answer, but a witness found before the error still counts
        reason, detail = fault(error)
        return Nearest(0, hunt.upper, hunt.witness, "search", query.cases, reason, detail, budget.used)


class _Hunt:
    """The search for the nearest witness: ``upper`` never rises; no case has a witness below its lower."""

    def __init__(self, query: Query, budget: Budget, log: ProofLog | None) -> None:
        self.query, self.budget, self.log = query, budget, log
        self.best: Solution | None = None
        self.told: float = 0  # the best lower bound that was told

    @property
    def upper(self) -> float:
        """The distance of the best witness so far; infinity if there is none."""
        return math.inf if self.best is None else self.best.cost

    @property
    def witness(self) -> NDArray[np.uint8] | None:
        return None if self.best is None else self.query.region.with_flips(self.best.flips)

    @property
    def target(self) -> int:
        """A witness of this cost would be better than the best so far."""
        return self.whole.radius if self.best is None else self.best.cost - 1

    def _drafts(self) -> Drafts:
        """Drafts of refutations within the present target."""
        return _drafts(self.log, self.within if self.best is None else self.target)

    def run(self) -> Nearest:
        lowers: dict[tuple[int, ...], float] = dict.fromkeys(self.query.cases, 0)
        climbed: dict[tuple[int, ...], float] = {}
        # Look nearby first: with a near witness, every later step can ignore what is further away.
        reach = self.query.region.reach
        for radius in (NEAR, reach) if reach > NEAR else (reach,):
            if self.budget.spent():
                return self._outcome(lowers, radius)
            self.whole, self.within = problem_of(self.query, radius), radius
            self.screen = _Screen(self.whole, radius, self.budget, self._drafts())
            cases = self.screen.likeliest_first(self.query.cases)
            # A contradiction within a radius proves nothing beyond that radius.
            lowers = {
                case: radius + 1 if self.screen.contradictory(case) else lowers.get(case, 0) for case in cases
            }
            possible = [case for case in cases if lowers[case] <= radius]
            climbed = {case: self._climb(case) for case in possible[:CLIMBS]}
            if self.best is None and radius < reach:
                self._step(lowers, self.budget.some(STEPS))  # a near one may exist that greedy flips miss
            if self.best is not None:
                break
        # Cases with a near witness come first, because they make the others easy.
        patience = self.budget.attempt()
        for case in sorted(lowers, key=lambda case: climbed.get(case, math.inf)):
            if lowers[case] <= self.target:
                lowers[case] = max(lowers[case], self._close(case, patience))
                self._tell(lowers)
        self._step(lowers, self.budget)
        return self._outcome(lowers, self.target)

    def _step(self, lowers: dict[tuple[int, ...], float], budget: Budget) -> None:
        """Raise the radius bit by bit, which is easier for cases that can't be closed at once."""
        while lowers and not budget.spent():
            case = min(lowers, key=lambda case: lowers[case])
            radius = lowers[case]
            if radius > self.target:
                break
            near = min(next_radius(self.query.region, int(radius)), self.target)
            tree = Tree(part(self.whole, case, near), _drafts(self.log, near)(case))
            result, solution = tree.search(budget)
            if result is Found.OPEN:
                lowers[case] = max(radius, tree.lower)
                break
            if solution is not None:
                self._keep(solution)
            else:
                lowers[case] = near + 1
            self._tell(lowers)

    def _tell(self, lowers: dict[tuple[int, ...], float]) -> None:
        self.told = max(self.told, min((*lowers.values(), self.upper)))
        self.budget.deadline.tell(self.told, self.upper, self.witness)

    def _outcome(self, lowers: dict[tuple[int, ...], float], last: int) -> Nearest:
        """The result, given the cases' lower bounds; cases whose bound is beyond ``last`` don't matter."""
        still_open = tuple(case for case, lower in lowers.items() if lower <= last)
        reason, detail = why_open(self.budget) if still_open else (None, "")
        lower = min((lowers[case] for case in still_open), default=self.upper)
        return Nearest(
            lower, self.upper, self.witness, "search", still_open, reason, detail, self.budget.used
        )

    def _climb(self, case: tuple[int, ...]) -> float:
        """Try greedy moves; return their cost, or infinity if they fail."""
        solution = None if self.budget.spent() else greedy(part(self.whole, case, self.target))
        if solution is None:
            return math.inf
        self._keep(solution)
        return solution.cost

    def _close(self, case: tuple[int, ...], patience: Budget) -> float:
        """Search for nearer witnesses; return the least number of flips that one may still have, or infinity.

        If the bound leaves much room, it gives up, because one flip at a time (``_step``) is faster then.
        """
        while self.target >= 0:
            if patience.spent():
                return 0
            if self.screen.radius > self.target:
                self.screen = _Screen(self.whole, self.target, self.budget, self._drafts())
            constraints = self.screen.remaining(case)
            if constraints is None:
                return math.inf
            tree = Tree(part(self.whole, constraints, self.target), self._drafts()(constraints))
            result, solution = tree.search(patience.some(1))
            # Costs are far apart, and without a witness the target is the whole region.
            hopeful = self.best is None and self.whole.moves is not None
            if result is Found.OPEN and (hopeful or self.target - tree.lower <= NARROW):
                result, solution = tree.search(patience)
            if result is Found.OPEN:
                return tree.lower
            if solution is None:
                return math.inf
            self._keep(solution)
        return math.inf

    def _keep(self, solution: Solution) -> None:
        if self.best is None or solution.cost < self.best.cost:
            self.best = solution
            self.budget.deadline.tell(self.told, self.upper, self.witness)


def _drafts(log: ProofLog | None, radius: int) -> Drafts:
    """A function from constraints to the draft of their refutation within a radius, if one is wanted."""
    return lambda constraints: None if log is None else log.draft(constraints, radius)


class _Screen:
    """Searches single constraints within a radius, to find those that can't hold and those that can't fail.

    A case with a constraint that can't hold is refuted; a constraint that can't fail need not be considered.
    """

    def __init__(self, whole: Problem, radius: int, budget: Budget, draft: Drafts) -> None:
        self.whole, self.radius, self.budget, self.draft = whole, radius, budget, draft
        still = np.zeros(len(whole.feature_ids), np.bool_)
        self.shortfall = whole.bounds - votes_with(whole, still)
        self.never: dict[int, bool] = {}
        self.always: dict[int, bool] = {}
        self.rows: dict[tuple[int, int], bytes] = {}

    def likeliest_first(self, cases: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The distinct cases, ordered by how many votes their hardest constraint lacks, fewest first."""
        distinct = dict.fromkeys(tuple(dict.fromkeys(case)) for case in cases)
        return sorted(distinct, key=lambda case: max((self.shortfall[c] for c in case), default=0))

    def remaining(self, case: tuple[int, ...]) -> tuple[int, ...] | None:
        """The constraints of ``case`` that matter, or None if it is refuted."""
        if len(case) < 2:
            return case
        if self.contradictory(case):
            return None
        hardest_first = sorted(case, key=lambda c: -self.shortfall[c])
        if any(self.shortfall[c] > 0 and self._never(c) for c in hardest_first):
            return None
        return tuple(c for c in hardest_first if self.shortfall[c] > 0 or not self._always(c))

    def contradictory(self, case: tuple[int, ...]) -> bool:
        """Whether two constraints of ``case`` have opposite votes and add up to 0 >= bound > 0.

        This shows that a model and its copy agree: their equal clauses are merged, with votes of both signs.
        """
        rows = {self._row(c, 1): c for c in sorted(case, key=lambda c: self.whole.bounds[c])}
        for c in case if len(case) > 1 else ():
            d = rows.get(self._row(c, -1))
            if d is not None and self.whole.bounds[c] + self.whole.bounds[d] > 0:
                self.write_contradiction(c, d)
                return True
        return False

    def write_contradiction(self, c: int, d: int) -> None:
        """Write down that c and d add up to 0 >= bound > 0; c = d is a constraint whose votes are all 0."""
        draft = self.draft(tuple({c, d}))
        if draft is not None:
            draft.start()
            draft.step("close")  # the mixture at the start has each constraint once
            draft.keep()

    def _row(self, c: int, sign: int) -> bytes:
        if (c, sign) not in self.rows:
            self.rows[c, sign] = (sign * self.whole.votes[c]).tobytes()
        return self.rows[c, sign]

    def _never(self, c: int) -> bool:
        if c not in self.never:
            self.never[c] = self._refuted(part(self.whole, (c,), self.radius), self.draft((c,)))
        return self.never[c]

    def _always(self, c: int) -> bool:
        if c not in self.always:
            one = part(self.whole, (c,), self.radius)
            self.always[c] = self._refuted(one._replace(votes=-one.votes, bounds=1 - one.bounds))
        return self.always[c]

    def _refuted(self, problem: Problem, draft: Draft | None = None) -> bool:
        """Whether ``problem`` is refuted within a few nodes."""
        if self.budget.spent():
            return False
        return Tree(problem, draft).search(self.budget.some(SCREEN))[0] is Found.NOTHING


def fault(error: Exception) -> tuple[StopReason, str]:
    """Why there is no answer after an error."""
    if isinstance(error, EncodingTooLargeError):
        return StopReason.ENCODING_TOO_LARGE, str(error)
    if isinstance(error, MemoryError):
        return StopReason.OUT_OF_MEMORY, "the search ran out of memory"
    return StopReason.CRASHED, f"the search failed with {error!r}: a bug, please report it"


def why_open(budget: Budget) -> tuple[StopReason, str]:
    """Why a search is open."""
    if budget.deadline.passed():
        return StopReason.TIMEOUT, f"the search was still open after {budget.deadline.seconds:g} s"
    if budget.used["nodes"] >= budget.nodes:
        return StopReason.NODE_LIMIT, f"the search was still open after {budget.nodes} nodes"
    return StopReason.ENCODING_TOO_LARGE, "the weights are too large for bounds in 64 bits"
