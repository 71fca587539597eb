"""Pool: the threads that work, few and fixed, and the tabs for which they do.

Slow work (bounds, reasons, certificates) waits its turn in one queue, piece by piece, so that no tab keeps
the others waiting for more than a piece. Looking at an input has a thread of its own: it is quick, and waits
for nothing slow. The event loop itself never works.

A piece that nobody wants any more is withdrawn: it ends within some 50 ms (``engines.follow``), or never
begins.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from tmverify.engines.follow import Bounds, Follower, Withdrawn, followed_by

THREADS = 2
MOST_TABS = 8
_MOST_FILES = 4  # certificates that are being made, or wait for it

ResultT = TypeVar("ResultT")


class BusyError(Exception):
    """So much is asked already that no more is taken."""


@dataclass(slots=True, eq=False)
class Piece:
    """A piece of slow work: since when it runs, if it does."""

    follower: Follower
    since: float | None = None

    @property
    def seconds(self) -> float | None:
        return None if self.since is None else time.perf_counter() - self.since


class Pool:
    """The threads of a studio."""

    def __init__(self) -> None:
        self._slow = ThreadPoolExecutor(THREADS, thread_name_prefix="studio-work")
        self._quick = ThreadPoolExecutor(1, thread_name_prefix="studio-look")
        self._pieces: set[Piece] = set()
        self._files = 0

    async def quick(self, work: Callable[[], ResultT]) -> ResultT:
        """Do what takes milliseconds."""
        return await asyncio.get_running_loop().run_in_executor(self._quick, work)

    async def slow(
        self, work: Callable[[], ResultT], told: Bounds | None = None, piece: Piece | None = None
    ) -> ResultT:
        """Do what may take long; it is withdrawn if the caller is cancelled."""
        piece = piece or Piece(Follower())
        piece.follower.told = told

        def run() -> ResultT | Withdrawn:
            piece.since = time.perf_counter()
            try:
                with followed_by(piece.follower):
                    return work()
            except Withdrawn as withdrawn:
                return withdrawn

        self._pieces.add(piece)
        try:
            found = await asyncio.get_running_loop().run_in_executor(self._slow, run)
        finally:
            piece.follower.withdraw()  # if it is done, this does nothing
            self._pieces.discard(piece)
        if isinstance(found, Withdrawn):
            raise asyncio.CancelledError
        return found

    @contextmanager
    def making_a_file(self) -> Iterator[None]:
        """A certificate is made; BusyError if too many are."""
        if self._files >= _MOST_FILES:
            raise BusyError("Several certificates are being made already. Try again when one is done.")
        self._files += 1
        try:
            yield
        finally:
            self._files -= 1

    def close(self) -> None:
        """Withdraw everything, and wait until all threads have ended."""
        for piece in list(self._pieces):
            piece.follower.withdraw()
        for threads in (self._slow, self._quick):
            threads.shutdown(wait=True, cancel_futures=True)


@dataclass(slots=True)
class _Stream:
    number: int
    cancel: Callable[[], None]


@dataclass(slots=True)
class Tabs:
    """The tabs that are being told something: each is told one thing of a kind at a time."""

    most: int = MOST_TABS
    _streams: dict[tuple[str, str], _Stream] = field(default_factory=dict)

    @contextmanager
    def telling(self, tab: str, kind: str, number: int, cancel: Callable[[], None]) -> Iterator[None]:
        """What the tab was told before, of this kind, is cancelled.

        Raises
        ------
        BusyError
            If too many tabs are told something, or the tab has asked something newer already.
        """
        before = self._streams.get((tab, kind))
        if before is not None and before.number > number:
            raise BusyError("A newer input of this tab is being answered already.")
        others = {other for other, _ in self._streams if other != tab}
        if len(others) >= self.most:
            raise BusyError(
                f"{self.most} tabs are being answered already. Close one of them, then reload this one."
            )
        if before is not None:
            before.cancel()
        mine = self._streams[tab, kind] = _Stream(number, cancel)
        try:
            yield
        finally:
            if self._streams.get((tab, kind)) is mine:
                del self._streams[tab, kind]

    def cancel_all(self) -> None:
        """Tell nobody anything more."""
        for stream in list(self._streams.values()):
            stream.cancel()
