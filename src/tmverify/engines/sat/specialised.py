"""The ``sat`` engine: specialise to the region, rule out moves by a bound, encode, solve with CaDiCaL.

The formula of a problem over moves (``search.problem``), whose clauses are conjunctions:

- a variable per move: a feature flips, or a column takes one of its options; a column takes at most one. What
  a clause demands of a column, a set of options, is one literal: the option's variable, or a new variable for
  several options, equivalent to their disjunction;
- a variable per clause, tied to its conjunction only in the direction that its weights can use: the variable
  of a clause that helps implies the conjunction, the conjunction of one that hurts implies the variable
  (Plaisted & Greenbaum);
- each constraint ``sum w_j c_j >= b`` as an upper bound on what is missing from the best sum,
  ``sum_{w_j > 0} w_j (not c_j) + sum_{w_j < 0} |w_j| c_j <= best - b``, by a totalizer, or by adders
  where the totalizer would be too large;
- moves of at most ``radius`` cost, likewise;
- a formula for each case; if a single one is wanted (DIMACS), their disjunction, with a selector per case.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tmverify.engines.engine import Answer, EncodingTooLargeError, found, none_exists, stopped
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.adder import adder_at_most
from tmverify.engines.sat.encodings.totalizer import totalizer_at_most, totalizer_size
from tmverify.engines.sat.formula import (
    Formula,
    OptionLiteral,
    add_conjunction,
    add_outputs,
    missing_votes,
    solve_cnf,
)
from tmverify.engines.search.problem import Problem, Solution, part, problem_of
from tmverify.engines.search.sweep import swept
from tmverify.engines.settled import settled
from tmverify.properties.query import Query
from tmverify.properties.verdict import StopReason

SOLVER = "cadical195"
# A totalizer propagates better than adders (benchmarks/encodings.py), but one of this many clauses takes
# about a second to build.
MAX_TOTALIZER_PAIRS = 500_000

AtMost = Callable[[Cnf, Sequence[int], Sequence[int], int], list[int]]


def cheapest_at_most(cnf: Cnf, inputs: Sequence[int], weights: Sequence[int], limit: int) -> list[int]:
    """A totalizer, or adders where the totalizer would be too large."""
    small = totalizer_size(weights, limit, MAX_TOTALIZER_PAIRS) <= MAX_TOTALIZER_PAIRS
    return (totalizer_at_most if small else adder_at_most)(cnf, inputs, weights, limit)


@dataclass(frozen=True, slots=True)
class MoveLiterals:
    """The literals of a problem's moves.

    Attributes
    ----------
    problem : Problem
    moves : list of int
        The variable of each flip; or of each option, 0 for a reference.
    costs : list of int
        What each of these costs.
    features : list of int
        The literal of each feature or atom: true iff it flips, or holds.
    """

    problem: Problem
    moves: list[int]
    costs: list[int]
    features: list[int]

    @property
    def limited(self) -> bool:
        """Whether the moves of all columns together could cost more than the radius."""
        moves = self.problem.moves
        if moves is None:
            return len(self.moves) > self.problem.radius
        return int(np.maximum.reduceat(moves.costs, moves.first[:-1]).sum()) > self.problem.radius

    @property
    def priced(self) -> tuple[list[int], list[int]]:
        """The variables of moves that cost something, and the costs."""
        pairs = [(v, cost) for v, cost in zip(self.moves, self.costs, strict=True) if v and cost]
        return [v for v, _ in pairs], [cost for _, cost in pairs]

    def clauses(self) -> list[list[int]]:
        """The literals of each clause."""
        problem, literals = self.problem, [self.features[f] for f in self.problem.features.tolist()]
        ends = zip(
            problem.offsets[:-1].tolist(), problem.middles.tolist(), problem.offsets[1:].tolist(), strict=True
        )
        return [[*literals[a:m], *(-v for v in literals[m:b])] for a, m, b in ends]

    def solution(self, model: Sequence[int]) -> Solution:
        """The moves in a satisfying assignment."""
        true, moves = set(model), self.problem.moves
        if moves is None:
            return self.problem.solution(np.array([v in true for v in self.moves], np.bool_))
        chosen = moves.first[:-1].copy()
        home = np.repeat(np.arange(len(chosen)), np.diff(moves.first))
        for option, v in enumerate(self.moves):
            if v and v in true:
                chosen[home[option]] = option
        return self.problem.solution(chosen)


def add_moves(cnf: Cnf, problem: Problem) -> MoveLiterals:
    """Variables for the moves of ``problem``, the first ones of the formula, and for sets of options."""
    moves = problem.moves
    if moves is None:
        flips = cnf.new_vars(len(problem.feature_ids)).tolist()
        return MoveLiterals(problem, flips, [1] * len(flips), flips)
    references = set(moves.first[:-1].tolist())
    variables = [0 if option in references else cnf.new_var() for option in range(len(moves.costs))]
    for a, b in zip(moves.first[:-1].tolist(), moves.first[1:].tolist(), strict=True):
        for one, other in combinations(variables[a + 1 : b], 2):
            cnf.add(-one, -other)
    members: list[list[int]] = [[] for _ in problem.feature_ids]
    for option, v in enumerate(variables):
        for atom in moves.atoms[moves.at[option] : moves.at[option + 1]].tolist():
            members[atom].append(v)
    literals = [0] * len(members)
    for atom in dict.fromkeys(problem.features.tolist()):  # in the order of their first occurrence
        some = members[atom]
        if len(some) == 1:
            literals[atom] = some[0]
            continue
        literals[atom] = cnf.new_var()
        for v in some:
            cnf.add(-v, literals[atom])
        cnf.add(-literals[atom], *some)
    return MoveLiterals(problem, variables, moves.costs.tolist(), literals)


def encode(
    problem: Problem, cases: Sequence[Sequence[int]], at_most: AtMost = cheapest_at_most
) -> tuple[Cnf, MoveLiterals, list[int]]:
    """A problem as a CNF in which, in one of the cases, every constraint holds.

    Returns also the literals of moves, and those of the clauses' outputs.
    """
    cnf = Cnf()
    literals = add_moves(cnf, problem)
    outputs = add_outputs(cnf, literals.clauses(), problem.votes)
    holds: dict[
        int, int | bool
    ] = {}  # a literal that implies a constraint; or whether it always, or never holds
    for c in sorted({c for case in cases for c in case}):
        missing, sizes, best = missing_votes(outputs, problem.votes[c].tolist())
        limit = best - int(problem.bounds[c])
        if limit < 0:
            holds[c] = False
            continue
        exceeds = at_most(cnf, missing, sizes, limit) if sum(sizes) > limit else []
        holds[c] = -exceeds[0] if exceeds else True
    _add_cases(cnf, [[holds[c] for c in case] for case in cases])
    if literals.limited:
        for too_much in cheapest_at_most(cnf, *literals.priced, problem.radius):
            cnf.add(-too_much)
    return cnf, literals, outputs


def _add_cases(cnf: Cnf, cases: Sequence[Sequence[int | bool]]) -> None:
    """Some case whose literals are all true; True and False are constants."""
    possible = [[lit for lit in case if lit is not True] for case in cases if False not in case]
    if [] in possible:
        return
    if len(possible) == 1:
        for lit in possible[0]:
            cnf.add(lit)
        return
    cnf.add(*(case[0] if len(case) == 1 else add_conjunction(cnf, case, backward=False) for case in possible))


def encode_query(query: Query) -> Formula:
    """The query, specialised to its region and settled, as one compact CNF."""
    whole = settled(query)
    cnf, literals, outputs = encode(whole.problem, whole.cases)
    variables = [v for v in literals.moves if v]
    bits, options = {}, []
    for v, move, is_flip in zip(variables, whole.moves, whole.are_flips, strict=True):
        if is_flip:
            (feature,) = move.flips
            bits[feature] = -v if whole.problem.origin[feature] else v
        else:
            options.append(OptionLiteral(v, *move))
    return Formula(
        cnf,
        whole.problem.origin,
        bits,
        dict(zip(whole.sources.tolist(), outputs, strict=True)),
        tuple(options),
        {v: move.cost for v, move in zip(variables, whole.moves, strict=True)},
    )


def solve(query: Query) -> Answer:
    """Decide ``query``, without a time limit: case by case, each specialised separately."""
    start = time.perf_counter()
    stats = {"formulas": 0, "variables": 0, "clauses": 0, "solve_seconds": 0.0}
    try:
        whole = problem_of(query, query.region.radius)
        for case in dict.fromkeys(tuple(dict.fromkeys(case)) for case in query.cases):
            closed, problem = swept(part(whole, case, whole.radius))
            if closed:
                continue
            cnf, literals, _ = encode(problem, [range(len(case))])
            stats["formulas"] += 1
            stats["variables"] += cnf.n_vars
            stats["clauses"] += cnf.n_clauses
            begin = time.perf_counter()
            model = solve_cnf(cnf, SOLVER)
            stats["solve_seconds"] += time.perf_counter() - begin
            stats["encode_seconds"] = time.perf_counter() - start - stats["solve_seconds"]
            if model is not None:
                return found(query.region.with_flips(literals.solution(model).flips), **stats)
    except EncodingTooLargeError as error:
        return stopped(StopReason.ENCODING_TOO_LARGE, str(error), **stats)
    return none_exists(**stats)
