"""Refutations: a tree of moves, each leaf closed by a bound; the state between two steps.

A *structural* refutation is about single bits; it alone may rewrite clauses, divide constraints, and refer to
subcubes that were refuted before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from tmcheck.branches import MoveBranch
from tmcheck.errors import Refused
from tmcheck.flips import FlipBranch, FlipProblem
from tmcheck.moves import MoveProblem
from tmcheck.multipliers import Multipliers
from tmcheck.rewriting import most_clauses, rewritten


class Refutation:
    """Shows, step by step, that a problem has no solution.

    ``free`` are the features that clauses may be rewritten by, if the refutation is a structural one.
    """

    def __init__(self, problem: FlipProblem | MoveProblem, unit: int, free: set[int] | None = None) -> None:
        self.unit, self.free = unit, free
        self.most = most_clauses(len(problem.keys))
        self.divided = self.done = False
        self._plant(problem, [1] * len(problem.needs))

    def _plant(self, problem: FlipProblem | MoveProblem, mix: list[int]) -> None:
        self.problem = problem
        self.branch = FlipBranch(problem) if isinstance(problem, FlipProblem) else MoveBranch(problem)
        self.by = Multipliers(problem, self.unit, mix)

    def set_mix(self, mix: list[int]) -> None:
        """Add up the constraints with these multiples."""
        self.by.set_mix(mix)

    def set_multipliers(self, values: Iterator[int]) -> None:
        """New shares, or a new load, for some clauses."""
        self.by.set(values)

    def fix(self) -> None:
        """Rule out every option that brings the bound below the need."""
        if self.branch.slack() < 0:
            raise Refused("'fix' where the budget is spent")
        if not self.branch.fix(self.by):
            raise Refused("'fix' where nothing follows from the bound")

    def split(self, column: int, value: int) -> None:
        """Look at the inputs with this value of the column, then at the others."""
        self.branch.split(column, value)

    def close(self) -> None:
        """No input of this branch meets every need."""
        branch = self.branch
        if branch.slack() >= 0:
            if branch.is_one_input():
                if branch.input_meets_needs():
                    raise Refused("'close' at an input that meets every need")
            elif branch.reach(self.by) >= self.by.need:
                raise Refused("'close' where the bound reaches the need")
        self.done = not branch.go_on()

    def shrink(self) -> None:
        """Rule out for good what is ruled out at the root; multipliers are those of a start again."""
        self._at_root("shrink")
        if self.branch.untouched or self.branch.slack() < 0:
            raise Refused("'shrink' where nothing is ruled out, or the budget is spent")
        if self.free is not None:
            assert isinstance(self.branch, FlipBranch)
            self.free = self.free - set(self.branch.fixed)  # a clause rewritten by one would say it "stays"
        self._plant(self.branch.shrunk(), self.by.mix)

    def _at_root(self, step: str) -> None:
        if self.branch.below_split:
            raise Refused(f"{step!r} below a split")

    def _structural(self, step: str) -> FlipBranch:
        if self.free is None or not isinstance(self.branch, FlipBranch):
            raise Refused(f"{step!r} in a refutation that is not about bits")
        self._at_root(step)
        return self.branch

    def rewrite(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Rewrite clauses by a feature each."""
        branch = self._structural("rewrite")
        problem = branch.problem
        if not branch.untouched or self.free is None:
            raise Refused("'rewrite' where features are fixed")
        groups = dict(zip(problem.keys, problem.votes, strict=True))
        groups, given = rewritten(groups, pairs, self.free, len(problem.needs), self.most)
        needs = [need - g for need, g in zip(problem.needs, given, strict=True)]
        self._plant(FlipProblem(groups, needs, problem.budget, problem.values), self.by.mix)

    def divide(self) -> None:
        """Divide each constraint by the common divisor of its votes; whole numbers let a need round up."""
        self._structural("divide")
        if self.divided:
            raise Refused("'divide' twice")
        self.divided = True
        problem = self.problem
        columns = list(zip(*problem.votes, strict=True)) or [() for _ in problem.needs]
        divisors = [max(1, math.gcd(*column)) for column in columns]
        problem.votes = [tuple(v // d for v, d in zip(row, divisors, strict=True)) for row in problem.votes]
        problem.needs = [-(-need // d) for need, d in zip(problem.needs, divisors, strict=True)]
        self.by.weigh()

    def cover(self, clauses: list[int], refuted: Callable[[tuple[int, ...]], bool]) -> None:
        """Whatever meets every need makes one of these clauses true, where it was refuted before."""
        branch = self._structural("cover")
        keys = self.problem.keys
        if not branch.untouched or any(j >= len(keys) for j in clauses):
            raise Refused("'cover' by clauses that are not there")
        if branch.reach(self.by, clauses) >= self.by.need:
            raise Refused("'cover' where the bound reaches the need without these clauses")
        for j in clauses:
            wakes, stays = keys[j]
            inside = sorted([*(f + 1 for f in wakes), *(-f - 1 for f in stays)], key=abs)
            if not refuted(tuple(inside)):
                raise Refused("'cover' by a subcube that is not refuted")
        self.done = True
