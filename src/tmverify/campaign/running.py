"""Running tasks: on the cores of this machine or on a cluster, by joblib, each answer as it comes.

Workers see their tasks through (``supervising``), so what is left to go wrong here is a worker that dies
itself. joblib then gives up the whole call. The tasks that workers had in hand are suspects: each is asked
once more, by itself, and one that takes its worker with it again is UNKNOWN. The rest goes on.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from tmverify.asking.answer import TaskAnswer, unanswered, versions
from tmverify.asking.decide import SUFFIX, write_models
from tmverify.asking.task import Task
from tmverify.campaign.cluster import cluster_backend
from tmverify.campaign.supervising import Kit, mark, see_through
from tmverify.errors import ClusterError, first_line
from tmverify.model import Classifier
from tmverify.properties import StopReason

Answers = Callable[[Iterable[Task]], Iterator[TaskAnswer]]
_MOST_BREAKS = 3


@dataclass(frozen=True, slots=True)
class _Pool:
    """Workers: how they are asked, and where those of this machine mark what they have in hand."""

    answers: Answers
    folder: str | None = None

    def begun(self, tasks: Iterable[Task]) -> list[Task]:
        """Which of the tasks that were out a dead worker may have had in hand; asked once."""
        if self.folder is None:
            return list(tasks)
        found = [task for task in tasks if mark(task, self.folder).exists()]
        for task in found:
            mark(task, self.folder).unlink()
        return found


def run_tasks(
    tasks: Sequence[Task], models: Mapping[str, Classifier], *, jobs: int = 1, cluster: str | None = None
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
    with _pool(models, jobs, cluster) as pool:
        yield from _all(tasks, pool)


def _all(tasks: Sequence[Task], pool: _Pool) -> Iterator[tuple[Task, TaskAnswer]]:
    left = {task.id: task for task in tasks}
    suspects: dict[str, Task] = {}
    breaks = 0  # in a row, without an answer between them
    while left:
        batch = list(suspects.values())[:1] or list(left.values())
        out: dict[str, Task] = {}
        try:
            for task, answer in _round(batch, pool.answers, out):
                breaks = 0
                del left[task.id]
                suspects.pop(task.id, None)
                yield task, answer
        except BrokenProcessPool as error:
            _end_local_workers()
            begun = pool.begun(out.values())
            if suspects:
                task = batch[0]
                suspects.pop(task.id, None)
                if left.pop(task.id, None) is not None:
                    detail = f"its worker process died, twice: {first_line(error)}"
                    yield task, unanswered(task, StopReason.CRASHED, detail)
                continue
            suspects = {task.id: task for task in begun if task.id in left}
            breaks += 1
            if breaks >= _MOST_BREAKS and not suspects:
                raise ClusterError(f"no worker process can be kept: {first_line(error)}") from None


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


def _end_local_workers() -> None:
    """See that no process of a broken pool is left: the next call might take them for its own."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)


@contextmanager
def _pool(models: Mapping[str, Classifier], jobs: int, cluster: str | None) -> Iterator[_Pool]:
    with tempfile.TemporaryDirectory(prefix="tmverify-models-") as name:
        write_models(models, Path(name))
        if cluster is None:
            from joblib import effective_n_jobs

            from tmverify.campaign._local_backend import WatchedLokyBackend

            backend = WatchedLokyBackend()
            yield _Pool(
                _answers(Kit(name, folder=name), n_jobs=effective_n_jobs(jobs), backend=backend), name
            )
            return
        files = {path.name.removesuffix(SUFFIX): path.read_bytes() for path in Path(name).iterdir()}
    key = sha256("".join(sorted(files)).encode()).hexdigest()
    kit = Kit(key, files=files)
    with cluster_backend(cluster, kit) as of_cluster:
        yield _Pool(_answers(kit, n_jobs=-1, backend=of_cluster))


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
