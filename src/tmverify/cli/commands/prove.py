"""Prove it, or find the counterexample."""

from __future__ import annotations

import typer

from tmverify.cli import options


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
    from tmverify.cli.many import ask_many
    from tmverify.cli.stored import Keeping
    from tmverify.cli.subject import Wanted
    from tmverify.cli.survey import ROBUSTNESS

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


def universal_robustness(
    model: options.ModelFile,
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
    """Is the model robust on at least a fraction eta of the inputs?

    [bold]holds[/bold]: proved for enough inputs.
    [bold]violated[/bold]: too many have a counterexample.
    Inputs are taken in order, and only until the answer is certain.

    Example: [cyan]tmverify universal-robustness model.tm test.npz --epsilon 1 --eta 0.9 --n 200[/cyan]
    """
    from tmverify.cli.census import ROBUSTNESS
    from tmverify.cli.subject import Wanted
    from tmverify.cli.universal import ask_universal

    wanted = Wanted(
        models=(model,), data=data, n=n, seed=seed, scope=scope, features=features, direction=direction
    )
    code = ask_universal(
        ROBUSTNESS,
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
    from tmverify.cli.many import ask_many
    from tmverify.cli.stored import Keeping
    from tmverify.cli.subject import Wanted
    from tmverify.cli.survey import SIMILARITY

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
    from tmverify.cli.census import SIMILARITY
    from tmverify.cli.subject import Wanted
    from tmverify.cli.universal import ask_universal

    wanted = Wanted(
        models=(a, b), data=data, n=n, seed=seed, scope=scope, features=features, direction=direction
    )
    code = ask_universal(
        SIMILARITY,
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


def equivalence(
    a: options.ModelA,
    b: options.ModelB,
    data: options.HintFile = None,
    scope: options.Scope = "team",
    engine: options.Engine = "auto",
    timeout: options.Timeout = 300.0,
    as_json: options.AsJson = False,
    save_witnesses: options.WitnessFile = None,
    certificate: options.CertificateFolder = None,
) -> None:
    """Do two models agree on every input there is?

    [bold]holds[/bold]: proved, no input tells them apart.
    [bold]violated[/bold]: one does; it is shown, after both models were run on it.
    --save-witnesses writes it as X, one row or none, and feature_names.
    The engine shown is the one that answered:
    [bold]hunt[/bold] (inputs tried, and walks), [bold]structure[/bold] (both sums cancel), search,
    brute (every input looked at, where there are few) or sat.

    Example: [cyan]tmverify equivalence trained.tm pruned.tm[/cyan]
    """
    from tmverify.cli.equivalence import compare

    code = compare(
        a,
        b,
        data,
        scope=scope,
        engine=engine,
        timeout=timeout,
        as_json=as_json,
        witness_file=save_witnesses,
        certificate_folder=certificate,
    )
    raise typer.Exit(code)


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
    rows: options.Rows = 20,
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
    from tmverify.cli.radii import RadiusFiles, ask_radii
    from tmverify.cli.stored import Keeping
    from tmverify.cli.subject import Wanted

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
