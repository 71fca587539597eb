"""Progress of a campaign, on standard error: a bar in a terminal, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn
from rich.text import Text

from tmverify.asking.tally import Tally

_LINE_EVERY = 30.0  # seconds


class _Rate(ProgressColumn):
    """Tasks a second, lately."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:.3g}/s", style="dim")


@contextmanager
def counting(tally: Tally, *, wanted: bool) -> Iterator[Callable[[], None]]:
    """Show ``tally`` while it grows; call the value after each change."""
    if not wanted:
        yield lambda: None
    elif sys.stderr.isatty():
        yield from _bar(tally)
    else:
        yield from _lines(tally)


def _bar(tally: Tally) -> Iterator[Callable[[], None]]:
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[tally]}"),
        _Rate(),
        TimeLeftColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=tally.total, completed=tally.done, tally=_words(tally, markup=True))

        def tell() -> None:
            bar.update(task, completed=tally.done, tally=_words(tally, markup=True))

        yield tell


def _lines(tally: Tally) -> Iterator[Callable[[], None]]:
    start = last = time.monotonic()
    before = tally.done

    def tell() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last < _LINE_EVERY or tally.complete:
            return
        last = now
        rate = (tally.done - before) / (now - start)
        left = (tally.total - tally.done) / rate
        print(
            f"{tally.done}/{tally.total} done, {_words(tally)}, {rate:.3g}/s, {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )

    yield tell


def _words(tally: Tally, *, markup: bool = False) -> str:
    shown = {"solved": (tally.solved, "green"), "violated": (tally.violated, "red")}
    shown["unknown"] = (tally.unknown, "yellow")
    parts = (f"[{style}]{n} {name}[/]" if markup else f"{n} {name}" for name, (n, style) in shown.items())
    return (" " if markup else ", ").join(parts)
