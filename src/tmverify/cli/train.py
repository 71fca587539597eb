"""``tmverify train``: its options, and their checks. ``training_run`` does what they ask."""

import shlex
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

FILE_KINDS = (".csv", ".tsv", ".npz")


class Settings(NamedTuple):
    """The settings that matter most, by their names in the estimator."""

    n_clauses: int
    threshold: int
    specificity: float
    n_epochs: int
    boost_true_positive: bool = False
    max_literals: int | None = None


# IMDB: chosen on a validation part of its training data. Test accuracies are in benchmarks/results/tables.md.
DEFAULTS: Mapping[str, Settings] = {
    "digits": Settings(300, 30, 8.0, 60),
    "mnist": Settings(500, 25, 10.0, 30),
    "fashion-mnist": Settings(500, 25, 10.0, 30),
    "mnist-c": Settings(500, 25, 10.0, 30),
    "imdb": Settings(1000, 250, 1.5, 10, boost_true_positive=True, max_literals=100),
}  # for files, settings are chosen by the size of the data
DATASETS = tuple(DEFAULTS)
_TUNABLE = {
    "clauses": "n_clauses",
    "threshold": "threshold",
    "specificity": "specificity",
    "epochs": "n_epochs",
    "weighted": "weighted",
    "boost": "boost_true_positive",
    "max_literals": "max_literals",
}  # options by their names here, and in the estimator


_CHOSEN = "chosen by the size of the data"


def _by_source(field: str) -> str:
    """``Default: 300 for digits, 500 for mnist, …``, those with the same value together."""
    groups: dict[float, list[str]] = {}
    for source, settings in DEFAULTS.items():
        groups.setdefault(getattr(settings, field), []).append(source)
    said = [f"{value:g} for {' and '.join(sources)}" for value, sources in groups.items()]
    return f"Default: {', '.join(said)}; for a file {_CHOSEN}."


_HELP = {
    "--clauses": "Clauses of each class (of both together, if there are two). " + _by_source("n_clauses"),
    "--threshold": "How many votes are enough: a larger one lets more clauses learn the same pattern. "
    + _by_source("threshold"),
    "--specificity": "A larger one makes longer clauses. " + _by_source("specificity"),
    "--epochs": "How often all examples are shown. " + _by_source("n_epochs"),
    "--weighted/--no-weighted": "Learn integer weights of clauses. Default: no.",
    "--boost/--no-boost": "Always strengthen the true literals of a true clause. Default: yes for imdb and "
    "files, no for other datasets.",
    "--states": "States of an automaton for each of its two actions.",
    "--max-literals": "No clause gets more literals than this; 0 for no limit. Short clauses are easier to "
    f"read. Default: {DEFAULTS['imdb'].max_literals} for imdb, no limit for others.",
    "--tune": "Search for good settings first, for this many seconds, on a part of the training data that is "
    "set aside; options that are given stay as they are. Then train on all training data with the best "
    "setting, and print it as a command. Ctrl-C ends the search early.",
    "--early-stopping": "Set a tenth of the training data aside, stop when the accuracy on it no longer "
    "rises, and keep the best epoch.",
    "--patience": "Epochs without a rise that early stopping waits for; turns it on. Default: 10.",
    "--seed": "The same seed gives the same model, with any number of --jobs.",
    "--jobs": "Threads. Default: as many as there are cores.",
    "--checkpoint": "Save the training here as it goes; the same command then goes on from it, after Ctrl-C "
    "or a crash, to the same model.",
    "--data-dir": "The folder that holds the datasets. Default: that of the environment variable "
    "TMVERIFY_DATA. digits needs none.",
    "--target": "The column of a table that holds the labels. Default: the one named y or label.",
    "--drop": "Columns of a table to leave out, such as id,name.",
    "--text": "A column of free text: it is cut into words, a bit for each frequent one. Repeat it for more.",
    "--words": "How many of the most frequent words of a text to keep. Default: 5000.",
    "--like": "Read the columns of the table as this model does, with the same intervals, categories and "
    "words, so that the two can be compared (similarity, equivalence).",
    "--missing": "What to do with missing values: a bit that says so (bit), or an error (refuse).",
    "--test-size": "Share of a file's rows to hold out for testing, evenly over the labels, drawn by --seed; "
    "0 to train on everything. Default: 0.25. Datasets have test data of their own.",
    "--save-test": "Also write the held-out test data for the other commands: .csv for the rows of your "
    "table as they are, .npz for bits with their names (and these rows).",
    "--quiet": "Print nothing but errors (and --json).",
}


