"""Problems over moves of columns: built, cut and shrunk without losing or gaining a solution."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import few_or_many
from support.columns import random_column_case
from support.moves import (
    ColumnToy,
    flat,
    masks_of,
    named,
    numbers,
    random_alive,
    random_column_toy,
    random_set,
    sets_of,
    toy_of,
)
from tmverify.engines.search import _moves
from tmverify.engines.search.problem import Problem, _room, part, problem_of, shrunk


def small(rng: np.random.Generator, **changes: Any) -> ColumnToy:
    shape = {
        "n": int(rng.integers(1, 5)),
        "n_clauses": int(rng.integers(0, 12)),
        "n_constraints": int(rng.integers(1, 4)),
        "heaviest": int(rng.choice([1, 3])),
        "options": int(rng.choice([2, 5])),
    }
    return random_column_toy(rng, **{**shape, **changes})


def cheapest(toy: ColumnToy, alive: list[list[bool]]) -> dict[tuple[int, ...], int]:
    """The solutions with options that are alive, and their costs."""
    rows = [[o for o, lives in enumerate(row) if lives] for row in alive]
    return {choice: toy.cost(choice) for choice in product(*rows) if toy.solved_by(choice)}


def expect_same_solutions(toy: ColumnToy, alive: list[list[bool]], new: Problem) -> int:
    """Every solution of the new problem is one of the old, of the same cost; none that matters is lost."""
    old, smaller = cheapest(toy, alive), toy_of(new)
    costs = []
    for choice in smaller.choices():
        if not smaller.solved_by(choice):
            continue
        origin, cost = named(toy, new, choice)
        assert old.get(origin) == cost == new.spent + smaller.cost(choice)
        costs.append(cost)
    assert min(costs, default=None) == min(old.values(), default=None)
    return len(costs)


def test_a_toy_and_its_problem_are_the_same() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        toy = small(rng)
        assert toy_of(toy.problem()) == toy


@few_or_many(300, 3000)
def test_shrinking_keeps_the_solutions_that_matter(n_cases: int) -> None:
    rng = np.random.default_rng(1)
    kept, seen = 0, Counter[str]()
    for _ in range(n_cases):
        toy = small(rng)
        alive = random_alive(rng, toy, float(rng.choice([0.0, 0.3, 0.6])))
        merge = bool(rng.random() < 0.8)
        new = shrunk(toy.problem(), flat(alive).astype(np.int8), merge=merge)
        kept += expect_same_solutions(toy, alive, new)
        assert new.moves is not None
        assert len(set(toy_of(new).clauses)) == len(toy_of(new).clauses) or not merge
        assert all(len(own) > 1 and own[0] == 0 and min(own) == 0 for own in toy_of(new).costs)
        seen["spent"] += new.spent > 0
        seen["closed"] += len(new.moves.columns) < len(toy.costs)
    assert kept > n_cases
    assert min(seen.values()) > n_cases // 12


def test_shrinking_again_and_again() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        toy = small(rng, n=4)
        alive, problem = [[True] * len(own) for own in toy.costs], toy.problem()
        for _ in range(4):
            moves = problem.moves
            assert moves is not None
            less = random_alive(rng, toy_of(problem), 0.2)
            fixed = flat(less).astype(np.int8)
            for c, o, lives in zip(
                np.repeat(moves.columns, np.diff(moves.first)).tolist(),
                moves.values.tolist(),
                fixed.tolist(),
                strict=True,
            ):
                alive[c][o] = alive[c][o] and bool(lives)
            problem = shrunk(problem, fixed)
            smaller = toy_of(problem)
            for choice in smaller.choices():
                origin, cost = named(toy, problem, choice)
                assert cost == toy.cost(origin)
                within = smaller.cost(choice) <= smaller.radius
                assert not within or smaller.solved_by(choice) == toy.solved_by(origin)


def test_a_part_has_the_solutions_of_its_constraints() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        toy = small(rng, n_constraints=3)
        alive = [[True] * len(own) for own in toy.costs]
        whole = shrunk(toy.problem(), flat(alive).astype(np.int8))
        chosen = rng.permutation(3)[: rng.integers(1, 4)].tolist()
        radius = int(rng.integers(0, whole.radius + 1))
        some = replace(
            toy,
            votes=tuple(toy.votes[c] for c in chosen),
            needs=tuple(toy.needs[c] for c in chosen),
            radius=radius,
        )
        expect_same_solutions(some, alive, part(whole, chosen, radius))


@few_or_many(150, 1500)
def test_a_query_becomes_the_problem_of_its_region(n_cases: int) -> None:
    """Every constraint, at every input of the region that the problem still has."""
    rng = np.random.default_rng(4)
    compared = 0
    for _ in range(n_cases):
        query = random_column_case(rng).query()
        whole = problem_of(query, query.region.radius)
        pool = query.clauses.owners[whole.came_from[whole.offsets[:-1]]]
        assert len(set(pool.tolist())) == len(pool)
        if whole.moves is None:
            continue
        toy = toy_of(whole)
        for choice in toy.choices():
            if toy.cost(choice) > toy.radius:
                continue
            solution = whole.solution(numbers(whole, choice))
            z = query.region.with_flips(solution.flips)
            assert query.region.cost(z) == solution.cost
            outputs = query.clauses.outputs(z[None], empty_fires=False)[0].astype(np.int64)
            surplus = [int(c.weights(query.votes) @ outputs) - c.bound for c in query.constraints]
            assert [s - need for s, need in zip(toy.sums(choice), toy.needs, strict=True)] == surplus
            compared += 1
    assert compared > 5 * n_cases


def test_columns_of_a_region_keep_their_names() -> None:
    """A flag behind a column of several bits has another number as a column than as a bit."""
    space = tv.Space([tv.Category("c", ("a", "b", "d")), tv.Flag("f"), tv.Flag("g")])
    model = tv.Model.from_clauses(5, [[1, 4], [2, 5], [4, 5]], [[1, 1, 1]], space=space)
    region = tv.robustness_query(model, [0, 0, 1, 0, 0], 2).region
    assert region.column_of(np.array([3, 4])).tolist() == [1, 2]
    assert region.keeping([2]).mutable.tolist() == [False, False, False, True, False]
    assert not region.keeping([0]).options
    moves = problem_of(tv.robustness_query(model, [0, 0, 1, 0, 0], 2), 2).moves
    assert moves is not None
    assert moves.columns.tolist() == [0, 1, 2]


class Written:
    """Room for clauses that a kernel writes."""

    def __init__(self, n_clauses: int, size: int) -> None:
        self.room, self.kept = _room(n_clauses, size, 0), np.empty(n_clauses, np.int64)

    def clause(self, j: int) -> tuple[list[int], list[int], list[int]]:
        """What must hold, what must not, and where each came from."""
        room = self.room
        start, middle, end = room.offsets[j], room.middles[j], room.offsets[j + 1]
        flat_ = room.features.tolist()
        return flat_[start:middle], flat_[middle:end], room.came_from[start:end].tolist()


@few_or_many(150, 1500)
@pytest.mark.parametrize("size", [3, 70])
def test_clauses_over_moves(n_cases: int, size: int) -> None:
    """Some bits of some columns, in options of any pattern; more than 64 options take two words."""
    rng = np.random.default_rng(size)
    for _ in range(n_cases if size == 3 else n_cases // 5):
        n_columns = int(rng.integers(1, 4 if size == 3 else 3))
        sizes = rng.integers(2, size + 1, n_columns).tolist()
        home = np.sort(rng.integers(-1, n_columns, size=int(rng.integers(1, 7))))
        bits = [frozenset(np.flatnonzero(rng.random(sizes[c]) < 0.5).tolist()) for c in home]
        origin = np.array(
            [0 in some if c >= 0 else rng.integers(2) for c, some in zip(home, bits, strict=True)]
        )
        clauses = []
        for _ in range(6):
            chosen = np.sort(rng.choice(len(home), int(rng.integers(0, len(home) + 1)), replace=False)) + 1
            clauses.append((chosen * rng.choice([-1, 1], len(chosen))).tolist())
        offsets = np.cumsum([0, *map(len, clauses)])
        literals = np.array([lit for clause in clauses for lit in clause], np.int32)
        full = masks_of([frozenset(range(own)) for own in sizes], max(sizes))
        new, n_literals, words = Written(6, len(literals)), len(literals), full.shape[1]
        masks, columns = np.empty((n_literals, words), np.uint64), np.empty(n_literals, np.int64)
        n, n_atoms = _moves.over_moves(
            offsets, literals, origin.astype(np.uint8), home, masks_of(bits, max(sizes)), full, new.room,
            new.kept, masks, columns, np.empty((2, n_columns + 1), np.int32), np.empty(words, np.uint64),
            np.full(1 << (2 * n_literals + 1).bit_length(), -1, np.int64),
        )  # fmt: skip
        sets, homes = sets_of(masks[:n_atoms]), columns[:n_atoms].tolist()
        assert len(set(zip(homes, sets, strict=True))) == n_atoms
        assert all(some and 0 not in some for some in sets)
        kept = new.kept[:n].tolist()
        assert kept == sorted(set(kept))
        for j in range(n):
            wakes, stays, came_from = new.clause(j)
            assert len({homes[a] for a in wakes + stays}) == len(wakes + stays)
            assert all(offsets[kept[j]] <= k < offsets[kept[j] + 1] for k in came_from)
        every = product(*(range(own) for own in sizes))
        picked = list(every) if size == 3 else [tuple(rng.integers(sizes).tolist()) for _ in range(200)]
        for choice in picked:
            truth = []
            for clause in clauses:
                now = [
                    choice[home[abs(lit) - 1]] in bits[abs(lit) - 1]
                    if home[abs(lit) - 1] >= 0
                    else origin[abs(lit) - 1]
                    for lit in clause
                ]
                truth.append(all(bool(b) == (lit > 0) for b, lit in zip(now, clause, strict=True)))
            for j in range(n):
                wakes, stays, _ = new.clause(j)
                holds = [choice[homes[a]] in sets[a] for a in wakes] + [
                    choice[homes[a]] not in sets[a] for a in stays
                ]
                assert all(holds) == truth[kept[j]]
            assert not any(truth[j] for j in range(6) if j not in kept)


@few_or_many(200, 2000)
@pytest.mark.parametrize("options", [4, 80])
def test_restricted_columns_and_renamed_literals(n_cases: int, options: int) -> None:
    rng = np.random.default_rng(options)
    for _ in range(n_cases if options == 4 else n_cases // 10):
        toy = small(rng, options=options, n=3)
        problem, alive = toy.problem(), random_alive(rng, toy, 0.4)
        moves = problem.moves
        assert moves is not None
        n_atoms, left = len(problem.feature_ids), int(flat(alive).sum())
        order, costs, first = np.empty(left, np.int64), np.empty(left, np.int64), np.empty(4, np.int64)
        masks = np.empty_like(moves.masks)
        number, columns = np.empty(n_atoms, np.int64), np.empty(n_atoms, np.int64)
        negated = np.empty(n_atoms, np.bool_)
        n, spent = _moves.restrict_columns(
            moves, flat(alive), order, first, costs, masks, number, negated, columns
        )
        total = 0
        for c, own in enumerate(toy.costs):
            living = [o for o, lives in enumerate(alive[c]) if lives]
            reference = min(living, key=lambda o: (own[o], o))
            rest = [o for o in living if o != reference]
            mine = slice(first[c], first[c + 1])
            assert (order[mine] - toy.first()[c]).tolist() == [reference, *rest]
            assert costs[mine].tolist() == [own[o] - own[reference] for o in (reference, *rest)]
            total += own[reference]
        assert spent == total
        new_sets, old_sets = sets_of(masks[:n]), sets_of(moves.masks)
        assert len(set(zip(columns[:n].tolist(), new_sets, strict=True))) == n
        assert all(some and 0 not in some for some in new_sets)
        assert columns[:n].tolist() == sorted(columns[:n].tolist())

        for a in range(n_atoms):
            c = int(problem.feature_ids[a])
            assert number[a] < 0 or columns[number[a]] == c
            for place, o in enumerate((order[first[c] : first[c + 1]] - toy.first()[c]).tolist()):
                if number[a] < 0:
                    holds = bool(number[a] == _moves.ALWAYS)
                else:
                    holds = bool((place in new_sets[number[a]]) != negated[a])
                assert holds == (o in old_sets[a])

        new = Written(len(toy.clauses), len(problem.features))
        m = _moves.rename_literals(
            problem.arrays, number, negated, new.room, new.kept, np.empty((2, 4), np.int32)
        )
        kept = new.kept[:m].tolist()
        assert kept == sorted(set(kept))
        picked = [tuple(int(rng.integers(k)) for k in np.diff(first)) for _ in range(30)]
        for choice in picked:
            old = [int(order[first[c] + place]) - toy.first()[c] for c, place in enumerate(choice)]
            truth = [all(old[c] in some for c, some in clause) for clause in toy.clauses]
            for j in range(m):
                wakes, stays, came_from = new.clause(j)
                assert wakes == sorted(wakes)
                assert stays == sorted(stays)
                where = problem.features[came_from]
                assert number[where].tolist() == wakes + stays
                assert set(came_from) <= set(range(*problem.offsets[kept[j] : kept[j] + 2].tolist()))
                now = [choice[columns[a]] in new_sets[a] for a in wakes]
                now += [choice[columns[a]] not in new_sets[a] for a in stays]
                assert all(now) == truth[kept[j]]
            assert not any(truth[j] for j in range(len(truth)) if j not in kept)


@few_or_many(200, 2000)
@pytest.mark.parametrize("options", [5, 90])
def test_options_that_make_a_difference(n_cases: int, options: int) -> None:
    """``distinct_options``, ``pack_options`` and ``least_costs`` against sets of options."""
    rng = np.random.default_rng(options)
    closed = 0
    for _ in range(n_cases if options == 5 else n_cases // 10):
        sizes = rng.integers(2, options + 1, int(rng.integers(1, 4))).tolist()
        costs = [[0, *rng.integers(0, 4, own - 1).tolist()] for own in sizes]
        columns = np.sort(rng.integers(len(sizes), size=int(rng.integers(0, 5))))
        sets = [random_set(rng, sizes[c]) - {0} for c in columns]
        first = np.cumsum([0, *sizes])
        flat_costs = np.array([cost for own in costs for cost in own])
        masks = masks_of(sets, max(sizes))

        least = np.empty(len(sets), np.int64)
        _moves.least_costs(masks, columns, first, flat_costs, least)
        never = 1 << 62
        assert least.tolist() == [
            min((costs[c][o] for o in some), default=never) for c, some in zip(columns, sets, strict=True)
        ]

        keep = np.empty(len(flat_costs), np.bool_)
        _moves.distinct_options(masks, columns, first, flat_costs, keep)
        left: list[list[int]] = []
        for c, own in enumerate(costs):
            atoms = [some for home, some in zip(columns, sets, strict=True) if home == c]
            groups: dict[tuple[bool, ...], list[int]] = {}
            for o in range(len(own)):
                groups.setdefault(tuple(o in some for some in atoms), []).append(o)
            best = sorted(min(group, key=lambda o: (own[o], o)) for group in groups.values())
            left.append(best if len(best) > 1 else [])
            closed += len(best) == 1
            assert np.flatnonzero(keep[first[c] : first[c + 1]]).tolist() == left[c]

        at = np.zeros(int(keep.sum()) + 1, np.int64)
        atoms_of = np.empty(sum(map(len, sets)), np.int32)
        packed = np.empty_like(masks)
        _moves.pack_options(masks, columns, first, keep, packed, at, atoms_of)
        assert sets_of(packed) == [
            frozenset(left[c].index(o) for o in some if o in left[c])
            for c, some in zip(columns, sets, strict=True)
        ]
        options_left = [(c, o) for c, own in enumerate(left) for o in own]
        for i, (c, o) in enumerate(options_left):
            held = [a for a, some in enumerate(sets) if columns[a] == c and o in some]
            assert atoms_of[at[i] : at[i + 1]].tolist() == held
    assert closed > n_cases // 20
