"""Branches of a problem over moves: options ruled out, and the bound on what is left.

With coefficients k_l of the literals, from the multipliers, the weighted votes are at most
constant + sum of k_l [value in S_l], which is  constant + sum over columns of the gain of its value.  With a
price p >= 0 for the budget B, that is at most

    R(p) = constant + p B + sum over columns of  max over feasible options of (gain - p cost).

R is convex: the *reach* is its least value, at p1 and p2, the first p from which it does not fall, and from
which it grows. Where every column has two options, and the other one costs 1, this is the bound of flips.py.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple

from tmcheck.errors import Refused
from tmcheck.flips import FlipProblem
from tmcheck.moves import MoveProblem, narrowed, places, problem_of, simplified, with_references
from tmcheck.multipliers import Multipliers, meets
from tmcheck.region import Options


class Bound(NamedTuple):
    """What the weighted votes can reach: the reach, the prices, and each feasible option's gain and cost."""

    reach: int
    prices: tuple[int, int]
    gains: list[list[tuple[int, int, int]]]  # of each column: option, gain, cost


class MoveBranch:
    """A problem with some options ruled out."""

    def __init__(self, problem: MoveProblem) -> None:
        self.problem = problem
        self.alive = [(1 << len(found.values)) - 1 for found in problem.options]
        self._there = [list(range(len(found.values))) for found in problem.options]  # as lists
        self._low = [0] * len(problem.columns)  # the least cost of each column: references cost nothing
        self._slack, self._n_empty = problem.budget, 0
        self.trail: list[tuple[int, int, int]] = []  # column, options before, the option split off or -1
        self.false = [0] * len(problem.keys)  # false literals of each clause
        self._of_column: list[list[int]] = [[] for _ in problem.columns]
        self._clauses: list[list[int]] = [[] for _ in problem.literals]
        for number, (i, _, _) in enumerate(problem.literals):
            self._of_column[i].append(number)
        for j, (wakes, stays) in enumerate(problem.keys):
            for number in (*wakes, *stays):
                self._clauses[number].append(j)

    @property
    def untouched(self) -> bool:
        """Whether nothing is ruled out."""
        return not self.trail

    @property
    def below_split(self) -> bool:
        """Whether the other side of some split is still to come."""
        return any(option >= 0 for _, _, option in self.trail)

    def _restrict(self, i: int, alive: int, option: int = -1) -> None:
        self.trail.append((i, self.alive[i], option))
        self._turn(i, alive)

    def _turn(self, i: int, alive: int) -> None:
        before, self.alive[i] = self.alive[i], alive
        costs, self._there[i] = self.problem.options[i].costs, places(alive)
        low = min([costs[o] for o in self._there[i]], default=0)
        self._slack += self._low[i] - low
        self._n_empty += (not alive) - (not before)
        self._low[i] = low
        for number in self._of_column[i]:
            chosen = self.problem.literals[number][1]
            change = (not alive & chosen) - (not before & chosen)
            if change:
                for j in self._clauses[number]:
                    self.false[j] += change

    def slack(self) -> int:
        """What is left of the budget if every column takes its cheapest option; -1 if one has none."""
        return -1 if self._n_empty else self._slack

    def _feasible(self) -> list[list[int]]:
        """The options of each column that the budget allows."""
        found = []
        for there, low, (_, costs, _) in zip(self._there, self._low, self.problem.options, strict=True):
            most = low + self._slack
            found.append([o for o in there if costs[o] <= most])
        return found

    def _gains(self, by: Multipliers, dropped: set[int]) -> tuple[int, list[list[int]]]:
        """The bound  constant + sum over columns of gain[value]  on the weighted votes, times the unit."""
        constant = 0
        coefficients = [0] * len(self.problem.literals)
        weights, all_shares, loads, false = by.weights, by.shares, by.loads, self.false
        for j, (wakes, stays) in enumerate(self.problem.keys):
            weight = weights[j]
            if not weight or false[j] or j in dropped:
                continue
            if weight > 0:  # no more than a share of each literal; the shares make up the whole
                for number, share in zip((*wakes, *stays), all_shares[j], strict=True):
                    coefficients[number] += weight * share
            elif loads[j]:  # true unless a literal is false
                part = -weight * loads[j]
                constant += (len(wakes) + len(stays) - 1) * part
                for number in (*wakes, *stays):
                    coefficients[number] -= part
        gains = [[0] * len(found.values) for found in self.problem.options]
        for k, (i, chosen, wakes_it) in zip(coefficients, self.problem.literals, strict=True):
            if not k:
                continue
            own = gains[i]
            if wakes_it:
                for o in places(chosen):
                    own[o] += k
            else:
                constant += k
                for o in range(len(own)):
                    if not chosen >> o & 1:
                        own[o] -= k
        return constant, gains

    def bound(self, by: Multipliers, dropped: Iterable[int] = ()) -> Bound:
        """The bound where the slack is not negative."""
        constant, gains = self._gains(by, set(dropped))
        feasible = [
            [(o, own[o], found.costs[o]) for o in there]
            for there, own, found in zip(self._feasible(), gains, self.problem.options, strict=True)
        ]
        return Bound(*reach_and_prices(constant, self.problem.budget, feasible), feasible)

    def reach(self, by: Multipliers, dropped: Iterable[int] = ()) -> int:
        """What the votes can reach, times the unit."""
        return self.bound(by, dropped).reach

    def fix(self, by: Multipliers) -> int:
        """Rule out every option that is infeasible or brings the bound below the need; how many were."""
        reach, prices, gains = self.bound(by)
        if reach < by.need:
            raise Refused("'fix' where the bound is below the need: 'close' instead")
        count = 0
        for i, feasible in enumerate(gains):
            kept = {o for o, _, _ in feasible}
            for p in set(prices):
                spare = by.need - reach + max([gain - p * cost for _, gain, cost in feasible])
                kept -= {o for o, gain, cost in feasible if gain - p * cost < spare}
            alive = sum(1 << o for o in kept)
            if alive != self.alive[i]:
                count += (self.alive[i] & ~alive).bit_count()
                self._restrict(i, alive)
        return count

    def split(self, column: int, value: int) -> None:
        """Look at the inputs with this value, then at the others."""
        i = self.problem.place.get(column, -1)
        if i < 0 or self.alive[i].bit_count() < 2:
            raise Refused(f"'split' at column {column}, which is not free")
        values = self.problem.options[i].values
        option = bisect_left(values, value)
        if option == len(values) or values[option] != value or not self.alive[i] >> option & 1:
            raise Refused(f"'split' at column {column}, which can't be {value}")
        self._restrict(i, 1 << option, option)

    def is_one_input(self) -> bool:
        """Whether one input is left."""
        return self.slack() >= 0 and all(len(there) == 1 for there in self._feasible())

    def input_meets_needs(self) -> bool:
        """Whether the one input that is left meets every need."""
        chosen = [1 << there[0] for there in self._feasible()]
        true = [bool(chosen[i] & s) for i, s, _ in self.problem.literals]
        return meets(
            self.problem.needs,
            [
                votes
                for (wakes, stays), votes in zip(self.problem.keys, self.problem.votes, strict=True)
                if all(true[number] for number in (*wakes, *stays))
            ],
        )

    def go_on(self) -> bool:
        """Turn to the other side of the last split that has one; False if there is none."""
        while self.trail:
            i, before, option = self.trail.pop()
            self._turn(i, before)
            if option >= 0:
                self._restrict(i, before & ~(1 << option))
                return True
        return False

    def shrunk(self) -> MoveProblem | FlipProblem:
        """The problem that is left: what is ruled out is so for good."""
        problem = self.problem
        options, kept = {}, []
        for c, alive, (values, costs, reference) in zip(
            problem.columns, self.alive, problem.options, strict=True
        ):
            there = places(alive)
            left = [costs[o] for o in there]
            place = bisect_left(there, reference) if alive >> reference & 1 else left.index(min(left))
            options[c] = Options([values[o] for o in there], left, place)
            kept.append(there)
        options, budget = with_references(options, problem.budget)
        literals = [(problem.columns[i], narrowed(s, kept[i])) for i, s, _ in problem.literals]
        clauses = (
            ([literals[number] for number in (*wakes, *stays)], votes)
            for (wakes, stays), votes in zip(problem.keys, problem.votes, strict=True)
        )
        groups, given = simplified(clauses, options, budget, len(problem.needs))
        needs = [need - g for need, g in zip(problem.needs, given, strict=True)]
        return problem_of(groups, options, needs, budget)


