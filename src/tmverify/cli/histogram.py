"""A histogram in the terminal: a line for each value, or for each range of values if there are many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count as counting_up

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

MAX_LINES = 20
_MAX_WIDTH = 50
_EIGHTHS = " ▏▎▍▌▋▊▉"


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar whose length is its share of the available width; it is visible unless the share is 0."""

    share: float

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, min(_MAX_WIDTH, options.max_width))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(_MAX_WIDTH, options.max_width)
        if options.ascii_only:
            yield Text("#" * math.ceil(self.share * width))
            return
        whole, part = divmod(math.ceil(self.share * width * 8), 8)
        yield Text("█" * whole + _EIGHTHS[part].strip(), style="cyan")


def histogram(counts: Mapping[float, int], heading: str, others: Mapping[str, int]) -> Table:
    """A table of how often each whole number occurs; infinity and ``others`` have lines of their own."""
    finite = {int(value): n for value, n in counts.items() if value != math.inf}
    lines = {**dict(_lines(finite)), "inf": counts.get(math.inf, 0), **others}
    shown = {label: n for label, n in lines.items() if n or label not in ("inf", *others)}
    most = max(shown.values(), default=0)
    table = Table(box=None, pad_edge=False)
    table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("inputs", justify="right", no_wrap=True)
    table.add_column("")
    for label, n in shown.items():
        table.add_row(label, str(n), Bar(n / most if most else 0.0))
    return table


def _lines(counts: Mapping[int, int]) -> Iterator[tuple[str, int]]:
    """Every value from the least to the greatest, or ranges of a round width: at most MAX_LINES of them."""
    if not counts:
        return
    least, greatest = min(counts), max(counts)
    width = next(w for w in _round_numbers() if greatest // w - least // w < MAX_LINES)
    for start in range(least // width * width, greatest + 1, width):
        label = str(start) if width == 1 else f"{start}-{start + width - 1}"
        yield label, sum(counts.get(value, 0) for value in range(start, start + width))


def _round_numbers() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50, …"""
    for power in counting_up():
        yield from (10**power, 2 * 10**power, 5 * 10**power)
