"""Make a model: train one, or import one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options
from tmverify.cli import train_options as own

StateFile = Annotated[
    Path, typer.Argument(metavar="STATE.npz", help="A state saved by green-tsetlin.", show_default=False)
]
ClauseFile = Annotated[
    Path, typer.Argument(metavar="CLAUSES", help="A clause list, .json or .csv.", show_default=False)
]
ImportedModel = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="MODEL",
        help="The model file to write. Default: beside the source, ending in .tm, if it is not there yet.",
        show_default=False,
    ),
]
CheckedData = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DATA", help=f"Count what it gets right. {options.DATA_HELP}", show_default=False
    ),
]
Classes = Annotated[
    str | None,
    typer.Option("--classes", help="Labels of its classes, with commas between them.", show_default=False),
]
Names = Annotated[
    Path | None,
    typer.Option(
        "--feature-names", metavar="FILE", help="Names of its features, one a line.", show_default=False
    ),
]


def train(
    source: own.Source,
    output: own.OutFile,
    clauses: own.Clauses = None,
    threshold: own.Threshold = None,
    specificity: own.Specificity = None,
    epochs: own.Epochs = None,
    weighted: own.Weighted = False,
    boost: own.Boost = False,
    states: own.States = 128,
    max_literals: own.MaxLiterals = None,
    early_stopping: own.EarlyStopping = False,
    patience: own.Patience = None,
    seed: own.Seed = 0,
    jobs: own.Jobs = None,
    checkpoint: own.Checkpoint = None,
    data_dir: own.DataDir = None,
    target: own.Target = None,
    test_size: own.TestSize = None,
    save_test: own.TestFile = None,
    as_json: options.AsJson = False,
    quiet: own.Quiet = False,
) -> None:
    """Train a Tsetlin machine, test it, and save the model for the other commands.

    Ctrl-C stops it early: the model of the epochs finished by then is saved.

    Example: [cyan]tmverify train digits -o digits.tm --save-test digits-test.npz[/cyan]
    then: [cyan]tmverify robustness digits.tm digits-test.npz --epsilon 1 --n 20[/cyan]
    a table: [cyan]tmverify train people.csv --target income -o people.tm[/cyan]
    a long run: [cyan]tmverify train mnist --data-dir data -o mnist.tm --checkpoint mnist.state[/cyan]
    """
    from tmverify.cli.train import Files, train_and_save
    from tmverify.cli.train_data import Wish

    given = {
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
        "n_jobs": -1 if jobs is None else jobs,
        "random_state": seed,
    }
    wish = Wish(source, data_dir, target, test_size, seed)
    files = Files(output, checkpoint, save_test)
    raise typer.Exit(train_and_save(wish, files, given, as_json=as_json, quiet=quiet))


def green(
    source: StateFile,
    output: ImportedModel = None,
    data: CheckedData = None,
    classes: Classes = None,
    feature_names: Names = None,
) -> None:
    """Read a state that green-tsetlin saved: tm.save_state("state.npz").

    Such a file holds clauses and weights alone: classes and features are named here, if at all.
    Nothing in it is unpickled, and green-tsetlin need not be installed.
    The file does not say what kind of machine it is from: it is read as a plain one, not as a convolutional
    or multi-label one.

    Example: [cyan]tmverify import green state.npz -o model.tm --data test.npz[/cyan]
    """
    from tmverify.cli.importing import import_green

    import_green(source, output, data, classes, feature_names)


def clauses(source: ClauseFile, output: ImportedModel = None, data: CheckedData = None) -> None:
    """Read a list of clauses and their votes, from any other trainer or written by hand.

    JSON, as [cyan]tmverify export model.tm -o rules.json[/cyan] writes it, or a table in CSV, one clause a
    line: docs/interop.md has both formats.

    Example: [cyan]tmverify import clauses rules.json -o model.tm[/cyan]
    """
    from tmverify.cli.importing import import_clauses

    import_clauses(source, output, data)
