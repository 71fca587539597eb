"""Pool: the threads that work, few and fixed, and the tabs for which they do.

Slow work (bounds, reasons, certificates) waits its turn in one queue, piece by piece, so that no tab keeps
the others waiting for more than a piece. Looking at an input has a thread of its own, and waits for nothing
else; so has what takes milliseconds as a rule (rows, texts, a store). The event loop itself never works.

A piece that nobody wants any more is withdrawn: it ends within some 50 ms (``engines.follow``), or never
begins.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tmverify.engines.follow import Follower, Withdrawn, followed_by

INTERNAL = "An internal error: nothing is claimed. The terminal of the studio shows it; please report it."
THREADS = min(max(2, os.cpu_count() or 1), 4)
MOST_TABS = 8
_MOST_FILES = 4  # certificates that are being made, or wait for it

ResultT = TypeVar("ResultT")


class BusyError(Exception):
    """So much is asked already that no more is taken."""


@dataclass(slots=True, eq=False)
class Piece:
    """A piece of slow work: who follows it, and since when it runs, if it does."""

    follower: Follower = field(default_factory=Follower)
    since: float | None = None

    @property
    def seconds(self) -> float | None:
        return None if self.since is None else time.perf_counter() - self.since


class _Threads:
    """Some threads that do what is submitted, in order. They keep no program from ending."""

    def __init__(self, n: int, name: str) -> None:
        self._waiting: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._run, name=f"{name}-{i}", daemon=True) for i in range(n)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def alive(self) -> list[threading.Thread]:
        return [thread for thread in self._threads if thread.is_alive()]

    async def do(self, work: Callable[[], ResultT]) -> ResultT:
        """The result of ``work``; if the caller is cancelled before it begins, it does not begin."""
        future: Future[ResultT] = Future()
        self._waiting.put((future, work))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Have the threads end when they have done what waits."""
        for _ in self._threads:
            self._waiting.put(None)

    def _run(self) -> None:
        while (item := self._waiting.get()) is not None:
            future, work = item
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:
                    future.set_exception(error)
            del item, future, work  # nothing is kept while the thread waits


class Pool:
    """The threads of a studio."""

    def __init__(self) -> None:
        self._slow, self._look = _Threads(THREADS, "studio-work"), _Threads(1, "studio-look")
        self._quick = _Threads(1, "studio-read")
        self._pieces: set[Piece] = set()
        self._files = 0

    async def look(self, work: Callable[[], ResultT]) -> ResultT:
        """Look at an input."""
        return await self._look.do(work)

    async def quick(self, work: Callable[[], ResultT]) -> ResultT:
        """Do what takes milliseconds, as a rule."""
        return await self._quick.do(work)

    async def slow(self, work: Callable[[], ResultT], piece: Piece | None = None) -> ResultT:
        """Do what may take long, followed by the piece's follower; a caller who is cancelled withdraws it."""
        own = piece or Piece()

        def run() -> ResultT | Withdrawn:
            own.since = time.perf_counter()
            try:
                with followed_by(own.follower):
                    return work()
            except Withdrawn as withdrawn:
                return withdrawn

        self._pieces.add(own)
        try:
            found = await self._slow.do(run)
        finally:
            own.follower.withdraw()  # of what is done, nothing is left to withdraw
            self._pieces.discard(own)
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

    def withdraw(self) -> None:
        """Withdraw all slow work."""
        for piece in list(self._pieces):
            piece.follower.withdraw()

    def close(self) -> None:
        """Withdraw everything, and have the threads end; ``alive`` are those that have not, yet."""
        self.withdraw()
        for threads in (self._slow, self._look, self._quick):
            threads.close()

    @property
    def alive(self) -> Sequence[threading.Thread]:
        """The threads that have not ended."""
        return [*self._slow.alive, *self._look.alive, *self._quick.alive]


@dataclass(slots=True)
class _Stream:
    number: int
    cancel: Callable[[], object]


@dataclass(slots=True)
class Tabs:
    """The tabs that are being told something: each is told one thing of a kind at a time."""

    most: int = MOST_TABS
    _streams: dict[tuple[str, str], _Stream] = field(default_factory=dict)

    @contextmanager
    def telling(self, tab: str, kind: str, number: int, cancel: Callable[[], object]) -> Iterator[None]:
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
