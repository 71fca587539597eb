"""A line on the terminal while a network learns: epoch, loss, accuracy, time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.progress import TimeRemainingColumn as TimeLeftColumn


@contextmanager
def epoch_bar(n_epochs: int, *, verbose: bool) -> Iterator[Callable[[dict[str, Any]], None]]:
    """What to call with the history's line after each epoch; silent unless ``verbose``."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs{task.fields[line]}"),
        TimeElapsedColumn(),
        TimeLeftColumn(),
    )
    with Progress(*columns, console=Console(file=sys.stderr), disable=not verbose) as progress:
        task = progress.add_task("training", total=n_epochs, line="")

        def advance(line: dict[str, Any]) -> None:
            shown = f", loss {line['loss']:.3f}, training accuracy {line['accuracy']:.2%}"
            progress.update(task, advance=1, line=shown)

        yield advance
