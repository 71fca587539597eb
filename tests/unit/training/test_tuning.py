"""The search of settings: within its time, in a fixed order, with what was given left alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from tmverify.errors import InvalidInputError
from tmverify.training import tuning
from tmverify.training.tuning import FIRST_EPOCHS, N_TOGETHER, TUNED, Trial, tune


def data(n: int = 120) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).integers(0, 2, (n, 12)).astype(np.uint8)
    return X, X[:, 0] ^ X[:, 1]


class Clock:
    """A clock that moves on by one second whenever an epoch is over."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        monkeypatch.setattr(tuning, "time", SimpleNamespace(perf_counter=lambda: self.now))

    def tick(self, trial: Trial, elapsed: float) -> None:
        self.now += 1.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def base(**given: Any) -> tv.TsetlinMachineClassifier:
    return tv.TsetlinMachineClassifier(**{"n_clauses": 20, "n_epochs": 12} | given)


def test_the_first_trial_is_the_default_setting(clock: Clock) -> None:
    X, y = data()
    found = tune(X, y, seconds=1, on_epoch=clock.tick)
    (trial,) = found.trials
    fitted = tv.TsetlinMachineClassifier().partial_fit(X, y)
    assert found.settings == trial.settings == {name: fitted.settings_[name] for name in TUNED}
    assert found.accuracy == trial.accuracy == trial.accuracies[0]
    assert not found.interrupted


def test_halving(clock: Clock) -> None:
    """A round of eight: 3 epochs for all, 6 for four, 12 for two (their last), then a new round."""
    X, y = data()
    one_round = FIRST_EPOCHS * N_TOGETHER + 3 * 4 + 6 * 2
    found = tune(X, y, seconds=one_round, estimator=base(), on_epoch=clock.tick)
    epochs = sorted(len(trial.accuracies) for trial in found.trials)
    assert epochs == [3, 3, 3, 3, 6, 6, 12, 12]
    assert all(trial.classifier is None for trial in found.trials)  # machines are large
    dropped = [t for t in found.trials if len(t.accuracies) == FIRST_EPOCHS]
    kept = [np.mean(t.accuracies[:FIRST_EPOCHS]) for t in found.trials if t not in dropped]
    assert max(trial.accuracy for trial in dropped) <= min(kept)
    assert found.accuracy == max(trial.accuracy for trial in found.trials if len(trial.accuracies) >= 6)
    more = tune(X, y, seconds=one_round + 1, estimator=base(), on_epoch=clock.tick)
    assert len(more.trials) == 2 * N_TOGETHER


def test_the_order_follows_from_the_seed(clock: Clock) -> None:
    X, y = data()
    runs = [tune(X, y, seconds=30, estimator=base(), random_state=s, on_epoch=clock.tick) for s in (0, 0, 1)]
    same, again, other = [[(trial.settings, trial.accuracies) for trial in found.trials] for found in runs]
    assert same == again != other
    assert runs[0].settings == runs[1].settings


@pytest.mark.parametrize(
    "given",
    [
        {"n_clauses": 14},
        {"threshold": 6},
        {"specificity": 3.0},
        {"weighted": True},
        {"boost_true_positive": False},
        {"max_literals": 3},
        {"n_epochs": 4},
    ],
)
def test_what_is_given_stays(clock: Clock, given: dict[str, Any]) -> None:
    X, y = data(60)
    estimator = tv.TsetlinMachineClassifier(**{"n_epochs": 3} | given, n_states=50)
    found = tune(X, y, seconds=12, estimator=estimator, on_epoch=clock.tick)
    for trial in found.trials:
        assert trial.settings | given == trial.settings
        assert trial.classifier is None or trial.classifier.n_states == 50
    assert len({str(trial.settings) for trial in found.trials}) == len(found.trials) > 1
    tv.TsetlinMachineClassifier(**found.settings).fit(X, y)


def test_nothing_to_search(clock: Clock) -> None:
    X, y = data(60)
    given: dict[str, Any] = {
        "n_clauses": 10,
        "threshold": 5,
        "specificity": 2.0,
        "n_epochs": 3,
        "weighted": False,
    }
    estimator = tv.TsetlinMachineClassifier(**given, boost_true_positive=True, max_literals=4)
    found = tune(X, y, seconds=1000, estimator=estimator, on_epoch=clock.tick)
    assert [len(trial.accuracies) for trial in found.trials] == [3]


@pytest.mark.parametrize("n_epochs", [1, 5])
def test_ctrl_c_keeps_the_best_so_far(n_epochs: int) -> None:
    X, y = data()
    seen = []

    def press(trial: Trial, elapsed: float) -> None:
        seen.append(trial)
        if len(seen) == n_epochs:
            raise KeyboardInterrupt

    found = tune(X, y, seconds=1000, estimator=base(), on_epoch=press)
    assert found.interrupted
    assert sum(len(trial.accuracies) for trial in found.trials) == n_epochs
    assert set(found.settings) == set(TUNED)


def test_errors() -> None:
    X, y = data()
    with pytest.raises(InvalidInputError, match="must be above 0"):
        tune(X, y, seconds=0)
    with pytest.raises(InvalidInputError, match="Too few examples"):
        tune(X[:3], [0, 0, 1], seconds=1)
    with pytest.raises(InvalidInputError, match="'threshold' parameter"):
        tune(X, y, seconds=1, estimator=base(threshold=0))
