"""``tmverify similarity``."""

from __future__ import annotations

import typer

from tmverify.cli import options
from tmverify.cli.many import ask_many
from tmverify.cli.stored import Keeping
from tmverify.cli.subject import Wanted
from tmverify.cli.survey import SIMILARITY


def similarity(
    a: options.ModelA,
    b: options.ModelB,
    data: options.DataFile,
    epsilon: options.Epsilons = options.DEFAULT_EPSILONS,
    n: options.SampleSize = None,
    seed: options.Seed = 0,
    scope: options.ManyScope = "team",
    features: options.Features = None,
    direction: options.Direction = None,
    engine: options.Engine = "auto",
    timeout: options.Timeout = 300.0,
    jobs: options.Jobs = 1,
    store: options.StoreFile = None,
    as_json: options.AsJson = False,
    save_witnesses: options.WitnessFile = None,
    certificate: options.CertificateFolder = None,
) -> None:
    """Do two models agree on every input near the given ones?

    Each input is checked at each epsilon, and each epsilon is a row of the table.
    [bold]similar[/bold]: proved, the models agree on all inputs within epsilon flips.
    [bold]violated[/bold]: on one of those they differ; the first few are shown.
    [bold]solved[/bold] counts both, and mean seconds are over those.
    With --scope own and no labels, the class is the one that A predicts.

    Example: [cyan]tmverify similarity old.tm new.tm test.npz --epsilon 0 --epsilon 1 --n 100[/cyan]
    """
    wanted = Wanted(
        models=(a, b), data=data, n=n, seed=seed, scope=scope, features=features, direction=direction
    )
    code = ask_many(
        SIMILARITY,
        wanted,
        epsilon,
        timeout=timeout,
        engine=engine,
        as_json=as_json,
        witness_file=save_witnesses,
        certificate_folder=certificate,
        keeping=Keeping(store, jobs),
    )
    raise typer.Exit(code)
