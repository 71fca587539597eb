"""The one loop that asks: it takes tasks, and yields answers as they are found.

With one job and no store, tasks are decided in this process, otherwise by workers. Tasks that a store has
answers to are not asked again.

Only this process writes: workers send it answers and certificates. A certificate is written before its
answer; if it can't be written, the answer is kept without it, and the error is reported at the end.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

from tmverify.asking.answer import Asked, TaskAnswer, decide_task, replays, unanswered
from tmverify.asking.subject import text_of
from tmverify.asking.tally import Tally
from tmverify.asking.task import Task
from tmverify.atomic import make_folder
from tmverify.campaign.cluster import ClusterWorkers
from tmverify.campaign.expansion import Campaign, expand
from tmverify.campaign.plan import Plan
from tmverify.campaign.store import Store
from tmverify.campaign.workers import DeadWorkerError, LocalWorkers
from tmverify.errors import InvalidInputError, StoreError
from tmverify.model import Classifier
from tmverify.progress import ProgressBar, counts
from tmverify.properties import StopReason
from tmverify.properties.trust import NO_CERTIFICATE

_MOST_JOBS = 1024
_COLOURS = {"solved": "green", "violated": "red", "unknown": "yellow"}


def run_campaign(
    plan: Plan,
    store: str | os.PathLike[str],
    *,
    jobs: int = 1,
    cluster: str | None = None,
    retry_unknown: bool = False,
    verbose: bool = False,
) -> Tally:
    """Ask what ``plan`` asks and ``store`` has no answer to yet.

    Parameters
    ----------
    plan : Plan
        From ``read_plan``, or made by hand.
    store : path
        Created if it does not exist. Answers are written as they come: after any interruption, the same call
        continues the run.
    jobs : int
        Worker processes on this machine; -1 for one per core.
    cluster : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``, whose workers decide instead (extra
        ``[dask]``).
    retry_unknown : bool
        Whether to ask unknown tasks again, even if no limit was raised since.
    verbose : bool
        Show a progress bar on standard error.

    Returns
    -------
    Tally
        The tally of all tasks of the plan.

    Raises
    ------
    PlanError, StoreError, ClusterError
    """
    campaign = expand(plan)
    check_folder(campaign.certificates)
    tally = Tally(0)
    with Store.writing(store) as opened:
        for _ in ask(
            campaign,
            tally,
            opened,
            jobs=jobs,
            cluster=cluster,
            retry_unknown=retry_unknown,
            verbose=verbose,
        ):
            pass
    if tally.failure is not None:
        raise tally.failure
    return tally


def ask(
    campaign: Campaign,
    tally: Tally,
    store: Store | None = None,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    retry_unknown: bool = False,
    replay_known: bool = False,
    verbose: bool = False,
) -> Generator[Asked, None, None]:
    """Yield each task with its answer: first those that the store has answers to, otherwise in any order.

    ``tally`` counts them. An error in writing a certificate is not raised, but kept in ``tally.failure``.
    ``replay_known`` runs the counterexamples of the store through the models again.

    Raises
    ------
    StoreError, ClusterError
    """
    check_jobs(jobs)
    folder = _Folder(campaign.certificates, tally)
    distinct = {task.id: task for task in campaign.tasks}
    tally.total = len(distinct)
    due: Iterable[Task] = distinct.values()
    if store is not None:
        store.plan(
            campaign.tasks,
            [(campaign.names[key], model) for key, model in campaign.models.items()],
            title=campaign.title,
        )
        due = store.due(campaign.tasks, retry_unknown=retry_unknown, certificates=campaign.certificates)
        tally.refused = sum(store.asked(task).refused is not None for task in due)
        waiting = {task.id for task in due}
        for key, task in distinct.items():
            if key not in waiting:
                known = store.asked(task).answer
                assert known is not None
                if replay_known:
                    _check_replay(task, known, campaign, store)
                tally.add(known)
                yield Asked(task, folder.kept(task, known))
    if store is None and jobs == 1 and cluster is None:
        answers = _run_here(due, campaign.models)
    else:
        answers = run_tasks(list(due), campaign.models, jobs=jobs, cluster=cluster)
    with (
        ProgressBar("tasks", tally.total, done=tally.done, notes=notes_of(tally), wanted=verbose) as bar,
        closing(answers),
    ):
        for task, found in answers:
            try:
                kept = folder.keep(task, found)
            except KeyboardInterrupt:  # there is an answer, but no certificate
                tally.add(found)
                yield Asked(task, _uncertified(found, "interrupted before one was written"))
                raise
            kept = kept if store is None else store.keep(task, kept)
            tally.add(kept)
            bar.advance(*notes_of(tally))
            yield Asked(task, kept)


def check_jobs(jobs: int) -> None:
    """Raise InvalidInputError unless ``jobs`` is a possible number of processes."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0 or not -1 <= jobs <= _MOST_JOBS:
        raise InvalidInputError(
            f"jobs must be a number of processes up to {_MOST_JOBS}, or -1 for one a core. Got {jobs!r}."
        )


