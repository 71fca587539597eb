"""One core for measuring, all of them for training. Solver processes inherit what their parent has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_ALL = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))


def keep_to_one_core() -> bool:
    """Whether the system lets us."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    os.sched_setaffinity(0, {max(_ALL)})
    return True


@contextmanager
def all_cores() -> Iterator[int]:
    """All cores for a while; how many."""
    if not hasattr(os, "sched_setaffinity"):
        yield len(_ALL)
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, _ALL)
    try:
        yield len(_ALL)
    finally:
        os.sched_setaffinity(0, before)
