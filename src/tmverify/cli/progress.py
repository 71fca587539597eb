"""The progress bar: on standard error, only if that is a terminal, and gone when the work is done."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tmverify.properties.verdict import Status

Count = Callable[[Status], None]


@contextmanager
def counting(question: str, total: int) -> Iterator[Count]:
    """Show ``total`` questions being answered; call the value with the status of each."""
    if not sys.stderr.isatty():
        yield lambda _status: None
        return
    columns = (
        TextColumn(question),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("[red]{task.fields[violated]} violated[/red]"),
        TextColumn("[yellow]{task.fields[unknown]} unknown[/yellow]"),
        TimeRemainingColumn(),
    )
    seen: Counter[Status] = Counter()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(question, total=total, violated=0, unknown=0)

        def count(status: Status) -> None:
            seen[status] += 1
            bar.update(task, advance=1, violated=seen[Status.VIOLATED], unknown=seen[Status.UNKNOWN])

        yield count
