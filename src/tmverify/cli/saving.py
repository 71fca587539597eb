"""The files that a command will write: checked before any work, and tables of answers."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tmverify.atomic import replacing
from tmverify.errors import InvalidInputError


def check_target(path: Path, option: str, suffixes: Sequence[str] = ()) -> None:
    """Raise InvalidInputError unless ``path`` can be written, before an hour of work goes into it."""
    if suffixes and path.suffix.lower() not in suffixes:
        raise InvalidInputError(f"{option} must end in {' or '.join(suffixes)}. Got {path} instead.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InvalidInputError(f"{option} {path}: there is no folder {folder}; make it first.")
    if path.exists() and not path.is_file():
        raise InvalidInputError(f"{option} {path}: not a regular file.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{option} {path}: the folder {folder} may not be written to.")


def check_apart(read: Iterable[Path | None], written: Iterable[Path | None], names: str) -> None:
    """Raise InvalidInputError if a written file would replace one that is read, or another written one.

    ``names`` names all of them in the message.
    """
    taken = {os.path.realpath(path) for path in read if path is not None}
    for path in written:
        if path is not None:
            place = os.path.realpath(path)
            if place in taken:
                raise InvalidInputError(f"{names} must be different files. Got {path} twice.")
            taken.add(place)


def save_lines(path: Path, columns: Sequence[str], lines: Iterable[Mapping[str, Any]]) -> None:
    """Write a table; what a line has beside these columns is left out, and what it lacks stays empty."""
    with replacing(path) as draft, open(draft, "x", newline="", encoding="utf-8") as text:
        writer = csv.DictWriter(text, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(lines)
