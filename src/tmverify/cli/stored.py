"""``--store`` and ``--jobs``: the questions of a command as a campaign, the answers from its store.

A counterexample from a file is replayed like any other before it is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tmverify.campaign.answering import answer_all, check_jobs
from tmverify.campaign.answers import TaskAnswer
from tmverify.campaign.deciding import replays
from tmverify.campaign.expansion import Campaign, image_of
from tmverify.campaign.plan import text_of
from tmverify.campaign.scopes import OWN
from tmverify.campaign.store import Store
from tmverify.campaign.tasks import Task, pack
from tmverify.cli.certificates import Certificates, Kept, why_none
from tmverify.cli.output import print_note
from tmverify.cli.phrases import asked_anew
from tmverify.cli.subject import Subject
from tmverify.engines import engine_for
from tmverify.errors import StoreError
from tmverify.interrupts import one_interrupt
from tmverify.properties import Radius, Verdict
from tmverify.properties.network import AnyQuery


@dataclass(frozen=True, slots=True)
class Keeping:
    """Where answers are kept (None: nowhere), and how many processes find them."""

    store: Path | None
    jobs: int

    def __post_init__(self) -> None:
        check_jobs(self.jobs)

    @property
    def wanted(self) -> bool:
        return self.store is not None or self.jobs != 1


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question and its answer, from a store."""

    task: Task
    query: AnyQuery
    answer: TaskAnswer

    def kept(self, certificates: Certificates, found: Verdict | Radius) -> Kept:
        """What the answer rests on, noted among the certificates of the run."""
        kept = self._kept(certificates.folder, found)
        certificates.kept.append(kept)
        return kept

    def _kept(self, folder: Path | None, found: Verdict | Radius) -> Kept:
        if folder is None:
            return Kept(self.answer.trusts_alone)
        path = folder / self.task.file_name
        if path.is_file():
            return Kept(self.answer.trusts, path)
        gone = self.answer.certificate_path is not None and not found.detail
        return Kept(self.answer.trusts_alone, reason=f"{path} is gone" if gone else why_none(found))


def answers_from(
    keeping: Keeping,
    subject: Subject,
    question: str,
    epsilons: list[int] | list[None],
    *,
    engine: str,
    timeout: float | None,
    certificates: Certificates,
) -> Iterator[Asked]:
    """Ask what the store does not know, then give what it knows; after Ctrl-C too, which is raised last."""
    tasks = list(_tasks(subject, question, epsilons, engine, timeout, certificates.wanted))
    campaign = Campaign(
        _title(subject, question, epsilons, engine),
        tasks,
        {each.model.content_hash: each.model for each in subject.opened},
        {each.model.content_hash: text_of(each.path.stem) for each in subject.opened},
        certificates.folder,
    )
    interrupted = None
    with one_interrupt(), ExitStack() as stack:
        place = keeping.store or Path(stack.enter_context(TemporaryDirectory(prefix="tmverify-"))) / "answers"
        store = stack.enter_context(Store.writing(place))
        try:
            tally = answer_all(store, campaign, jobs=keeping.jobs, verbose=True)
            certificates.failure = tally.failure
            if tally.refused:
                print_note(asked_anew(tally.refused))
        except KeyboardInterrupt as signal:
            interrupted = signal
        for task in tasks:
            answer = store.answer(task)
            if answer is not None:
                yield Asked(task, _query(subject, task, answer, place), answer)
    if interrupted is not None:
        raise interrupted


def _title(subject: Subject, question: str, epsilons: list[int] | list[None], engine: str) -> str:
    """Of the plan that a command is: the command with what it asks, so that the same again replaces it."""
    wanted = subject.wanted
    options = {
        "epsilon": None if epsilons == [None] else " ".join(map(str, epsilons)),
        "n": wanted.n,
        "seed": None if wanted.n is None else wanted.seed,
        "scope": wanted.scope,
        "features": wanted.features,
        "direction": wanted.direction,
        "engine": engine,
    }
    said = "".join(f", {name} {value}" for name, value in options.items() if value is not None)
    files = " ".join(text_of(str(path.resolve())) for path in (*wanted.models, wanted.data))
    return f"{question} {files}{said}"


def _tasks(
    subject: Subject,
    question: str,
    epsilons: list[int] | list[None],
    engine: str,
    timeout: float | None,
    certified: bool,
) -> Iterator[Task]:
    model = subject.models[0]
    engine_for(engine, model)
    for epsilon in epsilons:
        for place, index in enumerate(subject.rows.tolist()):
            yield Task(
                question=question,
                models=tuple(each.content_hash for each in subject.models),
                names=tuple(text_of(each.path.stem) for each in subject.opened),
                n_features=model.n_features,
                index=index,
                bits=pack(subject.X[place]),
                data=text_of(subject.wanted.data.stem),
                label=None if subject.y is None else subject.y[place].item(),
                image=image_of(subject.named),
                epsilon=epsilon,
                scope=subject.scopes[place],
                mask=None if subject.features is None else pack(subject.features),
                direction=subject.direction,
                engine=engine,
                timeout=timeout,
                certified=certified,
                own=subject.wanted.scope == OWN,
            )


def _query(subject: Subject, task: Task, answer: TaskAnswer, store: Path) -> AnyQuery:
    """The question compiled, if the answer is one to it as far as that can be seen."""
    query = task.query(subject.models)
    if not replays(query, task, answer):
        raise StoreError(
            f"{store}: the counterexample of task {task.id} does not replay: the store is damaged, or "
            "another program wrote to it. Use a new --store."
        )
    return query
