"""Running a function in a separate process, so that its limits are always enforced.

SAT solvers cannot be interrupted from Python, block other threads while they run, and may crash or be killed
for lack of memory. So each calling thread keeps one worker process (``_worker``), sends it a job and waits
for the answer or until the deadline, when the worker is killed and the next job gets a new one. A worker is
started with ``subprocess``, not ``multiprocessing``, so that a user's script needs no
``if __name__ == "__main__"`` guard and no threaded process is ever forked.

An answer is never taken for that of another job: jobs are numbered, and a worker is *busy* from before a job
is sent until its answer has arrived. A busy worker gets no other job, not even from a signal handler that
calls during a job, or after a Ctrl-C at any moment; it is killed when nobody waits for it any more.

Nothing is left behind: a worker dies with the thread that owns it and with this process, even if this
process is killed (see ``_worker``).
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import IO, Any

from tmverify.engines.engine import Deadline
from tmverify.engines.follow import Withdrawn
from tmverify.engines.subprocesses._worker import READY, Failure
from tmverify.engines.subprocesses.memory import limit_of_now
from tmverify.properties.verdict import StopReason

__all__ = ["Failure", "call", "interrupt"]

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from tmverify.engines.subprocesses._worker import serve; serve()"
)
_numbers = itertools.count()
_local = threading.local()
_workers: weakref.WeakValueDictionary[int, _Worker] = weakref.WeakValueDictionary()  # by thread


def call(function: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
    """Run ``function``, a ``"module:function"``, in this thread's worker; return its result or a Failure.

    A memory limit that is set here (``memory.at_most``) also holds in the worker.
    """
    try:
        worker = _own_worker()
    except (OSError, TypeError, MemoryError) as error:
        return Failure(StopReason.CRASHED, f"the solver process could not be started: {error}")
    try:
        return worker.ask(function, arguments, deadline)
    finally:
        if worker.busy:
            worker.kill()


def interrupt(thread: threading.Thread) -> None:
    """Kill the worker of another thread if it is busy: the call that waits for it returns a Failure.

    For followers only: a worker that becomes busy a moment later is not killed, but before it is sent a job,
    its thread looks at the clock, and so learns that its question was withdrawn.
    """
    worker = _workers.get(thread.ident or 0)
    if worker is not None and worker.busy:
        worker.doomed = True  # before it is: if it was just done, it must not get another job
        worker.process.kill()


def _own_worker() -> _Worker:
    worker: _Worker | None = getattr(_local, "worker", None)
    if worker is None or not worker.usable():
        # The old worker ends once nothing refers to it: now, unless an interrupted call still waits for it.
        worker = _local.worker = _workers[threading.get_ident()] = _Worker()
    return worker


class _Worker:
    """One worker process and the pipes to it."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.busy = self.doomed = False
        self.complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self.process = subprocess.Popen(
            # -P: files in the user's current folder must not replace modules of the standard library.
            [sys.executable, "-P", "-c", _START, json.dumps([p for p in sys.path if isinstance(p, str)])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            # Ctrl-C in a terminal must reach only the calling process, which then kills the worker itself.
            start_new_session=True,
        )
        self.kill = weakref.finalize(self, _end, self.process, self.complaints, self.owner)
        self.started = False

    def usable(self) -> bool:
        alive = self.kill.alive and self.process.poll() is None
        return alive and not self.busy and not self.doomed and self.owner == os.getpid()

    def ask(self, function: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
        """Send a job and wait for the reply. Both happen in a thread, because even sending may block."""
        self.busy = True  # before the clock is looked at: see interrupt
        try:
            left = deadline.remaining()
        except Withdrawn:
            self.busy = False  # nothing was sent
            raise
        number = next(_numbers)
        job = (number, function, arguments, left, limit_of_now())
        replies: queue.SimpleQueue[Any] = queue.SimpleQueue()
        exchange = threading.Thread(
            target=_exchange, args=(self.process, job, not self.started, replies), daemon=True
        )
        try:
            exchange.start()
        except RuntimeError as error:  # "can't start new thread"
            return Failure(StopReason.OUT_OF_MEMORY, f"the solver could not be asked: {error}")
        try:
            reply = replies.get(timeout=deadline.remaining())
        except queue.Empty:
            return Failure(StopReason.TIMEOUT, f"no answer within {deadline.seconds:g} s")
        if isinstance(reply, tuple) and len(reply) == 2 and reply[0] == number:
            self.started = True
            self.busy = False
            return reply[1]
        return Failure(StopReason.CRASHED, self._last_words())

    def _last_words(self) -> str:
        try:
            how = f"the solver process ended with exit code {self.process.wait(timeout=0.2)}"
        except subprocess.TimeoutExpired:
            how = "the solver process gave no readable answer"
        with contextlib.suppress(OSError):
            size = self.complaints.seek(0, os.SEEK_END)
            self.complaints.seek(max(0, size - 500))
            lines = self.complaints.read().decode(errors="replace").strip().splitlines()
            return f"{how}: {lines[-1]}" if lines else how
        return how


def _exchange(
    process: subprocess.Popen[bytes], job: Any, first: bool, replies: queue.SimpleQueue[Any]
) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    reply = None
    try:
        pickle.dump(job, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
        while first:  # skip what a start-up file has printed before the worker was ready
            line = process.stdout.readline()
            first = bool(line) and not line.endswith(READY)
        reply = pickle.load(process.stdout)
    except Exception:  # the worker has ended, was killed at the deadline, or sent an unreadable answer
        reply = None
    finally:
        replies.put(reply)


def _end(process: subprocess.Popen[bytes], complaints: IO[bytes], owner: int) -> None:
    if os.getpid() != owner:  # a forked copy must not touch its parent's worker
        return
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, complaints):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()
