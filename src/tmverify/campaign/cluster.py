"""The workers of a Dask cluster: they get the models once, and their answers are checked here.

If a worker dies, Dask itself gives its task to another one. After some deaths (its setting
``distributed.scheduler.allowed-failures``) it gives up the task, and all tasks that waited for the same
worker. An answer may come from another machine: its counterexample is replayed on this one, and its version
of tmverify must be the same as ours.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from functools import partial
from typing import Any

from tmverify.asking.answer import TaskAnswer, replayed, versions
from tmverify.asking.task import Task
from tmverify.campaign.workers import DeadWorkerError, see_through
from tmverify.errors import ClusterError, first_line
from tmverify.extras import need
from tmverify.model import Classifier

_CONNECT = "10s"
_ADDRESS = re.compile(r"([a-z]+://)?[^\s/:]+:\d{1,5}(/\S*)?|[a-z]+://\S+")
_LEAST_OUT = 64  # tasks, even if there are no workers yet
_LOST = "the connection to the scheduler was lost; what is answered is in the store: run it again to go on"


class ClusterWorkers:
    """The workers of the scheduler at ``address``, including those that join it later.

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
        self._lost: tuple[type[Exception], ...] = (CancelledError, distributed.comm.CommClosedError)
        self.most_out = max(_LEAST_OUT, 2 * sum(self._client.nthreads().values()))
        self._models = dict(models)
        # The result of a task, not scattered data: Dask computes it again if all that had it are gone.
        self._sent = self._client.submit(dict, self._models, pure=False)

    def submit(self, task: Task) -> Future[TaskAnswer]:
        answer: Future[TaskAnswer] = Future()
        try:
            asked = self._client.submit(see_through, task, self._sent, pure=False)
            asked.add_done_callback(partial(_pass_on, answer))
        except Exception as error:
            raise ClusterError(f"{_LOST} ({first_line(error)})") from None
        return answer

    def answer(self, task: Task, done: Future[TaskAnswer]) -> TaskAnswer:
        """The answer to ``task``, whose counterexample has been replayed.

        Raises
        ------
        DeadWorkerError
            If Dask has given up the task.
        ClusterError
            If the scheduler is lost, or a worker can't run tasks at all.
        """
        try:
            answer = done.result()
        except self._lost:
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


def _pass_on(answer: Future[TaskAnswer], asked: Any) -> None:
    """Give ``answer`` what the Dask future ``asked`` has.

    Dask's own executor (``Client.get_executor``) looks at a task's status after it has fetched the result. If
    the worker died in between, it takes the result for an error (``cannot unpack ...``). So we don't use it.
    """
    try:
        answer.set_result(asked.result())
    except BaseException as error:
        answer.set_exception(error)


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a library from logging a failure that we report ourselves."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
