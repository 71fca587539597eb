"""A limit on memory for what a process does meanwhile (Linux; elsewhere there is none).

The kernel counts private, writable memory: the heap, arrays, the stacks of threads. What is over the limit
fails to be allocated, which Python, NumPy and numba tell as MemoryError; a solver may crash instead. Worker
processes that are asked meanwhile get the same limit, each from what it has then (``processes``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_current: ContextVar[int | None] = ContextVar("memory", default=None)


def limit_of_now() -> int | None:
    """The limit that holds here, in bytes."""
    return _current.get()


@contextmanager
def at_most(more: int | None) -> Iterator[None]:
    """Let this process take so many bytes more than it has now; None: all there is."""
    token = _current.set(more)
    before = _set(more)
    try:
        yield
    finally:
        _current.reset(token)
        if before is not None:
            _set_soft(before)


def _set(more: int | None) -> int | None:
    """Set the limit; returns the one before, if there is such a thing here."""
    if sys.platform != "linux":
        return None
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = hard if more is None else _private_bytes() + more
    _set_soft(wanted if hard == resource.RLIM_INFINITY else min(wanted, hard))
    return soft


def _set_soft(soft: int) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (soft, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _private_bytes() -> int:
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmData:"))
    return int(line.split()[1]) * 1024
