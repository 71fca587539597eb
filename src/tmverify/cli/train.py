"""``tmverify train``: train a machine, test it, save the model. ``train_report`` prints how it went."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.options import AsJson
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import DataFormatError, InvalidInputError
from tmverify.interrupts import one_interrupt

if TYPE_CHECKING:
    from tmverify.cli.train_report import Outcome
    from tmverify.data import Dataset

_TEST_SIZE = 0.25
FILE_KINDS = (".npz", ".csv")


class Settings(NamedTuple):
    """The four numbers that matter most, by their names in the estimator."""

    n_clauses: int
    threshold: int
    specificity: float
    n_epochs: int


DEFAULTS: Mapping[str, Settings] = {
    "digits": Settings(300, 30, 8.0, 60),
    "mnist": Settings(500, 25, 10.0, 30),
    "fashion-mnist": Settings(500, 25, 10.0, 30),
    "mnist-c": Settings(500, 25, 10.0, 30),
    "imdb": Settings(1000, 1280, 2.0, 10),
}  # for a file: the estimator's own
DATASETS = tuple(DEFAULTS)


def _by_source(field: str) -> str:
    """``Default: 300 for digits, 500 for mnist, …``, those with the same value together."""
    groups: dict[float, list[str]] = {}
    for source, settings in DEFAULTS.items():
        groups.setdefault(getattr(settings, field), []).append(source)
    said = [f"{value:g} for {' and '.join(sources)}" for value, sources in groups.items()]
    return f"Default: {', '.join(said)}; for a file that of TsetlinMachineClassifier."


_learning = partial(typer.Option, rich_help_panel="How to learn")
_number = partial(_learning, metavar="N")
_data = partial(typer.Option, rich_help_panel="Which data")
_output = partial(typer.Option, rich_help_panel="Output")


def train(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help=f"A dataset ({', '.join(DATASETS)}), a .csv file with a header line (--target names the "
            "column of the labels), or an .npz file with arrays X and y. Columns that are not 0 and 1 become "
            "bits.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model.")
    ],
    clauses: Annotated[
        int | None,
        _number(
            "--clauses",
            "-n",
            min=2,
            help=f"Clauses of each class (of both together, if there are two). {_by_source('n_clauses')}",
        ),
    ] = None,
    threshold: Annotated[
        int | None,
        _number(
            "--threshold",
            "-T",
            min=1,
            help="How many votes are enough: a larger one lets more clauses learn the same pattern. "
            f"{_by_source('threshold')}",
        ),
    ] = None,
    specificity: Annotated[
        float | None,
        _learning(
            "--specificity",
            "-s",
            metavar="S",
            min=1.0,
            help=f"A larger one makes longer clauses. {_by_source('specificity')}",
        ),
    ] = None,
    epochs: Annotated[
        int | None,
        _number(min=1, help=f"How often all examples are shown. {_by_source('n_epochs')}"),
    ] = None,
    weighted: Annotated[bool, _learning("--weighted", help="Learn integer weights of clauses.")] = False,
    boost: Annotated[
        bool, _learning("--boost", help="Always strengthen the true literals of a true clause.")
    ] = False,
    states: Annotated[
        int, _number(min=1, max=128, help="States of an automaton for each of its two actions.")
    ] = 128,
    max_literals: Annotated[
        int | None,
        _number(min=1, help="No clause gets more literals than this. Short clauses are easier to read."),
    ] = None,
    early_stopping: Annotated[
        bool,
        _learning(
            "--early-stopping",
            help="Set a tenth of the training data aside, stop when the accuracy on it no longer rises, and "
            "keep the best epoch.",
        ),
    ] = False,
    patience: Annotated[
        int | None,
        _number(min=1, help="Epochs without a rise that early stopping waits for; turns it on. Default: 10."),
    ] = None,
    seed: Annotated[
        int,
        _number(min=0, max=2**32 - 1, help="The same seed gives the same model, with any number of --jobs."),
    ] = 0,
    jobs: Annotated[
        int | None, _number("--jobs", "-j", min=1, help="Threads. Default: as many as there are cores.")
    ] = None,
    checkpoint: Annotated[
        Path | None,
        _learning(
            metavar="FILE",
            help="Save the training here as it goes; the same command then goes on from it, after Ctrl-C or "
            "a crash, to the same model.",
        ),
    ] = None,
    data_dir: Annotated[
        Path | None,
        _data(
            metavar="FOLDER",
            help="The folder that holds the datasets. Default: that of the environment variable "
            "TMVERIFY_DATA. digits needs none.",
        ),
    ] = None,
    target: Annotated[
        str | None,
        _data(
            metavar="COLUMN",
            help="The column of a .csv file that holds the labels. Default: the one named y or label.",
        ),
    ] = None,
    test_size: Annotated[
        float | None,
        _data(
            metavar="SHARE",
            help="Share of a file's rows to hold out for testing, evenly over the labels, drawn by --seed; 0 "
            "to train on everything. Default: 0.25. Datasets have test data of their own.",
        ),
    ] = None,
    save_test: Annotated[
        Path | None,
        _output(
            metavar="FILE.npz",
            help="Also write the held-out test data, as bits with their names, for the other commands.",
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, _output("--quiet", "-q", help="Print nothing but errors (and --json).")] = False,
) -> None:
    """Train a Tsetlin machine, test it, and save the model for the other commands.

    Ctrl-C stops it early: the model of the epochs finished by then is saved.

    Example: [cyan]tmverify train digits -o digits.tm --save-test digits-test.npz[/cyan]
    then: [cyan]tmverify robustness digits.tm digits-test.npz --epsilon 1 --n 20[/cyan]
    a table: [cyan]tmverify train people.csv --target income -o people.tm[/cyan]
    a long run: [cyan]tmverify train mnist --data-dir data -o mnist.tm --checkpoint mnist.state[/cyan]
    """
    from tmverify.cli.output import notice, print_note
    from tmverify.cli.train_report import Outcome, announce, report

    _check_source(source, data_dir, target, test_size)
    _check_files(source, output, checkpoint, save_test, test_size)
    settings = {
        "n_clauses": clauses,
        "threshold": threshold,
        "specificity": specificity,
        "n_epochs": epochs,
        "weighted": weighted,
        "boost_true_positive": boost,
        "n_states": states,
        "max_literals": max_literals,
        "early_stopping": early_stopping or patience is not None,
        "patience": patience,
        "random_state": seed,
    }
    verbose = sys.stderr.isatty() and not quiet
    try:
        estimator = _estimator(source, **settings, n_jobs=-1 if jobs is None else jobs, verbose=verbose)
        epochs_before = _epochs_before(checkpoint)
        with notice(f"reading {source} …", wanted=not quiet):
            data = read_data(source, data_dir=data_dir, target=target, test_size=test_size, seed=seed)
        if not (as_json or quiet):
            announce(data)
        with one_interrupt():
            outcome = Outcome(data, estimator, [*settings], output, checkpoint, epochs_before)
            _train(outcome, save_test, quiet=quiet)
            if as_json or not quiet:
                report(outcome, as_json=as_json)
    except KeyboardInterrupt:
        print_note("interrupted before an epoch was finished: no model was written")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if outcome.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _check_source(source: str, data_dir: Path | None, target: str | None, test_size: float | None) -> None:
    """Raise InvalidInputError if the options do not fit the source, before anything is read."""
    is_file = source not in DATASETS
    if is_file and Path(source).suffix.lower() not in FILE_KINDS:
        raise InvalidInputError(
            f"SOURCE must be one of {', '.join(DATASETS)}, or a file that ends in {' or '.join(FILE_KINDS)}. "
            f"Got {source} instead."
        )
    if is_file and data_dir is not None:
        raise InvalidInputError(f"--data-dir is for datasets; {source} is a file.")
    for option, value in (("--target", target), ("--test-size", test_size)):
        if not is_file and value is not None:
            raise InvalidInputError(f"{option} is for files; {source} has labels and test data of its own.")
    if test_size is not None and not 0 <= test_size < 1:
        raise InvalidInputError(f"--test-size must be a share from 0 to below 1. Got {test_size:g} instead.")


def _check_files(
    source: str, output: Path, checkpoint: Path | None, save_test: Path | None, test_size: float | None
) -> None:
    """Raise InvalidInputError if a file can't be written, or would be written over another."""
    check_target(output, "--output")
    if checkpoint is not None:
        check_target(checkpoint, "--checkpoint")
    if save_test is not None:
        check_target(save_test, "--save-test", [".npz"])
        if test_size == 0:
            raise InvalidInputError("--save-test needs test data, and --test-size 0 holds none out.")
    read = [] if source in DATASETS else [Path(source)]
    names = "SOURCE, --output, --checkpoint and --save-test"
    check_apart(read, [output, checkpoint, save_test], names)


