"""joblib's processes on this machine, but none outlives the process that started it.

loky ends its workers when they are idle, or when their owner closes. If the owner is killed while it starts
them, neither happens: they wait for ever, for a task and for a lock that the dead owner holds. So each
watches its owner from the moment it is up (``supervising.live_with``), not from its first task.

What the initializer is given is the same in every campaign of a process: loky has one pool, makes another
when it is asked for in other words, and campaigns in two threads would wait for each other for ever. joblib
hands that pool out before it has set it up, so threads take turns.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from joblib.parallel import LokyBackend

from tmverify.campaign.supervising import live_with

_turn = threading.Lock()


class WatchedLokyBackend(LokyBackend):  # type: ignore[misc]
    """Workers that end with this process."""

    def configure(self, *args: Any, **options: Any) -> Any:
        with _turn:
            return super().configure(*args, **options, initializer=live_with, initargs=(os.getpid(),))
