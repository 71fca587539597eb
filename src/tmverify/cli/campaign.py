"""``tmverify campaign run``, ``status`` and ``export``."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.text import Text

from tmverify.campaign.expansion import expand
from tmverify.campaign.exporting import Written, export_csv, export_parquet
from tmverify.campaign.plan import read_plan
from tmverify.campaign.run import answer_all, check_folder, check_jobs
from tmverify.campaign.store import NOT_BELIEVED, Row, Store
from tmverify.cli.campaign_report import report_status, status_document
from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.output import plain, print_note, show, show_json
from tmverify.cli.phrases import asked_anew, not_believed
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError
from tmverify.interrupts import one_interrupt


def run_plan(
    plan: Path, store: Path, *, jobs: int, cluster: str | None, retry_unknown: bool, as_json: bool
) -> ExitCode:
    """Ask what the store does not know yet, report, and say how it went."""
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
        return ExitCode.INTERRUPTED
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
    return ExitCode.HOLDS if solved else ExitCode.UNKNOWN


def show_status(store: Path, *, as_json: bool) -> None:
    """How far the campaigns of a store are, and what they found."""
    with Store.reading(store) as opened:
        _report(opened, list(opened.rows()), as_json=as_json)


def export_answers(store: Path, csv: Path | None, parquet: Path | None) -> None:
    """Write one row for every task that is finished."""
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
