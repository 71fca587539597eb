"""The worker process of ``subprocesses.call``, which does one job after another.

It ends when its input closes. So that it never outlives its owner while a solver is busy, the kernel is
asked to kill it when the owner dies (Linux: the owner is the *thread* that started it, which is why a worker
is never shared between threads), and an alarm that no solver can delay ends it a few seconds after its time
limit (every Unix).
"""

from __future__ import annotations

import ctypes
import importlib
import os
import pickle
import select
import signal
import sys
from dataclasses import dataclass
from typing import Any

from tmverify import kernels
from tmverify.engines.subprocesses.memory import adopt, at_most
from tmverify.properties.verdict import StopReason

READY = b"tmverify worker ready\n"
_PR_SET_PDEATHSIG = 1
_GRACE = 5.0


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a job has no result."""

    stop_reason: StopReason
    detail: str


def serve() -> None:
    """Read jobs from standard input, write answers to standard output, until the input closes."""
    _die_with_owner()
    kernels.announce_compiling = False  # this process has no user to inform
    jobs = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a solver prints must not get into the pipe
    answers.write(READY)
    answers.flush()
    while True:
        try:
            number, function, arguments, limit, (memory, users_limit) = pickle.load(jobs)
        except EOFError:
            return
        _set_alarm(limit)
        adopt(users_limit)
        reply = _do(function, arguments, memory)
        pickle.dump((number, reply), answers, protocol=pickle.HIGHEST_PROTOCOL)
        answers.flush()
        _set_alarm(None)


def _do(name: str, arguments: tuple[Any, ...], memory: int | None) -> Any:
    module, function = name.split(":")
    try:
        job = getattr(importlib.import_module(module), function)
        with at_most(memory):
            return job(*arguments)
    except MemoryError:
        return Failure(StopReason.OUT_OF_MEMORY, "the solver ran out of memory")
    except Exception as error:
        return Failure(StopReason.CRASHED, f"the solver failed: {type(error).__name__}: {error}")


def _die_with_owner() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        jobs = select.poll()
        jobs.register(0, 0)
        if jobs.poll(0):  # the pipe is closed: the owner died before the kernel was asked
            sys.exit()


def _set_alarm(limit: float | None) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0 if limit is None else limit + _GRACE)
