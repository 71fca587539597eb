"""A problem as a formula, for clausal proofs.

Variables are the options but the references, then sets of several options, then clauses of several literals,
then counters (totalizers); the last one is asserted by the only unit clause, and demands everything that
would be one.
"""

from __future__ import annotations

import heapq
from itertools import pairwise

from tmcheck import limits
from tmcheck.cnf import Clauses, Cnf
from tmcheck.errors import Refused
from tmcheck.flips import FlipProblem
from tmcheck.moves import MoveProblem, places


def formula(problem: FlipProblem | MoveProblem) -> Clauses | None:
    """A problem as a CNF; None if some need is out of reach whatever its clauses do."""
    limits_of_needs = [
        sum(votes[c] for votes in problem.votes if votes[c] > 0) - need
        for c, need in enumerate(problem.needs)
    ]
    if min(limits_of_needs) < 0:
        return None
    cnf = _Counted(0)
    if isinstance(problem, FlipProblem):
        clauses, costs = _flips(problem, cnf)
    else:
        clauses, costs = _moves(problem, cnf)
    outputs = []
    for literals, votes in zip(clauses, problem.votes, strict=True):
        if len(literals) > 1:
            v = cnf.new()
            if any(vote > 0 for vote in votes):
                for literal in literals:
                    cnf.add(-v, literal)
            if any(vote < 0 for vote in votes):
                cnf.add(v, *(-literal for literal in literals))
            literals = [v]
        outputs.append(literals[0])
    for c, limit in enumerate(limits_of_needs):
        voters = [(v, votes[c]) for v, votes in zip(outputs, problem.votes, strict=True) if votes[c]]
        cnf.at_most([-v if w > 0 else v for v, w in voters], [abs(w) for _, w in voters], limit)
    cnf.at_most([v for v, _ in costs], [cost for _, cost in costs], problem.budget)
    demand = cnf.new()
    return [*cnf.clauses, *((literal, -demand) for literal in cnf.units), (demand,)]


def _flips(problem: FlipProblem, cnf: Cnf) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """The literals of each clause, and the variables that cost something with their costs: flips."""
    variable = {f: cnf.new() for f in problem.columns}
    clauses = [
        [*(variable[f] for f in wakes), *(-variable[f] for f in stays)] for wakes, stays in problem.keys
    ]
    return clauses, [(v, 1) for v in variable.values()]


def _moves(problem: MoveProblem, cnf: Cnf) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """The same for moves: a variable for each option but the reference, and for sets of several."""
    variables: list[dict[int, int]] = []
    costs = []
    for _, option_costs, reference in problem.options:
        variables.append({o: cnf.new() for o in range(len(option_costs)) if o != reference})
        costs += [(v, option_costs[o]) for o, v in variables[-1].items() if option_costs[o]]
    for own in variables:
        several = list(own.values())
        for i, a in enumerate(several):
            for b in several[i + 1 :]:
                cnf.add(-a, -b)
    known: dict[tuple[int, int], int] = {}

    def variable(number: int) -> int:
        i, chosen, wakes = problem.literals[number]
        own = variables[i]
        away = chosen if wakes else chosen ^ ((1 << len(own) + 1) - 1)
        if (i, away) not in known:
            options = [own[o] for o in places(away)]
            if len(options) == 1:
                known[i, away] = options[0]
            else:
                w = known[i, away] = cnf.new()
                for o in options:
                    cnf.add(-o, w)
                cnf.add(-w, *options)
        return known[i, away] if wakes else -known[i, away]

    return [[variable(number) for number in (*wakes, *stays)] for wakes, stays in problem.keys], costs


class _Counted(Cnf):
    """A formula whose unit clauses are kept apart."""

    def __init__(self, n_vars: int) -> None:
        super().__init__(n_vars)
        self.units: list[int] = []

    def keep(self, clause: tuple[int, ...]) -> None:
        if len(clause) == 1:
            self.units.append(clause[0])
        else:
            self.clauses.append(clause)

    def at_most(self, literals: list[int], sizes: list[int], limit: int) -> None:
        """Forbid that the sizes of the true literals add up to more: a totalizer."""
        if sum(sizes) <= limit:
            return
        leaves = sorted(zip((min(s, limit + 1) for s in sizes), range(len(sizes)), literals, strict=True))
        nodes = [(1, i, {s: literal}) for i, (s, _, literal) in enumerate(leaves)]
        number = len(nodes)
        while len(nodes) > 1:
            size_a, _, a = heapq.heappop(nodes)
            size_b, _, b = heapq.heappop(nodes)
            heapq.heappush(nodes, (size_a + size_b, number, self._merged(a, b, limit + 1)))
            number += 1
        self.add(-nodes[0][2][limit + 1])

    def _merged(self, a: dict[int, int], b: dict[int, int], cap: int) -> dict[int, int]:
        if self.size + 3 * len(a) * len(b) > limits.LARGEST_FORMULA:
            raise Refused("the formula of a clausal proof is too large")
        sums = {min(s + t, cap) for s in (0, *a) for t in (0, *b)} - {0}
        out = {s: self.new() for s in sorted(sums)}
        for s, literal in a.items():
            self.add(-literal, out[s])
        for t, other in b.items():
            self.add(-other, out[t])
            for s, literal in a.items():
                self.add(-other, -literal, out[min(s + t, cap)])
        for lower, higher in pairwise(out.values()):
            self.add(-higher, lower)
        return out
