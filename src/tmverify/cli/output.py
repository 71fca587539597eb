"""Everything that is printed: answers to standard output, errors to standard error.

Text from models and files (names of features and classes, paths) goes through ``plain`` and into rich
``Text``, never into markup: a feature called ``[red]`` or an escape sequence in a name is shown, not obeyed.
If the reader of a pipe stops early (``| head``), printing ends, but the work goes on with the same exit code.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from tmverify.model import Classifier
from tmverify.properties.verdict import Status

_SOON = 1.0  # seconds
_MAX_NOTES = 5
STYLE = {Status.HOLDS: "bold green", Status.VIOLATED: "bold red", Status.UNKNOWN: "bold yellow"}


def show(*parts: RenderableType) -> None:
    """Print to standard output, as wide as the terminal; strings are taken literally."""
    _print(sys.stdout, parts)


def show_facts(facts: Mapping[str, object]) -> None:
    """Print a line for each fact: its name, and what it is."""
    for name, value in facts.items():
        show(Text().append(f"{name:>21}  ", style="cyan").append(plain(value)))


def table_of(lines: Sequence[Mapping[str, object]]) -> Table:
    """A table with a row for each line; its headers are the names in the first."""
    table = Table()
    for header in lines[0]:
        table.add_column(Text(plain(header)), justify="right", overflow="fold")
    for line in lines:
        table.add_row(*(Text(plain(value)) for value in line.values()))
    return table


def print_error(message: str, below: str = "") -> None:
    """Print one line to standard error, and lines ``below`` it that are to stay as they are."""
    line = Text("error: ", style="bold red").append(" ".join(plain(message).split()), style="red")
    _print(sys.stderr, [line, *([Text(plain(below))] if below else [])])


def print_note(message: str) -> None:
    """Print one line that is not an error to standard error."""
    _print(sys.stderr, [Text(plain(message), style="dim")])


def show_json(document: Mapping[str, Any]) -> None:
    """Print one JSON document; numpy values become plain ones, and there is no NaN."""
    _write(sys.stdout, json.dumps(document, indent=2, default=_plain_value, allow_nan=False) + "\n")


def described(what: str, paths: Sequence[Path], models: Sequence[Classifier]) -> dict[str, Any]:
    """The beginning of a JSON document: version, question, and the ``model`` or ``models``."""
    from tmverify import __version__

    files = [
        {"path": str(path), "sha256": model.content_hash} for path, model in zip(paths, models, strict=True)
    ]
    about = {"model": files[0]} if len(files) == 1 else {"models": files}
    return {"tmverify": __version__, "question": what, **about}


def headline(word: str, text: str, *, interrupted: bool = False) -> Text:
    """The answer in one line: a coloured word, a status or one that begins with it, and what it means."""
    line = Text().append("INTERRUPTED " if interrupted else "", style=STYLE[Status.UNKNOWN])
    return line.append(word.upper(), style=style_of(word)).append(f"  {text}")


def style_of(word: str) -> str:
    """The colour of an answer."""
    return next((STYLE[status] for status in STYLE if word.startswith(status.value)), STYLE[Status.UNKNOWN])


@contextmanager
def notice(text: str, *, wanted: bool = True, after: float = _SOON) -> Iterator[None]:
    """Print ``text`` to standard error if the block takes longer than ``after`` seconds."""
    timer = threading.Timer(after, print_note, [text])
    if wanted:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def seconds_text(seconds: float) -> str:
    """Seconds with the digits that matter."""
    digits = 4 if seconds < 0.1 else 3 if seconds < 1 else 2
    return f"{seconds:.{digits}f}"


def counted(n: int, what: str = "input") -> str:
    """A number of things: "1 input", "3 queries"."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{n} {what if n == 1 else many}"


def asked_anew(n: int) -> str:
    """A note, after a run, on the answers in the store that were not believed."""
    which = "1 answer in the store was" if n == 1 else f"{n} answers in the store were"
    return f"{which} not believed, and asked for anew"


def plain(text: object) -> str:
    """Text without control characters, which are shown escaped."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in str(text))


def stop_writing() -> None:
    """Discard all further output to a stream that nobody reads any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if not _open(stream):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _print(stream: TextIO, parts: Iterable[RenderableType]) -> None:
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        for part in parts:
            # The terminal wraps long lines of text; in a file they stay single lines.
            console.print(part, soft_wrap=isinstance(part, str | Text))
    _write(stream, capture.get())


def _write(stream: TextIO, text: str) -> None:
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        stop_writing()


def _open(stream: TextIO) -> bool:
    try:
        stream.flush()
    except BrokenPipeError:
        return False
    return True


def _plain_value(value: object) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} in a JSON document")


def tell_of_rows(file: Path, ignored: Sequence[str], notes: Sequence[str]) -> None:
    """Say on standard error which columns the model does not read, and what it can't know of the rows.

    ``ignored`` and ``notes`` are those of ``Inputs``.
    """
    if ignored:
        some = ", ".join(map(plain, ignored[:8]))
        more = f" and {len(ignored) - 8} more" if len(ignored) > 8 else ""
        print_note(f"{plain(file)}: ignored, as the model does not read them: {some}{more}")
    for note in notes[:_MAX_NOTES]:
        print_note(f"{plain(file)}: {plain(note)}")
    if len(notes) > _MAX_NOTES:
        print_note(f"{plain(file)}: … and {len(notes) - _MAX_NOTES} more such notes")
