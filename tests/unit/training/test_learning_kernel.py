"""The kernel of Algorithm 1 equals its Python version, bit for bit, whatever the settings and the threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from support.slow_machine import SlowMachine, literal_states
from tmverify.training import TsetlinMachineClassifier
from tmverify.training._learn import learn
from tmverify.training.features import pack_inputs
from tmverify.training.machine import (
    Machine,
    Rule,
    copy_machine,
    included_literals,
    make_rule,
    new_machine,
    restored_machine,
)

N_CASES = 60


def random_case(seed: int) -> tuple[int, int, Rule, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    n_clauses = int(random.choice([2, 3, 10, 63, 64, 65, 130]))
    n_features = int(random.choice([1, 2, 5, 63, 64, 65, 130]))
    rule = make_rule(
        threshold=int(random.choice([1, 2, 5, 40])),
        specificity=float(random.choice([1, 1.5, 2, 3, 4, 10, 1000, 1e9])),
        n_states=int(random.choice([1, 2, 3, 7, 100, 128])),
        max_literals=[None, 1, 2, 5][int(random.integers(4))],
        weighted=bool(random.integers(2)),
        boost_true_positive=bool(random.integers(2)),
    )
    n = int(random.integers(1, 40))
    X = (random.random((n, n_features)) < random.choice([0.1, 0.5])).astype(np.uint8)
    return n_clauses, n_features, rule, X, random.integers(0, 2, n).astype(np.uint8)


def run(machine: Machine, X: np.ndarray, wanted: np.ndarray, rule: Rule, n_parts: int = 1) -> None:
    rows = np.arange(len(X), dtype=np.int64)
    stop = np.zeros(1, np.int64)
    brought, arrived = np.zeros((2, n_parts, 8), np.int64), np.zeros((n_parts, 8), np.int64)
    cuts = np.linspace(0, len(machine.real), n_parts + 1).astype(np.int64)
    threads = [
        threading.Thread(
            target=learn,
            args=(rows, wanted, pack_inputs(X), machine, rule, cuts[k : k + 2], k, brought, arrived, stop),
        )
        for k in range(n_parts)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("seed", range(N_CASES))
def test_kernel_equals_slow_twin(seed: int) -> None:
    check_against_twin(seed)


@pytest.mark.deep
@pytest.mark.parametrize("group", range(20))
def test_kernel_equals_slow_twin_thousands_of_times(group: int) -> None:
    for seed in range(1000 + 150 * group, 1150 + 150 * group):
        check_against_twin(seed)


def check_against_twin(seed: int) -> None:
    n_clauses, n_features, rule, X, wanted = random_case(seed)
    machine = new_machine(n_clauses, n_features, np.random.SeedSequence(seed))
    slow = SlowMachine.of(machine, n_clauses, n_features, rule)
    run(machine, X, wanted, rule)
    for x, want in zip(X.tolist(), wanted.tolist(), strict=True):
        slow.learn(x, want)
    assert machine.draws.tolist() == slow.draws
    assert machine.lanes.tolist() == slow.lanes
    assert machine.weights[:n_clauses].tolist() == slow.weights
    assert literal_states(machine, n_clauses, n_features).tolist() == slow.states


@pytest.mark.parametrize("seed", range(0, N_CASES, 3))
def test_what_is_kept_twice_agrees(seed: int) -> None:
    n_clauses, n_features, rule, X, wanted = random_case(seed)
    machine = new_machine(n_clauses, n_features, np.random.SeedSequence(seed))
    run(machine, X, wanted, rule)
    again = restored_machine(
        new_machine(n_clauses, n_features, np.random.SeedSequence(0)),
        planes=machine.planes.copy(),
        weights=machine.weights,
        draws=machine.draws,
        lanes=machine.lanes,
    )
    assert np.array_equal(machine.included, again.included)
    included = included_literals(machine, n_clauses, n_features).sum(axis=(1, 2))
    assert np.array_equal(machine.n_included[:n_clauses], included)
    assert included.max() <= rule.max_literals
    states = literal_states(machine, n_clauses, n_features)
    assert states.min() >= rule.floor
    assert states.max() <= 255 - rule.floor


@pytest.mark.parametrize("n_parts", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_threads_do_not_change_the_result(seed: int, n_parts: int) -> None:
    _, n_features, rule, X, wanted = random_case(seed)
    one = new_machine(200, n_features, np.random.SeedSequence(seed))
    several = copy_machine(one)
    run(one, X, wanted, rule)
    run(several, X, wanted, rule, n_parts)
    for field in Machine._fields:
        assert np.array_equal(getattr(one, field), getattr(several, field))


@pytest.mark.parametrize("budget", [5, 10])
def test_a_budget_leaves_room_for_what_tells_classes_apart(budget: int) -> None:
    """Texts of rare words: clauses used to be filled, for ever, with negations of words that say nothing.

    60.0 and 74.4 % were right then; without a budget 89.9 % are.
    """
    random = np.random.default_rng(0)

    def texts(n: int) -> tuple[np.ndarray, np.ndarray]:
        y = random.integers(0, 2, n)
        X = random.random((n, 600)) < 0.02
        for label, words in ((1, slice(0, 20)), (0, slice(20, 40))):
            X[:, words] |= (random.random((n, 20)) < 0.12) & (y[:, None] == label)
        return X.astype(np.uint8), y

    X, y = texts(1500)
    clf = TsetlinMachineClassifier(
        100, 50, 1.2, 8, boost_true_positive=True, max_literals=budget, random_state=0
    ).fit(X, y)
    assert clf.score(*texts(1000)) > 0.85
    assert clf.model_.clauses.lengths.max() <= budget


def test_the_twin_would_notice() -> None:
    """A test of the test: one random word more, and the twin differs."""
    n_clauses, n_features, rule, X, wanted = random_case(4)
    machine = new_machine(n_clauses, n_features, np.random.SeedSequence(4))
    slow = SlowMachine.of(machine, n_clauses, n_features, rule)
    slow.draw(0)
    run(machine, X, wanted, rule)
    for x, want in zip(X.tolist(), wanted.tolist(), strict=True):
        slow.learn(x, want)
    assert machine.draws.tolist() != slow.draws
