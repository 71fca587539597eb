"""Files that a command writes: checked before the work, and complete or not there at all afterwards."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tmverify.errors import InvalidInputError


def check_target(path: Path, option: str, suffixes: Sequence[str] = ()) -> None:
    """Raise InvalidInputError unless ``path`` can be written: now, not after an hour of work."""
    if suffixes and path.suffix.lower() not in suffixes:
        raise InvalidInputError(f"{option} must end in {' or '.join(suffixes)}. Got {path} instead.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InvalidInputError(f"{option} {path}: there is no folder {folder}; make it first.")
    if path.exists() and not path.is_file():
        raise InvalidInputError(f"{option} {path}: not a regular file.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{option} {path}: the folder {folder} may not be written to.")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft beside ``path`` that takes its place when the block ends well, and else is removed."""
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        yield draft
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
