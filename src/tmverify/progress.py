"""The one progress bar, for questions, tasks and epochs; it is shown on standard error, and only if wanted.

In a terminal or a notebook it is a bar; elsewhere it prints a line now and then.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # rich takes a while to import
    from rich.progress import Progress

_LINE_EVERY = 30.0  # seconds


@dataclass
class ProgressBar:
    """``with ProgressBar("training", 30) as bar: … bar.advance("loss 0.1")``.

    Attributes
    ----------
    title : what is being done
    total, done : how many steps there are, and how many of them are done
    notes : texts about the last step, with rich's markup
    wanted : whether to show anything
    stays : whether the bar stays visible at the end
    """

    title: str
    total: int
    done: int = field(default=0, kw_only=True)
    notes: Sequence[str] = field(default=(), kw_only=True)
    wanted: bool = field(default=True, kw_only=True)
    stays: bool = field(default=False, kw_only=True)

    def __enter__(self) -> ProgressBar:
        self._start = self._told = time.monotonic()
        self._before = self.done
        self._bar = _bar(transient=not self.stays) if self.wanted else None
        if self._bar is not None:
            try:
                self._bar.start()
                self._task = self._bar.add_task(self.title, total=self.total, **self._state())
            except BaseException:  # e.g. Ctrl-C: rich would go on redirecting standard output
                self._bar.stop()
                raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self.wanted and self.stays:
            self._tell()

    def say(self, title: str) -> None:
        """Show what is being done now."""
        self.title = title
        self._show()

    def advance(self, *notes: str) -> None:
        """Count one more step, and show notes about it."""
        self.done += 1
        self.notes = notes
        self._show()

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, description=self.title, **self._state())
        elif self.wanted and time.monotonic() - self._told >= _LINE_EVERY and self.done < self.total:
            self._tell()

    def _state(self) -> dict[str, Any]:
        return {"completed": self.done, "notes": " ".join(self.notes)}

    def _tell(self) -> None:
        from rich.text import Text

        self._told = time.monotonic()
        parts = [f"{self.title}: {self.done}/{self.total}"]
        parts += [Text.from_markup(note).plain for note in self.notes]
        rate = (self.done - self._before) / max(self._told - self._start, 1e-9)
        if rate and self.done < self.total:
            parts += [f"{rate:.3g}/s", f"{(self.total - self.done) / rate:.0f} s left"]
        print(", ".join(parts), file=sys.stderr, flush=True)


def counts(seen: Mapping[str, int], shown: Mapping[str, str]) -> list[str]:
    """The count of each outcome, as notes for a bar."""
    return [f"[{colour}]{seen.get(name, 0)} {name}[/]" for name, colour in shown.items()]


def _bar(*, transient: bool) -> Progress | None:
    """A progress bar of rich, or None if it can't be shown here."""
    from rich import progress
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not (sys.stderr.isatty() or console.is_jupyter):
        return None

    class Rate(progress.ProgressColumn):
        """The recent number of steps per second."""

        def render(self, task: progress.Task) -> Text:
            return Text("" if task.speed is None else f"{task.speed:.3g}/s", style="dim")

    return progress.Progress(
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("{task.fields[notes]}"),
        Rate(),
        progress.TimeRemainingColumn(elapsed_when_finished=True),
        console=console,
        transient=transient,
        # rich would send it to standard error, where the bar is, even if it goes to a file
        redirect_stdout=sys.stdout.isatty(),
    )