def _estimator(source: str, **parameters: Any) -> Any:
    """The estimator, checked; a parameter that is None gets the source's default, or the estimator's own."""
    from tmverify.training import TsetlinMachineClassifier
    from tmverify.training.parameters import check_parameters

    preset = DEFAULTS[source]._asdict() if source in DEFAULTS else {}
    chosen = {name: value for name, value in parameters.items() if value is not None}
    estimator = TsetlinMachineClassifier(**preset | chosen, binarize=None)
    check_parameters(estimator)
    return estimator


def _epochs_before(checkpoint: Path | None) -> int:
    """Epochs that a checkpoint holds already; TrainingStateError if it is something else."""
    from tmverify.training import TsetlinMachineClassifier

    if checkpoint is None or not checkpoint.exists():
        return 0
    return int(TsetlinMachineClassifier.resume(checkpoint).n_epochs_)


def read_data(
    source: str, *, data_dir: Path | None, target: str | None, test_size: float | None, seed: int
) -> Dataset:
    """The dataset called ``source``; or the file, split and turned into bits. Test inputs may be missing."""
    import numpy as np

    from tmverify.data import load_dataset, load_table, split_table
    from tmverify.model.checks import learnt_labels
    from tmverify.training.frozen_model import check_names

    try:
        if source in DATASETS:
            data = load_dataset(source, data_dir=data_dir)
        else:
            share = _TEST_SIZE if test_size is None else test_size
            data = split_table(load_table(source, target), source, test_size=share, random_state=seed)
    except (DataFormatError, InvalidInputError) as error:
        said = str(error).replace("as target", "with --target COLUMN")
        raise type(error)(said.replace("another test_size", "another --test-size")) from None
    classes = np.unique(data.y_train).tolist()
    if len(classes) < 2:
        raise DataFormatError(f"{source}: at least two different labels are needed to learn from.")
    labels = learnt_labels(np.array(classes))
    check_names(data.X_train.shape[1], 1, labels, data.feature_names)  # before the training, not after it
    return data


