"""Following a question from outside while it is decided: hear its bounds, or withdraw it.

A person who looks at a screen does not wait for the last answer before asking the next one. So whoever asks
may pass a ``Follower``: it hears how near the nearest witness can be as that becomes known, and ``withdraw``,
from any thread, ends the work at once::

    with followed_by(follower):
        tv.robustness_radius(model, x)  # raises Withdrawn soon after follower.withdraw()

``Withdrawn`` is no ``Exception``, like KeyboardInterrupt: there is no answer, so nothing may turn it into
one. It is raised where engines look at the clock, every 50 ms or so. *Tried and dropped:* a stop reason of
its own; every engine, store and table would have to know an answer that nobody reads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from numpy.typing import NDArray

Bounds = Callable[[float, float, NDArray[np.uint8] | None], None]
"""Told that the nearest witness is at least this far, and at most that far, where this one is."""


class Withdrawn(BaseException):
    """The question was withdrawn by whoever asked it."""


class Follower:
    """Follows the questions that one thread asks.

    Parameters
    ----------
    told : callable or None
        Hears the bounds of nearest witnesses, in the thread that works. They are claims of an engine, whose
        witnesses were not replayed yet.
    """

    def __init__(self, told: Bounds | None = None) -> None:
        self.told = told
        self._withdrawn = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    @property
    def withdrawn(self) -> bool:
        return self._withdrawn.is_set()

    def withdraw(self) -> None:
        """End the work that is followed; any thread may call this, at any time."""
        from tmverify.engines.subprocesses import call

        self._withdrawn.set()
        with self._lock:
            if self._thread is not None:
                call.interrupt(self._thread)  # a solver that works in another process, not one that waits

    def check(self) -> None:
        """Raise Withdrawn if the question was withdrawn."""
        if self._withdrawn.is_set():
            raise Withdrawn

    def _follow(self, thread: threading.Thread | None) -> None:
        with self._lock:
            self._thread = thread


_followers: ContextVar[Follower | None] = ContextVar("follower", default=None)


@contextmanager
def followed_by(follower: Follower) -> Iterator[None]:
    """Questions that this thread asks in the block are followed."""
    token = _followers.set(follower)
    follower._follow(threading.current_thread())
    try:
        follower.check()
        yield
        follower.check()  # a solver that was ended may have left an answer that says so
    finally:
        follower._follow(None)
        _followers.reset(token)


def follower_of_now() -> Follower | None:
    """Whoever follows what this thread does."""
    return _followers.get()


def check_withdrawn() -> None:
    """Raise Withdrawn if what this thread does was withdrawn; for work that looks at no clock."""
    follower = _followers.get()
    if follower is not None:
        follower.check()
