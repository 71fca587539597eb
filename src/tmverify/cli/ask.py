"""Asking a question from the command line: read and check everything, make tasks, ask them, report.

Every question is handled in the same way. Ctrl-C at any moment loses at most the answer that is being found.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from tmverify.asking.allowed import Typed
from tmverify.asking.answer import Asked, answered
from tmverify.asking.subject import (
    OWN,
    Chosen,
    Subject,
    about_everything,
    about_inputs,
    open_inputs,
    open_models,
    text_of,
)
from tmverify.asking.tally import Tally, tally_of
from tmverify.asking.task import Task, digest
from tmverify.campaign.expansion import Campaign
from tmverify.campaign.run import ask, check_folder, check_jobs, notes_of
from tmverify.campaign.store import Store
from tmverify.cli.exit_codes import ExitCode
from tmverify.cli.output import asked_anew, print_note, tell_of_rows
from tmverify.cli.saving import check_apart, check_target
from tmverify.engines import check_certifying, check_engine
from tmverify.engines.engine import check_timeout
from tmverify.errors import InvalidInputError
from tmverify.interrupts import one_interrupt
from tmverify.progress import ProgressBar
from tmverify.properties import Status, UniversalVerdict, Verdict
from tmverify.properties.questions import DEFAULT_TIMEOUT, Question
from tmverify.properties.universal import exact_fraction, required_count
from tmverify.verify.universal import check_universal


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The arguments and options, as typed; those that a question does not have are at their defaults."""

    models: tuple[Path, ...]
    data: Path | None = None
    epsilons: tuple[int, ...] = ()
    eta: str = "1"
    margin: int = 0
    id: str | None = None
    n: int | None = None
    seed: int = 0
    scope: str = "team"
    allowed: Typed = Typed()  # noqa: RUF009 (it is frozen)
    engine: str = "auto"
    timeout: float = DEFAULT_TIMEOUT
    timeout_per_input: float | None = None
    jobs: int = 1
    store: Path | None = None
    rows: int | None = None
    as_json: bool = False
    csv: Path | None = None
    witnesses: Path | None = None
    certificate: Path | None = None

    @classmethod
    def of(cls, typed: Mapping[str, Any]) -> Given:
        """Make it from the arguments of a command, which may name its models in several ways."""
        rest = dict(typed)
        models = tuple(
            rest.pop(name) for name in ("model", "a", "b", "against") if rest.get(name) is not None
        )
        rest.pop("against", None)
        epsilon = rest.pop("epsilon", ())
        epsilons = (epsilon,) if isinstance(epsilon, int) else tuple(dict.fromkeys(epsilon))
        allowed = typed_of({each.name: rest.pop(each.name) for each in fields(Typed) if each.name in rest})
        return cls(models=models, epsilons=epsilons, allowed=allowed, **rest)


def typed_of(options: Mapping[str, Any]) -> Typed:
    """What may change, from the options of a command."""
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in options.items()
    }
    return Typed(**given)


@dataclass(slots=True, kw_only=True)
class Answers:
    """What was asked, and the answers so far.

    ``tally.failure`` is why a certificate could not be written. For a universal question, ``whole`` is the
    answer about all inputs together, ``whole_path`` its certificate, ``whole_lacks`` why there is none.
    """

    question: Question
    given: Given
    subject: Subject
    limit: float | None
    tasks: list[Task]
    asked: list[Asked] = field(default_factory=list)
    tally: Tally = field(default_factory=lambda: Tally(0))
    interrupted: bool = False
    eta: Fraction = Fraction(1)
    whole: UniversalVerdict | None = None
    whole_path: Path | None = None
    whole_lacks: str = ""
    seconds: float = 0.0

    @property
    def status(self) -> Status:
        """Violated if any task is; else unknown if any task is, or was not asked; else holds."""
        if self.question.has_eta:
            return Status.UNKNOWN if self.whole is None else self.whole.status
        if self.tally.violated:
            return Status.VIOLATED
        return Status.HOLDS if self.tally.positive == len(self.tasks) else Status.UNKNOWN

    @property
    def tallies(self) -> dict[int, Tally]:
        """The answers counted at each epsilon."""
        return {
            epsilon: tally_of([each for each in self.asked if each.task.epsilon == epsilon])
            for epsilon in self.given.epsilons
        }

    @property
    def required(self) -> int:
        """For a universal question, the least number of inputs on which it must hold."""
        return required_count(self.eta, len(self.tasks))


