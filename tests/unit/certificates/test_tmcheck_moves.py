"""Problems over moves against enumeration: the normal form, the bound, the steps, the formula.

Everything is compared with all inputs of tiny random problems, whose columns have two to four options at
costs from 0 to 3, in whatever order.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
import pytest
from pysat.solvers import Solver

from support.batteries import first
from tmcheck.branches import MoveBranch, reach_and_prices
from tmcheck.errors import Refused
from tmcheck.flips import FlipProblem
from tmcheck.formula import formula
from tmcheck.moves import MoveProblem, Sets, places, problem_of, simplified, with_references
from tmcheck.refutation import Refutation
from tmcheck.region import Options

Rng = np.random.Generator
Input = tuple[int, ...]  # the value of each column
COLUMNS = (2, 5, 7, 11)  # their numbers


@dataclass(frozen=True)
class Raw:
    """A problem before it has its normal form."""

    options: dict[int, Options]
    clauses: list[tuple[list[tuple[int, int]], tuple[int, ...]]]
    needs: list[int]
    budget: int

    def inputs(self) -> list[Input]:
        """All inputs within the budget."""
        found = []
        for chosen in product(*(range(len(self.options[c].values)) for c in COLUMNS)):
            costs = [self.options[c].costs[o] for c, o in zip(COLUMNS, chosen, strict=True)]
            if sum(costs) <= self.budget:
                found.append(tuple(self.options[c].values[o] for c, o in zip(COLUMNS, chosen, strict=True)))
        return found

    def solves(self, x: Input) -> bool:
        """Whether an input meets every need."""
        place = {c: self.options[c].values.index(v) for c, v in zip(COLUMNS, x, strict=True)}
        sums = np.zeros(len(self.needs), int)
        for literals, votes in self.clauses:
            if all(chosen >> place[c] & 1 for c, chosen in literals):
                sums += votes
        return bool((sums >= self.needs).all())

    def solutions(self) -> list[Input]:
        return [x for x in self.inputs() if self.solves(x)]

    def problem(self) -> FlipProblem | MoveProblem | None:
        options, budget = with_references(self.options, self.budget)
        if budget < 0:
            return None
        groups, given = simplified(self.clauses, options, budget, len(self.needs))
        needs = [need - g for need, g in zip(self.needs, given, strict=True)]
        return problem_of(groups, options, needs, budget)


def random_raw(rng: Rng, *, flags: bool = False) -> Raw:
    options = {}
    for c in COLUMNS:
        n = 2 if flags else int(rng.integers(1, 5))
        values = sorted(rng.choice(9, size=n, replace=False).tolist())
        costs = [0, 1] if flags else rng.integers(0, 4, size=n).tolist()
        reference = 0 if flags else int(rng.integers(0, n))
        if not flags and rng.random() < 0.7:
            costs[reference] = 0
        options[c] = Options(values, costs, reference)
    n_constraints = int(rng.integers(1, 4))
    clauses = []
    for _ in range(int(rng.integers(1, 9))):
        columns = sorted(rng.choice(COLUMNS, size=int(rng.integers(1, 4)), replace=False).tolist())
        literals = [(c, int(rng.integers(0, 1 << len(options[c].values)))) for c in columns]
        clauses.append((literals, tuple(rng.integers(-3, 4, size=n_constraints).tolist())))
    needs = rng.integers(-2, 4, size=n_constraints).tolist()
    return Raw(options, clauses, needs, int(rng.integers(0, 8)))


def problems(rng: Rng, count: int, *, flags: bool = False) -> list[tuple[Raw, FlipProblem | MoveProblem]]:
    found: list[tuple[Raw, FlipProblem | MoveProblem]] = []
    while len(found) < count:
        raw = random_raw(rng, flags=flags)
        problem = raw.problem()
        if problem is not None:
            found.append((raw, problem))
    return found


def merged_solutions(problem: FlipProblem | MoveProblem) -> set[frozenset[tuple[int, int]]]:
    """The solutions of a problem in normal form, as values of its columns."""
    if isinstance(problem, FlipProblem):
        columns = [[(c, v, i) for i, v in enumerate(problem.values(c))] for c in problem.columns]
    else:
        columns = [
            [(c, v, cost) for v, cost in zip(found.values, found.costs, strict=True)]
            for c, found in zip(problem.columns, problem.options, strict=True)
        ]
    solutions = set()
    for chosen in product(*columns):
        if sum(cost for _, _, cost in chosen) > problem.budget:
            continue
        sums = np.zeros(len(problem.needs), int)
        for key, votes in zip(problem.keys, problem.votes, strict=True):
            if _is_true(problem, key, {c: v for c, v, _ in chosen}):
                sums += votes
        if (sums >= problem.needs).all():
            solutions.add(frozenset((c, v) for c, v, _ in chosen))
    return solutions


def _is_true(
    problem: FlipProblem | MoveProblem, key: tuple[tuple[int, ...], tuple[int, ...]], x: dict[int, int]
) -> bool:
    if isinstance(problem, FlipProblem):
        wakes, stays = key
        flipped = {c for c in problem.columns if x[c] == problem.values(c)[1]}
        return flipped.issuperset(wakes) and flipped.isdisjoint(stays)
    for number in (*key[0], *key[1]):
        i, chosen, _ = problem.literals[number]
        if not chosen >> problem.options[i].values.index(x[problem.columns[i]]) & 1:
            return False
    return True


def test_the_normal_form_has_a_solution_iff_the_problem_has() -> None:
    """What is left of every solution is one, and every one is left of some."""
    rng = np.random.default_rng(0)
    kinds: Counter[object] = Counter()
    for raw, problem in problems(rng, 500):
        left = merged_solutions(problem)
        whole = raw.solutions()
        assert bool(left) == bool(whole)
        kept = {frozenset(zip(COLUMNS, x, strict=True)) for x in whole}
        assert all(any(some <= x for x in kept) for some in left)
        kinds[type(problem), bool(left)] += 1
    assert min(kinds.values()) > 20
    assert len(kinds) == 4


def random_multipliers(rng: Rng, tree: Refutation) -> None:
    if rng.random() < 0.5:
        tree.set_mix(rng.integers(0, 4, size=len(tree.problem.needs)).tolist())
    numbers: list[int] = []
    for key, weight in zip(tree.problem.keys, tree.by.weights, strict=True):
        numbers.append(0)
        if weight > 0:
            size = len(key[0]) + len(key[1])
            numbers += rng.multinomial(tree.unit, np.full(size, 1 / size)).tolist()
        else:
            numbers.append(int(rng.integers(0, tree.unit + 1)))
    tree.set_multipliers(iter(numbers))


def alive(tree: Refutation) -> dict[int, set[int]]:
    """The values that are not ruled out, of the columns of the problem."""
    if isinstance(tree.branch, MoveBranch):
        problem = tree.branch.problem
        return {
            c: {found.values[o] for o in places(tree.branch.alive[i])}
            for i, (c, found) in enumerate(zip(problem.columns, problem.options, strict=True))
        }
    fixed = tree.branch.fixed
    return {
        c: {tree.branch.problem.values(c)[fixed[c]]} if c in fixed else set(tree.branch.problem.values(c))
        for c in tree.branch.problem.columns
    }


@pytest.mark.parametrize("flags", [False, True])
def test_no_planted_solution_is_ever_ruled_out(flags: bool) -> None:
    """Splits follow a solution of the normal form: no bound, no 'fix' and no 'close' excludes it."""
    rng = np.random.default_rng(1)
    fixes = closings = 0
    for _, problem in problems(rng, 400, flags=flags):
        solutions = sorted(map(sorted, merged_solutions(problem)))
        if not solutions:
            continue
        planted = dict(solutions[rng.integers(0, len(solutions))])
        tree = Refutation(problem, int(rng.integers(1, 9)))
        for _ in range(6):
            random_multipliers(rng, tree)
            assert tree.branch.reach(tree.by) >= tree.by.need
            with contextlib.suppress(Refused):
                tree.fix()
                fixes += 1
            assert all(planted[c] in left for c, left in alive(tree).items())
            with pytest.raises(Refused):
                tree.close()
            free = [c for c, left in alive(tree).items() if len(left) > 1]
            if free:
                c = int(rng.choice(free))
                tree.split(c, planted[c])
                closings += 1
    assert fixes > 30
    assert closings > 100


@pytest.mark.parametrize("seed", first(2, range(6)))
def test_no_series_of_steps_refutes_what_has_a_solution(seed: int) -> None:
    """Random steps, whatever the checker lets pass: a problem with a solution is never done."""
    rng = np.random.default_rng(seed)
    done: Counter[bool] = Counter()
    for raw, problem in problems(rng, 300):
        tree = Refutation(problem, int(rng.integers(1, 9)))
        for _ in range(60):
            step = str(rng.choice(["close", "fix", "split", "shrink", "multipliers"]))
            try:
                if step == "multipliers":
                    random_multipliers(rng, tree)
                elif step == "split":
                    tree.split(int(rng.choice(COLUMNS)), int(rng.integers(0, 9)))
                else:
                    getattr(tree, step)()
            except Refused:
                continue  # a certificate would be refused here; whatever else is tried must not help
            if tree.done:
                break
        assert not (raw.solutions() and tree.done)
        done[tree.done] += 1
    assert min(done[True], done[False]) > 20


def test_splitting_at_everything_refutes_what_has_no_solution() -> None:
    """The steps are complete: without any multipliers, a tree of splits closes."""
    rng = np.random.default_rng(2)
    count = 0
    for _, problem in problems(rng, 300):
        if merged_solutions(problem):
            continue
        tree = Refutation(problem, 4)
        count += 1
        while not tree.done:
            try:
                tree.close()
            except Refused:
                c, left = next((c, left) for c, left in alive(tree).items() if len(left) > 1)
                tree.split(c, int(rng.choice(sorted(left))))
    assert count > 50


def as_moves(problem: FlipProblem) -> MoveProblem:
    """The same problem, the slow way."""
    options = {}
    for c in problem.columns:
        values = list(problem.values(c))
        order = sorted(range(2), key=values.__getitem__)
        options[c] = Options(sorted(values), order, order.index(0))
    groups: Sets = {}
    for (wakes, stays), votes in zip(problem.keys, problem.votes, strict=True):
        away = {c: 1 << 1 - options[c].reference for c in problem.columns}
        key = tuple((c, away[c]) for c in wakes), tuple((c, 3 ^ away[c]) for c in stays)
        groups[key] = votes
    return MoveProblem(groups, options, problem.needs, problem.budget)


def test_flips_are_the_moves_that_they_are() -> None:
    """Fast and slow do the same at every step: accept or refuse, rule out, shrink, and encode."""
    rng = np.random.default_rng(3)
    outcomes: Counter[str] = Counter()
    for _, problem in problems(rng, 300, flags=True):
        assert isinstance(problem, FlipProblem)
        slow = as_moves(problem)
        assert formula(problem) == formula(slow)
        unit = int(rng.integers(1, 9))
        trees = [Refutation(problem, unit), Refutation(slow, unit)]
        for _ in range(25):
            step = str(rng.choice(["close", "fix", "fix", "split", "shrink", "multipliers"]))
            seed, c, v = int(rng.integers(0, 1 << 30)), int(rng.choice(COLUMNS)), int(rng.integers(0, 9))
            said = []
            for tree in trees:
                try:
                    if step == "multipliers":
                        random_multipliers(np.random.default_rng(seed), tree)
                    elif step == "split":
                        tree.split(c, v)
                    else:
                        getattr(tree, step)()
                    said.append(step)
                except Refused as reason:
                    said.append(str(reason))
            assert said[0] == said[1]
            outcomes[said[0]] += 1
            if trees[0].done:
                assert trees[1].done
                break
            assert alive(trees[0]) == alive(trees[1])
            if trees[0].branch.slack() >= 0:
                assert trees[0].branch.reach(trees[0].by) == trees[1].branch.reach(trees[1].by)
            if step == "shrink":  # by itself, what is left becomes a problem over flips
                trees[1]._plant(as_moves(trees[0].problem), trees[1].by.mix)  # type: ignore[arg-type]
                trees[0]._plant(trees[0].problem, trees[0].by.mix)
    assert {"close", "fix", "split", "shrink"} <= set(outcomes)


def test_prices_are_those_of_a_naive_search() -> None:
    rng = np.random.default_rng(4)
    seen: Counter[bool] = Counter()
    for _ in range(2000):
        budget = int(rng.integers(0, 8))
        columns = [
            [
                (o, int(rng.integers(-9, 10)), int(cost))
                for o, cost in enumerate(rng.integers(0, 4, size=rng.integers(1, 5)))
            ]
            for _ in range(int(rng.integers(1, 6)))
        ]
        slack = budget - sum(min(cost for _, _, cost in options) for options in columns)
        if slack < 0:
            continue
        feasible = [
            [option for option in options if option[2] - min(cost for _, _, cost in options) <= slack]
            for options in columns
        ]
        constant = int(rng.integers(-5, 6))
        values = [
            constant + p * budget + sum(max(g - p * k for _, g, k in options) for options in feasible)
            for p in range(40)
        ]
        reach, (p1, p2) = reach_and_prices(constant, budget, feasible)
        assert reach == min(values) == values[p1] == values[p2]
        if slack:
            rises = [b - a for a, b in pairwise(values)]
            assert p1 == next(p for p, rise in enumerate(rises) if rise >= 0)
            assert p2 == next(p for p, rise in enumerate(rises) if rise > 0)
        else:
            assert p1 == p2 == 0
        seen[p1 < p2] += 1
    assert min(seen.values()) > 50


def test_prices_of_very_large_gains() -> None:
    """Beyond what an index may be."""
    huge = 1 << 100
    feasible = [[(0, 0, 0), (1, 3 * huge, 2)], [(0, 0, 0), (1, huge, 1)], [(0, 0, 0), (1, huge + 1, 1)]]
    reach, (p1, p2) = reach_and_prices(0, 2, feasible)
    assert reach == 2 * p1 + sum(max(0, g - p1 * k) for _, (_, g, k) in feasible)
    assert p1 <= p2


def test_the_models_of_the_formula_are_the_solutions() -> None:
    """Projected on the variables of options: each move within the budget that solves it, and no other."""
    rng = np.random.default_rng(5)
    kinds: Counter[object] = Counter()
    for _, problem in problems(rng, 250):
        clauses = formula(problem)
        expected = merged_solutions(problem)
        kinds[type(problem), clauses is None, bool(expected)] += 1
        if clauses is None:
            assert not expected
            continue
        assert sum(len(clause) == 1 for clause in clauses) == 1
        moves: list[tuple[int, int]] = []  # of each variable: the column and its value
        present: dict[int, int] = {}
        for i, c in enumerate(problem.columns):
            if isinstance(problem, FlipProblem):
                present[c], other = problem.values(c)
                moves.append((c, other))
            else:
                values, _, reference = problem.options[i]
                present[c] = values[reference]
                moves += [(c, v) for v in values if v != present[c]]
        found = set()
        with Solver("cadical153", bootstrap_with=[list(clause) for clause in clauses]) as solver:
            for signs in product([1, -1], repeat=len(moves)):
                if solver.solve(assumptions=[sign * (k + 1) for k, sign in enumerate(signs)]):
                    chosen = [move for move, sign in zip(moves, signs, strict=True) if sign > 0]
                    assert len({c for c, _ in chosen}) == len(chosen)
                    found.add(frozenset((present | dict(chosen)).items()))
        assert found == expected
    assert len(kinds) >= 5


def test_where_the_prices_together_rule_out_all_options_the_branch_can_be_closed_only() -> None:
    """Two columns whose other value costs 2 and gives 3 votes: with a budget of 2, the need of 4 is not met.

    At the price 1 each column's other value is best, at 2 its present one; the reach is 4 at both.
    """
    options = {c: Options([0, 1], [0, 2], 0) for c in (0, 1)}
    problem = MoveProblem({(((c, 2),), ()): (3,) for c in (0, 1)}, options, [4], 2)
    assert not merged_solutions(problem)
    tree = Refutation(problem, 1)
    assert isinstance(tree.branch, MoveBranch)
    assert tree.branch.bound(tree.by)[:2] == (4, (1, 2))
    tree.fix()
    assert alive(tree) == {0: set(), 1: set()}
    for step in (tree.fix, tree.shrink):
        with pytest.raises(Refused, match="budget is spent"):
            step()
    with pytest.raises(Refused, match="not free"):
        tree.split(0, 1)
    tree.close()
    assert tree.done
