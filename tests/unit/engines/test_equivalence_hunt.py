"""Walks: values updated step by step equal recomputed ones, and a walk that arrives has a witness."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.copies import random_large_model
from support.tiny import random_case
from tmverify.engines.engine import Deadline
from tmverify.engines.equivalence import _walk
from tmverify.engines.equivalence.hunt import Walker, find_by_walking
from tmverify.engines.equivalence.structure import Argument, parts_of
from tmverify.engines.search.problem import problem_of


def surplus(walker: Walker, y: NDArray[np.bool_]) -> list[int]:
    """By how much each constraint of the case is met with these flips, by the plain evaluator."""
    query = walker.query
    outputs = query.clauses.outputs(flipped(walker, y)[None, :], empty_fires=False)[0].astype(np.int64)
    (case,) = query.cases
    constraints = [query.constraints[c] for c in case]
    return [int(c.weights(query.votes) @ outputs) - c.bound for c in constraints]


def flipped(walker: Walker, y: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The input with these flips."""
    z = walker.query.region.origin.copy()
    z[walker.problem.feature_ids[y]] ^= 1
    return z


def walkers(seed: int, n: int) -> list[Walker]:
    rng = np.random.default_rng(seed)
    result: list[Walker] = []
    while len(result) < n:
        case = random_case(rng)
        query = tv.equivalence_query(case.a, case.b, scope=case.scope)
        chosen = query.cases[int(rng.integers(len(query.cases)))]
        (part,) = (each.query for each in parts_of(query, Argument(tuple(dict.fromkeys(chosen)), (), None)))
        problem = problem_of(part, part.region.radius)
        if len(problem.feature_ids):
            result.append(Walker(part, problem, None, seed))
    return result


def test_kept_sums_and_gains_are_those_of_the_plain_evaluator() -> None:
    for walker in walkers(31, 60):
        walker._start(next(walker._starts))
        for _ in range(10):
            terrain, place = walker._terrain, walker._place
            _walk.walk(terrain, place, 1 << 40, 300, int(place.counts[_walk.STEP]) + 3, 1 << 40)
            y, false, sums, gains = place.y.copy(), place.false, place.sums, place.gains
            now = surplus(walker, y)
            assert (sums - terrain.bounds).tolist() == now
            wrong = y[terrain.features] != terrain.wakes
            assert (false == np.add.reduceat(wrong, terrain.offsets[:-1])).all()
            for i in range(len(y)):
                y[i] ^= True
                assert gains[i].tolist() == [a - b for a, b in zip(surplus(walker, y), now, strict=True)]
                y[i] ^= True


def test_an_arrival_meets_every_constraint() -> None:
    arrived = 0
    for walker in walkers(32, 100):
        witness = walker.go(500, Deadline(None))
        assert walker.steps <= 500
        if witness is not None:
            arrived += 1
            assert min(surplus(walker, walker._place.y)) >= 0
            assert (flipped(walker, walker._place.y) == witness).all()
    assert arrived > 20


def test_where_nothing_matters_nothing_is_walked() -> None:
    """A part without clauses: either its bounds are met anyway, or never."""
    none: list[list[int]] = []
    for a, b in ((0, -1), (0, 0), (-1, -1)):
        models = [tv.Model.from_clauses(3, none, np.zeros((1, 0), int), bias=bias) for bias in (a, b)]
        query = tv.equivalence_query(*models)
        found = []
        for case in query.cases:
            (part,) = (each.query for each in parts_of(query, Argument(case, (), None)))
            witness, steps = find_by_walking(part, None, 100, 0, Deadline(None))
            assert steps == 0
            found += [] if witness is None else [witness]
        assert len(found) == (a != b)
        assert all(query.refuted_by(witness) for witness in found)


def test_walks_are_deterministic_and_can_be_cut_short() -> None:
    rng = np.random.default_rng(33)
    model = random_large_model(rng, 300, 200, 12)
    never = tv.Model.from_clauses(300, [], np.zeros((1, 0), int), bias=-1)
    query = tv.equivalence_query(model, never)
    for case in query.cases:
        (part,) = (each.query for each in parts_of(query, Argument(case, (), None)))
        first, again = (find_by_walking(part, None, 2000, 7, Deadline(None)) for _ in range(2))
        assert first[1] == again[1]
        assert (first[0] is None) == (again[0] is None)
        if first[0] is not None:
            assert (first[0] == again[0]).all()
        assert find_by_walking(part, None, 2000, 7, Deadline(0)) == (None, 0)


def test_walks_start_from_the_inputs_given() -> None:
    rng = np.random.default_rng(34)
    hints = rng.integers(0, 2, size=(20, 300)).astype(np.uint8)
    model = random_large_model(rng, 300, 200, 12)
    query = tv.equivalence_query(model, model)
    (part,) = (each.query for each in parts_of(query, Argument(query.cases[0], (), None)))
    problem = problem_of(part, part.region.radius)
    walker = Walker(part, problem, hints, 0)
    starts = [next(walker._starts) for _ in range(60)]
    inputs = {flipped(walker, y).tobytes() for y in starts}
    used = np.isin(np.arange(300), problem.feature_ids)
    # A feature that no clause has stays as it is at the origin.
    assert {(row * used).astype(np.uint8).tobytes() for row in hints} <= inputs
