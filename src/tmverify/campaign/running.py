"""Running tasks: on the cores of this machine or on a cluster, by joblib, each answer as it comes.

Workers see their tasks through (``supervising``), so what is left to go wrong here is a worker that dies
itself. joblib then gives up the whole call. The tasks that were out are suspects: each is asked once more, by
itself, and one that takes its worker with it again is UNKNOWN. The rest goes on.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from tmverify.campaign.answers import TaskAnswer, unanswered, versions
from tmverify.campaign.cluster import cluster_backend
from tmverify.campaign.deciding import SUFFIX, write_models
from tmverify.campaign.supervising import Kit, see_through
from tmverify.campaign.tasks import Task
from tmverify.errors import ClusterError, first_line
from tmverify.model import Model
from tmverify.properties import StopReason

Answers = Callable[[Iterable[Task]], Iterator[TaskAnswer]]


def run_tasks(
    tasks: Sequence[Task], models: Mapping[str, Model], *, jobs: int = 1, cluster: str | None = None
) -> Iterator[tuple[Task, TaskAnswer]]:
    """Decide ``tasks``, in no particular order; each once.

    Parameters
    ----------
    tasks : sequence of Task, all different
    models : the models that they are about, by content hash
    jobs : worker processes on this machine; -1 for one a core
    cluster : address of a Dask scheduler, whose workers decide instead (extra ``[dask]``)

    Raises
    ------
    ClusterError
    """
    with _pool(models, jobs, cluster) as answers:
        yield from _all(tasks, answers)


def _all(tasks: Sequence[Task], answers: Answers) -> Iterator[tuple[Task, TaskAnswer]]:
    left = {task.id: task for task in tasks}
    alone: list[Task] = []
    while left:
        batch = [alone.pop()] if alone else list(left.values())
        out: dict[str, Task] = {}
        try:
            for task, answer in _round(batch, answers, out):
                del left[task.id]
                yield task, answer
        except BrokenProcessPool as error:
            if len(batch) == 1:
                (task,) = batch
                if left.pop(task.id, None) is not None:
                    detail = f"its worker process died, twice: {first_line(error)}"
                    yield task, unanswered(task, StopReason.CRASHED, detail)
            else:
                alone = [task for task in out.values() if task.id in left]


def _round(
    batch: Sequence[Task], answers: Answers, out: dict[str, Task]
) -> Iterator[tuple[Task, TaskAnswer]]:
    """One call of joblib's; ``out`` are the tasks that it has taken and not answered."""

    def taken() -> Iterator[Task]:
        for task in batch:
            out[task.id] = task
            yield task

    with closing(answers(taken())) as found:  # type: ignore[type-var]
        for answer in found:
            if dict(answer.versions).get("tmverify") != versions()["tmverify"]:
                raise ClusterError(
                    f"a worker runs tmverify {answer.versions.get('tmverify')}, this is "
                    f"{versions()['tmverify']}; install the same version everywhere."
                )
            yield out.pop(answer.task), answer


@contextmanager
def _pool(models: Mapping[str, Model], jobs: int, cluster: str | None) -> Iterator[Answers]:
    with tempfile.TemporaryDirectory(prefix="tmverify-models-") as name:
        write_models(models, Path(name))
        if cluster is None:
            from joblib import effective_n_jobs

            kit = Kit(name, folder=name, owner=os.getpid())
            yield _answers(kit, n_jobs=effective_n_jobs(jobs), backend="loky")
            return
        files = {path.name.removesuffix(SUFFIX): path.read_bytes() for path in Path(name).iterdir()}
    key = sha256("".join(sorted(files)).encode()).hexdigest()
    kit = Kit(key, files=files)
    with cluster_backend(cluster, kit) as backend:
        yield _answers(kit, n_jobs=-1, backend=backend)


def _answers(kit: Kit, *, n_jobs: int, backend: Any) -> Answers:
    from joblib import Parallel, delayed

    def answers(tasks: Iterable[Task]) -> Iterator[TaskAnswer]:
        # Few are taken before they are needed: what is out when a worker dies is asked again.
        parallel = Parallel(
            n_jobs=n_jobs,
            backend=backend,
            batch_size=1,
            pre_dispatch="2*n_jobs",
            return_as="generator_unordered",
        )
        found: Iterator[TaskAnswer] = parallel(delayed(see_through)(task, kit) for task in tasks)
        return found

    return answers
