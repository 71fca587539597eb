"""A temporary limit on the memory of a process (on Linux; elsewhere there is no limit).

The kernel counts private, writable memory: the heap, arrays, the stacks of threads. Beyond the limit,
allocations fail: Python, NumPy and numba raise MemoryError, a solver may crash instead. A worker process that
is called meanwhile gets the same limit, on top of the memory that it already has (``call``).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

if sys.platform == "linux":
    import resource

_current: ContextVar[int | None] = ContextVar("memory", default=None)
_base: int | None = None  # the limit that the user set (ulimit); we never set a higher one


def limit_of_now() -> tuple[int | None, int | None]:
    """The current limit, in bytes, and the user's own."""
    return _current.get(), _users_limit()


def adopt(base: int | None) -> None:
    """Use the user's own limit from the calling process: this process may have started with a lower one."""
    global _base
    _base = base


@contextmanager
def at_most(more: int | None) -> Iterator[None]:
    """Let this process allocate at most ``more`` bytes beyond what it has; None: only the user's limit."""
    token = _current.set(more)
    before = _set(more)
    try:
        yield
    finally:
        _current.reset(token)
        if before is not None:
            _set_soft(before)


def _set(more: int | None) -> int | None:
    """Set the limit; return the previous one, or None on systems without limits."""
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
