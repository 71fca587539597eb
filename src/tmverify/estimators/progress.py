"""A progress bar on the terminal while training: epochs done, a remark on the last one, time left."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn


class EpochBar:
    """``with EpochBar(30, verbose) as bar: … bar.advance(", loss 0.1")``; silent unless ``verbose``."""

    def __init__(self, n_epochs: int, done: int, verbose: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("epochs{task.fields[line]}"),
            TimeElapsedColumn(),
            TimeLeftColumn(),
            console=Console(file=sys.stderr),
            disable=not verbose,
        )
        self._task = self._progress.add_task("training", total=n_epochs, completed=done, line="")

    def __enter__(self) -> EpochBar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """Set the text before the bar: what is being done."""
        self._progress.update(self._task, description=text)

    def advance(self, line: str) -> None:
        """Count one more epoch, and show a remark on it."""
        self._progress.update(self._task, advance=1, line=line)
