"""joblib's processes on this machine, but none outlives the campaign that started it.

loky ends its workers when they are idle, or when their owner closes. If the owner is killed while it starts
them, neither happens: they wait for ever, for a task and for a lock that the dead owner holds. So each
watches its owner from its first moment (``supervising.live_with``), not from its first task.
"""

from __future__ import annotations

import os
from typing import Any

from joblib.parallel import LokyBackend

from tmverify.campaign.supervising import live_with


class WatchedLokyBackend(LokyBackend):  # type: ignore[misc]
    """Workers that end with this process, and then remove ``folder``."""

    def __init__(self, folder: str) -> None:
        super().__init__()
        self._folder = folder

    def configure(self, *args: Any, **options: Any) -> Any:
        watching = {"initializer": live_with, "initargs": (os.getpid(), self._folder)}
        return super().configure(*args, **options, **watching)
