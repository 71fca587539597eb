"""Running a campaign: what the store knows is left alone, the rest is asked, each answer is kept.

This process alone writes: answers and certificates come to it from the workers. A certificate is written
before its answer; one that can't be written costs the answer its certificate, and is reported at the end.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from itertools import islice
from pathlib import Path
from queue import SimpleQueue

from tmverify.atomic import make_folder, replacing
from tmverify.bnn.either import Classifier
from tmverify.campaign.answers import TaskAnswer, kept_at, not_kept, unanswered
from tmverify.campaign.cluster import ClusterWorkers
from tmverify.campaign.expansion import Campaign, expand
from tmverify.campaign.plan import Plan, text_of
from tmverify.campaign.store import Store
from tmverify.campaign.tallies import Tally
from tmverify.campaign.tasks import Task
from tmverify.campaign.workers import DeadWorkerError, LocalWorkers
from tmverify.errors import InvalidInputError
from tmverify.progress import ProgressBar, counts
from tmverify.properties import StopReason

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
    """Ask what ``plan`` asks and ``store`` does not know yet.

    Parameters
    ----------
    plan : Plan
        From ``read_plan``, or made by hand.
    store : path
        Made if it is not there. Answers are written as they come: after an interruption, whatever its kind,
        the same call goes on.
    jobs : int
        Worker processes on this machine; -1 for one a core.
    cluster : str, optional
        Address of a Dask scheduler, such as ``tcp://host:8786``, whose workers decide instead (extra
        ``[dask]``).
    retry_unknown : bool
        Whether to ask again what was left unknown, even if no limit was raised since.
    verbose : bool
        Show a progress bar on standard error.

    Returns
    -------
    Tally
        Of all tasks of the plan.

    Raises
    ------
    PlanError, StoreError, ClusterError
    """
    campaign = expand(plan)
    check_folder(campaign.certificates)
    with Store.writing(store) as opened:
        tally = answer_all(
            opened, campaign, jobs=jobs, cluster=cluster, retry_unknown=retry_unknown, verbose=verbose
        )
    if tally.failure is not None:
        raise tally.failure
    return tally


def answer_all(
    store: Store,
    campaign: Campaign,
    *,
    jobs: int,
    cluster: str | None = None,
    retry_unknown: bool = False,
    verbose: bool = False,
) -> Tally:
    """The same for an open store; a certificate that could not be written is told, not raised."""
    check_jobs(jobs)
    named = [(campaign.names[key], model) for key, model in campaign.models.items()]
    store.plan(campaign.tasks, named, title=campaign.title)
    due = store.due(campaign.tasks, retry_unknown=retry_unknown, certificates=campaign.certificates)
    waiting = {task.id for task in due}
    distinct = {task.id: task for task in campaign.tasks}
    tally = Tally(len(distinct), refused=sum(store.row(task).refused is not None for task in due))
    for key, task in distinct.items():
        if key not in waiting:
            tally.add(store.answer(task))
    with (
        ProgressBar("tasks", tally.total, done=tally.done, notes=_notes(tally), wanted=verbose) as bar,
        closing(run_tasks(due, campaign.models, jobs=jobs, cluster=cluster)) as answers,
    ):
        for task, answer in answers:
            tally.add(store.keep(task, _with_certificate(task, answer, campaign.certificates, tally)))
            bar.advance(*_notes(tally))
    return tally


def run_tasks(
    tasks: Sequence[Task], models: Mapping[str, Classifier], *, jobs: int = 1, cluster: str | None = None
) -> Generator[tuple[Task, TaskAnswer], None, None]:
    """Decide ``tasks``, in no particular order; each once.

    Few are handed out before workers need them, so that a million of them take no memory. Close the
    generator to end what is being decided.

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
        for task in suspects:  # each by itself: whichever takes its worker with it again was to blame
            try:
                answer = workers.answer(task, workers.submit(task))
            except DeadWorkerError as error:
                answer = unanswered(task, StopReason.CRASHED, f"its workers died, twice: {error}")
            yield task, answer


def _notes(tally: Tally) -> list[str]:
    outcomes = {"solved": tally.solved, "violated": tally.violated, "unknown": tally.unknown}
    return counts(outcomes, _COLOURS)


def check_jobs(jobs: int) -> None:
    """Raise InvalidInputError unless so many processes can work."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0 or not -1 <= jobs <= _MOST_JOBS:
        raise InvalidInputError(
            f"jobs must be a number of processes up to {_MOST_JOBS}, or -1 for one a core. Got {jobs!r}."
        )


def check_folder(path: Path | None) -> None:
    """Make the folder of certificates, or raise InvalidInputError."""
    try:
        if path is not None:
            make_folder(path)
            str(path.absolute()).encode()  # its name goes into the store
    except (OSError, UnicodeEncodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its name is no UTF-8"
        raise InvalidInputError(
            f"{text_of(str(path))}: no certificates can be kept there ({reason}); choose another folder."
        ) from None


def _with_certificate(task: Task, answer: TaskAnswer, folder: Path | None, tally: Tally) -> TaskAnswer:
    """The answer with its certificate, if there is one, in ``folder``; or why it could not be written."""
    if folder is None or answer.certificate is None:
        return answer
    place = folder.resolve() / task.file_name
    try:
        with replacing(place) as draft, open(draft, "xb") as file:
            file.write(answer.certificate)
    except OSError as error:
        tally.failure = tally.failure or OSError(error.errno, error.strerror, str(place))
        return not_kept(answer, place, f"{place}: {error.strerror or error}")
    return kept_at(answer, place)
