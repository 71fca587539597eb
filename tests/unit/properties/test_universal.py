"""Universal questions: exact fractions, early stops, honest undecided inputs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tmverify as tv
from support.engines import stand_in
from tmverify.engines.engine import stopped
from tmverify.properties.universal import Count, exact_fraction, required_count

# Feature 0 decides; robust at radius 1 iff features 1 and 2 both shield it.
MODEL = tv.Model.from_clauses(3, [[1], [2], [3]], [[2, 1, 1]], bias=-2)
ROBUST = [1, 1, 1]
FRAGILE = [1, 0, 0]


def test_the_rows_are_what_they_are_called() -> None:
    assert tv.check_robustness(MODEL, ROBUST, 1).status == "holds"
    assert tv.check_robustness(MODEL, FRAGILE, 1).status == "violated"


@pytest.mark.parametrize(
    ("eta", "value"),
    [
        (0.1, Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (1e-05, Fraction(1, 100000)),
        ("2/3", Fraction(2, 3)),
        ("0.25", Fraction(1, 4)),
        (Fraction(2, 3), Fraction(2, 3)),
        (0, Fraction(0)),
        (1, Fraction(1)),
        (np.int64(1), Fraction(1)),
        (1.0, Fraction(1)),
    ],
)
def test_eta_is_read_exactly(eta: object, value: Fraction) -> None:
    assert exact_fraction(eta) == value


@pytest.mark.parametrize(
    "eta",
    [-0.1, 1.1, "3/2", "x", "", "1/0", float("nan"), float("inf"), None, True, [0.5], "1e-999999999", 1j],
)
def test_no_fraction_is_an_error(eta: object) -> None:
    with pytest.raises(tv.InvalidInputError, match="eta must be a fraction between 0 and 1"):
        exact_fraction(eta)


def test_a_tenth_of_ten_is_one() -> None:
    """With floats, 0.1 * 3 > 0.3 and 0.7 * 10 > 7: an input too many would be demanded."""
    assert required_count(exact_fraction(0.1), 10) == 1
    assert required_count(exact_fraction(0.7), 10) == 7
    assert required_count(exact_fraction(0.29), 100) == 29
    assert required_count(exact_fraction("2/3"), 4) == 3


@pytest.mark.parametrize(
    ("rows", "eta", "status", "examined"),
    [
        ([ROBUST, FRAGILE], 0, "holds", 0),
        ([ROBUST, ROBUST, FRAGILE], "2/3", "holds", 2),
        ([FRAGILE, ROBUST, ROBUST], "2/3", "holds", 3),
        ([FRAGILE, FRAGILE, ROBUST], "2/3", "violated", 2),
        ([FRAGILE, ROBUST], 1, "violated", 1),
        ([ROBUST, FRAGILE], 0.5, "holds", 1),
    ],
)
def test_it_stops_as_soon_as_the_outcome_is_decided(
    rows: list[list[int]], eta: float | str, status: str, examined: int
) -> None:
    v = tv.check_universal_robustness(MODEL, rows, 1, eta)
    assert v.status == status
    assert len(v.verdicts) == examined
    assert v.n_inputs == len(rows)


def test_undecided_inputs_never_count_as_holding(monkeypatch: pytest.MonkeyPatch) -> None:
    gives_up = stopped(tv.StopReason.TIMEOUT, "no time")
    stand_in(monkeypatch, "auto", decide=lambda query, deadline, log=None: gives_up)
    v = tv.check_universal_robustness(MODEL, [ROBUST] * 3, 1, "1/3")
    assert v.status == "unknown"
    assert v.stop_reason is tv.StopReason.UNDECIDED_INPUTS
    assert "3 are undecided" in v.detail
    assert v.count(tv.Status.UNKNOWN) == 3


def test_the_limit_is_for_the_whole_call() -> None:
    v = tv.check_universal_robustness(MODEL, [ROBUST] * 1000, 1, 1, timeout=0.05)
    assert v.status == "unknown"
    assert v.stop_reason is tv.StopReason.TIMEOUT
    assert v.seconds < 1
    assert len(v.verdicts) < 1000


def test_progress_is_told() -> None:
    told: list[tv.Verdict] = []
    v = tv.check_universal_similarity(MODEL, MODEL, [ROBUST, FRAGILE], 3, 1, on_verdict=told.append)
    assert v.status == "holds"
    assert tuple(told) == v.verdicts


def test_the_tally_agrees_with_a_full_count() -> None:
    for required in range(5):
        for bits in range(3**4):
            statuses = [list(tv.Status)[bits // 3**i % 3] for i in range(4)]
            tally = Count(4, required)
            for status in statuses:
                tally.add(status)
            holds, violated = statuses.count(tv.Status.HOLDS), statuses.count(tv.Status.VIOLATED)
            if tally.status is tv.Status.HOLDS:
                assert holds >= required
            elif tally.status is tv.Status.VIOLATED:
                assert 4 - violated < required
            else:
                assert holds < required <= 4 - violated
