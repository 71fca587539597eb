"""Regions of 2^14 inputs that ``auto`` left open for a minute, while ``brute`` looked at them in a second.

With weights near 2^31, a clamp and six classes, neither the search nor the solver finishes. Random questions
found this.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import tmverify as tv
from tmverify.engines import auto
from tmverify.engines.engine import Answer, stopped

HUGE = [2**31 - 1, 2**31 - 2, 2**30, 1, 0]
LIMIT = 20.0


def nearly_equal(seed: int) -> tuple[tv.Model, tv.Model, list[int]]:
    """Two machines that differ in one weight by 1, and an input."""
    rng = np.random.default_rng(seed)
    features = [rng.choice(14, rng.integers(1, 4), replace=False) + 1 for _ in range(40)]
    clauses = [(each * rng.choice([-1, 1], len(each))).tolist() for each in features]
    weights = rng.choice(HUGE, (6, 40)) * rng.choice([-1, 1], (6, 40))
    others = weights.copy()
    others[rng.integers(6), rng.integers(40)] -= 1
    others = np.clip(others, -HUGE[0], HUGE[0])
    a, b = (tv.Model.from_clauses(14, clauses, each, clamp=3) for each in (weights, others))
    return a, b, rng.integers(0, 2, 14).tolist()


@pytest.mark.parametrize(("seed", "radius"), [(2, math.inf), (4, 6)])
def test_every_question_about_few_inputs_is_answered(seed: int, radius: float) -> None:
    a, b, x = nearly_equal(seed)
    status = tv.Status.HOLDS if radius == math.inf else tv.Status.VIOLATED
    r = tv.similarity_radius(a, b, x, timeout=LIMIT)
    assert (r.radius, r.engine) == (radius, "brute")
    assert tv.similarity_radius(a, b, x, timeout=LIMIT, engine="brute").radius == radius
    v = tv.check_similarity(a, b, x, 14, timeout=LIMIT)
    assert (v.status, v.engine) == (status, "brute")
    v = tv.check_equivalence(a, b, timeout=LIMIT)
    assert (v.status, v.engine in ("brute", "hunt")) == (status, True)
    assert v.stats.get("nodes", 0) == 0  # at once, before hundreds of parts are searched


def test_what_is_known_is_said_where_a_certificate_can_not_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*args: object) -> Answer:
        return stopped(tv.StopReason.TIMEOUT, "no answer")

    monkeypatch.setattr(auto, "sat", out_of_time)
    monkeypatch.setattr(auto, "NODES", 1000)  # a hundred times as many find no way either
    a, b, x = nearly_equal(2)
    v = tv.check_similarity(a, b, x, 14, timeout=LIMIT, certificate=True)
    assert (v.status, v.engine, v.certificate) == (tv.Status.HOLDS, "brute", None)
    assert "no certificate: every input was looked at" in v.detail
    assert v.trusts == ("the plain evaluator (tmverify.model.evaluate)", "NumPy")
    a, b, x = nearly_equal(4)
    v = tv.check_similarity(a, b, x, 14, timeout=LIMIT, certificate=True)
    assert v.status is tv.Status.VIOLATED
    assert v.certificate is not None


def test_a_large_region_is_not_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million inputs of these machines would take a minute or more: the solver is asked instead."""
    monkeypatch.setattr(auto, "NODES", 0)
    wide = tv.Model.from_clauses(40, [[f, f + 1] for f in range(1, 40)], [[1] * 39], bias=-20)
    v = tv.check_robustness(wide, [0] * 40, 20)
    assert (v.status, v.engine) == (tv.Status.HOLDS, "sat")
    small = tv.check_robustness(wide, [0] * 40, 2)
    assert (small.status, small.engine) == (tv.Status.HOLDS, "brute")
