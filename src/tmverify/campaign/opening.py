"""Opening the file of a store: the right kind of file, in the right mode, and errors in words."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from tmverify.campaign.locking import Lock
from tmverify.campaign.schema import APPLICATION, TABLES, VERSION
from tmverify.errors import StoreError

_WAIT = 30.0  # seconds for a reader's or a checkpoint's lock to go
Result = TypeVar("Result")


@contextmanager
def to_write(path: Path) -> Iterator[sqlite3.Connection]:
    """For the one process that writes; made if it is not there."""
    try:
        folder = path.resolve().parent
    except (OSError, RuntimeError, ValueError) as error:
        raise StoreError(f"{path}: {error}.") from None
    if not folder.is_dir():
        raise StoreError(f"{path}: there is no folder {folder}; make it first.")
    if path.is_file() and path.stat().st_nlink > 1:
        # SQLite's log goes by the file's name: under two names, two logs would spoil one file.
        raise StoreError(f"{path}: the file has other names (hard links); copy it, and use the copy.")
    lock = Lock(Path(os.path.realpath(path)))
    try:
        with _connected(path, "mode=rwc") as connection:
            _checked(path, lambda: _prepare(path, connection))
            yield connection
    finally:
        lock.release()


@contextmanager
def to_read(path: Path) -> Iterator[sqlite3.Connection]:
    """For everybody else, also while a run is writing."""
    if not path.is_file():
        raise StoreError(f"{path}: there is no such store.")
    with _connected(path, _reading_mode(path)) as connection:
        _checked(path, lambda: _check_kind(path, connection))
        yield connection


def _reading_mode(path: Path) -> str:
    place = Path(os.path.realpath(path))
    if os.access(place, os.W_OK) and os.access(place.parent, os.W_OK) and not _read_only(place.parent):
        return "mode=rw"  # the log of a run that was killed may have to be played back
    log = place.with_name(place.name + "-wal")
    # SQLite wants to make files beside a database that has a log; one without needs none.
    return "mode=ro" if log.exists() and log.stat().st_size else "mode=ro&immutable=1"


def _read_only(folder: Path) -> bool:
    """Root may write to a folder whatever its mode, but not on a read-only file system."""
    return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


@contextmanager
def _connected(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    address = f"file:{quote(os.fsencode(os.path.abspath(path)))}?{mode}"
    connection = _checked(path, lambda: sqlite3.connect(address, timeout=_WAIT, uri=True))
    connection.text_factory = _text
    try:
        yield connection
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}.") from None
    finally:
        connection.close()


def _text(raw: bytes) -> str | bytes:
    """A text of the database; what is no UTF-8 is no text, and costs its row, not the store."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _checked(path: Path, step: Callable[[], Result]) -> Result:
    try:
        return step()
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path}: the store can't be opened ({error}).") from None
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: not a store of results, or damaged ({error}).") from None


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    (n_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if n_tables or application:
        _check_kind(path, connection)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    if not n_tables:  # all of it or, if this is killed, nothing
        marks = f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={VERSION};"
        connection.executescript(f"BEGIN; {TABLES} {marks} COMMIT;")


def _check_kind(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (number,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise StoreError(f"{path}: a database, but no store of tmverify's.")
    if number != VERSION:
        raise StoreError(f"{path}: a store of format {number}; this tmverify reads format {VERSION}.")
