"""Opening the file of a store: checks its kind, chooses the mode, admits one writer, explains errors.

The writer holds an advisory lock on a file beside the store, which the kernel drops when its holder dies.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from tmverify.campaign.store.tables import APPLICATION, TABLES, VERSION
from tmverify.errors import StoreError

_LOOKING = 0.5  # seconds
_WAIT = 30.0  # seconds to wait for the lock of a reader or a checkpoint


@contextmanager
def to_write(path: Path) -> Iterator[sqlite3.Connection]:
    """Open for the one process that writes; create the file if it does not exist."""
    try:
        folder = path.resolve().parent
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreError(f"{path}: {error}.") from None
    if not folder.is_dir():
        raise StoreError(f"{path}: there is no folder {folder}; make it first.")
    if path.is_file() and path.stat().st_nlink > 1:
        # SQLite names its log after the file: with two names, two logs would damage one file.
        raise StoreError(f"{path}: the file has other names (hard links); copy it, and use the copy.")
    with _one_writer(Path(os.path.realpath(path))), _connected(path, "mode=rwc", _prepare) as connection:
        yield connection


@contextmanager
def to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """Open for reading, also while a run is writing."""
    if not path.is_file():
        raise StoreError(f"{path}: there is no such store.")
    with _connected(path, _reading_mode(path), _check_kind) as connection:
        yield connection


def _reading_mode(path: Path) -> str:
    place = Path(os.path.realpath(path))
    # Root may write to a folder whatever its mode, but not on a read-only file system.
    read_only = os.statvfs(place.parent).f_flag & os.ST_RDONLY
    if os.access(place, os.W_OK) and os.access(place.parent, os.W_OK) and not read_only:
        return "mode=rw"  # the log of a run that was killed may have to be played back
    log = place.with_name(place.name + "-wal")
    # SQLite creates files beside a database that has a log; without a log it needs none.
    return "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"


@contextmanager
def _connected(
    path: Path, mode: str, check: Callable[[Path, sqlite3.Connection], None]
) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(os.fsencode(os.path.abspath(path)))}?{mode}"
    with _opening(path):
        connection = sqlite3.connect(address, timeout=_WAIT, uri=True)
    connection.text_factory = _text
    try:
        with _opening(path):
            check(path, connection)
        yield connection
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}.") from None
    finally:
        connection.close()


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """Turn the errors of SQLite in opening a store into StoreError."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path}: the store can't be opened ({error}).") from None
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: not a store of results, or damaged ({error}).") from None


def _text(raw: bytes) -> str | bytes:
    """A text of the database; if it is not UTF-8, its bytes, which make only its row unreadable."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if n_tables or application:
        _check_kind(path, connection)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    if not n_tables:  # one transaction: if the process is killed, nothing is made
        marks = f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION};"
        connection.executescript(f"BEGIN; {TABLES} {marks} COMMIT;")


def _check_kind(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(f"{path}: a database, but no store of tmverify's.")
    if number != VERSION:
        raise StoreError(f"{path}: a store of format {number}; this tmverify reads format {VERSION}.")


@contextmanager
def _one_writer(store: Path) -> Iterator[None]:
    """Hold the lock of ``store``."""
    path = _lock_file(store)
    file = _taken(path, store)
    # The previous holder may have removed the file after we opened it and before we locked it.
    while not _same_file(file, path):
        os.close(file)
        file = _taken(path, store)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # while we still hold the lock
        os.close(file)


def holder(store: Path) -> int | None:
    """The process that writes to ``store``, or None if nobody does."""
    try:
        file = os.open(_lock_file(store), os.O_RDONLY)
    except OSError:
        return None
    try:
        return None if _locked(file, shared=True) else _pid(file)
    finally:
        os.close(file)


def _lock_file(store: Path) -> Path:
    return store.with_name(f"{store.name}-lock")


def _taken(path: Path, store: Path) -> int:
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    except OSError as error:
        raise StoreError(f"{store}: no lock can be made beside it ({path}: {error.strerror}).") from None
    try:
        if os.pread(file, 20, 0).strip(b"0123456789"):
            raise StoreError(f"{store}: {path} is in the way of its lock; remove it, or use another --store.")
        end = time.monotonic() + _LOOKING
        while not _locked(file):
            if time.monotonic() > end:  # a short look by ``holder`` has ended by now
                raise StoreError(
                    f"{store}: another run (process {_pid(file)}) is writing to it. Wait for it, stop it, or "
                    "use another --store; campaign status shows how far it is."
                )
            time.sleep(_LOOKING / 20)
        os.ftruncate(file, 0)
        os.pwrite(file, str(os.getpid()).encode(), 0)
    except BaseException:
        os.close(file)
        raise
    return file


def _locked(file: int, *, shared: bool = False) -> bool:
    """Take the lock if it is free; return whether it was."""
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
