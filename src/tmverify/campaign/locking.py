"""One writer: an advisory lock on a file beside the store, which the kernel drops when its holder dies."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tmverify.errors import StoreError

SUFFIX = "-lock"
_LOOKING = 0.5  # seconds


class Lock:
    """Held from the moment it is made until ``release``."""

    def __init__(self, store: Path) -> None:
        self._path = store.with_name(store.name + SUFFIX)
        while True:
            self._file = _taken(self._path, store)
            # Whoever held it before may have removed the file between our opening and our locking it.
            if _same_file(self._file, self._path):
                return
            os.close(self._file)

    def release(self) -> None:
        """Let others write; the file goes while it is still ours."""
        self._path.unlink(missing_ok=True)
        os.close(self._file)


def holder(store: Path) -> int | None:
    """The process that writes to ``store``, or None if nobody does."""
    path = store.with_name(store.name + SUFFIX)
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        return None if _lock(file, shared=True) else _pid(file)
    finally:
        os.close(file)


def _taken(path: Path, store: Path) -> int:
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise StoreError(f"{store}: no lock can be made beside it ({path}: {error.strerror}).") from None
    if os.pread(file, 20, 0).strip(b"0123456789"):
        os.close(file)
        raise StoreError(f"{store}: {path} is in the way of its lock; remove it, or use another --store.")
    if not _locked_soon(file):
        pid = _pid(file)
        os.close(file)
        raise StoreError(
            f"{store}: another run (process {pid}) is writing to it. Wait for it, stop it, or use another "
            "--store; campaign status shows how far it is."
        )
    os.ftruncate(file, 0)
    os.pwrite(file, str(os.getpid()).encode(), 0)
    return file


def _locked_soon(file: int) -> bool:
    """Whether it is ours, at the latest when those who only look (``holder``) have gone."""
    end = time.monotonic() + _LOOKING
    while not _lock(file):
        if time.monotonic() > end:
            return False
        time.sleep(_LOOKING / 20)
    return True


def _lock(file: int, *, shared: bool = False) -> bool:
    import fcntl

    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid(file: int) -> int:
    text = os.pread(file, 20, 0)
    return int(text) if text.isdigit() else 0


def _same_file(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except FileNotFoundError:
        return False
