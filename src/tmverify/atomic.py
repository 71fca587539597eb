"""Files that are complete or absent: each is written under a temporary name, then renamed."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a draft file to write to, which replaces ``path`` if the block succeeds, and is deleted if not.

    A symbolic link stays a link: the file that it points to is replaced.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target  # a pipe or device is written to, never replaced
        return
    draft = target.with_name(f".tmverify-{secrets.token_hex(8)}.tmp")
    try:
        yield draft
        with open(draft, "rb") as file:
            os.fsync(file.fileno())
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)


def make_folder(path: Path) -> None:
    """Make a folder and check that files can be written there, before an hour of work goes into them."""
    path.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=path):
        pass


def write_lines(path: str | os.PathLike[str], lines: Iterable[str], *, encoding: str = "utf-8") -> None:
    """Write these lines as a text file, completely or not at all."""
    with replacing(path) as draft, open(draft, "w", encoding=encoding, newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
