"""``tmverify campaign run``, ``status`` and ``export``; ``tmverify report``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli import options
from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError
from tmverify.interrupts import one_interrupt

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN.toml", help="What to ask: see the example above.")]
ThisStore = Annotated[Path, typer.Argument(metavar="STORE", help="The file that --store named.")]
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
CsvTarget = Annotated[Path | None, typer.Option("--csv", metavar="FILE.csv", help="Write CSV.")]
ParquetTarget = Annotated[
    Path | None,
    typer.Option("--parquet", metavar="FILE.parquet", help="Write Parquet (extra \\[parquet])."),
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="The file to write.")]
Title = Annotated[
    str | None,
    typer.Option("--title", help="Title of the page. Default: the store's name."),
]
Gallery = Annotated[
    int, typer.Option("--gallery", min=0, help="Show at most so many changed inputs, the nearest first.")
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
    raise typer.Exit(
        _run(plan, store, jobs=jobs, cluster=cluster, retry_unknown=retry_unknown, as_json=as_json)
    )


def status(store: ThisStore, as_json: options.AsJson = False) -> None:
    """How far a campaign is, and what it found; also while it runs.

    Example: [cyan]tmverify campaign status results.db[/cyan]
    """
    from tmverify.campaign.store import Store
    from tmverify.cli.status import report_status

    with Store.reading(store) as opened:
        report_status(opened, list(opened.rows()), as_json=as_json)


def export(store: ThisStore, csv: CsvTarget = None, parquet: ParquetTarget = None) -> None:
    """Write one row for every task that is finished, for other tools.

    An answer that the question can't have, in a damaged store, is unknown, with stop_reason not-believed.

    Columns: task, question, models, data, index, line, name, label, epsilon, margin, scope, distance, rules,
    direction, features, feature_names, status, radius, lower, upper, decisions, leads, flips,
    flipped_features, changes, possible, facts, rule, undecided, seconds, engine, stop_reason, detail,
    trusts, certificate, attempts, model_hashes, versions.

    Example: [cyan]tmverify campaign export results.db --csv out.csv[/cyan]
    """
    from tmverify.campaign.export import export_csv, export_parquet
    from tmverify.campaign.store import Store
    from tmverify.cli.status import tell_written

    if csv is None and parquet is None:
        raise InvalidInputError("Nothing to write: give --csv FILE.csv or --parquet FILE.parquet.")
    if csv is not None:
        check_target(csv, "--csv", [".csv"])
    if parquet is not None:
        check_target(parquet, "--parquet", [".parquet"])
    check_apart([store], [csv, parquet], "STORE, --csv and --parquet")
    with Store.reading(store) as opened:
        if csv is not None:
            tell_written(export_csv(opened, csv), csv)
        if parquet is not None:
            tell_written(export_parquet(opened, parquet), parquet)


def report(
    store: ThisStore,
    output: Output = Path("report.html"),
    title: Title = None,
    gallery: Gallery = 200,
    image: options.Image = None,
) -> None:
    """Draw what a store has: tables, charts and a gallery of changed inputs, in one HTML file.

    The file needs nothing else, no network either: open it in any browser, mail it, print it.
    It needs the extra [cyan]\\[report][/cyan]: pip install 'tmverify\\[report]'.

    Example: [cyan]tmverify report results.db -o report.html[/cyan]
    """
    from tmverify.cli.output import plain, show
    from tmverify.report import write_report

    check_target(output, "--output", [".html", ".htm"])
    check_apart([store], [output], "STORE and --output")
    write_report(store, output, title=title, gallery=gallery, image=options.read_shape(image))
    show(f"report written to {plain(output)}")


def _run(
    plan: Path, store: Path, *, jobs: int, cluster: str | None, retry_unknown: bool, as_json: bool
) -> ExitCode:
    """Ask what the store does not know yet, report, and say how it went."""
    from tmverify.asking.tally import Tally
    from tmverify.campaign.expansion import expand
    from tmverify.campaign.plan import read_plan
    from tmverify.campaign.run import ask, check_folder, check_jobs
    from tmverify.campaign.store import Store
    from tmverify.cli.output import asked_anew, plain, print_note, show, tell_of_rows
    from tmverify.cli.status import report_status

    check_jobs(jobs)
    check_apart([plan], [store], "PLAN and --store")
    campaign = expand(read_plan(plan))
    check_folder(campaign.certificates)
    for file, notes in campaign.notes.items():
        tell_of_rows(file, campaign.ignored.get(file, ()), notes)
    tally, interrupted = Tally(0), False
    how = {"jobs": jobs, "cluster": cluster, "retry_unknown": retry_unknown}
    with one_interrupt(), Store.writing(store) as opened:
        try:
            for _ in ask(campaign, tally, opened, verbose=True, **how):  # type: ignore[arg-type]
                pass
            if tally.refused:
                print_note(asked_anew(tally.refused))
        except KeyboardInterrupt:
            interrupted = True
        rows = [opened.asked(task) for task in campaign.tasks]
        report_status(opened, rows, as_json=as_json, interrupted=interrupted)
    if interrupted:
        options = ["-j", str(jobs), *(["--cluster", cluster] if cluster else [])]
        options += ["--retry-unknown"] if retry_unknown else []
        command = shlex.join(["tmverify", "campaign", "run", str(plan), "--store", str(store), *options])
        print_note(f"interrupted; what is answered is kept. To go on: {command}")
        return ExitCode.INTERRUPTED
    if tally.failure is not None:
        raise tally.failure
    if not as_json:
        name = plain(shlex.quote(str(store)))
        show(f"now: tmverify report {name} -o report.html, or campaign export {name} --csv out.csv")
    solved = all(row.answer is not None and row.answer.solved for row in rows)
    return ExitCode.HOLDS if solved else ExitCode.UNKNOWN
