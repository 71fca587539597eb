"""The options of ``tmverify train``, and the settings that each source of data starts from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

_LEARNING = "How to learn"
_DATA = "Which data"
_OUTPUT = "Output"


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
FILE_KINDS = (".npz", ".csv")


def _by_source(field: str) -> str:
    """``Default: 300 for digits, 500 for mnist, …``, those with the same value together."""
    groups: dict[float, list[str]] = {}
    for source, settings in DEFAULTS.items():
        groups.setdefault(getattr(settings, field), []).append(source)
    said = [f"{value:g} for {' and '.join(sources)}" for value, sources in groups.items()]
    return f"Default: {', '.join(said)}; for a file that of TsetlinMachineClassifier."


Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE",
        help=f"A dataset ({', '.join(DATASETS)}), a .csv file with a header line (--target names the column "
        "of the labels), or an .npz file with arrays X and y. Columns that are not 0 and 1 become bits.",
        show_default=False,
    ),
]
OutFile = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model.", show_default=False),
]

Clauses = Annotated[
    int | None,
    typer.Option(
        "--clauses",
        "-n",
        metavar="N",
        min=2,
        help=f"Clauses of each class (of both together, if there are two). {_by_source('n_clauses')}",
        show_default=False,
        rich_help_panel=_LEARNING,
    ),
]
Threshold = Annotated[
    int | None,
    typer.Option(
        "--threshold",
        "-T",
        metavar="N",
        min=1,
        help="How many votes are enough: a larger one lets more clauses learn the same pattern. "
        f"{_by_source('threshold')}",
        show_default=False,
        rich_help_panel=_LEARNING,
    ),
]
Specificity = Annotated[
    float | None,
    typer.Option(
        "--specificity",
        "-s",
        metavar="S",
        min=1.0,
        help=f"A larger one makes longer clauses. {_by_source('specificity')}",
        show_default=False,
        rich_help_panel=_LEARNING,
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option(
        "--epochs",
        metavar="N",
        min=1,
        help=f"How often all examples are shown. {_by_source('n_epochs')}",
        show_default=False,
        rich_help_panel=_LEARNING,
    ),
]
Weighted = Annotated[
    bool, typer.Option("--weighted", help="Learn integer weights of clauses.", rich_help_panel=_LEARNING)
]
Boost = Annotated[
    bool,
    typer.Option(
        "--boost", help="Always strengthen the true literals of a true clause.", rich_help_panel=_LEARNING
    ),
]
States = Annotated[
    int,
    typer.Option(
        "--states",
        metavar="N",
        min=1,
        max=128,
        help="States of an automaton for each of its two actions.",
        rich_help_panel=_LEARNING,
    ),
]
MaxLiterals = Annotated[
    int | None,
    typer.Option(
        "--max-literals",
        metavar="N",
        min=1,
        help="No clause gets more literals than this. Short clauses are easier to read.",
        show_default=False,
        rich_help_panel=_LEARNING,
    ),
]
EarlyStopping = Annotated[
    bool,
    typer.Option(
        "--early-stopping",
        help="Set a tenth of the training data aside, stop when the accuracy on it no longer rises, and keep "
        "the best epoch.",
        rich_help_panel=_LEARNING,
    ),
]
Patience = Annotated[
    int | None,
    typer.Option(
        "--patience",
        metavar="N",
        min=1,
        help="Epochs without a rise that early stopping waits for; turns it on. Default: 10.",
        show_default=False,
        rich_help_panel=_LEARNING,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        max=2**32 - 1,
        help="The same seed gives the same model, with any number of --jobs.",
        rich_help_panel=_LEARNING,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        min=1,
        help="Threads. Default: as many as there are cores.",
        show_default=False,
        rich_help_panel=_LEARNING,
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Save the training here as it goes; the same command then goes on from it, after Ctrl-C or a "
        "crash, to the same model.",
        show_default=False,
        rich_help_panel=_LEARNING,
    ),
]

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        metavar="FOLDER",
        help="The folder that holds the datasets. Default: that of the environment variable TMVERIFY_DATA. "
        "digits needs none.",
        show_default=False,
        rich_help_panel=_DATA,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="The column of a .csv file that holds the labels. Default: the one named y or label.",
        show_default=False,
        rich_help_panel=_DATA,
    ),
]
TestSize = Annotated[
    float | None,
    typer.Option(
        "--test-size",
        metavar="SHARE",
        help="Share of a file's rows to hold out for testing, evenly over the labels, drawn by --seed; 0 to "
        "train on everything. Default: 0.25. Datasets have test data of their own.",
        show_default=False,
        rich_help_panel=_DATA,
    ),
]
TestFile = Annotated[
    Path | None,
    typer.Option(
        "--save-test",
        metavar="FILE.npz",
        help="Also write the held-out test data, as bits with their names, for the other commands.",
        show_default=False,
        rich_help_panel=_OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print nothing but errors (and --json).", rich_help_panel=_OUTPUT),
]
