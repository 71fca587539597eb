"""Every counter is checked on every input, for all n <= 8 and all bounds.

For each assignment of the inputs the formula has a model exactly when the bound holds, so the number of
models, seen from the inputs, is the number of assignments within the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement, product
from math import comb

import pytest
from pysat.solvers import Solver

from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.adder import adder_at_most
from tmverify.engines.sat.encodings.reified import at_least, at_least_size
from tmverify.engines.sat.encodings.sequential import sequential_counter
from tmverify.engines.sat.encodings.totalizer import totalizer_at_most, totalizer_size

AtMost = Callable[[Cnf, list[int], list[int], int], list[int]]


def sequential_at_most(cnf: Cnf, inputs: list[int], weights: list[int], limit: int) -> list[int]:
    repeated = [lit for lit, w in zip(inputs, weights, strict=True) for _ in range(w)]
    if len(repeated) <= limit:
        return []
    return [int(sequential_counter(cnf, repeated, limit + 1)[-1])]


AT_MOST: list[AtMost] = [sequential_at_most, totalizer_at_most, adder_at_most]


def assignments(inputs: list[int]) -> Iterator[list[int]]:
    for signs in product((1, -1), repeat=len(inputs)):
        yield [s * v for s, v in zip(signs, inputs, strict=True)]


def within_bound(at_most: AtMost, weights: list[int], limit: int) -> int:
    """Impose the bound; check each assignment of the inputs against it; return how many are models."""
    cnf = Cnf()
    inputs = [cnf.new_var() for _ in weights]
    exceeds = at_most(cnf, inputs, weights, limit)
    models = 0
    with Solver(name="cadical195", bootstrap_with=[list(c) for c in cnf]) as solver:
        for chosen in assignments(inputs):
            total = sum(w for lit, w in zip(chosen, weights, strict=True) if lit > 0)
            assert solver.solve(assumptions=chosen)  # the encoding alone forbids nothing
            possible = solver.solve(assumptions=[*chosen, *(-lit for lit in exceeds)])
            assert possible == (total <= limit), (weights, limit, chosen)
            models += possible
    return models


@pytest.mark.parametrize("at_most", AT_MOST)
@pytest.mark.parametrize("n", range(9))
def test_unit_weights(at_most: AtMost, n: int) -> None:
    for limit in range(n + 2):
        assert within_bound(at_most, [1] * n, limit) == sum(comb(n, i) for i in range(limit + 1))


@pytest.mark.parametrize("at_most", AT_MOST)
def test_weights(at_most: AtMost) -> None:
    for n in range(1, 5):
        for weights in combinations_with_replacement((1, 2, 3, 5), n):
            for limit in range(sum(weights) + 1):
                within_bound(at_most, list(weights), limit)


@pytest.mark.parametrize("n", range(1, 9))
def test_sequential_counter_is_an_equivalence(n: int) -> None:
    """Eq. 2 defines every r[i, j]: exactly one model per assignment, and the last row counts."""
    for k in range(1, n + 1):
        cnf = Cnf()
        inputs = [cnf.new_var() for _ in range(n)]
        last = sequential_counter(cnf, inputs, k).tolist()
        assert cnf.n_vars == n + n * k
        with Solver(name="cadical195", bootstrap_with=[list(c) for c in cnf]) as solver:
            models = list(solver.enum_models())
        assert len(models) == 2**n
        for model in models:
            count = sum(lit > 0 for lit in model[:n])
            assert [model[r - 1] > 0 for r in last] == [count >= j for j in range(1, k + 1)]


def test_negative_inputs_are_counted_as_literals() -> None:
    for at_most in AT_MOST:
        cnf = Cnf()
        a, b = cnf.new_var(), cnf.new_var()
        (exceeds,) = at_most(cnf, [-a, b], [1, 1], 0)
        with Solver(name="cadical195", bootstrap_with=[list(c) for c in cnf]) as solver:
            assert not solver.solve(assumptions=[-exceeds, -a])
            assert not solver.solve(assumptions=[-exceeds, b])
            assert solver.solve(assumptions=[-exceeds, a, -b])


def test_totalizer_size_counts_before_building() -> None:
    weights = list(range(1, 15))
    cnf = Cnf()
    inputs = [cnf.new_var() for _ in weights]
    totalizer_at_most(cnf, inputs, weights, 40)
    assert cnf.n_clauses <= totalizer_size(weights, 40, 10**9) + cnf.n_vars
    assert totalizer_size(weights, 40, 10) > 10


@pytest.mark.parametrize("turned", [False, True], ids=["literals", "negated"])
@pytest.mark.parametrize("n", range(1, 9))
def test_a_reified_count_is_an_equivalence(n: int, turned: bool) -> None:
    """One model for each assignment, and in it the literal says whether at least k inputs are true."""
    for k in range(1, n + 1):
        cnf = Cnf()
        inputs = [-cnf.new_var() if turned and i % 2 else cnf.new_var() for i in range(n)]
        literal = at_least(cnf, inputs, k)
        if k > n - k + 1:  # the other half is counted
            other = Cnf()
            mirrored = [-other.new_var() if lit > 0 else other.new_var() for lit in inputs]
            assert literal == -at_least(other, mirrored, n - k + 1)
            assert list(cnf) == list(other)
        with Solver(name="cadical195", bootstrap_with=[list(c) for c in cnf]) as solver:
            if n == 1:
                assert (list(cnf), literal) == ([], inputs[0])
                continue
            models = [set(model) for model in solver.enum_models()]
        assert len(models) == 2**n
        assert len({tuple(v in model for v in range(1, n + 1)) for model in models}) == 2**n
        for model in models:
            assert (literal in model) == (sum(lit in model for lit in inputs) >= k)
            assert (-literal in model) != (literal in model)


def test_a_reified_count_of_a_literal_several_times_and_of_its_negation() -> None:
    for k in range(1, 5):
        cnf = Cnf()
        a, b = cnf.new_var(), cnf.new_var()
        literal = at_least(cnf, [a, a, -a, b], k)
        with Solver(name="cadical195", bootstrap_with=[list(c) for c in cnf]) as solver:
            for chosen in assignments([a, b]):
                count = (2 if chosen[0] > 0 else 1) + (chosen[1] > 0)
                assert solver.solve(assumptions=[*chosen, literal]) == (count >= k)
                assert solver.solve(assumptions=[*chosen, -literal]) == (count < k)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 41, 100])
def test_reified_size_counts_before_building(n: int) -> None:
    for k in range(1, n + 1, max(1, n // 7)):
        cnf = Cnf()
        at_least(cnf, [cnf.new_var() for _ in range(n)], k)
        written = sum(len(clause) for clause in cnf)
        assert written <= at_least_size(n, k) + 2 * cnf.n_vars
        assert at_least_size(n, k) <= 4 * written + 10
        assert at_least_size(n, k) == at_least_size(n, n - k + 1)
