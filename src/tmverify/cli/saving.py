"""Files that a command will write, checked before the work; ``tmverify.drafts`` then writes them whole."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
