"""The ``sat`` engine: specialise to the region, encode compactly, solve with CaDiCaL.

The formula is over flips, without those that credits rule out (``engines.reduction``):

- a variable per clause, tied to its conjunction only in the direction that its weights can use: the variable
  of a clause that helps implies the conjunction, the conjunction of one that hurts implies the variable
  (Plaisted & Greenbaum);
- each constraint ``sum w_j c_j >= b`` as an upper bound on what is missing from the best sum,
  ``sum_{w_j > 0} w_j (not c_j) + sum_{w_j < 0} |w_j| c_j <= best - b``, by a totalizer, or by adders
  where the totalizer would be too large;
- at most ``radius`` flips, likewise;
- a formula for each case; if a single one is wanted (DIMACS), their disjunction, with a selector per case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tmverify.engines.engine import Answer
from tmverify.engines.reduction import Reduced, reduce, restrict, tighten
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.adder import adder_at_most
from tmverify.engines.sat.encodings.totalizer import totalizer_at_most, totalizer_size
from tmverify.engines.sat.formula import Formula, add_conjunction, add_outputs, missing_votes, solve_formulas
from tmverify.properties.query import Query

SOLVER = "cadical195"
# A totalizer propagates better than adders (benchmarks/encodings.py), but one of this many clauses takes
# about a second to build.
MAX_TOTALIZER_PAIRS = 500_000

AtMost = Callable[[Cnf, Sequence[int], Sequence[int], int], list[int]]


def cheapest_at_most(cnf: Cnf, inputs: Sequence[int], weights: Sequence[int], limit: int) -> list[int]:
    """A totalizer, or adders where the totalizer would be too large."""
    small = totalizer_size(weights, limit, MAX_TOTALIZER_PAIRS) <= MAX_TOTALIZER_PAIRS
    return (totalizer_at_most if small else adder_at_most)(cnf, inputs, weights, limit)


def solve(query: Query) -> Answer:
    """Decide ``query``, without a time limit: case by case, each specialised separately."""
    return solve_formulas(lambda: _formulas(query), SOLVER)


def encode_reduced(query: Query) -> Formula:
    """The query, specialised to its region, as one compact CNF."""
    return encode(tighten(reduce(query)))


def _formulas(query: Query) -> Iterator[Formula]:
    """A formula per case that is still open: smaller and easier than their disjunction."""
    reduced = tighten(reduce(query))
    everything = np.ones(len(reduced.features), np.bool_)
    for case in reduced.cases:
        yield encode(tighten(restrict(reduced, everything, (case,))))


def encode(reduced: Reduced, at_most: AtMost = cheapest_at_most) -> Formula:
    """A specialised query as a CNF, with ``at_most`` to count votes. Its first variables are the flips."""
    cnf = Cnf()
    flips: list[int] = cnf.new_vars(len(reduced.features)).tolist()
    outputs = add_outputs(cnf, reduced.clauses, reduced.weights)
    holds = []  # literals, each of which implies that a constraint holds
    for weights, bound in zip(reduced.weights.tolist(), reduced.bounds, strict=True):
        missing, sizes, best = missing_votes(outputs, weights)
        (exceeds,) = at_most(cnf, missing, sizes, best - bound)  # constraints that always hold are gone
        holds.append(-exceeds)
    _add_cases(cnf, [[holds[c] for c in case] for case in reduced.cases])
    if reduced.radius < len(flips):
        (too_many,) = cheapest_at_most(cnf, flips, [1] * len(flips), reduced.radius)
        cnf.add(-too_many)
    bits = {
        feature: -flip if reduced.origin[feature] else flip
        for feature, flip in zip(reduced.features.tolist(), flips, strict=True)
    }
    return Formula(cnf, reduced.origin, bits, dict(zip(reduced.sources.tolist(), outputs, strict=True)))


def _add_cases(cnf: Cnf, cases: list[list[int]]) -> None:
    if len(cases) == 1:
        for lit in cases[0]:
            cnf.add(lit)
        return
    cnf.add(*(case[0] if len(case) == 1 else add_conjunction(cnf, case, backward=False) for case in cases))
