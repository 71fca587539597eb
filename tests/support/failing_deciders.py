"""Deciders that misbehave, for the tests of campaigns: each runs in the process that decides tasks."""

import os
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tmverify.asking.answer import TaskAnswer
from tmverify.asking.task import Task
from tmverify.campaign.decider import decide_sent
from tmverify.campaign.workers import see_through
from tmverify.engines.subprocesses.memory import at_most
from tmverify.model import Classifier

Models = Sequence[Classifier] | None


def die(task: Task, models: Models) -> TaskAnswer | None:
    if task.index == 1:
        os._exit(9)
    return decide_sent(task, models)


def die_once(task: Task, models: Models) -> TaskAnswer | None:
    died = Path(tempfile.gettempdir()) / f"tmverify-died-{os.getppid()}-{task.id}"
    if not died.exists():
        died.touch()
        os._exit(9)
    found = decide_sent(task, models)
    if found is not None:
        died.unlink()
    return found


def fill_memory(task: Task, models: Models) -> TaskAnswer | None:
    if task.index == 1:
        with at_most(task.memory):
            np.ones(1 << 27)  # 1 GiB
    return decide_sent(task, models)


def oversleep(task: Task, models: Models) -> TaskAnswer | None:
    if task.index == 1:
        time.sleep(600)
    return decide_sent(task, models)


def raise_error(task: Task, models: Models) -> TaskAnswer | None:
    raise RuntimeError("a bug")


def kill_worker(task: Task, models: Mapping[str, Classifier]) -> TaskAnswer:
    """Replaces ``see_through``: the task kills its worker, not only the deciding process."""
    if task.index == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return see_through(task, models)


def soft_limit() -> int:
    import resource

    return resource.getrlimit(resource.RLIMIT_DATA)[0]
