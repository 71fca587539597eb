"""From tasks to a store that has their answers: what is known is left alone, the rest is asked and kept.

This process alone writes: answers and certificates come to it from the workers. A certificate is written
before its answer; one that can't be written costs the answer its certificate, and is reported at the end.
"""

from __future__ import annotations

import os
from pathlib import Path

from tmverify.campaign.answers import TaskAnswer, kept_at, not_kept
from tmverify.campaign.expansion import Campaign, expand
from tmverify.campaign.plan import Plan
from tmverify.campaign.progress import counting
from tmverify.campaign.running import run_tasks
from tmverify.campaign.store import Store
from tmverify.campaign.tallies import Tally
from tmverify.campaign.tasks import Task
from tmverify.drafts import make_folder, replacing
from tmverify.errors import InvalidInputError


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
    with Store.writing(store) as opened:
        return answer_all(
            opened, campaign, jobs=jobs, cluster=cluster, retry_unknown=retry_unknown, verbose=verbose
        )


def answer_all(
    store: Store,
    campaign: Campaign,
    *,
    jobs: int,
    cluster: str | None = None,
    retry_unknown: bool = False,
    verbose: bool = False,
) -> Tally:
    """The same for an open store."""
    check_jobs(jobs)
    folder = _Folder(campaign.certificates)
    store.plan(campaign.tasks, [(campaign.names[key], model) for key, model in campaign.models.items()])
    due = store.due(campaign.tasks, retry_unknown=retry_unknown)
    waiting = {task.id for task in due}
    tally = Tally(len(campaign.tasks))
    for task in campaign.tasks:
        if task.id not in waiting:
            tally.add(store.answer(task))
    with counting(tally, wanted=verbose) as tell:
        for task, answer in run_tasks(due, campaign.models, jobs=jobs, cluster=cluster) if due else ():
            kept = folder.keep(task, answer)
            store.keep(task, kept)
            tally.add(kept)
            tell()
    folder.raise_failure()
    return tally


def check_jobs(jobs: int) -> None:
    """Raise InvalidInputError unless so many processes can work."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs == 0 or jobs < -1:
        raise InvalidInputError(f"jobs must be a number of processes, or -1 for one a core. Got {jobs!r}.")


class _Folder:
    """Where certificates go, if they are wanted; ``raise_failure`` tells of the first that could not."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.failure: OSError | None = None
        if path is None:
            return
        try:
            make_folder(path)
        except OSError as error:
            raise InvalidInputError(
                f"{path}: no certificates can be written there ({error.strerror or error}); "
                "choose another folder."
            ) from None

    def keep(self, task: Task, answer: TaskAnswer) -> TaskAnswer:
        """Write the certificate of ``answer``, if there is one."""
        if self.path is None or answer.certificate is None:
            return answer
        place = (self.path / task.file_name).absolute()
        try:
            with replacing(place) as draft, open(draft, "xb") as file:
                file.write(answer.certificate)
        except OSError as error:
            self.failure = self.failure or error
            return not_kept(answer, f"{place}: {error.strerror or error}")
        return kept_at(answer, place)

    def raise_failure(self) -> None:
        if self.failure is not None:
            raise self.failure
