"""The hunt: every input that it finds lets a rival win, within the flips allowed."""

from __future__ import annotations

import numpy as np
import pytest

from support.tiny_networks import random_network_case
from tmverify.bnn.evaluate import reference_classes
from tmverify.engines.brute import decide as brute
from tmverify.engines.engine import Deadline, Outcome
from tmverify.engines.network import patterns as hunt_module
from tmverify.engines.network._patterns import scan
from tmverify.engines.network.patterns import hunt, pack_stages
from tmverify.engines.network.shell import Stage, Surroundings

NEVER = Deadline(None)


@pytest.mark.parametrize("width", [1, 3, 256])
def test_only_true_witnesses(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hunt_module, "WIDTH", width)
    rng = np.random.default_rng(width)
    found = missed = 0
    for _ in range(120):
        case = random_network_case(rng)
        query = case.query()
        if not query.region.reach:
            continue
        flips = hunt(Surroundings(query), query.region.reach, NEVER)
        exists = brute(query, NEVER).outcome is Outcome.WITNESS
        if flips is None:
            missed += exists
            continue
        z = case.x.copy()
        z[flips] ^= 1
        assert query.refuted_by(z)
        assert 1 <= len(set(flips.tolist())) == len(flips) <= query.region.reach
        found += 1
    assert found > 20
    assert missed == 0 or width < 256  # so wide a beam sees every set of so few features


def test_what_a_rival_lacks_is_what_its_score_lacks() -> None:
    """At most 0 iff the flip, after those that are taken, changes the decision."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        case = random_network_case(rng)
        query = case.query(len(case.x))
        around = Surroundings(query)
        n = len(around.features)
        if not n:
            continue
        taken = rng.random((5, n)) < 0.4
        counts = around.counts + taken.astype(np.int64) @ around.gains
        stages = pack_stages(tuple(Stage(weights, needs) for weights, needs in around.layers))
        lacks = np.full((5, n), 99)
        values = np.zeros((2, stages[0].shape[1]), np.uint64)
        scan(counts, around.gains, around.thresholds, taken, stages, values, lacks)
        for b in range(5):
            for i in range(n):
                z = case.x.copy()
                z[around.features[taken[b]]] ^= 1
                z[around.features[i]] ^= 1
                changes = reference_classes(case.network, z[None, :])[0] != query.expected
                assert lacks[b, i] == 99 if taken[b, i] else (lacks[b, i] <= 0) == changes


def test_no_time_nothing_found() -> None:
    case = random_network_case(np.random.default_rng(1))
    assert hunt(Surroundings(case.query(len(case.x))), 1, Deadline(0.0)) is None


def test_no_flips_nothing_found() -> None:
    case = random_network_case(np.random.default_rng(1))
    assert hunt(Surroundings(case.query(len(case.x))), 0, NEVER) is None
