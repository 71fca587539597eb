"""Reasons, with any witnesses known already: these save questions, and never mislead."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest

import tmverify as tv
from support.columns import Rng
from support.explained import Asked, contrastive_sets, random_question, suffices
from tmverify.engines.engine import Deadline
from tmverify.engines.oracle import oracle_for
from tmverify.verify.reasons import Contrastive, Reasons, Sufficient
from tmverify.verify.widening import Widening


def reasons_of(asked: Asked, engine: str = "search") -> Reasons:
    query = tv.robustness_query(asked.model, asked.x, asked.epsilon, allowed=asked.allowed, **asked.more)
    return Reasons(oracle_for(query, engine), Deadline(None))


def know_some(rng: Rng, asked: Asked, reasons: Reasons, share: float) -> None:
    """Some of all witnesses, in any order, as they are: with changes that are not needed."""
    for i in rng.permutation(len(asked.truth.bad)).tolist():
        if rng.random() < share:
            z = asked.truth.bad[i].bits
            reasons.pool.append((reasons.oracle.changed(z), z))


def as_reason(reasons: Reasons, found: Sufficient) -> list[tuple[int, list[int]]]:
    own = reasons.origin_values(found.places)
    return [
        (int(reasons.oracle.columns[place]), sorted(found.values.get(place, {own[place]})))
        for place in found.places
    ]


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_known_witnesses_and_sufficient_reasons(share: float) -> None:
    rng = np.random.default_rng(0)
    wide = 0
    for _ in range(200):
        asked = random_question(rng)
        reasons = reasons_of(asked)
        know_some(rng, asked, reasons, share)
        found = reasons.sufficient()
        assert found.undecided == []
        assert asked.truth.is_true("minimal", as_reason(reasons, found))
        for place, z in found.needed.items():
            changed = set(np.flatnonzero(reasons.oracle.changed(z) & found.kept).tolist())
            assert changed == {place}
        if asked.allowed.distance == "bits":
            continue
        know_some(rng, asked, reasons, share)
        Widening(reasons, found).run()
        reason = as_reason(reasons, found)
        assert asked.truth.is_true("widest", reason), reason
        wide += any(len(some) > 1 for _, some in reason)
        for (place, value), z in found.limits.items():
            assert reasons.value_in(place, z) == value
            assert reasons.oracle.query.refuted_by(z)
    assert wide > 10


def test_known_witnesses_and_smallest_reasons() -> None:
    rng = np.random.default_rng(1)
    for _ in range(100):
        asked = random_question(rng)
        reasons = reasons_of(asked)
        know_some(rng, asked, reasons, 0.5)
        found = reasons.smallest_sufficient()
        assert found.smallest
        assert asked.truth.is_true("smallest", as_reason(reasons, found))
        assert set(found.needed) == set(found.places)  # each is shown by a witness, too
        contrast = reasons.smallest_contrastive()
        if contrast is None:
            assert not asked.truth.bad
            continue
        assert isinstance(contrast, Contrastive)
        assert contrast.smallest
        assert len(contrast.places) == min(map(len, contrastive_sets(asked.truth)))


def test_a_contrast_within_a_witness() -> None:
    """Of any witness, the columns that are left alter the decision, and none is to spare."""
    rng = np.random.default_rng(2)
    smaller = 0
    for _ in range(60):
        asked = random_question(rng, 1)
        reasons = reasons_of(asked)
        contrasts = contrastive_sets(asked.truth)
        for row in asked.truth.bad:
            found = reasons.contrast(row.bits)
            columns = frozenset(reasons.oracle.columns[found.places].tolist())
            assert columns in contrasts
            assert columns <= asked.truth.differing(row)
            assert reasons.oracle.query.refuted_by(found.witness)
            smaller += columns < asked.truth.differing(row)
    assert smaller > 50


def test_what_was_told_on_the_way() -> None:
    """Progress never counts more columns than there are."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        asked = random_question(rng)
        tell = mock.Mock()
        reasons = Reasons(reasons_of(asked).oracle, Deadline(None), tell)
        found = reasons.smallest_sufficient()
        assert suffices(asked.truth, reasons.oracle.columns[found.places].tolist())
        assert tell.called
        assert all(0 <= done <= total == reasons.n for (done, total), _ in tell.call_args_list)