def _option(panel: str, *names: str, **settings: Any) -> Any:
    return typer.Option(*names, help=_HELP[names[0]], rich_help_panel=panel, **settings)


_learning = partial(_option, "How to learn")
_number = partial(_learning, metavar="N")
_data = partial(_option, "Which data")
_output = partial(_option, "Output")


def train(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help=f"Your table: .csv or .tsv with a header line, separated by commas, semicolons or tabs "
            "(--target names the column of the labels); an .npz file with arrays X and y; or a dataset "
            f"({', '.join(DATASETS)}). Numbers, categories, missing values and texts become bits.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model.")
    ],
    target: Annotated[str | None, _data("--target", metavar="COLUMN")] = None,
    drop: Annotated[str | None, _data("--drop", metavar="COLUMNS")] = None,
    text: Annotated[list[str] | None, _data("--text", metavar="COLUMN")] = None,
    words: Annotated[int | None, _data("--words", metavar="N", min=1)] = None,
    missing: Annotated[str, _data("--missing", metavar="bit|refuse")] = "bit",
    like: Annotated[Path | None, _data("--like", metavar="MODEL")] = None,
    test_size: Annotated[float | None, _data("--test-size", metavar="SHARE")] = None,
    data_dir: Annotated[Path | None, _data("--data-dir", metavar="FOLDER")] = None,
    clauses: Annotated[int | None, _number("--clauses", "-n", min=2)] = None,
    threshold: Annotated[int | None, _number("--threshold", "-T", min=1)] = None,
    specificity: Annotated[float | None, _learning("--specificity", "-s", metavar="S", min=1.0)] = None,
    epochs: Annotated[int | None, _number("--epochs", min=1)] = None,
    weighted: Annotated[bool | None, _learning("--weighted/--no-weighted")] = None,
    boost: Annotated[bool | None, _learning("--boost/--no-boost")] = None,
    states: Annotated[int, _number("--states", min=1, max=128)] = 128,
    max_literals: Annotated[int | None, _number("--max-literals", min=0)] = None,
    early_stopping: Annotated[bool, _learning("--early-stopping")] = False,
    patience: Annotated[int | None, _number("--patience", min=1)] = None,
    tune: Annotated[float | None, _learning("--tune", metavar="SECONDS", min=1.0)] = None,
    seed: Annotated[int, _number("--seed", min=0, max=2**32 - 1)] = 0,
    jobs: Annotated[int | None, _number("--jobs", "-j", min=1)] = None,
    checkpoint: Annotated[Path | None, _learning("--checkpoint", metavar="FILE")] = None,
    save_test: Annotated[Path | None, _output("--save-test", metavar="FILE")] = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, _output("--quiet", "-q")] = False,
) -> None:
    """Train a Tsetlin machine, test it, and save the model for the other commands.

    Ctrl-C stops it early: the model of the epochs finished by then is saved.

    Example: [cyan]tmverify train digits -o digits.tm --save-test digits-test.npz[/cyan]
    then: [cyan]tmverify robustness digits.tm digits-test.npz --epsilon 1 --n 20[/cyan]
    a table: [cyan]tmverify train people.csv --target income -o people.tm --save-test test.csv[/cyan]
    then: [cyan]tmverify radius people.tm test.csv[/cyan]
    texts: [cyan]tmverify train movies.csv --target sentiment --text review -o movies.tm[/cyan]
    better settings: [cyan]tmverify train people.csv --target income -o people.tm --tune 60[/cyan]
    a long run: [cyan]tmverify train mnist --data-dir data -o mnist.tm --checkpoint mnist.state[/cyan]
    """
    from tmverify.cli.output import notice, print_note

    asked = Reading(target, _names_in(drop), tuple(text or ()), words, missing, test_size, like)
    _check_source(source, data_dir, asked)
    _check_files(source, output, checkpoint, save_test, test_size)
    if tune is not None and checkpoint is not None:
        raise InvalidInputError(
            "--tune and --checkpoint don't go together: another search may end in other settings. "
            "Search first, then add --checkpoint to the command that it prints."
        )
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
        preset = source if tune is None else ""
        estimator = make_estimator(preset, **settings, n_jobs=n_jobs, verbose=verbose)
        epochs_before = epochs_in(checkpoint)
        with notice(f"reading {source} …", wanted=not quiet):
            data, notes = read_data(source, asked, data_dir=data_dir, seed=seed)
        for note in notes:
            print_note(f"warning: {note}")
        run = TrainingRun(data, estimator, [*settings], output, checkpoint, epochs_before)
        if not (as_json or quiet):
            run.announce()
        if tune is not None:
            run.search(tune, partial(_command_with, context), verbose=verbose, quiet=quiet)
        with one_interrupt():
            run.learn(save_test, quiet=quiet)
            if as_json or not quiet:
                run.report(as_json=as_json)
    except KeyboardInterrupt:
        print_note("interrupted before an epoch was finished: no model was written")
        raise typer.Exit(ExitCode.INTERRUPTED) from None
    if run.interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


