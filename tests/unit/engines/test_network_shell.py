"""Shells against every set of flips: which neurons are known to change, and when an open one changes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from support.tiny import all_inputs
from support.tiny_networks import NetworkCase, network_query, random_network, random_network_case
from tmverify.bnn import BnnModel
from tmverify.bnn.evaluate import activations, matches, reference_classes
from tmverify.engines.network.shell import Shell, Surroundings, _rivals

Bits = NDArray[np.uint8]


def inputs_of(case: NetworkCase, shell: Shell) -> Bits:
    """Every input of the shell, in the order of ``combinations``."""
    sets = list(combinations(shell.features.tolist(), shell.flips))
    inputs = np.repeat(case.x[None, :], len(sets), axis=0)
    for row, features in zip(inputs, sets, strict=True):
        row[list(features)] ^= 1
    return inputs


def follow(shell: Shell, changed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a rival wins, for each row of changed neurons, stage by stage in plain NumPy."""
    values: NDArray[np.bool_] = changed
    for stage in shell.stages:
        wanted, unwanted = (stage.weights > 0).T.astype(int), (stage.weights < 0).T.astype(int)
        counts: NDArray[np.int64] = values @ wanted + ~values @ unwanted
        values = np.greater_equal(counts, stage.needs)
    won: NDArray[np.bool_] = np.asarray(values.any(axis=1))
    return won


def test_shells_are_what_every_set_of_flips_does() -> None:
    rng = np.random.default_rng(20261119)
    seen = {"certain": 0, "safe": 0, "open": 0}
    for _ in range(120):
        case = random_network_case(rng)
        query = case.query(len(case.x))
        around = Surroundings(query)
        before = activations(case.network, case.x[None, :])[0]
        for k in range(1, query.region.reach + 1):
            shell = around.shell(k)
            assert shell.features.tolist() == np.flatnonzero(query.region.mutable).tolist()
            inputs = inputs_of(case, shell)
            assert shell.n_inputs == len(inputs)
            changed = activations(case.network, inputs)[0] != before
            opens = changed.any(axis=0) & ~changed.all(axis=0)
            assert len(shell.quotas) == opens.sum()  # the others are known, and these really are open
            flips = (inputs != case.x)[:, shell.features]
            by_quota = flips @ shell.favourable.T.astype(int) >= shell.quotas
            assert (by_quota == changed[:, opens]).all()
            wins = reference_classes(case.network, inputs) != query.expected
            if shell.certain:
                assert wins.all()
            elif shell.safe:
                assert not wins.any()
            else:
                assert (follow(shell, by_quota) == wins).all()
            seen["certain" if shell.certain else "safe" if shell.safe else "open"] += 1
    assert min(seen.values()) > 20


def test_later_neurons_that_are_not_in_a_stage_are_known() -> None:
    """A stage has a row for each neuron that some set of flips changes, and perhaps for others."""
    rng = np.random.default_rng(3)
    closed = 0
    for _ in range(80):
        case = random_network_case(rng)
        around = Surroundings(case.query(len(case.x)))
        for k in range(1, case.query(len(case.x)).region.reach + 1):
            shell = around.shell(k)
            blocks = activations(case.network, inputs_of(case, shell))[1:]
            for block, stage in zip(blocks, shell.stages[:-1], strict=True):
                varying = (block != block[0]).any(axis=0)
                assert varying.sum() <= len(stage.needs)
                closed += block.shape[1] - len(stage.needs)
                if len(stage.needs):
                    assert (stage.needs >= 1).all()
                    assert (stage.needs <= (stage.weights != 0).sum(axis=1)).all()
    assert closed > 50


def test_counts_and_gains_are_those_of_the_first_block() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        case = random_network_case(rng)
        around = Surroundings(case.query(len(case.x)))
        first = case.network.layers[0]
        assert (around.counts == matches(case.x[None, :], first.weights)[0]).all()
        for feature, gain in zip(around.features, around.gains, strict=True):
            z = case.x.copy()
            z[feature] ^= 1
            assert (around.counts + gain == matches(z[None, :], first.weights)[0]).all()


def test_a_rival_wins_where_its_score_does() -> None:
    """Over all values of the last block: more than the class expected, or as much and before it."""
    rng = np.random.default_rng(5)
    ties = 0
    for _ in range(100):
        network = random_network(rng, 3)
        last = all_inputs(len(network.layers[-1].weights))
        scores = network.scale * matches(last, network.output).astype(np.int64) + network.bias
        for expected in range(network.n_outputs):
            weights, needs = _rivals(network, expected)
            others = [c for c in range(network.n_outputs) if c != expected]
            for r, row, need in zip(others, weights, needs, strict=True):
                p = (last[:, row != 0] == (row[row != 0] > 0)).sum(axis=1)
                lead = scores[:, r] - scores[:, expected]
                assert ((p >= need) == ((lead > 0) | ((lead == 0) & (r < expected)))).all()
                ties += int((lead == 0).sum())
    assert ties > 1000


def test_constant_neurons_and_classes_without_a_chance() -> None:
    network = BnnModel.from_layers([([[1, 1], [1, -1]], [0, 3])], [[1, 1], [1, 1]], bias=[0, 0])
    around = Surroundings(network_query(network, [0, 1], 2))
    for k in (1, 2):
        shell = around.shell(k)
        assert (len(shell.quotas), shell.certain, shell.safe) == (0, False, True)
    beaten = BnnModel.from_layers([([[1], [-1]], [1, 1])], [[1, -1], [-1, 1]])
    shell = Surroundings(network_query(beaten, [1], 1)).shell(1)
    assert shell.certain
    assert not shell.safe


@pytest.mark.parametrize("direction", ["add", "remove", None])
def test_only_features_that_may_flip_are_in_a_shell(direction: str | None) -> None:
    network = BnnModel.from_layers([([[1] * 4], [2])], [[1], [-1]], feature_names=list("abcd"))
    query = network_query(network, [0, 1, 0, 1], 4, features=["a", "b", "d"], direction=direction)
    expected = {"add": [0], "remove": [1, 3], None: [0, 1, 3]}[direction]
    assert Surroundings(query).features.tolist() == expected
