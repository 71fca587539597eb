"""Hitting sets, by trying every set."""

from __future__ import annotations

import numpy as np
import pytest

from support.explained import minimal_hitting_sets
from tmverify.engines import hitting
from tmverify.engines.engine import Deadline
from tmverify.engines.hitting import HittingSets
from tmverify.properties.verdict import StopReason

UNLIMITED = Deadline(None)
Sets = set[frozenset[int]]


def random_sets(rng: np.random.Generator) -> Sets:
    n = int(rng.integers(1, 8))
    sizes = rng.integers(1, 4, int(rng.integers(1, 8))).tolist()
    return {frozenset(rng.choice(n, min(n, size), replace=False).tolist()) for size in sizes}


@pytest.mark.parametrize("few", [40, 0])
def test_the_smallest(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """As sets come one by one; in this process, or in another."""
    monkeypatch.setattr(hitting, "FEW", few)
    rng = np.random.default_rng(0)
    for _ in range(100 if few else 10):
        found, known = HittingSets(smallest=True), set()
        assert found.next(UNLIMITED) == frozenset()
        for one in random_sets(rng):
            found.hit(one)
            known.add(one)
            hit = found.next(UNLIMITED)
            expected = minimal_hitting_sets(known)
            assert hit in expected
            assert len(hit) == min(map(len, expected))


@pytest.mark.parametrize("smallest", [False, True])
def test_all_of_them_one_by_one(smallest: bool) -> None:
    """What was blocked does not come again, nor anything that contains it, even if sets come in between."""
    rng = np.random.default_rng(1)
    for _ in range(60):
        sets = sorted(random_sets(rng), key=sorted)
        found = HittingSets(smallest=smallest)
        early = int(rng.integers(0, len(sets) + 1))
        for one in sets[:early]:
            found.hit(one)
        listed: Sets = set()
        while (hit := found.next(UNLIMITED)) is not None:
            missing = next((one for one in sets if not one & hit), None)
            if missing is not None:
                found.hit(missing)
                continue
            assert hit not in listed
            listed.add(hit)
            found.block(hit)
        assert found.failure is None
        assert listed == minimal_hitting_sets(set(sets))


def test_the_empty_set_hits_nothing_at_all() -> None:
    found = HittingSets(smallest=False)
    assert found.next(UNLIMITED) == frozenset()
    found.block(frozenset())
    assert found.next(UNLIMITED) is None
    assert found.failure is None


def test_no_time_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hitting, "FEW", 0)
    found = HittingSets(smallest=True)
    found.hit([1, 2])
    assert found.next(Deadline(1e-9)) is None
    assert found.failure is not None
    assert found.failure.stop_reason is StopReason.TIMEOUT
    assert found.next(UNLIMITED) in (frozenset({1}), frozenset({2}))
    assert found.failure is None
