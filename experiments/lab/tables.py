"""A section of docs/results.md: a table, remarks, plots, written by the experiment that measured them."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from textwrap import fill

from lab.arguments import Setting


@dataclass
class Section:
    """What an experiment found; ``name`` is that of its script."""

    name: str
    title: str
    headers: Sequence[str]
    rows: list[Sequence[object]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    plots: dict[Path, str] = field(default_factory=dict)

    def write(self, setting: Setting) -> Path:
        """Keep it for docs/results.md, and print it."""
        text = self.as_text(quick=setting.quick)
        path = setting.folder / "results" / f"{self.name}.md"
        path.write_text(text, encoding="utf-8")
        print(text)
        return path

    def as_text(self, *, quick: bool) -> str:
        lines = [f"## {self.title}", "", f"`python experiments/{self.name}.py`, {_versions()}", ""]
        if quick:
            lines += ["**A smoke run: tiny machines, few inputs. These figures say nothing.**", ""]
        lines += table(self.headers, self.rows)
        lines += ["", *(bullet(remark) for remark in self.remarks)]
        for path, words in self.plots.items():
            lines += ["", f"**{words}**", "", f"![{words}](figures/{path.name})"]
        return "\n".join(lines) + "\n"


def table(headers: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """Markdown; None is shown as a dash."""
    cells = [["-" if cell is None else str(cell) for cell in row] for row in rows]
    return [_line(headers), _line(["---", *["---:"] * (len(headers) - 1)]), *map(_line, cells)]


def bullet(remark: str) -> str:
    """An item of a list, in lines as long as the documentation's."""
    return fill(f"- {remark}", 110, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def seconds(value: float | None) -> str | None:
    """With the digits that matter."""
    return None if value is None else f"{value:.4f}" if value < 0.1 else f"{value:.2f}"


def times(larger: float | None, smaller: float | None) -> str | None:
    """How many times faster."""
    return f"{larger / smaller:,.0f} x" if larger and smaller else None


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _versions() -> str:
    return f"tmverify {version('tmverify')}, numba {version('numba')}, Python {platform.python_version()}"
