"""Specialising: the reduced query has a witness within the same region exactly when the query has one."""

from __future__ import annotations

from itertools import combinations

import numpy as np

import tmverify as tv
from support.batteries import few_or_many
from support.tiny import random_case
from tmverify.engines import brute
from tmverify.engines.engine import Deadline, Outcome
from tmverify.engines.reduction import Reduced, reduce, tighten


def solutions(reduced: Reduced) -> list[tuple[int, ...]]:
    """Every set of flips that satisfies a case, by enumeration."""
    found = []
    n = len(reduced.features)
    for k in range(reduced.radius + 1):
        for flips in combinations(range(n), k):
            y = np.zeros((1, n), np.uint8)
            y[0, list(flips)] = 1
            sums = reduced.weights @ reduced.clauses.outputs(y, empty_fires=False)[0].astype(np.int64)
            if any(all(sums[c] >= reduced.bounds[c] for c in case) for case in reduced.cases):
                found.append(flips)
    return found


@few_or_many(100, 250)
def test_reducing_and_tightening_keep_the_answer(n_cases: int) -> None:
    rng = np.random.default_rng(12)
    for _ in range(n_cases):
        case = random_case(rng)
        for query in (
            tv.robustness_query(case.a, case.x, case.epsilon, **case.options),
            tv.similarity_query(case.a, case.b, case.x, case.epsilon, **case.options),
        ):
            expected = brute.decide(query, Deadline(None)).outcome is Outcome.WITNESS
            for reduced in (reduce(query), tighten(reduce(query))):
                found = solutions(reduced)
                assert bool(found) == expected
                assert all(query.refuted_by(reduced.witness(flips)) for flips in found)
