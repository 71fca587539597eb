"""``tmverify radius``."""

from __future__ import annotations

import typer

from tmverify.cli import options
from tmverify.cli.radii import RadiusFiles, ask_radii
from tmverify.cli.stored import Keeping
from tmverify.cli.subject import Wanted

DEFAULT_ROWS = 20


def radius(
    model: options.ModelFile,
    data: options.DataFile,
    against: options.Against = None,
    n: options.SampleSize = None,
    seed: options.Seed = 0,
    scope: options.ManyScope = "team",
    features: options.Features = None,
    direction: options.Direction = None,
    engine: options.Engine = "auto",
    timeout: options.RadiusTimeout = 300.0,
    jobs: options.Jobs = 1,
    store: options.StoreFile = None,
    rows: options.Rows = DEFAULT_ROWS,
    as_json: options.AsJson = False,
    csv: options.CsvFile = None,
    save_witnesses: options.NearestFile = None,
    certificate: options.CertificateFolder = None,
) -> None:
    """How many flipped bits does it take to change the decision on an input?

    The [bold]radius[/bold] is exact: so many flips do it, and fewer are proved not to.
    The nearest class is what they make of it; the model was run on that input.
    [bold]5..9[/bold]: a limit struck; it takes at least 5, and 9 suffice. [bold]5..?[/bold]: none known.
    [bold]inf[/bold]: no change that is allowed alters the decision.

    With --against, the radius is the distance to the nearest input on which two models disagree.

    Example: [cyan]tmverify radius model.tm test.npz --n 200 --csv radii.csv[/cyan]
    words may only be added: [cyan]tmverify radius imdb.tm reviews.npz --direction add[/cyan]
    two models: [cyan]tmverify radius trained.tm test.npz --against pruned.tm[/cyan]
    """
    wanted = Wanted(
        models=(model,) if against is None else (model, against),
        data=data,
        n=n,
        seed=seed,
        scope=scope,
        features=features,
        direction=direction,
    )
    code = ask_radii(
        wanted,
        engine=engine,
        timeout=timeout,
        rows=rows,
        as_json=as_json,
        files=RadiusFiles(csv, save_witnesses, certificate),
        keeping=Keeping(store, jobs),
    )
    raise typer.Exit(code)