def ask_and_report(question: Question, given: Given) -> ExitCode:
    """Ask, report, and return the exit code."""
    from tmverify.cli.documents import save_csv, save_witnesses
    from tmverify.cli.tables import report

    answers = _prepare(question, given)
    start = time.perf_counter()
    alone = given.store is None and given.jobs == 1
    with nullcontext() if alone else one_interrupt():  # workers need a moment to end
        try:
            if question.has_eta:
                _ask_of_all(answers)
            else:
                _ask_each(answers)
        except KeyboardInterrupt:
            answers.interrupted = True
        answers.seconds = time.perf_counter() - start if answers.whole is None else answers.whole.seconds
        if given.csv is not None:
            save_csv(given.csv, answers)
        if given.witnesses is not None:
            save_witnesses(given.witnesses, answers)
        report(answers)
    if answers.tally.failure is not None:
        raise answers.tally.failure
    return ExitCode.INTERRUPTED if answers.interrupted else ExitCode[answers.status.name]


def read_limit(seconds: float | None, option: str) -> float | None:
    """A time limit as typed: the seconds, or None for no limit."""
    try:
        return check_timeout(seconds)
    except InvalidInputError:
        raise InvalidInputError(
            f"{option} must be a positive number of seconds, or inf for no limit. Got {seconds:g} instead."
        ) from None


def _prepare(question: Question, given: Given) -> Answers:
    """Read and check everything before any work, and make the tasks."""
    engine, limit = check_engine(given.engine), read_limit(given.timeout, "--timeout")
    read_limit(given.timeout_per_input, "--timeout-per-input")
    check_jobs(given.jobs)
    if question.has_eta and given.scope == OWN:
        raise InvalidInputError(
            "--scope must be team or a class for a universal question. Got 'own' instead."
        )
    eta = exact_fraction(given.eta) if question.has_eta else Fraction(1)
    _check_files(question, given)
    subject, hints = _open(question, given)
    answers = Answers(
        question=question,
        given=given,
        subject=subject,
        limit=limit,
        eta=eta,
        tasks=subject.tasks(
            question.part(len(given.models)) if question.has_eta else question,
            given.epsilons,
            margin=given.margin,
            engine=engine,
            timeout=limit,
            certified=given.certificate is not None,
            hints=hints,
        ),
    )
    check_folder(given.certificate, stored=given.store is not None)
    return answers


def _check_files(question: Question, given: Given) -> None:
    if given.certificate is not None:
        check_certifying(given.engine)
        if given.certificate.exists() and not given.certificate.is_dir():
            raise InvalidInputError(
                f"--certificate {given.certificate}: not a folder; give the name of one, or a new name."
            )
    if given.csv is not None:
        check_target(given.csv, "--csv", [".csv"])
    if given.witnesses is not None:
        check_target(given.witnesses, "--save-witnesses", [".npz"])
    written = [path for path in (given.csv, given.witnesses, given.store) if path is not None]
    if not written:
        return
    names = ["A", "B"] if question.models == (2,) else ["MODEL"]
    names += ["DATA"] if question.about_input else []
    names += ["--csv"] if question.about_input and not question.has_eta else []
    names += ["--save-witnesses"] if question.has_eta else ["--save-witnesses", "--store"]
    check_apart([*given.models, given.data], written, f"{', '.join(names[:-1])} and {names[-1]}")


