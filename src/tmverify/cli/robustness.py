"""``tmverify robustness``."""

from __future__ import annotations

import typer

from tmverify.cli import options
from tmverify.cli.many import ask_many
from tmverify.cli.stored import Keeping
from tmverify.cli.subject import Wanted
from tmverify.cli.survey import ROBUSTNESS


def robustness(
    model: options.ModelFile,
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
    """Can a few flipped bits of an input change the decision?

    Each input is checked at each epsilon, and each epsilon is a row of the table.
    [bold]robust[/bold]: proved, no change of at most epsilon features alters the decision.
    [bold]violated[/bold]: one does; the first few are shown.
    [bold]solved[/bold] counts both, and mean seconds are over those.

    Example: [cyan]tmverify robustness model.tm test.npz --epsilon 1 --epsilon 3 --n 200[/cyan]
    """
    wanted = Wanted(
        models=(model,), data=data, n=n, seed=seed, scope=scope, features=features, direction=direction
    )
    code = ask_many(
        ROBUSTNESS,
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
