"""``tmverify train``: its options, and their checks. ``training_run`` does what they ask."""

import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.options import AsJson
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError
from tmverify.interrupts import one_interrupt

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
}  # files have the estimator's own defaults
DATASETS = tuple(DEFAULTS)


def _by_source(field: str) -> str:
    """``Default: 300 for digits, 500 for mnist, …``, those with the same value together."""
    groups: dict[float, list[str]] = {}
    for source, settings in DEFAULTS.items():
        groups.setdefault(getattr(settings, field), []).append(source)
    said = [f"{value:g} for {' and '.join(sources)}" for value, sources in groups.items()]
    return f"Default: {', '.join(said)}; for a file that of TsetlinMachineClassifier."


_HELP = {
    "--clauses": "Clauses of each class (of both together, if there are two). " + _by_source("n_clauses"),
    "--threshold": "How many votes are enough: a larger one lets more clauses learn the same pattern. "
    + _by_source("threshold"),
    "--specificity": "A larger one makes longer clauses. " + _by_source("specificity"),
    "--epochs": "How often all examples are shown. " + _by_source("n_epochs"),
    "--weighted": "Learn integer weights of clauses.",
    "--boost": "Always strengthen the true literals of a true clause.",
    "--states": "States of an automaton for each of its two actions.",
    "--max-literals": "No clause gets more literals than this. Short clauses are easier to read.",
    "--early-stopping": "Set a tenth of the training data aside, stop when the accuracy on it no longer "
    "rises, and keep the best epoch.",
    "--patience": "Epochs without a rise that early stopping waits for; turns it on. Default: 10.",
    "--seed": "The same seed gives the same model, with any number of --jobs.",
    "--jobs": "Threads. Default: as many as there are cores.",
    "--checkpoint": "Save the training here as it goes; the same command then goes on from it, after Ctrl-C "
    "or a crash, to the same model.",
    "--data-dir": "The folder that holds the datasets. Default: that of the environment variable "
    "TMVERIFY_DATA. digits needs none.",
    "--target": "The column of a .csv file that holds the labels. Default: the one named y or label.",
    "--test-size": "Share of a file's rows to hold out for testing, evenly over the labels, drawn by --seed; "
    "0 to train on everything. Default: 0.25. Datasets have test data of their own.",
    "--save-test": "Also write the held-out test data, as bits with their names, for the other commands.",
    "--quiet": "Print nothing but errors (and --json).",
}


def _option(panel: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=_HELP[names[0]], rich_help_panel=panel, **settings)


_learning = partial(_option, "How to learn")
_number = partial(_learning, metavar="N")
_data = partial(_option, "Which data")
_output = partial(_option, "Output")


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
    clauses: Annotated[int | None, _number("--clauses", "-n", min=2)] = None,
    threshold: Annotated[int | None, _number("--threshold", "-T", min=1)] = None,
    specificity: Annotated[float | None, _learning("--specificity", "-s", metavar="S", min=1.0)] = None,
    epochs: Annotated[int | None, _number("--epochs", min=1)] = None,
    weighted: Annotated[bool, _learning("--weighted")] = False,
    boost: Annotated[bool, _learning("--boost")] = False,
    states: Annotated[int, _number("--states", min=1, max=128)] = 128,
    max_literals: Annotated[int | None, _number("--max-literals", min=1)] = None,
    early_stopping: Annotated[bool, _learning("--early-stopping")] = False,
    patience: Annotated[int | None, _number("--patience", min=1)] = None,
    seed: Annotated[int, _number("--seed", min=0, max=2**32 - 1)] = 0,
    jobs: Annotated[int | None, _number("--jobs", "-j", min=1)] = None,
    checkpoint: Annotated[Path | None, _learning("--checkpoint", metavar="FILE")] = None,
    data_dir: Annotated[Path | None, _data("--data-dir", metavar="FOLDER")] = None,
    target: Annotated[str | None, _data("--target", metavar="COLUMN")] = None,
    test_size: Annotated[float | None, _data("--test-size", metavar="SHARE")] = None,
    save_test: Annotated[Path | None, _output("--save-test", metavar="FILE.npz")] = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, _output("--quiet", "-q")] = False,
) -> None:
    """Train a Tsetlin machine, test it, and save the model for the other commands.

    Ctrl-C stops it early: the model of the epochs finished by then is saved.

    Example: [cyan]tmverify train digits -o digits.tm --save-test digits-test.npz[/cyan]
    then: [cyan]tmverify robustness digits.tm digits-test.npz --epsilon 1 --n 20[/cyan]
    a table: [cyan]tmverify train people.csv --target income -o people.tm[/cyan]
    a long run: [cyan]tmverify train mnist --data-dir data -o mnist.tm --checkpoint mnist.state[/cyan]
    """
    from tmverify.cli.output import notice, print_note

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
        from tmverify.cli.training_run import TrainingRun, epochs_in, make_estimator, read_data

        n_jobs = -1 if jobs is None else jobs
        estimator = make_estimator(source, **settings, n_jobs=n_jobs, verbose=verbose)
        epochs_before = epochs_in(checkpoint)
        with notice(f"reading {source} …", wanted=not quiet):
            data = read_data(source, data_dir=data_dir, target=target, test_size=test_size, seed=seed)
        run = TrainingRun(data, estimator, [*settings], output, checkpoint, epochs_before)
        if not (as_json or quiet):
            run.announce()
        with one_interrupt():
            run.learn(save_test, quiet=quiet)
            if as_json or not quiet:
                run.report(as_json=as_json)
    except KeyboardInterrupt:
        print_note("interrupted before an epoch was finished: no model was written")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if run.interrupted:
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