def _open(question: Question, given: Given) -> tuple[Subject, Any]:
    """The subject, and inputs that may be counterexamples."""
    models = open_models(given.models)
    names = tuple(text_of(path.stem) for path in given.models)
    if not question.about_input:
        subject = about_everything(names, models, given.scope, given.allowed.distance)
        if given.data is None:
            return subject, None
        hints = open_inputs(given.data, models)
        tell_of_rows(given.data, hints.ignored, hints.notes)
        return subject, hints.X
    assert given.data is not None
    chosen = Chosen(
        n=given.n,
        seed=given.seed,
        scope=given.scope,
        allowed=given.allowed,
    )
    data = text_of(given.data.stem)
    inputs = open_inputs(given.data, models, given.id)
    tell_of_rows(given.data, inputs.ignored, inputs.notes)
    return about_inputs(names, models, inputs, chosen, data=data), None


def _ask_each(answers: Answers) -> None:
    """Ask the tasks that the store has no answer to, in this process or in several."""
    given, subject = answers.given, answers.subject
    campaign = Campaign(
        _title(answers),
        answers.tasks,
        {model.content_hash: model for model in subject.models},
        {model.content_hash: name for name, model in zip(subject.names, subject.models, strict=True)},
        given.certificate,
    )
    found: dict[str, Asked] = {}
    try:
        with ExitStack() as stack:
            store = None if given.store is None else stack.enter_context(Store.writing(given.store))
            answered_now = stack.enter_context(
                closing(ask(campaign, answers.tally, store, jobs=given.jobs, replay_known=True, verbose=True))
            )
            for asked in answered_now:
                found[asked.task.id] = asked
    finally:
        answers.asked = [found[task.id] for task in answers.tasks if task.id in found]
    if answers.tally.refused:
        print_note(asked_anew(answers.tally.refused))


def _ask_of_all(answers: Answers) -> None:
    """Ask about one input after the other until the outcome is decided; then keep the one certificate."""
    given, subject = answers.given, answers.subject
    assert subject.X is not None
    answers.tally.total = len(answers.tasks)
    with ProgressBar(answers.question.name, len(answers.tasks), wanted=True) as bar:

        def keep(verdict: Verdict) -> None:
            task = answers.tasks[len(answers.asked)]
            found = answered(task, verdict)
            answers.asked.append(Asked(task, replace(found, certificate=None, trusts=found.trusts_alone)))
            answers.tally.add(found)
            bar.advance(*notes_of(answers.tally))

        answers.whole = check_universal(
            answers.question,
            subject.models,
            subject.X,
            given.epsilons[0],
            answers.eta,
            scope=subject.scopes[0],
            allowed=subject.rules.rules(subject.models[0].n_features),
            margin=given.margin,
            timeout=answers.limit,
            timeout_per_input=given.timeout_per_input,
            engine=given.engine,
            certificate=given.certificate is not None,
            on_verdict=keep,
        )
    if given.certificate is None or answers.whole.certificate is None:
        return
    path = given.certificate / _file_name(answers)
    try:
        answers.whole.certificate.save(path)
        answers.whole_path = path
    except OSError as error:
        answers.tally.failure = error
        answers.whole_lacks = f"{path}: {error.strerror or error}"


def _file_name(answers: Answers) -> str:
    """The name of a universal question's certificate: like that of a task, with a digest of its content."""
    eta, epsilon = answers.eta, answers.given.epsilons[0]
    key = digest([str(eta), [task.id for task in answers.tasks]])
    return f"{answers.question.name}-eps{epsilon}-eta{eta.numerator}of{eta.denominator}-{key}.tmcert"


def _title(answers: Answers) -> str:
    """The title of the plan that a command makes: what it asks; so the same command replaces the plan."""
    given = answers.given
    said = {
        "epsilon": " ".join(map(str, given.epsilons)) or None,
        "margin": given.margin or None,
        "n": given.n,
        "seed": None if given.n is None else given.seed,
        "scope": given.scope,
        **given.allowed.said,
        "engine": given.engine,
    }
    options = "".join(f", {name} {value}" for name, value in said.items() if value is not None)
    files = [*given.models, *([given.data] if answers.question.about_input and given.data else [])]
    return f"{answers.question.name} {' '.join(text_of(path.resolve()) for path in files)}{options}"
