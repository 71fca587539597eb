"""The bound: every kernel against its twin in big integers, and the bound against every set of flips."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from support.batteries import few_or_many
from support.flips import (
    Clause,
    Multipliers,
    Toy,
    credits_of,
    dead_under,
    mask,
    random_fixed,
    random_flips,
    random_toy,
    subsets,
)
from support.parts import from_python
from tmverify.engines.search import _bound
from tmverify.engines.search._bound import FREE, count_votes, first_multipliers

choose_flips, kth_largest = from_python(_bound.choose_flips), from_python(_bound.kth_largest)
mix_votes, relaxed_votes = from_python(_bound.mix_votes), from_python(_bound.relaxed_votes)

# Multipliers that no step would ever make: the bound must hold all the same.
GARBAGE = np.array([np.nan, np.inf, -np.inf, -1.0, -1e-3, 0.0, 1e-30, 0.3, 1.0, 1.5, 1e30], np.float32)
UNITS = (1, 7, 64, 1 << 20)


def sane(toy: Toy, rng: np.random.Generator) -> Multipliers:
    """A share that sums to 1 in each clause, loads between 0 and 1."""
    shares = [rng.dirichlet(np.full(len(clause.literals()), 0.7)) for clause in toy.clauses]
    load, lean = rng.random(len(toy.clauses)), rng.random(toy.n)
    return Multipliers(
        np.concatenate([[], *shares]).astype(np.float32), load.astype(np.float32), lean.astype(np.float32)
    )


def garbage(toy: Toy, rng: np.random.Generator) -> Multipliers:
    size = sum(len(clause.literals()) for clause in toy.clauses)
    step = rng.choice([0.0, 1e-3, 1.0, 1e3, 1e30, 1e300, -1.0, np.nan, np.inf])
    return Multipliers(
        rng.choice(GARBAGE, size=size),
        rng.choice(GARBAGE, size=len(toy.clauses)),
        rng.choice(np.array([0, 0.3, 0.5, 1], np.float32), size=toy.n),
        float(step),
        int(rng.integers(100)),
        rng.random(len(toy.clauses)) < 0.5,
    )


def bound_of(
    toy: Toy, fixed: NDArray[np.int8], given: Multipliers, unit: int
) -> tuple[int, NDArray[np.int64], float]:
    """The constant, the credits and the slope of a problem with one constraint."""
    problem = toy.problem()
    return credits_of(problem, problem.votes[0], dead_under(toy, fixed), given, unit)


def whole_part(multiplier: np.float32, unit: int) -> int:
    """t of the multiplier t / unit: rounded down, between 0 and ``unit``; nonsense is either of them."""
    value = float(multiplier) * unit
    return 0 if not value > 0 else unit if value >= unit else int(value)


def twin_credits(
    clause: Clause,
    weight: int,
    share: NDArray[np.float32],
    load: np.float32,
    unit: int,
    n: int,
) -> list[tuple[int, list[int]]]:
    """A right-hand side of ``_bound``: w c <= sum a_l lit_l, or w c <= v (n - 1 - sum lit_l).

    Where the parts a_l do not make up the weight, any literal may have the rest: a result for each. A clause
    that must be woken may also leave out what its other literals have.
    """
    literals = clause.literals()
    if weight < 0:
        v = -weight * whole_part(load, unit)
        return [_summed(literals, [-v] * len(literals), v * (len(literals) - 1), n)]
    parts = [whole_part(s, unit) for s in share]
    fewer = [part if wakes else 0 for part, (_, wakes) in zip(parts, literals, strict=True)]
    results = []
    for some in [parts, fewer] if clause.wakes else [parts]:
        for chosen in range(len(literals)):
            whole = [a + max(0, unit - sum(some)) * (k == chosen) for k, a in enumerate(some)]
            results.append(_summed(literals, [weight * a for a in whole], 0, n))
    return results


def _summed(
    literals: list[tuple[int, bool]], factors: list[int], constant: int, n: int
) -> tuple[int, list[int]]:
    """constant + sum factor_l lit_l as a constant and a credit per feature: lit is y, or 1 - y."""
    credits = [0] * n
    for (feature, wakes), factor in zip(literals, factors, strict=True):
        credits[feature] += factor if wakes else -factor
        constant += 0 if wakes else factor
    return constant, credits


def tiny(rng: np.random.Generator, **changes: Any) -> Toy:
    shape = {"n": int(rng.integers(1, 7)), "n_clauses": int(rng.integers(0, 9)), "n_constraints": 1}
    return random_toy(rng, **{**shape, **changes})


def test_mixing_votes() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        toy = tiny(rng, n_constraints=int(rng.integers(1, 5)), heaviest=2**33)
        mix = rng.integers(0, 1025, size=len(toy.needs))
        total = np.empty(len(toy.clauses), np.int64)
        problem = toy.problem()
        need = mix_votes(problem.arrays, mix, total)
        assert need == sum(int(m) * n for m, n in zip(mix, toy.needs, strict=True))
        for j, weight in enumerate(total.tolist()):
            assert weight == sum(int(m) * row[j] for m, row in zip(mix, toy.votes, strict=True))


@few_or_many(200, 500)
@pytest.mark.parametrize("heaviest", [1, 3, 2**32])
def test_the_credits_of_a_clause(n_cases: int, heaviest: int) -> None:
    """From the multipliers that the step left behind, in integers, to the last unit."""
    rng = np.random.default_rng(heaviest)
    for _ in range(n_cases):
        toy = tiny(rng, n_clauses=1, heaviest=heaviest)
        fixed = random_fixed(rng, toy.n, 0.2)
        multipliers = some(toy, rng)
        unit = int(rng.choice(UNITS))
        constant, credits, _ = bound_of(toy, fixed, multipliers, unit)
        (clause,), ((weight,),) = toy.clauses, toy.votes
        if weight == 0 or dead_under(toy, fixed)[0]:
            assert (constant, credits.tolist()) == (0, [0] * toy.n)
        else:
            expected = twin_credits(clause, weight, multipliers.share, multipliers.load[0], unit, toy.n)
            assert (constant, credits.tolist()) in expected


def test_the_credits_of_clauses_add_up() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        toy = tiny(rng)
        fixed = random_fixed(rng, toy.n, 0.2)
        given = replace(some(toy, rng), wide=None)
        sum_, sums, k = 0, np.zeros(toy.n, np.int64), 0
        for j, clause in enumerate(toy.clauses):
            one = replace(toy, clauses=(clause,), votes=((toy.votes[0][j],),))
            part = slice(k, k := k + len(clause.literals()))
            alone = replace(given, share=given.share[part].copy(), load=given.load[j : j + 1].copy())
            constant, credits, _ = bound_of(one, fixed, alone, 64)
            sum_, sums = sum_ + constant, sums + credits
        constant, credits, _ = bound_of(toy, fixed, given, 64)
        assert (constant, credits.tolist()) == (sum_, sums.tolist())


def some(toy: Toy, rng: np.random.Generator) -> Multipliers:
    multipliers = sane(toy, rng) if rng.random() < 0.7 else finite(garbage(toy, rng))
    multipliers.step = float(rng.choice([0.0, 0.1, 10.0]))
    multipliers.wide = None
    return multipliers


def finite(multipliers: Multipliers) -> Multipliers:
    """What a processor makes of an infinite or overflowing float as an integer is its own affair."""
    few = np.float32(4.0)
    return replace(
        multipliers,
        share=np.clip(np.nan_to_num(multipliers.share), -few, few),
        load=np.clip(np.nan_to_num(multipliers.load), -few, few),
    )


@pytest.mark.parametrize("multipliers", [sane, garbage])
@pytest.mark.parametrize("unit", UNITS)
def test_no_flips_beat_the_bound_whatever_the_multipliers(multipliers: Any, unit: int) -> None:
    rng = np.random.default_rng(unit)
    tight = 0
    for _ in range(250):
        toy = tiny(rng, heaviest=int(rng.choice([1, 3, 10**6])))
        fixed = random_fixed(rng, toy.n, float(rng.choice([0.0, 0.3])))
        given = multipliers(toy, rng)
        if multipliers is sane:
            given.step = float(rng.choice([0.0, 0.1, 10.0]))
        constant, credits, _ = bound_of(toy, fixed, given, unit)
        for flips in subsets(toy.n, toy.n):
            if all(fixed[f] in (FREE, f in flips) for f in range(toy.n)):
                votes = toy.sums(flips)[0]
                bound = constant + int(credits[list(flips)].sum())
                assert bound >= votes * unit
                tight += bound == votes * unit
    assert tight > 100  # a bound that is never reached would hide an error of one unit


def test_a_step_keeps_the_multipliers_what_they_are() -> None:
    """share sums to 1 in live clauses of positive weight, 0 <= load <= 1; the others are left alone."""
    rng = np.random.default_rng(3)
    for _ in range(300):
        toy = tiny(rng)
        fixed = random_fixed(rng, toy.n, 0.2)
        dead = dead_under(toy, fixed)
        given = sane(toy, rng)
        given.step = float(rng.choice([0.01, 1.0, 1e3]))
        before = replace(given, share=given.share.copy(), load=given.load.copy())
        *_, norm = bound_of(toy, fixed, given, 64)
        assert norm >= -1e-4
        assert ((given.load >= 0) & (given.load <= 1)).all()
        k = 0
        for j, clause in enumerate(toy.clauses):
            part = slice(k, k := k + len(clause.literals()))
            if dead[j] or toy.votes[0][j] <= 0:
                assert (given.share[part] == before.share[part]).all()
            else:
                assert given.share[part].sum() == pytest.approx(1, abs=1e-5)
                assert (given.share[part] >= 0).all()
            if dead[j] or toy.votes[0][j] >= 0:
                assert given.load[j] == before.load[j]


def test_steps_bring_the_bound_down() -> None:
    """At the flips that the bound likes best, a small step never raises it, and mostly lowers it."""
    rng = np.random.default_rng(4)
    unit = 1 << 20
    lower = 0
    for _ in range(200):
        toy = tiny(rng, n=6, n_clauses=10)
        fixed = np.full(toy.n, FREE, np.int8)
        given = sane(toy, rng)
        constant, credits, _ = bound_of(toy, fixed, given, unit)
        liked = (credits > 0).astype(np.float32)
        before = constant + int(credits[credits > 0].sum())
        given = replace(given, lean=liked, step=1e-3)
        constant, credits, norm = bound_of(toy, fixed, given, unit)
        after = constant + int(credits[liked > 0].sum())  # the same flips, the new multipliers
        assert after <= before + toy.n * 64
        lower += norm > 1e-3 and after < before
    assert lower > 100


def test_the_kth_largest() -> None:
    rng = np.random.default_rng(5)
    for _ in range(500):
        size = int(rng.integers(1, 30))
        values = rng.integers(0, int(rng.choice([2, 5, 2**62])), size=size)
        n, k = size, int(rng.integers(1, size + 1))
        if rng.random() < 0.3:
            n = int(rng.integers(k, size + 1))
        expected = sorted(values[:n].tolist(), reverse=True)[k - 1]
        assert kth_largest(values.copy(), n, k) == expected


def test_the_best_flips() -> None:
    rng = np.random.default_rng(6)
    for _ in range(2000):
        n = int(rng.integers(1, 12))
        credits = rng.integers(-3, 4, size=n) if rng.random() < 0.7 else rng.integers(-(2**60), 2**60, size=n)
        fixed = random_fixed(rng, n, 0.3)
        left = int(rng.integers(0, n + 1))
        flips = rng.random(n) < 0.5  # whatever was there before
        gain, least, runner_up = choose_flips(credits, fixed, left, np.empty(n, np.int64), flips)

        worth = [i for i in range(n) if fixed[i] == FREE and credits[i] > 0]
        order = sorted(worth, key=lambda i: (-credits[i], i))
        chosen = [i for i in range(n) if fixed[i] == 1] + order[:left]
        assert np.flatnonzero(flips).tolist() == sorted(chosen)
        assert gain == sum(int(credits[i]) for i in chosen)
        if left:
            assert least == (credits[order[left - 1]] if len(order) >= left else 0)
            assert runner_up == (credits[order[left]] if len(order) > left else 0)


def test_what_one_more_fixed_feature_costs() -> None:
    """``least`` and ``runner_up`` are what the best sum loses and gains when one free flip is decided."""
    rng = np.random.default_rng(7)
    for _ in range(400):
        n = int(rng.integers(1, 8))
        credits = rng.integers(-3, 4, size=n)
        fixed = random_fixed(rng, n, 0.2)
        left = int(rng.integers(1, n + 1))
        flips = np.empty(n, np.bool_)
        gain, least, runner_up = choose_flips(credits, fixed, left, np.empty(n, np.int64), flips)
        for i in np.flatnonzero(fixed == FREE):
            other = fixed.copy()
            other[i] = 0 if flips[i] else 1
            rest = left - int(other[i])
            best, _, _ = choose_flips(credits, other, rest, np.empty(n, np.int64), np.empty(n, np.bool_))
            assert best == gain + (runner_up - credits[i] if flips[i] else credits[i] - least)


def test_counting_votes() -> None:
    rng = np.random.default_rng(8)
    for _ in range(300):
        toy = tiny(rng, n_constraints=int(rng.integers(1, 4)), heaviest=2**33)
        flips = random_flips(rng, toy.n, toy.n)
        fixed = random_fixed(rng, toy.n, 0.5, flips)
        problem = toy.problem()
        sums = np.full(len(toy.needs), 17)
        for dead in (np.zeros(len(toy.clauses), np.int32), dead_under(toy, fixed)):
            count_votes(problem.arrays, dead, mask(flips, toy.n), sums)
            assert sums.tolist() == toy.sums(flips)


def test_votes_of_the_relaxation() -> None:
    """A clause is as true as its least true literal, or as what its false ones leave."""
    rng = np.random.default_rng(9)
    for _ in range(200):
        toy = tiny(rng, n_constraints=2)
        lean = rng.random(toy.n).astype(np.float32)
        if rng.random() < 0.3:
            lean = np.round(lean)
        total = rng.choice([-1, 1], size=len(toy.clauses))
        problem, sums = toy.problem(), np.empty(2)
        dead = (rng.random(len(toy.clauses)) < 0.2).astype(np.int32)
        relaxed_votes(problem.arrays, total, dead, lean, sums)
        expected = [0.0, 0.0]
        for j, clause in enumerate(toy.clauses):
            values = [float(lean[f]) if wakes else 1 - float(lean[f]) for f, wakes in clause.literals()]
            output = min(values) if total[j] > 0 else max(0.0, 1 - sum(1 - v for v in values))
            for c in range(2):
                expected[c] += 0 if dead[j] else toy.votes[c][j] * output
        assert sums == pytest.approx(expected, abs=1e-4)


def test_the_first_multipliers() -> None:
    rng = np.random.default_rng(10)
    for _ in range(100):
        toy = tiny(rng)
        problem = toy.problem()
        share = np.full(len(problem.features), np.nan, np.float32)
        load = np.full(len(toy.clauses), np.nan, np.float32)
        first_multipliers(problem.offsets, problem.middles, share, load)
        k = 0
        for j, clause in enumerate(toy.clauses):
            n, waking = len(clause.literals()), len(clause.wakes)
            expected = [1 / waking] * waking + [0] * (n - waking) if waking else [1 / n] * n
            assert share[k : k + n] == pytest.approx(expected)
            assert load[j] == (waking <= 1)
            k += n
