"""The course of a training: its epochs, validation, early stopping, and the file to continue from.

However it ends (last epoch, patience, Ctrl-C, a crash of the computer), finished work is kept: in ``Course``,
and in the state file if one was asked for.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import TrainingStateError
from tmverify.progress import ProgressBar
from tmverify.training.machine import Machine, Rule
from tmverify.training.state_file import read_state, write_state
from tmverify.training.trainer import Trainer

SECONDS_BETWEEN_SAVES = 30.0
_SAVED = ("seed", "n_clauses", "n_features", "n_classes", "n_states", "n_epochs")  # of a Trainer


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Packed inputs and class indices, and how they are shown and learnt from."""

    inputs: NDArray[np.uint64]
    targets: NDArray[np.int64]
    rule: Rule
    shuffle: bool
    n_jobs: int


@dataclass(slots=True, eq=False)
class Course:
    """A trainer and the record of its epochs.

    ``accuracy`` measures the trainer's machines on the validation set, or is None. With ``patience``, the
    machines of the best epoch are kept, and the course ends after that many epochs without a better one.
    ``about`` is the information in the state file, if the course was read from one.
    """

    trainer: Trainer
    accuracy: Callable[[], float] | None = None
    patience: int | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    best: list[Machine] | None = None
    about: dict[str, Any] = field(default_factory=dict)

    def run(self, examples: Examples, n_epochs: int, bar: ProgressBar, save: Callable[[], None]) -> None:
        """Train up to ``n_epochs`` in all; ``save`` is called at the start, every half minute and at the end.

        It is also called if the training ends in an error. If the first save fails, that is an error, before
        any work; if a later one fails, that is only a warning.
        """
        save()
        saved = perf_counter()
        bar.say("loading the kernels (compiled at first use)")
        try:
            self.trainer.prepare(examples.inputs, examples.rule)
            bar.say("training")
            if self.history and self.history[-1]["accuracy"] is None:
                self._measure()  # Ctrl-C came before the last epoch was measured
            while self.trainer.n_epochs < n_epochs and not self._is_over():
                self.run_epoch(examples)
                accuracy = self.history[-1]["accuracy"]
                bar.advance(*([] if accuracy is None else [f"validation accuracy {accuracy:.2%}"]))
                if perf_counter() - saved > SECONDS_BETWEEN_SAVES:
                    _try(save)
                    saved = perf_counter()
        finally:
            _try(save)

    def run_epoch(self, examples: Examples) -> None:
        """One epoch and its line in the history; the time is that of learning alone."""
        self.trainer.prepare(examples.inputs, examples.rule)
        started = perf_counter()
        self.trainer.run_epoch(
            examples.inputs,
            examples.targets,
            rule=examples.rule,
            shuffle=examples.shuffle,
            n_jobs=examples.n_jobs,
        )
        seconds = perf_counter() - started
        # This comes before measuring, so that Ctrl-C there leaves no epoch without a line.
        self.history.append({"epoch": self.trainer.n_epochs, "seconds": seconds, "accuracy": None})
        self._measure()

    def take_best(self) -> None:
        """Go back to the machines of the best epoch, if they were kept."""
        if self.best is not None:
            self.trainer.machines, self.best = self.best, None

    def write(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        """Save the whole course, together with ``about``."""
        trainer = self.trainer
        sets = {"now": trainer.machines} | ({} if self.best is None else {"best": self.best})
        numbers = {name: getattr(trainer, name) for name in _SAVED}
        write_state(path, {**about, **numbers, "history": self.history}, sets)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Course:
        """The course saved in a file, or TrainingStateError."""
        about, sets = read_state(path)
        try:
            for name in _SAVED:
                if type(about[name]) is not int or about[name] < 0:
                    raise ValueError(f"{name} is {about[name]!r:.40}")
            trainer = Trainer(machines=sets["now"], **{name: about[name] for name in _SAVED})
            history = [
                {"epoch": line["epoch"], "seconds": float(line["seconds"]), "accuracy": line["accuracy"]}
                for line in about["history"]
            ]
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise TrainingStateError(
                f"{path}: not a training state that can be resumed: {error!r:.100}."
            ) from None
        return cls(trainer, history=history, best=sets.get("best"), about=about)

    def _measure(self) -> None:
        """Fill in the accuracy of the last line; keep the machines if it is the best."""
        if self.accuracy is None:
            return
        self.history[-1]["accuracy"] = self.accuracy()
        if self.patience is not None and self._best_epoch() == len(self.history) - 1:
            self.best = self.trainer.copy_machines()

    def _best_epoch(self) -> int:
        """Place in the history of the highest accuracy, the first among equals."""
        accuracies = [line["accuracy"] for line in self.history]
        return int(np.argmax([-1.0 if accuracy is None else accuracy for accuracy in accuracies]))

    def _is_over(self) -> bool:
        if self.patience is None or not self.history:
            return False
        return len(self.history) - 1 - self._best_epoch() >= self.patience


def _try(save: Callable[[], None]) -> None:
    try:
        save()
    except OSError as error:
        warnings.warn(f"The training goes on, but could not be saved: {error}.", UserWarning, stacklevel=2)