class Reading(NamedTuple):
    """How a file is read, as typed."""

    target: str | None = None
    drop: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    words: int | None = None
    missing: str = "bit"
    test_size: float | None = None
    like: Path | None = None


def _names_in(text: str | None) -> tuple[str, ...]:
    return () if text is None else tuple(name.strip() for name in text.split(",") if name.strip())


def _command_with(context: typer.Context, chosen: Mapping[str, Any]) -> str:
    """This command without --tune, and with the chosen settings, by their names in the estimator."""
    from tmverify.space.values import number_text

    words = ["tmverify", "train"]
    for parameter in context.command.params:
        name = str(parameter.name)
        origin = context.get_parameter_source(name)
        given = origin is not None and origin.name == "COMMANDLINE"
        value = context.params[name] if given else chosen.get(_TUNABLE.get(name, ""))
        if value is None and name == "max_literals" and context.params["source"] in DATASETS:
            value = 0  # not the dataset's default
        if value is None or name == "tune":
            continue
        if parameter.param_type_name == "argument":
            words.append(str(value))
        elif isinstance(value, bool):
            words += (parameter.opts if value else parameter.secondary_opts)[:1]
        else:
            for each in value if isinstance(value, list | tuple) else [value]:
                words += [parameter.opts[0], number_text(each) if isinstance(each, float) else str(each)]
    return shlex.join(words)


def _check_source(source: str, data_dir: Path | None, asked: Reading) -> None:
    """Raise InvalidInputError if the options do not fit the source, before anything is read."""
    is_file = source not in DATASETS
    if is_file and Path(source).suffix.lower() not in FILE_KINDS:
        from tmverify.data.files import wrong_kind

        raise InvalidInputError(
            wrong_kind(source, FILE_KINDS, f"SOURCE must be one of {', '.join(DATASETS)}, or it")
        )
    if is_file and data_dir is not None:
        raise InvalidInputError(f"--data-dir is for datasets; {source} is a file.")
    for name, value in asked._asdict().items():
        if not is_file and value != Reading._field_defaults[name]:
            option = f"--{name.replace('_', '-')}"
            raise InvalidInputError(f"{option} is for files; {source} has labels and test data of its own.")
    if asked.missing not in ("bit", "refuse"):
        raise InvalidInputError(f"--missing must be bit or refuse. Got {asked.missing!r} instead.")
    if asked.words is not None and not asked.text:
        raise InvalidInputError("--words is for a column that --text names.")
    if asked.like is not None and (asked.text or asked.missing == "refuse"):
        raise InvalidInputError("--like MODEL says how columns are read; leave --text and --missing out.")
    if asked.like is not None and Path(source).suffix.lower() == ".npz":
        raise InvalidInputError("--like is for tables; the columns of an .npz file are bits or numbers.")
    test_size = asked.test_size
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
        check_target(save_test, "--save-test", [".npz", ".csv"])
        if save_test.suffix.lower() == ".csv" and Path(source).suffix.lower() not in (".csv", ".tsv"):
            raise InvalidInputError(
                "--save-test FILE.csv keeps the rows of a table; choose FILE.npz for bits."
            )
        if test_size == 0:
            raise InvalidInputError("--save-test needs test data, and --test-size 0 holds none out.")
    read = [] if source in DATASETS else [Path(source)]
    names = "SOURCE, --output, --checkpoint and --save-test"
    check_apart(read, [output, checkpoint, save_test], names)
