"""A settled query has the witnesses of the query: every choice of moves is run through the machines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

import tmverify as tv
from support.tiny import random_case
from support.tiny_columns import least_cost, random_query
from tmverify.engines.settled import Settled, settled


def choices(whole: Settled) -> Iterator[tuple[set[int], int]]:
    """Every set of moves within the radius, and what it costs."""
    for chosen in product(*((None, *own) for own in whole.columns)):
        moves = {move for move in chosen if move is not None}
        cost = sum(whole.moves[move].cost for move in moves)
        if cost <= whole.problem.radius:
            yield moves, cost


def holds(whole: Settled, moves: set[int]) -> bool:
    """Whether all constraints of some case hold after these moves."""
    atoms = [not moves.isdisjoint(own) for own in whole.atoms]
    clauses = [all(atoms[a] == wanted for a, wanted in clause) for clause in whole.clauses()]
    met = whole.problem.votes @ np.array(clauses, np.int64) >= whole.problem.bounds
    return any(all(met[c] for c in case) for case in whole.cases)


def check(query: tv.Query) -> None:
    whole = settled(query)
    costs = []
    for moves, cost in choices(whole):
        z = query.region.with_flips([bit for move in moves for bit in whole.moves[move].flips])
        assert query.region.cost(z) == cost
        found = holds(whole, moves)
        assert found == query.refuted_by(z)
        costs += [cost] if found else []
    assert min(costs, default=None) == least_cost(query)


@pytest.mark.parametrize("seed", range(8))
def test_moves_of_columns_are_witnesses_where_the_machines_say_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(40):
        check(random_query(rng))


def test_flips_are_too() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        case = random_case(rng)
        check(tv.robustness_query(case.a, case.x, case.epsilon, **case.asked))
        check(tv.similarity_query(case.a, case.b, case.x, case.epsilon, **case.asked))
        check(tv.equivalence_query(case.a, case.b, scope=case.scope))


def test_what_is_settled_is_gone() -> None:
    always = tv.Model.from_clauses(2, [[]], [[1]], empty_clause="fires")
    never = tv.Model.from_clauses(2, [[1, 2]], [[-1]], bias=-1)
    nothing = settled(tv.robustness_query(always, [0, 0], 2))
    assert (nothing.cases, nothing.moves) == ((), ())
    everything = settled(tv.similarity_query(always, never, [1, 0], 2))
    assert (everything.cases, everything.moves, len(everything.sources)) == (((),), (), 0)


def test_a_clause_of_the_pool_stands_for_each_clause() -> None:
    m = tv.Model.from_clauses(3, [[1, 2], [3], [1, 2], [2]], [[0, 1, 2, -1]], bias=-1)
    query = tv.robustness_query(m, [1, 1, 0], 3)
    whole = settled(query)
    assert [query.sources[j, 1] for j in whole.sources] == [1, 2, 3]
