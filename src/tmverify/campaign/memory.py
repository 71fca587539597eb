"""A limit on memory for the rest of what this process does (Linux; elsewhere there is none).

The kernel counts private, writable memory: the heap, arrays, the stacks of threads. What is over the limit
fails to be allocated, which Python, NumPy and numba tell as MemoryError; a solver may crash instead.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def at_most(more: int | None) -> Iterator[None]:
    """Let this process, and each that it starts meanwhile, take so many bytes more than it has now."""
    if more is None or sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit = _private_bytes() + more
    if before[1] != resource.RLIM_INFINITY:
        limit = min(limit, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def _private_bytes() -> int:
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmData:"))
    return int(line.split()[1]) * 1024
