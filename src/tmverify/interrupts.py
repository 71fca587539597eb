"""Ctrl-C takes effect once: a second one must not interrupt the saving of the results so far."""

from __future__ import annotations

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from types import FrameType

SECONDS_TO_WIND_UP = 5.0


@contextmanager
def one_interrupt() -> Iterator[None]:
    """The first Ctrl-C in the block raises KeyboardInterrupt, as usual; those soon after it are ignored.

    After ``SECONDS_TO_WIND_UP`` the next one counts again: Python may lose an exception that is raised in a
    callback, and saving may hang.
    This works only in the main thread, where signals arrive, and only if no other handler for Ctrl-C is set.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    struck = -math.inf

    def first_only(number: int, frame: FrameType | None) -> None:
        nonlocal struck
        if monotonic() - struck > SECONDS_TO_WIND_UP:
            struck = monotonic()
            raise KeyboardInterrupt

    signal.signal(signal.SIGINT, first_only)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
