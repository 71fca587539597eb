"""The search of a shell: kernels equal plain Python versions, and every set of flips is examined."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline
from tmverify.engines.network import patterns as patterns_module
from tmverify.engines.network._patterns import rival_may_win, rival_wins
from tmverify.engines.network.patterns import Effort, bad_patterns, enumerate_shell, pack_stages
from tmverify.engines.network.shell import Shell, Stage
from tmverify.engines.network.solver import reach

NEVER = Deadline(None)
Rng = np.random.Generator


# Plain twins


def bits_of(pattern: int, n: int) -> list[int]:
    return [pattern >> i & 1 for i in range(n)]


def plain_wins(pattern: int, stages: tuple[Stage, ...]) -> bool:
    values = bits_of(pattern, stages[0].weights.shape[1])
    for stage in stages:
        rows = zip(stage.weights.tolist(), stage.needs.tolist(), strict=True)
        values = [
            int(sum(w != 0 and (w > 0) == v for v, w in zip(values, row, strict=True)) >= need)
            for row, need in rows
        ]
    return any(values)


def plain_may_win(low: int, high: int, stages: tuple[Stage, ...]) -> bool:
    n = stages[0].weights.shape[1]
    values = list(zip(bits_of(low, n), bits_of(high, n), strict=True))
    for stage in stages:
        after = []
        for row, need in zip(stage.weights.tolist(), stage.needs.tolist(), strict=True):
            least = sum((lo if w > 0 else 1 - hi) for (lo, hi), w in zip(values, row, strict=True) if w)
            most = sum((hi if w > 0 else 1 - lo) for (lo, hi), w in zip(values, row, strict=True) if w)
            after.append((int(least >= need), int(most >= need)))
        values = after
    return any(most for _, most in values)


def random_stages(rng: Rng, widths: list[int]) -> tuple[Stage, ...]:
    """Of so many inputs, and outputs of each stage; the last has weights that are 0."""
    stages = []
    for i in range(len(widths) - 1):
        n, size = widths[i : i + 2]
        weights = rng.choice([-1, 1], size=(size, n))
        if i == len(widths) - 2:
            weights[rng.random((size, n)) < 0.3] = 0
        counted = (weights != 0).sum(axis=1)
        needs = np.clip(counted // 2 + rng.integers(0, 3, size=size), 0, None)
        stages.append(Stage(weights.astype(np.int8), needs))
    return tuple(stages)


WIDTHS = [[5, 2], [6, 4, 2], [63, 70, 3], [40, 130, 65, 2], [9, 5, 4, 3, 2], [1, 1]]


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_a_pattern_as_by_its_plain_twin(widths: list[int]) -> None:
    """The table of outputs known to be harmless has two entries: it is wrong about none."""
    rng = np.random.default_rng(len(widths))
    won = 0
    for _ in range(6):
        stages = random_stages(rng, widths)
        packed = pack_stages(stages)
        known = np.zeros((2, -(-widths[1] // 64) + 1), np.uint64)
        values = np.zeros((3, packed[0].shape[1]), np.uint64)
        for pattern in rng.integers(0, 1 << widths[0], size=40, dtype=np.uint64):
            expected = plain_wins(int(pattern), stages)
            for _ in range(2):
                assert rival_wins(pattern, packed, known, values) == expected
            won += expected
    assert 0 < won < 240


@pytest.mark.parametrize("widths", WIDTHS, ids=str)
def test_what_lies_between_patterns_as_by_its_plain_twin(widths: list[int]) -> None:
    rng = np.random.default_rng(len(widths) + 10)
    closed = 0
    for _ in range(6):
        stages = random_stages(rng, widths)
        packed = pack_stages(stages)
        lows, highs = (np.zeros((3, packed[0].shape[1]), np.uint64) for _ in range(2))
        for _ in range(30):
            a, b, *others = rng.integers(0, 1 << widths[0], size=6, dtype=np.uint64)
            low, high = a, a | np.bitwise_and.reduce(others[: rng.integers(1, 5)])
            may = rival_may_win(low, high, packed, lows, highs)
            assert may == plain_may_win(int(low), int(high), stages)
            closed += not may
            for between in (low, high, low | (high & b)):
                assert may or not plain_wins(int(between), stages)
    assert closed > 0


# Shells made by hand


def shell_of(favourable: Any, quotas: Any, flips: int, stages: tuple[Stage, ...]) -> Shell:
    table = np.array(favourable, np.bool_)
    features = np.arange(table.shape[1]) * 2 + 1
    return Shell(flips, features, table, np.array(quotas, np.int64), stages, certain=False)


def only(pattern: int, m: int, width: int = 0) -> tuple[Stage, ...]:
    """Stages in which a rival wins with this pattern and no other; perhaps by way of more neurons."""
    exactly = Stage(np.array([[1 if bit else -1 for bit in bits_of(pattern, m)]], np.int8), np.array([m]))
    if not width:
        return (exactly,)
    copies = Stage(np.repeat(exactly.weights, width, axis=0), np.full(width, m))
    return copies, Stage(np.ones((1, width), np.int8), np.array([width]))


def patterns_of(shell: Shell) -> dict[tuple[int, ...], int]:
    """The pattern of every set of flips."""
    n, found = len(shell.features), {}
    for chosen in combinations(range(n), shell.flips):
        changed = shell.favourable[:, list(chosen)].sum(axis=1) >= shell.quotas
        found[chosen] = sum(1 << j for j, yes in enumerate(changed.tolist()) if yes)
    return found


def search(shell: Shell, counted: int = 0) -> tuple[bool, tuple[int, ...] | None, Effort]:
    complete, flips, effort = enumerate_shell(shell, NEVER, counted)
    if flips is None:
        return complete, None, effort
    return complete, tuple(((flips - 1) // 2).tolist()), effort


@pytest.mark.parametrize("steps", [1, 300, 10_000_000])
@pytest.mark.parametrize("table", [1, 20])
def test_each_set_is_found_where_it_alone_is_bad(
    steps: int, table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neuron j changes by the flip of feature j: patterns are sets. Stopped and gone on with at each step."""
    monkeypatch.setattr(patterns_module, "_STEPS", steps)
    monkeypatch.setattr(patterns_module, "_TABLE", table)
    n = 6
    for k in range(1, n + 1):
        for chosen in combinations(range(n), k):
            pattern = sum(1 << i for i in chosen)
            for counted in (0, 1 << 40):
                shell = shell_of(np.eye(n), [1] * n, k, only(pattern, n, width=2 if k % 2 else 0))
                _, found, _ = search(shell, counted)
                assert found == chosen
        absent = (1 << (k % n) + 1) - 1  # of another number of flips
        complete, found, effort = search(shell_of(np.eye(n), [1] * n, k, only(absent, n)), 1 << 40)
        assert (complete, found) == (True, None)
        assert (effort.sets, effort.closed_by_intervals) == (comb(n, k), 0)
        assert effort.patterns == comb(n, k)  # each differs


