"""The checker's steps against enumeration: no conclusion of the checker excludes an input that exists.

Problems are small random ones; multipliers, mixtures and the order of steps are random too, because a
certificate may hold any.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from itertools import chain, combinations
from typing import ClassVar

import numpy as np
import pytest
from pysat.solvers import Solver

from support.batteries import first
from support.tiny import random_case
from tmcheck.errors import Refused
from tmcheck.flips import FlipBranch, FlipProblem, Groups, specialised
from tmcheck.formula import formula
from tmcheck.lrat import check_lrat
from tmcheck.model import Machine, read_model
from tmcheck.refutation import Refutation
from tmcheck.rewriting import Bits, bit_values
from tmcheck.surroundings import Pool
from tmverify.model.file import encode

Rng = np.random.Generator
N = 6


def problem_of(groups: Groups, needs: list[int], budget: int) -> FlipProblem:
    return FlipProblem(groups, needs, budget, bit_values)


def branch_of(tree: Refutation) -> FlipBranch:
    assert isinstance(tree.branch, FlipBranch)
    return tree.branch


def random_problem(rng: Rng, n_constraints: int, radius: int | None = None) -> FlipProblem:
    groups = {}
    for _ in range(int(rng.integers(1, 9))):
        features = sorted(rng.choice(N, size=int(rng.integers(1, 4)), replace=False).tolist())
        wake = rng.random(len(features)) < 0.5
        key = (
            tuple(f for f, w in zip(features, wake, strict=True) if w),
            tuple(f for f, w in zip(features, wake, strict=True) if not w),
        )
        groups[key] = tuple(rng.integers(-3, 4, size=n_constraints).tolist())
    needs = rng.integers(-2, 4, size=n_constraints).tolist()
    return problem_of(groups, needs, int(rng.integers(0, N + 1)) if radius is None else radius)


def solutions(problem: FlipProblem) -> list[frozenset[int]]:
    """All sets of flips that meet every need."""
    found = []
    for flips in chain.from_iterable(combinations(range(N), k) for k in range(problem.budget + 1)):
        chosen = frozenset(flips)
        sums = [0] * len(problem.needs)
        for (wakes, stays), votes in zip(problem.keys, problem.votes, strict=True):
            if chosen.issuperset(wakes) and chosen.isdisjoint(stays):
                sums = [total + vote for total, vote in zip(sums, votes, strict=True)]
        if all(total >= need for total, need in zip(sums, problem.needs, strict=True)):
            found.append(chosen)
    return found


def random_multipliers(rng: Rng, tree: Refutation) -> None:
    if rng.random() < 0.5:
        tree.set_mix(rng.integers(0, 4, size=len(tree.problem.needs)).tolist())
    numbers: list[int] = []
    gap = 0
    for key, weight in zip(tree.problem.keys, tree.by.weights, strict=True):
        if rng.random() < 0.5:
            gap += 1
            continue
        numbers.append(gap)
        gap = 0
        if weight > 0:
            size = len(key[0]) + len(key[1])
            shares = rng.multinomial(tree.unit, np.full(size, 1 / size)).tolist()
            shares[0] += int(rng.integers(0, 2))  # more than the whole is allowed
            numbers += shares
        else:
            numbers.append(int(rng.integers(0, tree.unit + 1)))
    tree.set_multipliers(iter(numbers))


def inside(tree: Refutation, flips: frozenset[int]) -> bool:
    return all((f in flips) == value for f, value in branch_of(tree).fixed.items())


def test_the_bound_is_never_below_what_an_input_reaches() -> None:
    rng = np.random.default_rng(0)
    for _ in range(400):
        problem = random_problem(rng, int(rng.integers(1, 4)))
        tree = Refutation(problem, int(rng.integers(1, 9)), set(range(N)))
        random_multipliers(rng, tree)
        if problem.columns and rng.random() < 0.5:
            tree.split(problem.columns[0], 1)
        for found in solutions(problem):
            if inside(tree, found):
                assert tree.branch.reach(tree.by) >= tree.by.need


@pytest.mark.parametrize("seed", first(2, range(4)))
def test_no_series_of_steps_refutes_what_has_a_solution(seed: int) -> None:
    """Random steps, whatever the checker lets pass: a problem with a solution is never done."""
    rng = np.random.default_rng(seed)
    done: Counter[bool] = Counter()
    for _ in range(400):
        problem = random_problem(rng, int(rng.integers(1, 4)))
        solvable = bool(solutions(problem))
        tree = Refutation(problem, int(rng.integers(1, 9)), set(range(N)))
        for _ in range(40):
            try:
                random_step(rng, tree, problem)
            except Refused:
                continue  # a certificate would be refused here; whatever else is tried must not help
            if tree.done:
                break
        assert not (solvable and tree.done), problem.__dict__
        done[tree.done] += 1
    assert min(done[True], done[False]) > 20


def random_step(rng: Rng, tree: Refutation, problem: FlipProblem) -> None:
    step = rng.choice(["close", "fix", "split", "shrink", "multipliers", "rewrite", "divide", "cover"])
    if step == "multipliers":
        random_multipliers(rng, tree)
    elif step == "split":
        tree.split(int(rng.integers(0, N)), int(rng.integers(0, 2)))
    elif step == "rewrite":
        n = len(tree.problem.keys)
        chosen = rng.permutation(n)[: int(rng.integers(0, 3))].tolist()
        tree.rewrite([(j, int(rng.integers(0, N))) for j in chosen])
    elif step == "cover":
        clauses = rng.permutation(len(tree.problem.keys))[: int(rng.integers(0, 3))].tolist()
        tree.cover(clauses, lambda cube: not any(in_cube(cube, s) for s in solutions(problem)))
    else:
        getattr(tree, str(step))()


def in_cube(cube: tuple[int, ...], flips: frozenset[int]) -> bool:
    return all((abs(literal) - 1 in flips) == (literal > 0) for literal in cube)


def test_specialising_keeps_every_solution() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        problem = random_problem(rng, 2)
        fixed = {f: bool(rng.random() < 0.3) for f in rng.choice(N, size=2, replace=False).tolist()}
        radius = problem.budget - sum(fixed.values())
        if radius < 0:
            continue
        clauses = ((*key, votes) for key, votes in zip(problem.keys, problem.votes, strict=True))
        groups, given = specialised(clauses, fixed, radius, 2)
        smaller = problem_of(groups, [n - g for n, g in zip(problem.needs, given, strict=True)], radius)
        flipped = {f for f, value in fixed.items() if value}
        expected = {
            found - flipped
            for found in solutions(problem)
            if all((f in found) == value for f, value in fixed.items())
        }
        assert {found for found in solutions(smaller) if found.isdisjoint(fixed)} == expected


def test_no_rewriting_by_a_feature_that_is_fixed_for_good() -> None:
    """It would come back as one that stays, and a cover by such a clause would look in the wrong subcube."""
    problem = problem_of({((0,), ()): (3,), ((1,), ()): (1,), ((2,), ()): (1,)}, [4], 3)
    tree = Refutation(problem, 1, {0, 1, 2})
    tree.fix()
    assert branch_of(tree).fixed[0]
    tree.shrink()
    tree.rewrite([(0, 2)])
    with pytest.raises(Refused, match="not there"):
        tree.rewrite([(0, 0)])


def test_rewriting_and_dividing_keep_every_solution() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        problem = random_problem(rng, 2)
        doubled = problem_of(
            {
                key: tuple(2 * v for v in votes)
                for key, votes in zip(problem.keys, problem.votes, strict=True)
            },
            problem.needs,
            problem.budget,
        )
        tree = Refutation(doubled, 1, set(range(N)))
        before = solutions(branch_of(tree).problem)
        chosen = rng.permutation(len(tree.problem.keys))[:3].tolist()
        tree.rewrite([(j, int(rng.integers(0, N))) for j in chosen])
        tree.divide()
        assert solutions(branch_of(tree).problem) == before


def test_clauses_rewritten_once_have_the_same_solutions() -> None:
    """For every pair of constraints, and several rounds of rewriting."""
    rng = np.random.default_rng(5)
    for _ in range(150):
        case = random_case(rng)
        scoped = [read_model(encode(model)).model.in_scope(case.scope) for model in (case.a, case.b)]
        machines = [machine for machine in scoped if isinstance(machine, Machine)]
        n = case.a.n_features
        bits = Bits(Pool(machines), n)
        n_rows = sum(len(machine.always) for machine in machines)
        constraints = [
            (tuple((row, int(rng.integers(-2, 3))) for row in range(n_rows)), int(rng.integers(-3, 4)))
            for _ in range(2)
        ]
        before = solutions(bits.problem(constraints))
        for _ in range(3):
            pairs = [(j, int(rng.integers(0, n))) for j in rng.permutation(3)[:2].tolist()]
            with contextlib.suppress(Refused):
                bits.rewrite(pairs)
        assert solutions(bits.problem(constraints)) == before


def test_the_formula_has_the_solutions_of_the_problem() -> None:
    rng = np.random.default_rng(3)
    outcomes: Counter[bool | None] = Counter()
    for _ in range(300):
        problem = random_problem(rng, int(rng.integers(1, 3)))
        clauses = formula(problem)
        exists = bool(solutions(problem))
        outcomes[None if clauses is None else exists] += 1
        if clauses is None:
            assert not exists
        else:
            assert sum(len(clause) == 1 for clause in clauses) == 1
            with Solver("cadical195", bootstrap_with=[list(clause) for clause in clauses]) as solver:
                assert solver.solve() == exists
    assert min(outcomes.values()) > 5


class TestLrat:
    """(a or b), (a or not b), (not a): not a, so b and not b."""

    clauses: ClassVar = [(1, 2), (1, -2), (-1,)]

    def test_a_proof_is_accepted(self) -> None:
        check_lrat(self.clauses, [[4, 2, 0, 3, 1, 0], [5, 0, 3, 4, 2, 0]])
        check_lrat(self.clauses, [[4, 1, 0, 1, 2, 0], [1], [2], [5, 0, 3, 4, 0]])

    @pytest.mark.parametrize(
        ("lines", "reason"),
        [
            ([], "empty clause"),
            ([[4, 2, 0, 3, 1, 0]], "empty clause"),
            ([[4, 0, 3, 0]], "conflict"),
            ([[4, 0, 1, 0]], "propagate"),
            ([[4, 0, 7, 0]], "not there"),
            ([[4, 0, -1, 0]], "not there"),
            ([[3, 2, 0, 3, 1, 0]], "out of order"),
            ([[4, 2, 0, 3, 1]], "out of order"),
            ([[4, 2]], "no end"),
            ([[4, 0]], "out of order"),
            ([[1], [4, 2, 0, 3, 1, 0]], "not there"),
            ([[4, -2, 0, 3, 1, 0], [5, 0, 3, 4, 1, 0]], "propagate|conflict"),
        ],
    )
    def test_what_proves_nothing_is_refused(self, lines: list[list[int]], reason: str) -> None:
        with pytest.raises(Refused, match=reason):
            check_lrat(self.clauses, lines)

    def test_a_formula_that_can_be_satisfied_has_no_proof(self) -> None:
        rng = np.random.default_rng(0)
        satisfiable: list[tuple[int, ...]] = [(1, 2), (1, -2), (2, 3)]
        for _ in range(500):
            lines = []
            for number in (4, 5, 6):
                clause = rng.integers(-3, 4, size=rng.integers(0, 3)).tolist()
                hints = rng.integers(1, number + 1, size=rng.integers(0, 4)).tolist()
                lines.append([number, *clause, 0, *hints, 0])
            with pytest.raises(Refused):
                check_lrat(satisfiable, [*lines, [8, 0, *rng.integers(1, 8, size=3).tolist(), 0]])
