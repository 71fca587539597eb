"""Ask many questions, and show many answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options

PlanFile = Annotated[
    Path, typer.Argument(metavar="PLAN.toml", help="What to ask: see the example above.", show_default=False)
]
ThisStore = Annotated[
    Path, typer.Argument(metavar="STORE", help="The file that --store named.", show_default=False)
]
RunStore = Annotated[
    Path,
    typer.Option(
        "--store",
        metavar="FILE.db",
        help="Where the answers are kept as they come. Run it again to go on where it was stopped.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="tcp://HOST:PORT",
        help="A Dask scheduler whose workers do the work (extra \\[dask]); --jobs then has no effect.",
        show_default=False,
    ),
]
RetryUnknown = Annotated[
    bool,
    typer.Option(
        "--retry-unknown",
        help="Ask again what was left unknown. What may take more time or memory than it did is asked again "
        "in any case.",
    ),
]
CsvTarget = Annotated[
    Path | None, typer.Option("--csv", metavar="FILE.csv", help="Write CSV.", show_default=False)
]
ParquetTarget = Annotated[
    Path | None,
    typer.Option(
        "--parquet", metavar="FILE.parquet", help="Write Parquet (extra \\[parquet]).", show_default=False
    ),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="The file to write.")]
Title = Annotated[
    str | None,
    typer.Option("--title", help="Title of the page. Default: the store's name.", show_default=False),
]
Gallery = Annotated[
    int, typer.Option("--gallery", min=0, help="Show at most so many changed inputs, the nearest first.")
]
Image = Annotated[
    str | None,
    typer.Option(
        "--image",
        metavar="ROWSxCOLUMNS",
        help="The inputs are pictures of this shape, e.g. 28x28. Default: what the plan says, or the "
        "features' names (pixel_0_0, …).",
        show_default=False,
    ),
]


def run(
    plan: PlanFile,
    store: RunStore = Path("results.db"),
    jobs: options.Jobs = 1,
    cluster: Cluster = None,
    retry_unknown: RetryUnknown = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask everything that a plan asks and the store does not know yet.

    A plan names models, inputs and questions; every question about every input is a task:

    [cyan]timeout = 60[/cyan]
    [cyan]\\[models][/cyan]
    [cyan]digits = "digits.tm"[/cyan]
    [cyan]\\[inputs.test][/cyan]
    [cyan]file = "digits-test.npz"[/cyan]
    [cyan]n = 100[/cyan]
    [cyan]\\[\\[ask]][/cyan]
    [cyan]question = "robustness"[/cyan]
    [cyan]epsilons = \\[1, 3, 5][/cyan]
    [cyan]\\[\\[ask]][/cyan]
    [cyan]question = "radius"[/cyan]

    docs/campaigns.md has all that a plan can say. Paths in it are relative to the plan.

    Example: [cyan]tmverify campaign run plan.toml --store results.db -j 2[/cyan]
    """
    from tmverify.cli.campaign import run_plan

    code = run_plan(plan, store, jobs=jobs, cluster=cluster, retry_unknown=retry_unknown, as_json=as_json)
    raise typer.Exit(code)


def status(store: ThisStore, as_json: options.AsJson = False) -> None:
    """How far a campaign is, and what it found; also while it runs.

    Example: [cyan]tmverify campaign status results.db[/cyan]
    """
    from tmverify.cli.campaign import show_status

    show_status(store, as_json=as_json)


def export(store: ThisStore, csv: CsvTarget = None, parquet: ParquetTarget = None) -> None:
    """Write one row for every task that is finished, for other tools.

    An answer that the question can't have, in a damaged store, is unknown, with stop_reason not-believed.

    Columns: task, question, models, data, index, label, epsilon, scope, direction, features, status, radius,
    lower, upper, decisions, flips, seconds, engine, stop_reason, detail, trusts, certificate, attempts,
    model_hashes, versions.

    Example: [cyan]tmverify campaign export results.db --csv out.csv[/cyan]
    """
    from tmverify.cli.campaign import export_answers

    export_answers(store, csv, parquet)


def report(
    store: ThisStore,
    output: Output = Path("report.html"),
    title: Title = None,
    gallery: Gallery = 200,
    image: Image = None,
) -> None:
    """Draw what a store has: tables, charts and a gallery of changed inputs, in one HTML file.

    The file needs nothing else, no network either: open it in any browser, mail it, print it.
    It needs the extra [cyan]\\[report][/cyan]: pip install 'tmverify\\[report]'.

    Example: [cyan]tmverify report results.db -o report.html[/cyan]
    """
    from tmverify.cli.report import draw

    draw(store, output, title=title, gallery=gallery, image=image)
