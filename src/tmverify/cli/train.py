"""Train, test, save: ``tmverify train``."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tmverify import kernels
from tmverify.cli import train_options as own
from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.notices import notice
from tmverify.cli.output import print_note
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.train_data import Examples, Wish, check_wish, read_examples, save_test_data
from tmverify.cli.train_report import Outcome, announce, report
from tmverify.errors import InvalidInputError
from tmverify.interrupts import one_interrupt
from tmverify.model import Model

_SETTINGS = (
    "n_clauses",
    "threshold",
    "specificity",
    "n_epochs",
    "weighted",
    "boost_true_positive",
    "n_states",
    "max_literals",
    "early_stopping",
    "patience",
    "random_state",
)


def train_and_save(
    wish: Wish, files: Files, given: Mapping[str, Any], *, as_json: bool, quiet: bool
) -> ExitCode:
    """Train with the parameters that were given, save the model, report, and say how it went."""
    _check(wish, files)
    try:
        verbose = sys.stderr.isatty() and not quiet
        estimator = _estimator(own.DEFAULTS.get(wish.source), **given, binarize=None, verbose=verbose)
        epochs_before = _epochs_before(files.checkpoint)
        with notice(f"reading {wish.source} …", wanted=not quiet):
            examples = read_examples(wish)
        if not (as_json or quiet):
            announce(examples)
        with one_interrupt():
            outcome = _train(examples, estimator, files, epochs_before, quiet=quiet)
            if as_json or not quiet:
                report(outcome, as_json=as_json)
    except KeyboardInterrupt:
        print_note("interrupted before an epoch was finished: no model was written")
        return ExitCode.INTERRUPTED
    return ExitCode.INTERRUPTED if outcome.interrupted else ExitCode.HOLDS


@dataclass(frozen=True, slots=True)
class Files:
    """What is written, besides the screen."""

    output: Path
    checkpoint: Path | None
    test: Path | None


def _check(wish: Wish, files: Files) -> None:
    """Everything that can be wrong before data are read."""
    check_wish(wish)
    check_target(files.output, "--output")
    if files.checkpoint is not None:
        check_target(files.checkpoint, "--checkpoint")
    if files.test is not None:
        check_target(files.test, "--save-test", [".npz"])
        if wish.test_size == 0:
            raise InvalidInputError("--save-test needs test data, and --test-size 0 holds none out.")
    read = [Path(wish.source)] if wish.is_file else []
    written = [files.output, files.checkpoint, files.test]
    check_apart(read, written, "SOURCE, --output, --checkpoint and --save-test")


def _estimator(default: own.Settings | None, **parameters: Any) -> Any:
    """The estimator, checked; what is None gets its ``default``, or else the estimator's own."""
    from tmverify.training import TsetlinMachineClassifier
    from tmverify.training.parameters import check_parameters

    preset = {} if default is None else default._asdict()
    chosen = {name: value for name, value in parameters.items() if value is not None}
    estimator = TsetlinMachineClassifier(**preset | chosen)
    check_parameters(estimator)
    return estimator


def _train(examples: Examples, estimator: Any, files: Files, epochs_before: int, *, quiet: bool) -> Outcome:
    """Compile, learn, save, measure. On KeyboardInterrupt no model has been written."""
    if quiet:
        kernels.announce_compiling = False
    _compile(estimator)
    started = time.perf_counter()
    interrupted = _fit(estimator, examples, files.checkpoint)
    seconds = time.perf_counter() - started
    try:
        model = _save(estimator, examples, files.output)
    except KeyboardInterrupt:  # the first one, after the last epoch: others are dropped by now
        model, interrupted = _save(estimator, examples, files.output), True
    test_file: Path | None = None
    accuracies: tuple[float | None, float | None] = (None, None)
    try:
        if files.test is not None:
            save_test_data(files.test, examples)
            test_file = files.test
        accuracies = _measure(estimator, examples)
    except KeyboardInterrupt:  # the model is safe
        interrupted = True
    return Outcome(
        examples=examples,
        model=model,
        output=files.output,
        test_file=test_file,
        checkpoint=files.checkpoint,
        settings={name: value for name, value in estimator.get_params().items() if name in _SETTINGS},
        history=estimator.history_,
        epochs=estimator.n_epochs_,
        epochs_before=epochs_before,
        seconds=seconds,
        accuracy_train=accuracies[0],
        accuracy_test=accuracies[1],
        interrupted=interrupted,
    )


def _save(estimator: Any, examples: Examples, output: Path) -> Model:
    model: Model = replace(estimator.model_, feature_names=examples.feature_names)
    model.save(output)
    return model


def _measure(estimator: Any, examples: Examples) -> tuple[float, float | None]:
    """Accuracy on the training and on the test data."""
    train = float(estimator.score(examples.X_train, examples.y_train))
    if examples.y_test is None:
        return train, None
    return train, float(estimator.score(examples.X_test, examples.y_test))


def _epochs_before(checkpoint: Path | None) -> int:
    """Epochs that a checkpoint holds already; TrainingStateError if it is something else."""
    from tmverify.training import TsetlinMachineClassifier

    if checkpoint is None or not checkpoint.exists():
        return 0
    return int(TsetlinMachineClassifier.resume(checkpoint).n_epochs_)


def _compile(estimator: Any) -> None:
    """Learn and predict something tiny: the first epoch then takes its own time."""
    from sklearn.base import clone

    bits = np.eye(2, dtype=np.uint8)[np.arange(64) % 2]
    tiny = clone(estimator).set_params(n_clauses=2, n_epochs=1, early_stopping=False, n_jobs=1, verbose=False)
    tiny.fit(bits, bits[:, 0]).predict(bits)


def _fit(estimator: Any, examples: Examples, checkpoint: Path | None) -> bool:
    """Learn, and say whether Ctrl-C came before the end.

    The test data are shown to ``fit`` only to follow the accuracy; early stopping has data of its own.
    """
    follow = examples.y_test is not None and not estimator.early_stopping
    watched = {"X_val": examples.X_test, "y_val": examples.y_test} if follow else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(examples.X_train, examples.y_train, checkpoint=checkpoint, **watched)
    said = [str(warning.message) for warning in caught]
    for text in said:
        if "interrupted" not in text:
            print_note(f"warning: {text}")
    return any("interrupted" in text for text in said)
