"""Feedback happens as often as the paper's tables say, by counting; and the random bits are what we claim."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from support.slow_machine import literal_states, xorshift
from tmverify.kernels.rng import fill_mask, next_mask
from tmverify.training._learn import punish, reward
from tmverify.training.machine import NO_BUDGET, Machine, make_rule, new_machine

N_FEATURES = 640
ROOM = NO_BUDGET
SPECIFICITIES = [1.0, 1.3, 2.0, 3.9, 10.0, 25.0]


def rule_of(specificity: float, *, boost: bool = False):  # type: ignore[no-untyped-def]
    return make_rule(
        threshold=10,
        specificity=specificity,
        n_states=128,
        max_literals=None,
        weighted=False,
        boost_true_positive=boost,
    )


def near(count: int, n: int, chance: float) -> bool:
    """Within five standard deviations (one in two million by chance); exactly, where nothing is random."""
    return abs(count - n * chance) <= 5 * math.sqrt(n * chance * (1 - chance)) + 1e-9


def steps(feed, n_times: int = 60) -> np.ndarray:  # type: ignore[no-untyped-def]
    """(n_times, literals): how feedback to a clause in the middle of its states moves each automaton."""
    moved = []
    machine = middle_machine()
    for _ in range(n_times):
        before = literal_states(machine, 1, N_FEATURES)[0]
        feed(machine)
        moved.append(literal_states(machine, 1, N_FEATURES)[0] - before)
        machine.planes[:] = middle_machine().planes
    return np.array(moved)


def middle_machine() -> Machine:
    return new_machine(2, N_FEATURES, np.random.SeedSequence(5))


def input_words(machine: Machine) -> tuple[np.ndarray, np.ndarray]:
    """A random input's literals in words, and as 0/1 values."""
    x = np.random.default_rng(3).integers(0, 2, N_FEATURES)
    values = np.concatenate([x, 1 - x])
    bits = np.zeros(64 * len(machine.present), np.uint8)
    bits[: 2 * N_FEATURES] = values  # N_FEATURES fills whole words
    return np.packbits(bits, bitorder="little").view(np.uint64), values


@pytest.mark.parametrize("boost", [False, True])
@pytest.mark.parametrize("holds", [False, True])
@pytest.mark.parametrize("s", SPECIFICITIES)
def test_type_one(s: float, holds: bool, boost: bool) -> None:
    lits, values = input_words(middle_machine())
    scratch = np.zeros((2, len(lits)), np.uint64)
    rule = rule_of(s, boost=boost)
    moved = steps(lambda m: reward(m.planes, 0, holds, lits, m.lanes, 0, scratch[0], scratch[1], rule, ROOM))
    true, false = moved[:, values == 1], moved[:, values == 0]
    up = (1.0 if boost else (s - 1) / s) if holds else 0.0
    assert near((true == 1).sum(), true.size, up)
    assert near((true == -1).sum(), true.size, 0.0 if holds else 1 / s)
    assert near((false == -1).sum(), false.size, 1 / s)
    assert (false <= 0).all()
    assert np.abs(moved).max() <= 1


@pytest.mark.parametrize("boost", [False, True])
def test_type_one_that_would_overfill_a_clause_makes_it_forget(boost: bool) -> None:
    """All literals are at the border: with room for one less than wants in, the clause acts as if false."""
    lits, _ = input_words(middle_machine())
    scratch = np.zeros((2, len(lits)), np.uint64)
    rule = rule_of(4.0, boost=boost)

    def step(holds: bool, room: int) -> np.ndarray:
        m = middle_machine()
        before = literal_states(m, 1, N_FEATURES)[0]
        reward(m.planes, 0, holds, lits, m.lanes, 0, scratch[0], scratch[1], rule, room)
        moved: np.ndarray = literal_states(m, 1, N_FEATURES)[0] - before
        return moved

    n_fresh = int((step(True, ROOM) == 1).sum())
    assert np.array_equal(step(True, n_fresh), step(True, ROOM))
    assert np.array_equal(step(True, n_fresh - 1), step(False, ROOM))


