"""The progress bar: on standard error, only if that is a terminal, and gone when the work is done."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Count = Callable[[str], None]

_VERDICTS = {"violated": "red", "unknown": "yellow"}


@contextmanager
def counting(question: str, total: int, shown: Mapping[str, str] = _VERDICTS) -> Iterator[Count]:
    """Show ``total`` questions being answered; call the value with the outcome of each.

    ``shown`` are the outcomes that are counted on the bar, and their colours.
    """
    if not sys.stderr.isatty():
        yield lambda _outcome: None
        return
    columns = (
        TextColumn(question),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[tally]}"),
        TimeRemainingColumn(),
    )
    seen: Counter[str] = Counter()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(question, total=total, tally=_tally(seen, shown))

        def count(outcome: str) -> None:
            seen[outcome] += 1
            bar.update(task, advance=1, tally=_tally(seen, shown))

        yield count


def _tally(seen: Counter[str], shown: Mapping[str, str]) -> str:
    return " ".join(f"[{style}]{seen[name]} {name}[/{style}]" for name, style in shown.items())
