"""Problems over flips: built, cut to some constraints and shrunk without losing or gaining a solution."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import few_or_many
from support.flips import Clause, Toy, random_fixed, random_toy, subsets, toy_of
from support.tiny import random_case
from tmverify.engines.engine import EncodingTooLargeError
from tmverify.engines.search import problem as problem_module
from tmverify.engines.search._bound import FREE
from tmverify.engines.search._problem import index_features, inherit, over_flips
from tmverify.engines.search.problem import Problem, part, problem_of, shrunk
from tmverify.properties.allowed import Allowed


def small(rng: np.random.Generator, **changes: Any) -> Toy:
    shape = {
        "n": int(rng.integers(1, 7)),
        "n_clauses": int(rng.integers(0, 14)),
        "n_constraints": int(rng.integers(1, 4)),
        "heaviest": int(rng.choice([1, 3])),
    }
    return random_toy(rng, **{**shape, **changes})


def twin_shrunk(toy: Toy, fixed: list[int]) -> tuple[dict[Clause, list[int]], list[int]]:
    """The clauses that can still change, with their votes, and the votes that are certain."""
    radius = toy.radius - fixed.count(1)
    votes: dict[Clause, list[int]] = {}
    always = [0] * len(toy.needs)
    for j, clause in enumerate(toy.clauses):
        if any(fixed[f] != FREE and bool(fixed[f]) != wakes for f, wakes in clause.literals()):
            continue
        free = Clause(
            tuple(f for f in clause.wakes if fixed[f] == FREE),
            tuple(f for f in clause.stays if fixed[f] == FREE),
        )
        if len(free.wakes) > radius:
            continue
        own = [row[j] for row in toy.votes]
        place = votes.setdefault(free, [0] * len(own)) if free.literals() else always
        place[:] = [a + b for a, b in zip(place, own, strict=True)]
    return {clause: own for clause, own in votes.items() if any(own)}, always


@few_or_many(200, 600)
def test_shrinking_drops_strips_merges_and_cancels(n_cases: int) -> None:
    rng = np.random.default_rng(0)
    seen: Counter[str] = Counter()
    for _ in range(n_cases):
        toy = small(rng, longest=3)
        fixed = random_fixed(rng, toy.n, float(rng.choice([0.0, 0.3])))
        if (fixed == 1).sum() > toy.radius:
            continue
        expected, always = twin_shrunk(toy, fixed.tolist())
        new = shrunk(toy.problem(), fixed)
        names = new.feature_ids.tolist()
        got = {
            Clause(tuple(names[f] for f in clause.wakes), tuple(names[f] for f in clause.stays)): own
            for clause, own in zip(toy_of(new).clauses, zip(*toy_of(new).votes, strict=True), strict=True)
        }
        assert got == {clause: tuple(own) for clause, own in expected.items()}
        assert len(got) == new.votes.shape[1]
        assert new.bounds.tolist() == [n - a for n, a in zip(toy.needs, always, strict=True)]
        assert names == sorted({f for clause in expected for f, _ in clause.literals()})
        assert new.radius == min(toy.radius - int((fixed == 1).sum()), len(names))
        assert new.flipped.tolist() == np.flatnonzero(fixed == 1).tolist()
        assert new.spent == len(new.flipped)
        seen["merged"] += len(expected) < len(toy.clauses)
        seen["certain"] += any(always)
    assert min(seen.values()) > n_cases // 12


def test_clauses_that_differ_only_in_what_must_flip_stay_apart() -> None:
    clauses = (Clause((0, 1), ()), Clause((0,), (1,)), Clause((1,), (0,)), Clause((), (0, 1)))
    toy = Toy(2, clauses, ((1, 2, 3, 4),), (0,), 2)
    assert toy_of(shrunk(toy.problem(), np.full(2, FREE, np.int8))) == toy


def test_many_clauses_share_a_table() -> None:
    """Every clause of up to three literals, each twice, in any order: the table must tell them apart."""
    rng = np.random.default_rng(1)
    distinct = []
    for features in subsets(10, 3):
        for wakes in subsets(len(features), 3):
            chosen = sorted(features)
            must = tuple(chosen[i] for i in sorted(wakes))
            distinct.append(Clause(must, tuple(f for f in chosen if f not in must)))
    distinct = [clause for clause in distinct if clause.literals()]
    order = rng.permutation(2 * len(distinct)).tolist()
    clauses = tuple(distinct[i // 2] for i in order)
    toy = Toy(10, clauses, (tuple(1 + i // 2 for i in order),), (0,), 10)
    new = toy_of(shrunk(toy.problem(), np.full(10, FREE, np.int8)))
    assert dict(zip(new.clauses, new.votes[0], strict=True)) == {
        clause: 2 * (i + 1) for i, clause in enumerate(distinct)
    }


@few_or_many(200, 600)
def test_shrinking_keeps_exactly_the_solutions(n_cases: int) -> None:
    rng = np.random.default_rng(2)
    kept = 0
    for _ in range(n_cases):
        toy = small(rng)
        fixed = random_fixed(rng, toy.n, 0.3)
        if (fixed == 1).sum() > toy.radius:
            continue
        new = shrunk(toy.problem(), fixed)
        for flips in toy_of(new).solutions():
            named = new.solution(np.isin(np.arange(len(new.feature_ids)), list(flips)))
            assert toy.solved_by(named.flips)
            assert named.cost == len(named.flips)
            kept += 1
        for flips in toy.solutions():
            if all(fixed[f] in (FREE, f in flips) for f in range(toy.n)):
                rest = {i for i, name in enumerate(new.feature_ids.tolist()) if name in flips}
                assert toy_of(new).solved_by(rest)
    assert kept > n_cases * 5 // 6


def test_shrinking_twice_is_shrinking_once() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        toy = small(rng)
        fixed = random_fixed(rng, toy.n, 0.4)
        if (fixed == 1).sum() > toy.radius:
            continue
        first = np.where(rng.random(toy.n) < 0.5, fixed, FREE).astype(np.int8)
        half = shrunk(toy.problem(), first)
        second = fixed[half.feature_ids]
        once, twice = shrunk(toy.problem(), fixed), shrunk(half, second)
        # A feature that matters no more after the first time can't be fixed the second.
        gone = set(np.flatnonzero(fixed == 1).tolist()) - set(twice.flipped)
        if not gone:
            assert set(once.flipped) == set(twice.flipped)
            assert once.feature_ids.tolist() == twice.feature_ids.tolist()
            assert toy_of(once) == toy_of(twice)


def test_a_part_has_the_solutions_of_its_constraints() -> None:
    rng = np.random.default_rng(4)
    for _ in range(200):
        toy = small(rng, n_constraints=3)
        whole = shrunk(toy.problem(), np.full(toy.n, FREE, np.int8))
        chosen = rng.permutation(3)[: rng.integers(1, 4)].tolist()
        radius = int(rng.integers(0, whole.radius + 1))
        some = replace(
            toy,
            votes=tuple(toy.votes[c] for c in chosen),
            needs=tuple(toy.needs[c] for c in chosen),
            radius=radius,
        )
        got = part(whole, chosen, radius)
        names = got.feature_ids.tolist()
        solutions = {frozenset(names[f] for f in flips) for flips in toy_of(got).solutions()}
        lost = set(range(toy.n)) - set(names)
        assert solutions == {flips for flips in some.solutions() if flips.isdisjoint(lost)}
        assert bool(solutions) == bool(some.solutions())


def test_a_query_becomes_the_problem_of_its_region() -> None:
    """Each constraint of a random query, by enumeration of all flips, against the compiled votes."""
    rng = np.random.default_rng(5)
    for _ in range(150):
        case = random_case(rng)
        for query in (
            tv.robustness_query(case.a, case.x, case.epsilon, **case.asked),
            tv.similarity_query(case.a, case.b, case.x, case.epsilon, **case.asked),
            tv.equivalence_query(case.a, case.b, scope=case.scope),
        ):
            whole = problem_of(query, query.region.radius)
            toy, origin = toy_of(whole), query.region.origin
            assert query.region.mutable[whole.feature_ids].all()
            assert toy.radius <= query.region.reach
            for flips in subsets(toy.n, toy.radius):
                z = origin.copy()
                z[whole.feature_ids[list(flips)]] ^= 1
                outputs = query.clauses.outputs(z[None], empty_fires=False)[0].astype(np.int64)
                for c, constraint in enumerate(query.constraints):
                    votes = int(constraint.weights(query.votes) @ outputs)
                    assert toy.sums(flips)[c] - toy.needs[c] == votes - constraint.bound


def test_more_votes_than_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tv.Model.from_clauses(2, [[1], [2]], [[1, -1]])
    query = tv.robustness_query(model, [0, 0], 1)
    monkeypatch.setattr(problem_module, "MAX_VOTES", 1)
    with pytest.raises(EncodingTooLargeError, match="1 constraints on 2 clauses"):
        problem_of(query, query.region.radius)


def test_the_literals_that_must_flip_come_first() -> None:
    rng = np.random.default_rng(6)
    for _ in range(100):
        n = int(rng.integers(1, 8))
        clauses = [
            [int(f + 1) * int(rng.choice([-1, 1])) for f in rng.permutation(n)[: rng.integers(0, n + 1)]]
            for _ in range(5)
        ]
        literals = np.array([lit for clause in clauses for lit in clause], np.int32)
        offsets = np.cumsum([0, *map(len, clauses)])
        origin = rng.integers(0, 2, size=n).astype(np.uint8)
        features, middles = np.empty(len(literals), np.int32), np.empty(5, np.int64)
        over_flips(offsets, literals, origin, features, middles, np.empty(n + 1, np.int32))
        for j, clause in enumerate(clauses):
            violated = [abs(lit) - 1 for lit in clause if (origin[abs(lit) - 1] == 1) != (lit > 0)]
            satisfied = [abs(lit) - 1 for lit in clause if (origin[abs(lit) - 1] == 1) == (lit > 0)]
            assert features[offsets[j] : middles[j]].tolist() == violated
            assert features[middles[j] : offsets[j + 1]].tolist() == satisfied


def test_the_index_of_features() -> None:
    """Features that occur are numbered in their order; the index is that of the problem without others."""
    rng = np.random.default_rng(8)
    for _ in range(100):
        toy = small(rng)
        problem = toy.problem()
        features, size = problem.features.copy(), len(problem.features)
        ids, where = np.empty(toy.n, np.int64), np.zeros(toy.n + 1, np.int64)
        clauses, waking = np.empty(size, np.int32), np.empty(size, np.bool_)
        n = index_features(problem.offsets, problem.middles, features, ids, where, clauses, waking)
        occurring = sorted(set(problem.features.tolist()))
        assert ids[:n].tolist() == occurring
        assert (ids[features] == problem.features).all()
        expected, owners, wakes = toy.index()
        assert where[: n + 1].tolist() == [*(expected[f] for f in occurring), size]
        assert (clauses.tolist(), waking.tolist()) == (owners, wakes)


def test_multipliers_go_along_with_their_literals() -> None:
    rng = np.random.default_rng(9)
    compared = 0
    for _ in range(200):
        toy = small(rng)
        old = toy.problem()
        fixed = random_fixed(rng, toy.n, 0.3)
        new = shrunk(old, fixed)
        old_share = np.where(rng.random(len(old.features)) < 0.3, 0, rng.random(len(old.features)))
        old_share, old_load = old_share.astype(np.float32), rng.random(len(toy.clauses)).astype(np.float32)
        owners = np.repeat(np.arange(len(toy.clauses), dtype=np.int32), np.diff(old.offsets))
        share = np.empty(len(new.features), np.float32)
        load = np.empty(len(new.middles), np.float32)
        inherit(new.offsets, new.came_from, owners, old_share, old_load, share, load)
        assert (old.feature_ids[old.features[new.came_from]] == new.feature_ids[new.features]).all()
        for j in range(len(new.middles)):
            part_ = slice(new.offsets[j], new.offsets[j + 1])
            source = old_share[new.came_from[part_]]
            even = np.full(len(source), 1 / len(source))
            assert share[part_] == pytest.approx(source / source.sum() if source.sum() > 0 else even)
            (owner,) = set(owners[new.came_from[part_]].tolist())
            assert load[j] == old_load[owner]
            compared += 1
    assert compared > 200


def test_problems_of_nothing() -> None:
    """No clause, no feature that may flip, no radius: all are problems like any other."""
    empty = Toy(3, (), ((),), (0,), 2)
    new = shrunk(empty.problem(), np.full(3, FREE, np.int8))
    assert isinstance(new, Problem)
    assert (new.radius, len(new.feature_ids), new.votes.shape) == (0, 0, (1, 0))
    model = tv.Model.from_clauses(2, [[1], [2]], [[1, -1]])
    query = tv.robustness_query(model, [1, 1], 2, allowed=Allowed(features=[False, False]))
    assert toy_of(problem_of(query, query.region.radius)) == Toy(0, (), ((),), (1,), 0)
