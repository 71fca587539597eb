"""A line on the terminal while training: epoch, accuracy, time left."""

from __future__ import annotations

import sys
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn


class EpochBar:
    """``with EpochBar(30, verbose) as bar: … bar.advance(accuracy)``; silent unless ``verbose``."""

    def __init__(self, n_epochs: int, done: int, verbose: bool) -> None:
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("epochs{task.fields[accuracy]}"),
            TimeElapsedColumn(),
            TimeLeftColumn(),
            console=Console(file=sys.stderr),
            disable=not verbose,
        )
        self._task = self._progress.add_task("training", total=n_epochs, completed=done, accuracy="")

    def __enter__(self) -> EpochBar:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """What is being done, before the bar."""
        self._progress.update(self._task, description=text)

    def advance(self, accuracy: float | None) -> None:
        """One epoch more."""
        shown = "" if accuracy is None else f", validation accuracy {accuracy:.2%}"
        self._progress.update(self._task, advance=1, accuracy=shown)
