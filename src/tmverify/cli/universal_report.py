"""The answer to a universal question, as a table or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from tmverify.cli.census import Census
from tmverify.cli.documents import document, subject_json
from tmverify.cli.output import headline, plain, show, show_json
from tmverify.cli.phrases import restrictions
from tmverify.cli.records import witness_lines
from tmverify.properties import Status


def report(census: Census, *, as_json: bool, witness_file: Path | None) -> None:
    """Print the census."""
    if as_json:
        show_json(_document(census))
        return
    show(Text(f"{census.question.name} of {census.subject.names}", style="bold"))
    asked = [f"eta {census.eta}", *restrictions(census.subject.wanted), f"engine {census.engine}"]
    show(" · ".join(asked), _table(census))
    show(headline(census.status, _meaning(census), interrupted=census.interrupted))
    show(*witness_lines(census.records, census.subject.models))
    if witness_file is not None:
        show(f"witnesses: {census.count(Status.VIOLATED)} written to {plain(witness_file)}")
    show(*census.certificates.lines())


def _table(census: Census) -> Table:
    subject = census.subject
    table = Table()
    cells = {
        "epsilon": census.epsilon,
        "inputs": len(subject.rows),
        "required": census.required,
        census.question.adjective: census.count(Status.HOLDS),
        "violated": census.count(Status.VIOLATED),
        "unknown": census.count(Status.UNKNOWN),
        "not asked": len(subject.rows) - len(census.records),
        "seconds": f"{census.seconds:.2f}",
    }
    for header in cells:
        table.add_column(header, justify="right", overflow="fold")
    table.add_row(*map(str, cells.values()))
    return table


def _meaning(census: Census) -> str:
    inputs, word = len(census.subject.rows), census.question.adjective
    holds, violated = census.count(Status.HOLDS), census.count(Status.VIOLATED)
    if census.status is Status.HOLDS:
        return f"{word}: at least {census.required} of {inputs} inputs, as eta = {census.eta} asks"
    if census.status is Status.VIOLATED:
        spare = inputs - census.required
        return f"not {word}: {violated} inputs; eta = {census.eta} of {inputs} inputs allows {spare}"
    if census.outcome is not None:
        return census.outcome.detail
    return (
        f"so far {word}: {holds}, violated: {violated}; {census.required} of {inputs} inputs must be {word}"
    )


def _document(census: Census) -> dict[str, Any]:
    outcome = census.outcome
    return {
        **document(census.question.name, census.subject.opened),
        **subject_json(census.subject),
        "engine": census.engine,
        "timeout": census.timeout,
        "timeout_per_input": census.timeout_per_input,
        "epsilon": census.epsilon,
        "eta": str(census.eta),
        "inputs": len(census.subject.rows),
        "required": census.required,
        census.question.adjective: census.count(Status.HOLDS),
        "violated": census.count(Status.VIOLATED),
        "unknown": census.count(Status.UNKNOWN),
        "seconds": census.seconds,
        "status": census.status.value,
        "interrupted": census.interrupted,
        "stop_reason": None if outcome is None or outcome.stop_reason is None else outcome.stop_reason.value,
        "detail": "" if outcome is None else outcome.detail,
        **census.kept.as_json(),
        "results": [record.as_json(census.subject.named) for record in census.records],
    }
