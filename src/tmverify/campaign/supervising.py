"""What a worker of a campaign does: it sees a task through, whatever becomes of the process that decides it.

A worker (a process of joblib's here, or of a Dask cluster) decides nothing itself. It has a process of its
own for that (``engines.processes``), which may crash, fill up or outstay its time: that process is killed. A
task whose process died is tried once more in a new one; if that dies too, it is UNKNOWN with the reason.

Models reach a worker once, as a ``Kit``: here as the path of a folder, on a cluster as the files' bytes.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from tmverify.asking.answer import TaskAnswer, unanswered
from tmverify.asking.decide import SUFFIX
from tmverify.asking.task import Task
from tmverify.engines.protocol import Deadline
from tmverify.engines.subprocesses.call import Failure, call
from tmverify.properties import StopReason

_WARMER = "tmverify.asking.decide:warm_up"
_WARMING = 900.0  # seconds: many processes may compile at once
_DECIDER = "tmverify.asking.decide:answer_from_files"
_GRACE = 20.0  # seconds beyond the limit that the engines hold themselves to
_ATTEMPTS = 2
_LOOK_EVERY = 0.5  # seconds

_unpacked: dict[str, str] = {}
_unpacking = threading.Lock()
_folders: set[str] = set()  # of the campaigns that this process has worked for


@dataclass(frozen=True, slots=True, eq=False)
class Kit:
    """The models of a campaign: in a ``folder`` of this machine, or as ``files`` that go to another."""

    key: str
    folder: str | None = None
    files: Mapping[str, bytes] | None = None


def see_through(task: Task, kit: Kit) -> TaskAnswer:
    """The answer to ``task``, in any case."""
    if kit.folder is None:
        return supervised(task, _unpacked_folder(kit))
    _folders.add(kit.folder)
    begun = mark(task, kit.folder)
    with suppress(OSError):
        begun.touch()
    answer = supervised(task, kit.folder)
    with suppress(OSError):
        begun.unlink()
    return answer


def mark(task: Task, folder: str) -> Path:
    """The file that is there while a worker of this machine has ``task`` in hand."""
    return Path(folder) / f"{task.id}.begun"


def supervised(task: Task, folder: str) -> TaskAnswer:
    """Decide ``task`` in a process of its own, twice if that dies."""
    limit = None if task.timeout is None else task.timeout + _GRACE
    start = time.perf_counter()
    for attempt in range(1, _ATTEMPTS + 1):
        reply = call(_WARMER, (task.engine, task.certified), Deadline(_WARMING))
        if not isinstance(reply, Failure):
            reply = call(_DECIDER, (task, folder), Deadline(limit))
        if isinstance(reply, TaskAnswer):
            return replace(reply, attempts=attempt)
        assert isinstance(reply, Failure)
        if reply.stop_reason is not StopReason.CRASHED:
            break
    again = " (tried twice)" if attempt > 1 else ""
    seconds = time.perf_counter() - start
    failed = unanswered(task, reply.stop_reason, f"{reply.detail}{again}", seconds)
    return replace(failed, attempts=attempt)


def _unpacked_folder(kit: Kit) -> str:
    """Where the models are of a kit that came as bytes: written down by the first who needs it."""
    with _unpacking:
        if kit.key not in _unpacked:
            folder = tempfile.mkdtemp(prefix="tmverify-kit-")
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            for name, content in (kit.files or {}).items():
                (Path(folder) / f"{name}{SUFFIX}").write_bytes(content)
            _unpacked[kit.key] = folder
        return _unpacked[kit.key]


def live_with(owner: int) -> None:
    """End this process when ``owner`` is gone, and remove the folders that it left; leave Ctrl-C to it."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(owner,), daemon=True).start()


def _watch(owner: int) -> None:
    while os.getppid() == owner:
        time.sleep(_LOOK_EVERY)
    for folder in tuple(_folders):
        shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
