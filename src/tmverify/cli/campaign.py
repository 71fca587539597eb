"""``tmverify campaign run``, ``status`` and ``export``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tmverify.campaign.answering import answer_all, check_folder, check_jobs
from tmverify.campaign.expansion import expand
from tmverify.campaign.exporting import Written, export_csv, export_parquet
from tmverify.campaign.plan import read_plan
from tmverify.campaign.store import NOT_BELIEVED, Row, Store
from tmverify.cli import options
from tmverify.cli.campaign_report import report_status, status_document
from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.output import plain, print_note, show, show_json
from tmverify.cli.phrases import asked_anew, not_believed
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError
from tmverify.interrupts import one_interrupt

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
    check_jobs(jobs)
    check_apart([plan], [store], "PLAN and --store")
    campaign = expand(read_plan(plan))
    check_folder(campaign.certificates)
    interrupted, failure = False, None
    with one_interrupt(), Store.writing(store) as opened:
        try:
            tally = answer_all(
                opened, campaign, jobs=jobs, cluster=cluster, retry_unknown=retry_unknown, verbose=True
            )
            failure = tally.failure
            if tally.refused:
                print_note(asked_anew(tally.refused))
        except KeyboardInterrupt:
            interrupted = True
        rows = [opened.row(task) for task in campaign.tasks]
        _report(opened, rows, as_json=as_json, interrupted=interrupted)
    if interrupted:
        options = ["-j", str(jobs), *(["--cluster", cluster] if cluster else [])]
        options += ["--retry-unknown"] if retry_unknown else []
        command = shlex.join(["tmverify", "campaign", "run", str(plan), "--store", str(store), *options])
        print_note(f"interrupted; what is answered is kept. To go on: {command}")
        raise typer.Exit(ExitCode.INTERRUPTED)
    if failure is not None:
        raise failure
    if not as_json:
        name = shlex.quote(str(store))
        show(
            Text(
                plain(f"now: tmverify report {name} -o report.html, or campaign export {name} --csv out.csv")
            )
        )
    solved = all(row.answer is not None and row.answer.solved for row in rows)
    raise typer.Exit(ExitCode.HOLDS if solved else ExitCode.UNKNOWN)


def status(store: ThisStore, as_json: options.AsJson = False) -> None:
    """How far a campaign is, and what it found; also while it runs.

    Example: [cyan]tmverify campaign status results.db[/cyan]
    """
    with Store.reading(store) as opened:
        _report(opened, list(opened.rows()), as_json=as_json)


def export(store: ThisStore, csv: CsvTarget = None, parquet: ParquetTarget = None) -> None:
    """Write one row for every task that is finished, for other tools.

    An answer that the question can't have, in a damaged store, is unknown, with stop_reason not-believed.

    Columns: task, question, models, data, index, label, epsilon, scope, direction, features, status, radius,
    lower, upper, decisions, flips, seconds, engine, stop_reason, detail, trusts, certificate, attempts,
    model_hashes, versions.

    Example: [cyan]tmverify campaign export results.db --csv out.csv[/cyan]
    """
    if csv is None and parquet is None:
        raise InvalidInputError("Nothing to write: give --csv FILE.csv or --parquet FILE.parquet.")
    if csv is not None:
        check_target(csv, "--csv", [".csv"])
    if parquet is not None:
        check_target(parquet, "--parquet", [".parquet"])
    check_apart([store], [csv, parquet], "STORE, --csv and --parquet")
    with Store.reading(store) as opened:
        if csv is not None:
            _tell(export_csv(opened, csv), csv)
        if parquet is not None:
            _tell(export_parquet(opened, parquet), parquet)


def _tell(written: Written, path: Path) -> None:
    show(f"{written.rows} rows written to {plain(path)}")
    if written.refused:
        show(f"  {not_believed(written.refused)}; in the file, they have stop_reason {NOT_BELIEVED}")


def _report(store: Store, rows: list[Row], *, as_json: bool, interrupted: bool = False) -> None:
    if as_json:
        show_json({**status_document(store, rows), "interrupted": interrupted})
    else:
        report_status(store, rows)
