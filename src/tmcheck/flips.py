"""Problems over flips: every column has two options, the reference and one other, which costs 1.

This is what refutations are about where all columns are flags, and the fast way for any problem of this form:
a problem over moves (moves.py) in which a clause wakes by the columns that must flip and stays true by those
that must not. The bound over a budget of flips is then a matter of sorting credits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain

from tmcheck.errors import Refused
from tmcheck.multipliers import Key, Multipliers, meets

Groups = dict[Key, tuple[int, ...]]  # equal clauses, and their votes added up


class FlipProblem:
    """Can at most ``budget`` flips make  sum_j votes[j][c] * clause_j >= needs[c]  true for every c?

    Clause j is true if the columns ``wakes`` of its key flip and the columns ``stays`` do not. ``values``
    says which value a column has, and which if it flips.
    """

    def __init__(
        self, groups: Groups, needs: list[int], budget: int, values: Callable[[int], tuple[int, int]]
    ) -> None:
        kept = {key: votes for key, votes in groups.items() if any(votes)}
        self.keys, self.votes = list(kept), list(kept.values())
        self.needs, self.budget, self.values = needs, budget, values
        self.column_set = set(chain.from_iterable(chain.from_iterable(self.keys)))
        self.columns = sorted(self.column_set)

    @cached_property
    def occurs(self) -> dict[int, list[tuple[int, bool]]]:
        """The clauses that a column is in, and whether it wakes them."""
        places: dict[int, list[tuple[int, bool]]] = {f: [] for f in self.columns}
        for j, (wakes, stays) in enumerate(self.keys):
            for f in wakes:
                places[f].append((j, True))
            for f in stays:
                places[f].append((j, False))
        return places


def specialised(
    clauses: Iterable[tuple[Sequence[int], Sequence[int], tuple[int, ...]]],
    fixed: dict[int, bool],
    budget: int,
    width: int,
) -> tuple[Groups, list[int]]:
    """Clauses with some flips fixed: drop the false, strip what is true, add up the equal.

    Returns the clauses that can still change, in order of their first appearance, and the votes that are
    there in any case.
    """
    groups: Groups = {}
    given = [0] * width
    flipped = {f for f, flips in fixed.items() if flips}
    kept = {f for f, flips in fixed.items() if not flips}
    for wakes, stays, votes in clauses:
        if not (kept.isdisjoint(wakes) and flipped.isdisjoint(stays)):
            continue
        key = tuple([f for f in wakes if f not in fixed]), tuple([f for f in stays if f not in fixed])
        if len(key[0]) > budget:
            continue
        if key == ((), ()):
            given = [total + vote for total, vote in zip(given, votes, strict=True)]
        elif key in groups:
            groups[key] = tuple(a + b for a, b in zip(groups[key], votes, strict=True))
        else:
            groups[key] = votes
    return groups, given


class FlipBranch:
    """A problem with some columns fixed to flip or to stay."""

    def __init__(self, problem: FlipProblem) -> None:
        self.problem = problem
        self.fixed: dict[int, bool] = {}
        self._left = problem.budget
        self.trail: list[tuple[int, bool]] = []  # column, and whether its other side is still to come
        self.false = [0] * len(problem.keys)  # false literals of each clause, by the first of the trail
        self.counted = 0

    @property
    def untouched(self) -> bool:
        """Whether nothing is ruled out."""
        return not self.fixed

    @property
    def below_split(self) -> bool:
        """Whether the other side of some split is still to come."""
        return any(open_side for _, open_side in self.trail)

    def _assign(self, column: int, flips: bool, open_side: bool) -> None:
        self.fixed[column] = flips
        self._left -= flips
        self.trail.append((column, open_side))

    def _count_false(self) -> list[int]:
        """The false literals of each clause; what was fixed since the last time is counted now."""
        for column, _ in self.trail[self.counted :]:
            for j, wakes in self.problem.occurs[column]:
                self.false[j] += wakes != self.fixed[column]
        self.counted = len(self.trail)
        return self.false

    def slack(self) -> int:
        """How many further flips there may be."""
        return self._left

    def credits(self, by: Multipliers, dropped: set[int]) -> tuple[int, dict[int, int]]:
        """The bound  constant + sum_f credit[f] * flip[f]  on the weighted votes, times the unit.

        It is about inputs where the clauses ``dropped`` are false.
        """
        constant, credit = 0, dict.fromkeys(self.problem.columns, 0)
        false = self._count_false()
        weights, all_shares, loads = by.weights, by.shares, by.loads
        for j, (wakes, stays) in enumerate(self.problem.keys):
            weight = weights[j]
            if not weight or false[j] or j in dropped:
                continue
            if weight > 0:  # no more than a share of each literal; the shares make up the whole
                shares = all_shares[j]
                for f, share in zip(wakes, shares, strict=False):
                    credit[f] += weight * share
                for f, share in zip(stays, shares[len(wakes) :], strict=True):
                    if share:
                        credit[f] -= weight * share
                        constant += weight * share
            elif loads[j]:  # true unless a literal is false
                part = -weight * loads[j]
                constant += (len(wakes) - 1) * part
                for f in wakes:
                    credit[f] -= part
                for f in stays:
                    credit[f] += part
        return constant, credit

    def bound(self, by: Multipliers, dropped: Iterable[int] = ()) -> tuple[int, dict[int, int], list[int]]:
        """What the votes can reach, the credits, and the positive ones of free columns, largest first."""
        reach, credit = self.credits(by, set(dropped))
        reach += sum(credit[f] for f, flips in self.fixed.items() if flips)
        gains = sorted((c for f, c in credit.items() if c > 0 and f not in self.fixed), reverse=True)
        return reach + sum(gains[: max(0, self.slack())]), credit, gains

    def reach(self, by: Multipliers, dropped: Iterable[int] = ()) -> int:
        """What the votes can reach, times the unit."""
        return self.bound(by, dropped)[0]

    def fix(self, by: Multipliers) -> int:
        """Rule out every option that brings the bound below the need; how many were."""
        left = self.slack()
        reach, credit, gains = self.bound(by)
        if reach < by.need:
            raise Refused("'fix' where the bound is below the need: 'close' instead")
        if left == 0:
            found = [(f, False) for f in self.problem.columns if f not in self.fixed]
        else:
            least = gains[left - 1] if len(gains) >= left else 0  # what one more flip would displace
            next_best = gains[left] if len(gains) > left else 0
            found = []
            for f in self.problem.columns:
                if f not in self.fixed:
                    if credit[f] > least or (credit[f] == least > 0):
                        if reach - credit[f] + next_best < by.need:
                            found.append((f, True))
                    elif reach - least + credit[f] < by.need:
                        found.append((f, False))
        for f, flips in found:
            self._assign(f, flips, open_side=False)
        return len(found)

    def split(self, column: int, value: int) -> None:
        """Look at the inputs with this value, then at the others."""
        if column not in self.problem.column_set or column in self.fixed:
            raise Refused(f"'split' at column {column}, which is not free")
        values = self.problem.values(column)
        if value not in values:
            raise Refused(f"'split' at column {column}, which can't be {value}")
        self._assign(column, value == values[1], open_side=True)

    def is_one_input(self) -> bool:
        """Whether one input is left."""
        return self.slack() == 0 or len(self.fixed) == len(self.problem.columns)

    def input_meets_needs(self) -> bool:
        """Whether the one input that is left meets every need."""
        false = self._count_false()
        true = [
            votes
            for j, ((wakes, _), votes) in enumerate(zip(self.problem.keys, self.problem.votes, strict=True))
            if not false[j] and all(self.fixed.get(f) for f in wakes)
        ]
        return meets(self.problem.needs, true)

    def go_on(self) -> bool:
        """Turn to the other side of the last split that has one; False if there is none."""
        while self.trail:
            column, open_side = self.trail.pop()
            flips = self.fixed.pop(column)
            self._left += flips
            if self.counted > len(self.trail):
                self.counted -= 1
                for j, wakes in self.problem.occurs[column]:
                    self.false[j] -= wakes != flips
            if open_side:
                self._assign(column, not flips, open_side=False)
                return True
        return False

    def shrunk(self) -> FlipProblem:
        """The problem that is left: what is fixed is so for good."""
        problem, budget = self.problem, self.slack()
        clauses = ((*key, votes) for key, votes in zip(problem.keys, problem.votes, strict=True))
        groups, given = specialised(clauses, self.fixed, budget, len(problem.needs))
        needs = [need - g for need, g in zip(problem.needs, given, strict=True)]
        return FlipProblem(groups, needs, budget, problem.values)
