"""Look at a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options

OutFile = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write all predictions: .csv, or .npy.", show_default=False
    ),
]
WithScores = Annotated[bool, typer.Option("--scores", help="Also the scores, before any clamp.")]


def info(
    model: options.ModelFile,
    clauses: Annotated[
        int | None,
        typer.Option(
            "--clauses",
            min=0,
            help="Also print the clauses as rules, at most this many per class.",
            show_default=False,
        ),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """What is in a model file: its size, its decision rule, its clauses; or the layers of a network.

    The sha256 is the model's identity: two files with the same one hold the same model.

    Example: [cyan]tmverify info model.tm --clauses 5[/cyan]
    """
    from tmverify.cli.info import show_model

    show_model(model, clauses, as_json=as_json)


def predict(
    model: options.ModelFile,
    data: options.DataFile,
    output: OutFile = None,
    scores: WithScores = False,
    as_json: options.AsJson = False,
) -> None:
    """What the model says of each input, and how often it is right if the data has labels.

    Shows the first 20; -o and --json give them all.

    Example: [cyan]tmverify predict model.tm test.npz -o predictions.csv[/cyan]
    """
    from tmverify.cli.predict import show_predictions

    show_predictions(model, data, output, with_scores=scores, as_json=as_json)
