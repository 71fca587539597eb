"""The workers of a Dask cluster: connected to, given the models once, and not believed blindly.

Dask itself puts a task that was lost with its worker on another one. After some losses (its setting
``distributed.scheduler.allowed-failures``) it gives the task up, and with it all that waited for the same
worker. An answer may have been found on another machine: its counterexample is replayed here, and its version
must be ours.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager

from tmverify.asking.answer import TaskAnswer, replayed, versions
from tmverify.asking.task import Task
from tmverify.campaign.workers import DeadWorkerError, see_through
from tmverify.errors import ClusterError, first_line
from tmverify.extras import need
from tmverify.model import Classifier

_CONNECT = "10s"
_ADDRESS = re.compile(r"([a-z]+://)?[^\s/:]+:\d{1,5}(/\S*)?|[a-z]+://\S+")
_LEAST_OUT = 64  # tasks, also if the workers come later
_LOST = "the connection to the scheduler was lost; what is answered is in the store: run it again to go on"


class ClusterWorkers:
    """The workers of the scheduler at ``address``; those that join it later too.

    Raises
    ------
    ClusterError
    MissingExtraError
    """

    def __init__(self, models: Mapping[str, Classifier], address: str) -> None:
        if not _ADDRESS.fullmatch(address):
            raise ClusterError(
                f"--cluster must be an address such as tcp://host:8786. Got {address!r} instead."
            )
        distributed = need("distributed", extra="dask", what="--cluster")
        try:
            with _quiet("distributed"):
                self._client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TimeoutError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address} ({first_line(error)}); start one with dask "
                f"scheduler, and workers with dask worker {address}."
            ) from None
        self._killed: type[Exception] = distributed.KilledWorker
        self._executor = self._client.get_executor(pure=False)
        self.most_out = max(_LEAST_OUT, 2 * sum(self._client.nthreads().values()))
        self._models = dict(models)
        # The result of a task, not scattered data: Dask makes it again when all who had it are gone.
        self._sent = self._client.submit(dict, self._models, pure=False)

    def submit(self, task: Task) -> Future[TaskAnswer]:
        try:
            future: Future[TaskAnswer] = self._executor.submit(see_through, task, self._sent)
        except Exception as error:
            raise ClusterError(f"{_LOST} ({first_line(error)})") from None
        return future

    def answer(self, task: Task, done: Future[TaskAnswer]) -> TaskAnswer:
        """The answer to ``task``, its counterexample replayed.

        Raises
        ------
        DeadWorkerError
            If Dask has given it up.
        ClusterError
            If the scheduler is lost, or a worker can't do such work at all.
        """
        try:
            answer = done.result()
        except CancelledError:
            raise ClusterError(_LOST) from None
        except self._killed as error:
            raise DeadWorkerError(first_line(error)) from None
        except Exception as error:
            raise ClusterError(
                f"a worker failed ({type(error).__name__}: {first_line(error)}); install the same version of "
                "tmverify everywhere."
            ) from None
        theirs, ours = answer.versions.get("tmverify"), versions()["tmverify"]
        if theirs != ours:
            raise ClusterError(
                f"a worker runs tmverify {theirs}, this is {ours}; install the same version everywhere."
            )
        return replayed(task, answer, self._models)

    def close(self) -> None:
        with _quiet("distributed"):
            self._client.close()


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a library from logging a failure that we report in our own words."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