def check_folder(path: Path | None, *, stored: bool = True) -> None:
    """Make the folder of certificates, or raise InvalidInputError; ``stored``: a store must hold its name."""
    try:
        if path is not None and stored:
            str(path.absolute()).encode()
        if path is not None:
            make_folder(path)
    except (OSError, UnicodeEncodeError) as error:
        reason = (error.strerror or error) if isinstance(error, OSError) else "its name is no UTF-8"
        raise InvalidInputError(
            f"{text_of(str(path))}: no certificates can be kept there ({reason}); choose another folder."
        ) from None


def run_tasks(
    tasks: Sequence[Task], models: Mapping[str, Classifier], *, jobs: int = 1, cluster: str | None = None
) -> Generator[tuple[Task, TaskAnswer], None, None]:
    """Decide each of ``tasks`` once, in no particular order.

    Only a few are submitted ahead of time, so that a million tasks take little memory. Closing the generator
    stops the tasks that are being decided.

    Parameters
    ----------
    tasks : sequence of Task, all different
    models : the models that they are about, by content hash
    jobs : worker processes on this machine; -1 for one per core
    cluster : address of a Dask scheduler, whose workers decide instead (extra ``[dask]``)

    Raises
    ------
    ClusterError
    """
    if not tasks:
        return
    workers = LocalWorkers(models, jobs) if cluster is None else ClusterWorkers(models, cluster)
    with closing(workers):
        left = iter(tasks)
        out: dict[Future[TaskAnswer], Task] = {}
        done: SimpleQueue[Future[TaskAnswer]] = SimpleQueue()
        suspects = []
        while True:
            for task in islice(left, workers.most_out - len(out)):
                future = workers.submit(task)
                out[future] = task
                future.add_done_callback(done.put)
            if not out:
                break
            future = done.get()
            task = out.pop(future)
            try:
                answer = workers.answer(task, future)
            except DeadWorkerError:
                suspects.append(task)
            else:
                yield task, answer
        for task in suspects:  # one at a time: a task whose worker dies again is to blame
            try:
                answer = workers.answer(task, workers.submit(task))
            except DeadWorkerError as error:
                answer = unanswered(task, StopReason.CRASHED, f"its workers died, twice: {error}")
            yield task, answer


def _run_here(
    tasks: Iterable[Task], models: Mapping[str, Classifier]
) -> Generator[tuple[Task, TaskAnswer], None, None]:
    """Decide ``tasks`` in this process."""
    for task in tasks:
        yield task, decide_task(task, [models[key] for key in task.models])


def notes_of(tally: Tally) -> list[str]:
    """The answers so far, as notes for a progress bar."""
    outcomes = {"solved": tally.solved, "violated": tally.violated, "unknown": tally.unknown}
    return counts(outcomes, _COLOURS)


def _check_replay(task: Task, known: TaskAnswer, campaign: Campaign, store: Store) -> None:
    if not replays(task.query([campaign.models[key] for key in task.models]), task, known):
        raise StoreError(
            f"{store.path}: the counterexample of task {task.id} does not replay: the store is damaged, or "
            "another program wrote to it. Use a new --store."
        )


class _Folder:
    """The folder for certificates, if they are wanted."""

    def __init__(self, path: Path | None, tally: Tally) -> None:
        self.path = path
        self.tally = tally

    def keep(self, task: Task, answer: TaskAnswer) -> TaskAnswer:
        """Write the certificate of ``answer``, if there is one."""
        if self.path is None or answer.certificate is None:
            return answer
        place = self.path / task.file_name
        try:
            answer.certificate.save(place)
        except OSError as error:
            self.tally.failure = self.tally.failure or error
            answer = _uncertified(answer, f"{place}: {error.strerror or error}")
        return replace(answer, certificate=None, certificate_path=str(place.resolve()))

    def kept(self, task: Task, answer: TaskAnswer) -> TaskAnswer:
        """A known answer with its certificate, if one is wanted and lies in this folder."""
        if self.path is not None and (self.path / task.file_name).is_file():
            return answer
        if self.path is None or answer.certificate_path is None or answer.detail:
            return replace(answer, trusts=answer.trusts_alone, certificate_path=None)
        return replace(_uncertified(answer, f"{self.path / task.file_name} is gone"), certificate_path=None)


def _uncertified(answer: TaskAnswer, why: str) -> TaskAnswer:
    return replace(answer, certificate=None, trusts=answer.trusts_alone, detail=f"{NO_CERTIFICATE}{why}")
