"""Running an engine in a process of its own, so that a time limit holds whatever the solver is doing.

SAT solvers cannot be interrupted from Python, starve other threads while they run, and may crash or be
killed for want of memory. So each thread that asks keeps one worker process (``engines._worker``), sends it
a job and waits: for the answer, or until the deadline, when the worker is killed. The next job gets a new
one. A worker is started with ``subprocess``, not ``multiprocessing``, so that a user's script needs no
``if __name__ == "__main__"`` guard and no threaded process is ever forked.

Nothing is left behind: the worker dies with the thread that owns it or with this process, even if this
process is killed (see ``_worker``).
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import queue
import subprocess
import sys
import threading
import weakref
from dataclasses import replace
from typing import Any

from tmverify.engines.protocol import Answer, Deadline, Engine, stopped
from tmverify.properties.query import Query
from tmverify.properties.verdict import StopReason

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from tmverify.engines._worker import serve; serve()"
)


def isolated(solver: str) -> Engine:
    """The engine that runs ``solver``, a ``"module:function"`` from Query to Answer, in a worker."""

    def decide(query: Query, deadline: Deadline) -> Answer:
        # The machines are for replaying answers; a solver has no use for them.
        job = (solver, replace(query, machines=()), deadline.remaining())
        try:
            worker = _own_worker()
        except OSError as error:
            return stopped(StopReason.CRASHED, f"the solver process could not be started: {error}")
        try:
            reply = worker.ask(job, deadline)
        except BaseException:  # above all Ctrl-C: the worker is in the middle of something
            worker.kill()
            raise
        if isinstance(reply, Answer):
            return reply
        worker.kill()
        return reply.answer(deadline)

    return decide


class _Failure:
    """No answer came: the time is over, or the worker is gone."""

    def __init__(self, exit_code: int | None) -> None:
        self.exit_code = exit_code

    def answer(self, deadline: Deadline) -> Answer:
        if deadline.passed():
            return stopped(StopReason.TIMEOUT, f"no answer within {deadline.seconds:g} s")
        return stopped(StopReason.CRASHED, f"the solver process ended with exit code {self.exit_code}")


class _Worker:
    """One worker process and the pipes to it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, json.dumps([p for p in sys.path if isinstance(p, str)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C in a terminal is for the asking process, which then kills the worker itself.
            start_new_session=True,
        )
        self.kill = weakref.finalize(self, _end, self.process, self.owner)

    def usable(self) -> bool:
        return self.owner == os.getpid() and self.kill.alive and self.process.poll() is None

    def ask(self, job: Any, deadline: Deadline) -> Answer | _Failure:
        """Send a job and wait. Both ends of the exchange run in a thread: even the sending may block."""
        replies: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
        threading.Thread(target=_exchange, args=(self.process, job, replies), daemon=True).start()
        try:
            reply = replies.get(timeout=deadline.remaining())
        except queue.Empty:
            return _Failure(None)
        if reply is not None:
            return reply
        self.process.kill()  # it has most likely ended already, and this changes nothing then
        return _Failure(self.process.wait())


def _exchange(process: subprocess.Popen[bytes], job: Any, replies: queue.SimpleQueue[Answer | None]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    reply = None
    try:
        pickle.dump(job, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
        reply = pickle.load(process.stdout)
    except (OSError, EOFError, ValueError, pickle.UnpicklingError):
        pass  # the worker is gone, or was killed at the deadline while this thread waited
    finally:
        replies.put(reply)


def _end(process: subprocess.Popen[bytes], owner: int) -> None:
    if os.getpid() != owner:  # a forked copy must not touch its parent's worker
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


_local = threading.local()


def _own_worker() -> _Worker:
    worker: _Worker | None = getattr(_local, "worker", None)
    if worker is None or not worker.usable():
        if worker is not None:
            worker.kill()
        worker = _local.worker = _Worker()
    return worker