def _train(outcome: Outcome, save_test: Path | None, *, quiet: bool) -> None:
    """Compile, learn, save, measure. On KeyboardInterrupt no model has been written."""
    from tmverify import kernels
    from tmverify.data import save_inputs

    if quiet:
        kernels.announce_compiling = False
    _compile(outcome.estimator)
    started = time.perf_counter()
    outcome.interrupted = _fit(outcome.estimator, outcome.data, outcome.checkpoint)
    outcome.seconds = time.perf_counter() - started
    try:
        outcome.save_model()
    except KeyboardInterrupt:  # the first one, after the last epoch: others are dropped by now
        outcome.save_model()
        outcome.interrupted = True
    try:
        if save_test is not None:
            data = outcome.data
            save_inputs(save_test, data.X_test, data.y_test, data.feature_names)
            outcome.test_file = save_test
        outcome.accuracy_train, outcome.accuracy_test = _measure(outcome.estimator, outcome.data)
    except KeyboardInterrupt:  # the model is safe
        outcome.interrupted = True


def _compile(estimator: Any) -> None:
    """Learn and predict something tiny: the first epoch then takes its own time."""
    import numpy as np
    from sklearn.base import clone

    bits = np.eye(2, dtype=np.uint8)[np.arange(64) % 2]
    tiny = clone(estimator).set_params(n_clauses=2, n_epochs=1, early_stopping=False, n_jobs=1, verbose=False)
    tiny.fit(bits, bits[:, 0]).predict(bits)


def _fit(estimator: Any, data: Dataset, checkpoint: Path | None) -> bool:
    """Learn, and say whether Ctrl-C came before the end.

    The test data are shown to ``fit`` only to follow the accuracy; early stopping has data of its own.
    """
    from tmverify.cli.output import print_note

    follow = len(data.y_test) and not estimator.early_stopping
    watched = {"X_val": data.X_test, "y_val": data.y_test} if follow else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(data.X_train, data.y_train, checkpoint=checkpoint, **watched)
    said = [str(warning.message) for warning in caught]
    for text in said:
        if "interrupted" not in text:
            print_note(f"warning: {text}")
    return any("interrupted" in text for text in said)


def _measure(estimator: Any, data: Dataset) -> tuple[float, float | None]:
    """Accuracy on the training and on the test data."""
    train = float(estimator.score(data.X_train, data.y_train))
    return train, float(estimator.score(data.X_test, data.y_test)) if len(data.y_test) else None