def test_type_two() -> None:
    lits, values = input_words(middle_machine())
    scratch = np.zeros((2, len(lits)), np.uint64)
    m = middle_machine()
    m.planes[0, :, 0] = [0] * 7 + [2**64 - 1]  # the first 64 literals are included
    before = literal_states(m, 1, N_FEATURES)[0]
    punish(m.planes, 0, lits, m.present, scratch[0], scratch[1], rule_of(3.0))
    moved = literal_states(m, 1, N_FEATURES)[0] - before
    assert np.array_equal(moved, (values == 0) & (before < 128))


@pytest.mark.parametrize(
    ("numerator", "denominator"), [(1, 50), (13, 50), (25, 50), (49, 50), (1, 2560), (7, 10)]
)
def test_clauses_are_chosen_with_the_right_chance(numerator: int, denominator: int) -> None:
    state = np.array([0x9E3779B97F4A7C15], np.uint64)
    n = 20_000
    counts = np.zeros(64, np.int64)
    for _ in range(n):
        counts += np.unpackbits(np.array([next_mask(state, 0, numerator, denominator)]).view(np.uint8))
    chance = numerator / denominator
    assert near(int(counts.sum()), 64 * n, chance)
    assert all(near(int(count), n, chance) for count in counts)


@pytest.mark.parametrize("s", [2.0, 3.0, 10.0, 100.0])
def test_number_of_bits_in_a_mask_spreads_like_a_binomial(s: float) -> None:
    """Not only the mean: bits that moved together would show in the variance of their number."""
    random = np.random.default_rng(1)
    lanes = random.integers(1, 2**63, (1, 20)).astype(np.uint64)
    mask, chance = np.zeros(20, np.uint64), np.uint64(round(2**24 / s))
    counts = []
    for _ in range(20_000):
        fill_mask(mask, lanes, 0, chance)
        counts.append(int(np.unpackbits(mask.view(np.uint8)).sum()))
    n, p = 64 * 20, 1 / s
    assert abs(np.mean(counts) - n * p) < 5 * np.sqrt(n * p * (1 - p) / len(counts))
    assert np.var(counts) == pytest.approx(n * p * (1 - p), rel=0.08)


def test_any_two_bits_of_two_masks_in_turn_are_independent() -> None:
    """xorshift is linear over GF(2): words that are sums of independent rows are independent.

    A mask takes 9 words of its lane (8 and one for the remainder). For every two bit positions, whether of
    one mask or of a mask and its successor, the 16 bits folded must have rank 16 as functions of the state.
    For three positions of one mask this fails for 28 of the 41,664 choices.
    """
    rows = [1 << i for i in range(64)]  # bit i of the state, as a function of the state
    words = []
    for _ in range(18):
        rows = step_symbolically(rows)
        words.append(rows)
    first, second = words[1:9], words[10:18]
    for i, k in combinations(range(64), 2):
        assert rank([w[i] for w in first] + [w[k] for w in first]) == 16
    for i in range(64):
        for k in range(64):
            assert rank([w[i] for w in first] + [w[k] for w in second]) == 16
    dependent = [c for c in combinations(range(64), 3) if rank([w[i] for i in c for w in first]) < 24]
    assert len(dependent) == 28


def step_symbolically(rows: list[int]) -> list[int]:
    """One xorshift step on 64 rows, row i telling which bits of the first state make up bit i."""
    rows = [row ^ (rows[i - 14] if i >= 14 else 0) for i, row in enumerate(rows)]
    rows = [row ^ (rows[i + 29] if i + 29 < 64 else 0) for i, row in enumerate(rows)]
    return [row ^ (rows[i - 11] if i >= 11 else 0) for i, row in enumerate(rows)]


def test_symbolic_step_is_the_generator() -> None:
    rows = step_symbolically([1 << i for i in range(64)])
    for x in (1, 2**63, 0x123456789ABCDEF, 2**64 - 1):
        image = sum((row & x).bit_count() % 2 << i for i, row in enumerate(rows))
        assert image == xorshift(x)


def rank(rows: list[int]) -> int:
    """Rank over GF(2)."""
    by_top: dict[int, int] = {}
    for row in rows:
        while row and row.bit_length() in by_top:
            row ^= by_top[row.bit_length()]
        if row:
            by_top[row.bit_length()] = row
    return len(by_top)
