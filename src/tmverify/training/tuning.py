"""Search settings on a validation part of the training data, within a time limit.

The candidates are the settings of ``training.defaults`` for these data, then random ones around them, each
setting that the user gave left as it is: N times 1/2 to 4, T / N times 1/2 to 4, s - 1 times 1/4 to 8, and
half of them with a literal budget. They compete by *successive halving*: all of a round learn for the same
number of epochs, then the better half goes on to twice as many, up to the default number. When none is left,
a new round of candidates begins. A trial's accuracy is the mean of its last three measurements, since one
epoch more or less may change it by a point.

The order of the candidates follows from the seed alone; how many of them are tried depends on the time. The
time limit is looked at after every epoch, so it is exceeded by at most one. Ctrl-C ends the search early.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from tmverify.errors import InvalidInputError
from tmverify.interrupts import one_interrupt
from tmverify.training.defaults import CHOSEN
from tmverify.training.estimator import TsetlinMachineClassifier
from tmverify.training.parameters import MAX_CLAUSES_A_CLASS, check_parameters

VALIDATION_SHARE = 0.2
N_TOGETHER = 8
FIRST_EPOCHS = 3
_LAST = 3
_MAX_DRAWS = 1000
_HALF = 2**0.5  # 2 to the power of a number from 0 to 1 is below it half of the time
TUNED = (*CHOSEN, "max_literals")


@dataclass(slots=True, eq=False)
class Trial:
    """A setting by parameter name, and its accuracy on the validation part after each epoch so far.

    ``classifier`` is None when it has dropped out: machines are large.
    """

    settings: dict[str, Any]
    classifier: Any = field(repr=False)
    accuracies: list[float] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def accuracy(self) -> float:
        """The mean of the last measurements; 0 before the first."""
        return float(np.mean(self.accuracies[-_LAST:])) if self.accuracies else 0.0


@dataclass(frozen=True, slots=True)
class Tuning:
    """The outcome: the best settings, their validation accuracy, all trials in the order they began.

    ``interrupted`` says that Ctrl-C ended the search.
    """

    settings: dict[str, Any]
    accuracy: float
    trials: tuple[Trial, ...]
    interrupted: bool


def tune(
    X: Any,
    y: Any,
    *,
    seconds: float,
    estimator: TsetlinMachineClassifier | None = None,
    random_state: int = 0,
    on_epoch: Callable[[Trial, float], None] | None = None,
) -> Tuning:
    """Search settings for these training data.

    Parameters
    ----------
    X, y
        As in ``TsetlinMachineClassifier.fit``. What makes bits of them is learnt from all rows; a fifth of
        them, evenly over the labels, is set aside to compare.
    seconds : float
        How long to search. At least one epoch of the default settings is run.
    estimator : TsetlinMachineClassifier, optional
        Its parameters that are not None stay as they are, the others are searched.
    random_state : int
        Draws the validation part, the candidates, and the trials' random numbers.
    on_epoch : function, optional
        Called after each epoch with its trial and the seconds since the start.

    Returns
    -------
    Tuning
        Its ``settings`` are complete: pass them to ``TsetlinMachineClassifier``.

    Raises
    ------
    InvalidInputError
        If a parameter is wrong, or there are too few examples to set some aside.
    KeyboardInterrupt
        If Ctrl-C came before the first epoch was finished.
    """
    base = TsetlinMachineClassifier() if estimator is None else estimator
    check_parameters(base)
    if not seconds > 0:
        raise InvalidInputError(f"'seconds' must be above 0. Got {seconds} instead.")
    bits, labels = clone(base)._learnt_bits(X, y)  # some values may be in held-out rows only
    parts = _split(bits, labels, random_state)
    race = _Race(clone(base).set_params(binarize=None), parts, float(seconds), random_state, on_epoch)
    interrupted = False
    with one_interrupt():
        try:
            race.run()
        except KeyboardInterrupt:
            if not any(trial.accuracies for trial in race.trials):
                raise
            interrupted = True
    best = race.best()
    return Tuning(best.settings, best.accuracy, tuple(race.trials), interrupted)


@dataclass(slots=True, eq=False)
class _Race:
    """The search as it goes."""

    base: TsetlinMachineClassifier
    parts: list[Any]  # X to learn from and to compare by, then the same of y
    seconds: float
    seed: int
    on_epoch: Callable[[Trial, float], None] | None
    trials: list[Trial] = field(default_factory=list)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = time.perf_counter()

    def run(self) -> None:
        """Rounds of candidates, until the time is over or nothing is left to search."""
        default = self._begin({})
        self._epoch(default)
        candidates = self._candidates(default)
        fresh = [default]
        while not self._is_over():
            fresh += [self._begin(settings) for settings in islice(candidates, N_TOGETHER - len(fresh))]
            if not fresh:
                return
            self._halve(fresh)
            fresh = []

    def best(self) -> Trial:
        """The trial with the highest accuracy, of those that had enough epochs for it to mean something."""
        tried = [trial for trial in self.trials if trial.accuracies]
        enough = min(2 * FIRST_EPOCHS, max(len(trial.accuracies) for trial in tried))
        return max((t for t in tried if len(t.accuracies) >= enough), key=lambda trial: trial.accuracy)

    def _begin(self, settings: dict[str, Any]) -> Trial:
        classifier = clone(self.base).set_params(**settings, random_state=self.seed, verbose=False)
        self.trials.append(Trial(settings, classifier))
        return self.trials[-1]

    def _halve(self, running: list[Trial]) -> None:
        """Go on with the better half and twice the epochs, until one trial has had all of its own."""
        goal = FIRST_EPOCHS
        while running:
            for trial in running:
                while len(trial.accuracies) < min(goal, trial.settings["n_epochs"]):
                    if self._is_over():
                        return
                    self._epoch(trial)
            n_left = max(1, len(running) // 2)
            better = sorted(running, key=lambda trial: -trial.accuracy)[:n_left]  # equals keep their order
            going = [trial for trial in better if len(trial.accuracies) < trial.settings["n_epochs"]]
            for trial in running:
                if trial not in going:
                    trial.classifier = None
            running, goal = going, 2 * goal

    def _epoch(self, trial: Trial) -> None:
        X, held, y, wanted = self.parts
        started = time.perf_counter()
        chosen = trial.classifier.partial_fit(X, y).settings_
        trial.settings = {name: chosen[name] for name in TUNED}
        trial.accuracies.append(float(trial.classifier.score(held, wanted)))
        trial.seconds += time.perf_counter() - started
        if self.on_epoch is not None:
            self.on_epoch(trial, time.perf_counter() - self.started)

    def _candidates(self, default: Trial) -> Iterator[dict[str, Any]]:
        """Distinct random settings around the default ones; those that were given stay."""
        given = {name: default.settings[name] for name in TUNED if getattr(self.base, name) is not None}
        n_bits = default.classifier.model_.n_features
        random = np.random.default_rng(self.seed)
        seen = [default.settings]
        for _ in range(_MAX_DRAWS):
            settings = _around(default.settings, n_bits, random) | given
            if settings not in seen:
                seen.append(settings)
                yield settings

    def _is_over(self) -> bool:
        return time.perf_counter() - self.started >= self.seconds


def _around(centre: dict[str, Any], n_bits: int, random: np.random.Generator) -> dict[str, Any]:
    """A random setting; the same number of random numbers is drawn whatever comes out."""
    clauses, votes, s, literals, lot = 2.0 ** random.uniform([-1, -1, -2, 2, 0], [2, 2, 3, 8, 1])
    n_clauses = int(min(max(10, centre["n_clauses"] * clauses), MAX_CLAUSES_A_CLASS))
    return {
        "n_clauses": n_clauses,
        "threshold": max(1, int(n_clauses * votes * centre["threshold"] / centre["n_clauses"])),
        "specificity": round(1 + float(s) * max(centre["specificity"] - 1, 0.1), 2),
        "n_epochs": centre["n_epochs"],
        "weighted": centre["weighted"],
        "boost_true_positive": centre["boost_true_positive"],
        "max_literals": int(literals) if lot < _HALF and literals < n_bits else None,
    }


def _split(X: Any, y: Any, seed: int) -> list[Any]:
    try:
        parts: list[Any] = train_test_split(X, y, test_size=VALIDATION_SHARE, random_state=seed, stratify=y)
    except ValueError as error:
        raise InvalidInputError(f"Too few examples to set some aside for the search: {error}") from None
    return parts
