"""joblib's Dask backend, but a task that the cluster gives up is heard of.

joblib's own sets the exception on a future that nobody looks at while answers are handed over as they come,
and waits for ever. Here the loss goes the way of an answer, and is raised where answers are taken.
"""

from __future__ import annotations

import asyncio
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any

from joblib._dask import DaskDistributedBackend

from tmverify.errors import ClusterError

_PAUSE = 0.01  # seconds, as joblib's


@dataclass(frozen=True, slots=True)
class _Lost:
    error: Exception


class WatchedDaskBackend(DaskDistributedBackend):  # type: ignore[misc]
    """Raises BrokenProcessPool when a task is lost for good, ClusterError when the scheduler is."""

    async def _collect(self) -> None:
        while self._continue:
            async for future, result in self.waiting_futures:
                waiting, callback = self._results.pop(future), self._callbacks.pop(future)
                if future.status == "finished":
                    waiting.set_result(result)
                    callback(result)
                else:
                    error = _error(future.status, result)
                    waiting.set_exception(error)
                    callback(_Lost(error))
            await asyncio.sleep(_PAUSE)

    def retrieve_result_callback(self, out: Any) -> Any:
        if isinstance(out, _Lost):
            raise out.error
        return super().retrieve_result_callback(out)


def _error(status: str, result: Any) -> Exception:
    if status == "error":
        return BrokenProcessPool(str(result[1]))
    return ClusterError(
        "the connection to the scheduler was lost; what is answered is in the store: run it again to go on"
    )
