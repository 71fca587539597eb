"""Workers: threads, each of which has tasks decided by a process of its own.

A worker decides nothing itself. It keeps a process for that (``engines.subprocesses.call``), which may crash,
use up its memory or exceed its time; then it is killed. A task whose process died is tried once more in a
new one; if that dies too, the task is UNKNOWN with the reason. Workers are threads of this process
(``LocalWorkers``), or of the workers of a Dask cluster (``cluster.ClusterWorkers``).

A deciding process keeps the models of its latest tasks, and is sent those that it lacks.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

from tmverify.asking.answer import TaskAnswer, unanswered
from tmverify.asking.task import Task
from tmverify.engines.engine import Deadline
from tmverify.engines.subprocesses.call import Failure, call, interrupt
from tmverify.model import Classifier
from tmverify.properties import StopReason

_WARMER = "tmverify.campaign.decider:warm_up"
_WARMING = 900.0  # seconds: many processes may compile at once
_DECIDER = "tmverify.campaign.decider:decide_sent"
_GRACE = 20.0  # seconds beyond the time limit, which the engines observe themselves
_ATTEMPTS = 2
_LOOK_EVERY = 0.05  # seconds


class DeadWorkerError(Exception):
    """A worker of a cluster died with a task, which may be the cause, or may only have been waiting there."""


class LocalWorkers:
    """``jobs`` workers on this machine; -1 for one per core. ``most_out`` submitted tasks keep them busy."""

    def __init__(self, models: Mapping[str, Classifier], jobs: int) -> None:
        if jobs == -1:
            from joblib import cpu_count

            jobs = cpu_count()
        self.most_out = 2 * jobs
        self._models = models
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._executor = ThreadPoolExecutor(
            jobs, initializer=lambda: self._threads.append(threading.current_thread())
        )

    def submit(self, task: Task) -> Future[TaskAnswer]:
        return self._executor.submit(see_through, task, self._models, self._stopping)

    @staticmethod
    def answer(_task: Task, done: Future[TaskAnswer]) -> TaskAnswer:
        return done.result()

    def close(self) -> None:
        """Stop the workers and the tasks that they are running."""
        self._stopping.set()
        self._executor.shutdown(wait=False, cancel_futures=True)
        # In a loop, because a worker may have been about to start another process.
        while alive := [thread for thread in self._threads if thread.is_alive()]:
            for thread in alive:
                interrupt(thread)
            alive[0].join(_LOOK_EVERY)


def see_through(
    task: Task, models: Mapping[str, Classifier], stopping: threading.Event | None = None
) -> TaskAnswer:
    """The answer to ``task``, UNKNOWN if its process failed; no more attempts once ``stopping`` is set."""
    start = time.perf_counter()
    reply = Failure(StopReason.CRASHED, "never asked")
    for attempt in range(1, _ATTEMPTS + 1):
        if stopping is not None and stopping.is_set():
            break
        found = _decided(task, models)
        if isinstance(found, TaskAnswer):
            return replace(found, attempts=attempt)
        reply = found
        if reply.stop_reason is not StopReason.CRASHED:
            break
    again = " (tried twice)" if attempt > 1 else ""
    seconds = time.perf_counter() - start
    failed = unanswered(task, reply.stop_reason, f"{reply.detail}{again}", seconds)
    return replace(failed, attempts=attempt)


def _decided(task: Task, models: Mapping[str, Classifier]) -> TaskAnswer | Failure:
    """The answer of this thread's process to ``task``, or why it failed."""
    warmed = call(_WARMER, (task.engine, task.certified), Deadline(_WARMING))
    if isinstance(warmed, Failure):
        return warmed
    limit = Deadline(None if task.timeout is None else task.timeout + _GRACE)
    reply = call(_DECIDER, (task, None), limit)
    if reply is None:
        reply = call(_DECIDER, (task, [models[key] for key in task.models]), limit)
    assert isinstance(reply, TaskAnswer | Failure)
    return reply
