"""The formula of a problem: its models, seen at the moves, are exactly the moves that solve it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from pysat.solvers import Solver

from support.batteries import few_or_many
from support.columns import random_column_case, values_of
from support.flips import random_toy
from support.moves import ColumnToy, random_column_toy
from tmverify.engines.sat import refutation, specialised
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.specialised import MoveLiterals, encode, encode_query
from tmverify.engines.search.problem import nothing_fixed, shrunk


def solvable(cnf: Cnf, variables: Sequence[int]) -> set[tuple[bool, ...]]:
    """The values of these variables that can be completed to a model."""
    with Solver(name="glucose4", bootstrap_with=[list(clause) for clause in cnf]) as solver:
        return {
            values
            for values in product((False, True), repeat=len(variables))
            if solver.solve([v if true else -v for v, true in zip(variables, values, strict=True)])
        }


def random_cases(rng: np.random.Generator, n_constraints: int) -> list[list[int]]:
    """Some cases, each of some constraints."""
    return [
        rng.permutation(n_constraints)[: rng.integers(1, n_constraints + 1)].tolist()
        for _ in range(int(rng.integers(1, 4)))
    ]


def holds(sums: Sequence[int], needs: Sequence[int], cases: Iterable[Iterable[int]]) -> bool:
    return any(all(sums[c] >= needs[c] for c in case) for case in cases)


def taken(toy: ColumnToy, choice: Sequence[int]) -> tuple[bool, ...]:
    """For each option but the references, whether it is chosen."""
    return tuple(choice[c] == o for c, own in enumerate(toy.costs) for o in range(1, len(own)))


def expect_moves(cnf: Cnf, literals: MoveLiterals, toy: ColumnToy, cases: Iterable[Iterable[int]]) -> int:
    variables = [v for v in literals.moves if v]
    assert variables == list(range(1, len(variables) + 1))
    expected = {
        taken(toy, choice)
        for choice in toy.choices()
        if toy.cost(choice) <= toy.radius and holds(toy.sums(choice), toy.needs, cases)
    }
    assert solvable(cnf, variables) == expected
    return len(expected)


@few_or_many(100, 1000)
@pytest.mark.parametrize("pairs", [0, 1 << 20])
def test_the_models_are_the_moves_that_satisfy_a_case(
    n_cases: int, pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With totalizers, and with adders."""
    monkeypatch.setattr(specialised, "MAX_TOTALIZER_PAIRS", pairs)
    rng = np.random.default_rng(0)
    counted = 0
    for _ in range(n_cases):
        k = int(rng.integers(1, 4))
        toy = random_column_toy(rng, n=int(rng.integers(1, 4)), n_clauses=6, n_constraints=k, options=4)
        cases = random_cases(rng, k)
        cnf, literals, outputs = encode(toy.problem(), cases)
        assert len(outputs) == len(toy.clauses)
        counted += expect_moves(cnf, literals, toy, cases)
    assert counted > n_cases


@few_or_many(100, 1000)
def test_the_formula_of_a_proof(n_cases: int) -> None:
    """Every constraint at once; None only if some bound can't be reached at all."""
    rng = np.random.default_rng(1)
    counted = 0
    for _ in range(n_cases):
        k = int(rng.integers(1, 4))
        toy = random_column_toy(rng, n=int(rng.integers(1, 4)), n_clauses=6, n_constraints=k, options=4)
        encoded = refutation.encode(toy.problem())
        if encoded is None:
            assert not any(toy.solved_by(choice) for choice in toy.choices())
        else:
            counted += expect_moves(*encoded, toy, [range(k)])
    assert counted > n_cases // 2


@few_or_many(60, 600)
def test_the_models_are_the_flips_that_satisfy_a_case(n_cases: int) -> None:
    rng = np.random.default_rng(2)
    for _ in range(n_cases):
        k = int(rng.integers(1, 4))
        toy = random_toy(rng, n=int(rng.integers(1, 6)), n_clauses=6, n_constraints=k)
        cases = random_cases(rng, k)
        cnf, literals, _ = encode(toy.problem(), cases)
        expected = set()
        for values in product((False, True), repeat=toy.n):
            flips = [i for i, flipped in enumerate(values) if flipped]
            if len(flips) <= toy.radius and holds(toy.sums(flips), toy.needs, cases):
                expected.add(values)
        assert solvable(cnf, literals.moves) == expected


@few_or_many(100, 1000)
def test_what_a_model_says_is_a_solution(n_cases: int) -> None:
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(n_cases):
        toy = random_column_toy(rng, n=4, n_clauses=8, n_constraints=2, options=4)
        problem = toy.problem()
        problem = shrunk(problem, nothing_fixed(problem))
        cnf, literals, _ = encode(problem, [range(2)])
        with Solver(name="glucose4", bootstrap_with=[list(clause) for clause in cnf]) as solver:
            if not solver.solve():
                assert not any(toy.solved_by(choice) for choice in toy.choices())
                continue
            solution = literals.solution(solver.get_model())
        choice = [0] * 4
        for bit in solution.flips:
            column = int(np.searchsorted(toy.first(), bit, side="right")) - 1
            choice[column] = bit - toy.first()[column]
        assert toy.solved_by(choice)
        assert toy.cost(choice) == solution.cost
        found += 1
    assert found > n_cases // 5


@few_or_many(150, 1500)
def test_the_formula_of_a_query(n_cases: int) -> None:
    """Each model is a witness, and each option is what it says: a value of a column, at its cost."""
    rng = np.random.default_rng(4)
    witnesses = 0
    for _ in range(n_cases):
        case = random_column_case(rng)
        query = case.query()
        if case.radius < np.inf and case.question != "equivalence":
            budget = max(0, int(case.radius) - int(rng.integers(0, 2)))
            query = replace(query, region=query.region.within(budget))
        formula = encode_query(query)
        for option in formula.options:
            z = query.region.with_flips(list(option.flips))
            assert query.region.cost(z) == option.cost
            assert values_of(case.space, z[None, :])[0, option.column] == option.value
        with Solver(name="glucose4", bootstrap_with=[list(clause) for clause in formula.cnf]) as solver:
            expected = case.radius <= query.region.radius
            assert solver.solve() == expected
            if expected:
                assert query.refuted_by(formula.decode(solver.get_model()))
                witnesses += 1
    assert witnesses > n_cases // 5
