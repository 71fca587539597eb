"""A limit on the memory of a process while it does something (Linux; elsewhere there is no limit).

The kernel counts private, writable memory: the heap, arrays, the stacks of threads. What is over the limit
is not allocated: Python, NumPy and numba raise MemoryError, a solver may crash instead. A worker process that
is asked meanwhile gets the same limit, beyond what it has then (``call``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

if sys.platform == "linux":
    import resource

_current: ContextVar[int | None] = ContextVar("memory", default=None)
_base: int | None = None  # the limit that the user set (ulimit), which none of ours exceeds


def limit_of_now() -> tuple[int | None, int | None]:
    """The limit that holds here, in bytes, and the user's own."""
    return _current.get(), _users_limit()


def adopt(base: int | None) -> None:
    """Take over the user's own limit from the process that asks: what this one was born with may be less."""
    global _base
    _base = base


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
    """Set the limit; returns the one before, or None where there are no limits."""
    if sys.platform != "linux":
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    base = _users_limit()
    assert base is not None
    wanted = base if more is None else _private_bytes() + more
    _set_soft(base if wanted >= base != resource.RLIM_INFINITY else wanted)
    return soft


def _users_limit() -> int | None:
    global _base
    if _base is None and sys.platform == "linux":
        _base = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return _base


def _set_soft(soft: int) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (soft, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _private_bytes() -> int:
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmData:"))
    return int(line.split()[1]) * 1024
