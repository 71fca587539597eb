"""The answers of ``many`` in the paper's form: per epsilon, how many were solved, how many hold, how fast.

Mean seconds are over the solved queries, as in the paper; with none solved, only the limit is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from tmverify.cli.documents import document, subject_json
from tmverify.cli.output import headline, plain, show, show_json
from tmverify.cli.phrases import remedy, seconds_text, setting_line
from tmverify.cli.records import Record, witness_lines
from tmverify.cli.survey import Survey
from tmverify.properties import Status, StopReason


@dataclass(frozen=True, slots=True)
class Row:
    """The counts at one epsilon."""

    epsilon: int
    inputs: int
    holds: int
    violated: int
    timeouts: int
    mean_seconds: float | None

    @property
    def solved(self) -> int:
        return self.holds + self.violated

    @property
    def unknown(self) -> int:
        return self.inputs - self.solved

    @property
    def other_unknown(self) -> int:
        return self.unknown - self.timeouts


def count_row(epsilon: int, records: Sequence[Record]) -> Row:
    """Count the answers at ``epsilon``."""
    verdicts = [record.verdict for record in records if record.epsilon == epsilon]
    solved = [verdict.seconds for verdict in verdicts if verdict.status is not Status.UNKNOWN]
    return Row(
        epsilon=epsilon,
        inputs=len(verdicts),
        holds=sum(verdict.status is Status.HOLDS for verdict in verdicts),
        violated=sum(verdict.status is Status.VIOLATED for verdict in verdicts),
        timeouts=sum(verdict.stop_reason is StopReason.TIMEOUT for verdict in verdicts),
        mean_seconds=sum(solved) / len(solved) if solved else None,
    )


def report(survey: Survey, *, as_json: bool, witness_file: Path | None) -> None:
    """Print the survey, as a table or as JSON."""
    rows = [count_row(epsilon, survey.records) for epsilon in survey.epsilons]
    if as_json:
        show_json(_document(survey, rows))
        return
    show(Text(f"{survey.question.name} of {survey.subject.names}", style="bold"))
    show(setting_line(survey.subject, survey.engine, survey.timeout), _table(survey, rows))
    show(headline(survey.status, _meaning(survey, rows), interrupted=survey.interrupted))
    show(*witness_lines(survey.records, survey.subject.models))
    if witness_file is not None:
        show(f"witnesses: {sum(row.violated for row in rows)} written to {plain(witness_file)}")
    show(*survey.certificates.lines())


def _table(survey: Survey, rows: Sequence[Row]) -> Table:
    table = Table()
    others = any(row.other_unknown for row in rows)
    headers = [
        "epsilon",
        "inputs",
        "solved",
        survey.question.adjective,
        "violated",
        "mean seconds",
        "timeouts",
    ]
    for header in [*headers, *(["other unknown"] if others else [])]:
        table.add_column(header, justify="right")
    for row in rows:
        cells: list[int | str] = [row.epsilon, row.inputs, row.solved, row.holds, row.violated]
        cells += [_mean(row, survey.timeout), row.timeouts, *([row.other_unknown] if others else [])]
        table.add_row(*map(str, cells))
    return table


def _mean(row: Row, timeout: float | None) -> str:
    if row.mean_seconds is not None:
        return seconds_text(row.mean_seconds)
    return f"≥ {timeout:g}" if row.timeouts and timeout is not None else "-"


def _meaning(survey: Survey, rows: Sequence[Row]) -> str:
    asked, total = len(survey.records), survey.n_queries
    so_far = f"{asked} of {total} queries answered; " if survey.interrupted else ""
    violated, unknown = sum(row.violated for row in rows), sum(row.unknown for row in rows)
    if violated:
        return f"{so_far}{violated} of {asked} queries have a counterexample"
    if unknown:
        why = remedy(record.verdict for record in survey.records)
        return f"{so_far}{unknown} of {asked} queries undecided: {why}"
    if not asked:
        return "nothing is known yet"
    return f"{so_far}{'no counterexample in any of them' if so_far else f'proved for all {asked} queries'}"


def _document(survey: Survey, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        **document(survey.question.name, survey.subject.opened),
        **subject_json(survey.subject),
        "engine": survey.engine,
        "timeout": survey.timeout,
        "status": survey.status.value,
        "interrupted": survey.interrupted,
        "epsilons": [_row_json(row, survey.question.adjective) for row in rows],
        "results": [record.as_json(survey.subject.named) for record in survey.records],
    }


def _row_json(row: Row, adjective: str) -> dict[str, Any]:
    return {
        "epsilon": row.epsilon,
        "inputs": row.inputs,
        "solved": row.solved,
        adjective: row.holds,
        "violated": row.violated,
        "unknown": row.unknown,
        "timeouts": row.timeouts,
        "mean_seconds": row.mean_seconds,
    }
