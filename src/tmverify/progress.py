"""The progress bar, of questions, tasks and epochs alike: on standard error, and nothing unless it is wanted.

In a terminal or a notebook it is a bar; elsewhere, a line now and then.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # rich takes a while to import
    from rich.console import Console
    from rich.progress import Progress, TaskID

_LINE_EVERY = 30.0  # seconds


class ProgressBar:
    """``with ProgressBar("training", 30) as bar: … bar.advance("loss 0.1")``.

    Parameters
    ----------
    title : what is being done
    total, done : how many steps there are, and how many of them are behind us
    note : what is said of the last step, with rich's markup
    wanted : whether to show anything
    stays : whether the bar stays when it is done
    """

    def __init__(
        self,
        title: str,
        total: int,
        *,
        done: int = 0,
        note: str = "",
        wanted: bool = True,
        stays: bool = False,
    ) -> None:
        self._title, self._total, self._done, self._note = title, total, done, note
        self._wanted, self._stays = wanted, stays
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        self._start = self._told = time.monotonic()
        self._before = self._done
        if self._wanted:
            from rich.console import Console

            console = Console(stderr=True)
            if sys.stderr.isatty() or console.is_jupyter:
                self._bar = _bar(console, transient=not self._stays)
                try:
                    self._bar.start()
                    self._task = self._bar.add_task(
                        self._title, total=self._total, completed=self._done, note=self._note
                    )
                except BaseException:  # Ctrl-C: a bar that is left would swallow what is printed later
                    self._bar.stop()
                    raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._wanted and self._stays:
            self._tell()

    def say(self, title: str) -> None:
        """What is being done now."""
        self._title = title
        self._show()

    def advance(self, note: str = "") -> None:
        """One step more, and what is said of it."""
        self._done += 1
        self._note = note
        self._show()

    def _show(self) -> None:
        if self._bar is not None:
            assert self._task is not None
            self._bar.update(self._task, description=self._title, completed=self._done, note=self._note)
        elif self._wanted and time.monotonic() - self._told >= _LINE_EVERY and self._done < self._total:
            self._tell()

    def _tell(self) -> None:
        from rich.text import Text

        self._told = time.monotonic()
        parts = [f"{self._title}: {self._done}/{self._total}", Text.from_markup(self._note).plain]
        rate = (self._done - self._before) / max(self._told - self._start, 1e-9)
        if rate and self._done < self._total:
            parts += [f"{rate:.3g}/s", f"{(self._total - self._done) / rate:.0f} s left"]
        print(", ".join(filter(None, parts)), file=sys.stderr, flush=True)


def counts(seen: Mapping[str, int], shown: Mapping[str, str]) -> str:
    """How many there are of each outcome, as a note of a bar."""
    return ", ".join(f"[{colour}]{seen.get(name, 0)} {name}[/]" for name, colour in shown.items())


def _bar(console: Console, *, transient: bool) -> Progress:
    from rich import progress
    from rich.text import Text

    class Rate(progress.ProgressColumn):
        """Steps a second, lately."""

        def render(self, task: progress.Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.3g}/s", style="dim")

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[note]}"),
        Rate(),
        progress.TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        transient=transient,
    )