@pytest.mark.parametrize("table", [1, 3, 20])
def test_planted_patterns(table: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that some flips have is found, by flips that have it; one that none have is not."""
    monkeypatch.setattr(patterns_module, "_TABLE", table)
    rng = np.random.default_rng(table)
    had = 0
    for _ in range(60):
        n, m = int(rng.integers(2, 9)), int(rng.integers(1, 7))
        k = int(rng.integers(1, n + 1))
        shape = rng.random((m, n)) < 0.6, rng.integers(1, k + 1, size=m), k
        attained = patterns_of(shell_of(*shape, only(0, m)))
        wanted = rng.choice([*attained.values(), *range(1 << m)], size=4)
        for pattern in wanted.tolist():
            for counted in (0, 1 << 40):
                shell = shell_of(*shape, only(pattern, m))
                complete, found, effort = search(shell, counted)
                if pattern in attained.values():
                    assert found is not None
                    assert attained[found] == pattern
                    had += 1
                else:
                    assert (complete, found) == (True, None)
                    assert counted == 0 or effort.sets == len(attained)
                    assert counted == 0 or effort.patterns >= len(set(attained.values()))
                    if table == 20 and counted:
                        assert effort.patterns == len(set(attained.values()))
    assert had > 100


def test_random_stages_and_all_sets() -> None:
    rng = np.random.default_rng(9)
    decided = {True: 0, False: 0}
    closed = 0
    for _ in range(150):
        n, m = int(rng.integers(3, 10)), int(rng.integers(1, 8))
        k = int(rng.integers(1, n + 1))
        stages = random_stages(rng, [m, int(rng.integers(1, 6)), 2])
        shell = shell_of(rng.random((m, n)) < 0.5, rng.integers(1, k + 1, size=m), k, stages)
        bad = {s for s, pattern in patterns_of(shell).items() if plain_wins(pattern, stages)}
        complete, found, effort = search(shell)
        assert found in bad if bad else (complete, found) == (True, None)
        decided[bool(bad)] += 1
        closed += effort.closed_by_intervals
    assert min(decided.values()) > 20
    assert closed > 20


def test_sixty_three_neurons_fit_and_no_more() -> None:
    for m in (62, 63):
        top = (1 << m) - 1
        favourable, quotas = np.ones((m, 3)), np.ones(m, int)
        shell = shell_of(favourable, quotas, 2, only(top, m))
        assert shell.fits_a_word
        assert search(shell)[1] == (0, 1)
        assert search(shell_of(favourable, quotas, 2, only(top - 1, m)))[:2] == (True, None)
    assert not shell_of(np.ones((64, 3)), np.ones(64, int), 2, only(0, 64)).fits_a_word


def test_no_time_no_answer() -> None:
    shell = shell_of(np.eye(6), [1] * 6, 2, only(0, 6))
    complete, flips, effort = enumerate_shell(shell, Deadline(0.0))
    assert (complete, flips) == (False, None)
    assert (effort.sets, effort.patterns) == (0, 0)
    assert bad_patterns(shell, Deadline(0.0)) is None


# Patterns first


def test_bad_patterns_are_all_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns_module, "WORDS", 5)
    rng = np.random.default_rng(11)
    for _ in range(40):
        m = int(rng.integers(1, 8))
        stages = random_stages(rng, [m, int(rng.integers(1, 6)), 2])
        shell = shell_of(np.ones((m, 3)), np.ones(m, int), 2, stages)
        found = bad_patterns(shell, NEVER)
        assert found is not None
        assert found.tolist() == [p for p in range(1 << m) if plain_wins(p, stages)]
    monkeypatch.setattr(patterns_module, "MOST_BAD", 3)
    always = (Stage(np.ones((1, 6), np.int8), np.array([0])),)
    assert bad_patterns(shell_of(np.ones((6, 3)), np.ones(6, int), 2, always), NEVER) is None


def sensible(rng: Rng, n: int, m: int, k: int) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Rows that are open: some set of flips changes them, another does not. Some are alike, or opposites."""
    rows: list[NDArray[np.bool_]] = []
    quotas: list[int] = []
    while len(rows) < m:
        row, quota = rng.random(n) < 0.5, int(rng.integers(1, k + 1))
        if rows and rng.random() < 0.4:
            row, quota = rows[-1], quotas[-1]
            if rng.random() < 0.5:  # at least k - quota + 1 of the others: changes where the other does not
                row, quota = ~row, k - quota + 1
        helpful = int(row.sum())
        if quota <= helpful and k - quota + 1 <= n - helpful:
            rows.append(row)
            quotas.append(quota)
    return np.array(rows), np.array(quotas)


def test_patterns_that_can_be_had_are_reached() -> None:
    rng = np.random.default_rng(12)
    outcomes = {True: 0, False: 0}
    for _ in range(80):
        n = int(rng.integers(3, 9))
        k = int(rng.integers(1, n))
        m = int(rng.integers(1, 6))
        shell = shell_of(*sensible(rng, n, m, k), k, only(0, m))
        attained = patterns_of(shell)
        bad = rng.choice(1 << m, size=int(rng.integers(1, min(6, 1 << m) + 1)), replace=False)
        flips, counts = reach(shell, bad.astype(np.uint64))
        possible = set(bad.tolist()) & set(attained.values())
        if flips is None:
            assert not possible
        else:
            assert attained[tuple(((flips - 1) // 2).tolist())] in possible
        assert counts["bad_patterns"] == len(bad)
        assert 1 <= counts["reached_for"] <= len(bad)
        outcomes[bool(possible)] += 1
    assert min(outcomes.values()) > 15


def test_a_reason_does_away_with_no_pattern_that_can_be_had() -> None:
    """Neurons that are opposites can't change together; every other pattern of theirs is had."""
    favourable = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0]], np.bool_)
    shell = shell_of(favourable, [1, 1, 1], 1, only(0, 3))
    attained = set(patterns_of(shell).values())
    assert attained == {0b101, 0b010}
    for order in ([0b111, 0b011, 0b101], [0b000, 0b111, 0b010], [0b001, 0b100, 0b110, 0b010]):
        flips, _ = reach(shell, np.array(order, np.uint64))
        assert flips is not None
    for hopeless in ([0b111, 0b011, 0b000], [0b001, 0b100, 0b110]):
        assert reach(shell, np.array(hopeless, np.uint64))[0] is None
