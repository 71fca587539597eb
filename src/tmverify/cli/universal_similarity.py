"""``tmverify universal-similarity``."""

from __future__ import annotations

import typer

from tmverify.cli import options
from tmverify.cli.census import UniversalQuestion
from tmverify.cli.subject import Wanted
from tmverify.cli.universal import ask_universal
from tmverify.verify import check_universal_similarity

QUESTION = UniversalQuestion("universal-similarity", "similar", check_universal_similarity)


def universal_similarity(
    a: options.ModelA,
    b: options.ModelB,
    data: options.DataFile,
    epsilon: options.Epsilon = 1,
    eta: options.Eta = "0.9",
    n: options.SampleSize = None,
    seed: options.Seed = 0,
    scope: options.Scope = "team",
    features: options.Features = None,
    direction: options.Direction = None,
    engine: options.Engine = "auto",
    timeout: options.TotalTimeout = 300.0,
    timeout_per_input: options.InputTimeout = None,
    as_json: options.AsJson = False,
    save_witnesses: options.WitnessFile = None,
    certificate: options.CertificateFolder = None,
) -> None:
    """Do two models agree near at least a fraction eta of the inputs?

    [bold]holds[/bold]: proved for enough inputs.
    [bold]violated[/bold]: near too many the models differ.
    Inputs are taken in order, and only until the answer is certain.

    Example: [cyan]tmverify universal-similarity old.tm new.tm test.npz --epsilon 1 --eta 2/3[/cyan]
    """
    wanted = Wanted(
        models=(a, b), data=data, n=n, seed=seed, scope=scope, features=features, direction=direction
    )
    code = ask_universal(
        QUESTION,
        wanted,
        epsilon,
        eta,
        timeout=timeout,
        timeout_per_input=timeout_per_input,
        engine=engine,
        as_json=as_json,
        witness_file=save_witnesses,
        certificate_folder=certificate,
    )
    raise typer.Exit(code)
