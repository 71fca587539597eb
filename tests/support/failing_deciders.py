"""Deciders that misbehave, for the tests of campaigns: each runs in the process that decides tasks."""

import os
import time
from pathlib import Path

import numpy as np

from tmverify.asking.answer import TaskAnswer
from tmverify.asking.decide import answer_from_files
from tmverify.asking.task import Task
from tmverify.engines.subprocesses.memory import at_most


def die(task: Task, folder: str) -> TaskAnswer:
    if task.index == 1:
        os._exit(9)
    return answer_from_files(task, folder)


def die_once(task: Task, folder: str) -> TaskAnswer:
    died = Path(folder) / task.id
    if not died.exists():
        died.touch()
        os._exit(9)
    return answer_from_files(task, folder)


def fill_memory(task: Task, folder: str) -> TaskAnswer:
    if task.index == 1:
        with at_most(task.memory):
            np.ones(1 << 27)  # 1 GiB
    return answer_from_files(task, folder)


def oversleep(task: Task, folder: str) -> TaskAnswer:
    if task.index == 1:
        time.sleep(600)
    return answer_from_files(task, folder)


def raise_error(task: Task, folder: str) -> TaskAnswer:
    raise RuntimeError("a bug")


def soft_limit() -> int:
    import resource

    return resource.getrlimit(resource.RLIMIT_DATA)[0]