Hulls = list[list[tuple[int, int]]]  # of each column: gains and costs of what gains more than its cheapest


def reach_and_prices(
    constant: int, budget: int, feasible: list[list[tuple[int, int, int]]]
) -> tuple[int, tuple[int, int]]:
    """The least value of R, and the prices p1 and p2.

    All is taken relative to the cheapest option of each column, of equals the one that gains most: then the
    slack is what is left of the budget, and only options that gain more matter.
    """
    hulls: Hulls = []
    slack, highest = budget, 0
    for options in feasible:
        gain, cost = min(((g, k) for _, g, k in options), key=lambda gk: (gk[1], -gk[0]))
        constant, slack = constant + gain, slack - cost
        better = [(g - gain, k - cost) for _, g, k in options if g > gain]
        if better:
            hulls.append(better)
            highest = max(highest, max(better)[0])
    first = second = 0
    if slack and hulls:
        first = _least_price(hulls, slack, 0, (0, highest))
        second = _least_price(hulls, slack, 1, (first, highest))
    reach = constant + first * slack + sum(_best(better, first) for better in hulls)
    return reach, (first, second)


def _best(better: list[tuple[int, int]], p: int) -> int:
    return max(0, max([g - p * k for g, k in better]))


def _least_price(hulls: Hulls, slope: int, rise: int, among: tuple[int, int]) -> int:
    """The least price p from which R(p + 1) - R(p) is at least ``rise``, by bisection.

    A column that one and the same option is best for in all of what is left adds a line: it is taken into the
    slope, and looked at no more.
    """
    low, high = among
    while low < high:
        bent: Hulls = []
        for better in hulls:
            cost = _cost_of_line(better, low, high + 1)
            if cost is None:
                bent.append(better)
            else:
                slope -= cost
        hulls = bent
        p = (low + high) // 2
        if slope + sum([_best(better, p + 1) - _best(better, p) for better in hulls]) >= rise:
            high = p
        else:
            low = p + 1
    return low


def _cost_of_line(better: list[tuple[int, int]], low: int, high: int) -> int | None:
    """What the option costs that is best at both prices, and so between them; None if there is none."""
    if len(better) == 1:
        ((g, k),) = better
        return 0 if g <= low * k else k if g >= high * k else None
    ends = [max([(0, 0, 0), *((g - p * k, -k, -g) for g, k in better)])[1:] for p in (low, high)]
    return -ends[0][0] if ends[0] == ends[1] else None
