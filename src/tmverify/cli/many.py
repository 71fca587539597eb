"""The loop over (epsilon, input), shared by robustness and similarity.

Everything is read and checked first; then each question is put by itself, so that Ctrl-C at any moment
loses at most the one being decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tmverify.cli.certificate_names import name_for_input
from tmverify.cli.certificates import check_wanted, open_folder, uncertified
from tmverify.cli.exit_codes import ExitCode, exit_code
from tmverify.cli.limits import read_limit
from tmverify.cli.many_report import report
from tmverify.cli.records import Record, save_witnesses
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.stored import Keeping, answers_from
from tmverify.cli.subject import Wanted, open_subject
from tmverify.cli.survey import Question, Survey
from tmverify.engines import check_engine
from tmverify.progress import Count, counting
from tmverify.verify import decide


def ask_many(
    question: Question,
    wanted: Wanted,
    epsilons: Sequence[int],
    *,
    timeout: float,
    engine: str,
    as_json: bool,
    witness_file: Path | None,
    certificate_folder: Path | None,
    keeping: Keeping,
) -> ExitCode:
    """Ask about every input at every epsilon, report, and say how it went."""
    distinct = list(dict.fromkeys(epsilons))
    name, limit = check_engine(engine), read_limit(timeout, "--timeout")
    check_wanted(certificate_folder, name)
    if witness_file is not None:
        check_target(witness_file, "--save-witnesses", [".npz"])
    written = [witness_file, keeping.store]
    check_apart([*wanted.models, wanted.data], written, "MODEL, DATA, --save-witnesses and --store")
    subject = open_subject(wanted, distinct)
    survey = Survey(
        question=question,
        subject=subject,
        epsilons=distinct,
        engine=name,
        timeout=limit,
        certificates=open_folder(certificate_folder, wanted.models),
    )
    try:
        if keeping.wanted:
            _ask_campaign(survey, keeping)
        else:
            _ask_here(survey)
    except KeyboardInterrupt:
        survey.interrupted = True
    if witness_file is not None:
        save_witnesses(witness_file, survey.records, subject.named)
    report(survey, as_json=as_json, witness_file=witness_file)
    survey.certificates.raise_failure()
    return exit_code(survey.status, interrupted=survey.interrupted)


def _ask_here(survey: Survey) -> None:
    with counting(survey.question.name, survey.n_queries) as count:
        _ask_all(survey, count)


def _ask_campaign(survey: Survey, keeping: Keeping) -> None:
    """By several processes, or what a store knows already."""
    for asked in answers_from(
        keeping,
        survey.subject,
        survey.question.name,
        list(survey.epsilons),
        engine=survey.engine,
        timeout=survey.timeout,
        certificates=survey.certificates,
    ):
        task, verdict = asked.task, asked.answer.as_verdict(asked.task)
        assert task.index is not None
        assert task.epsilon is not None
        assert task.x is not None
        kept = asked.kept(survey.certificates, verdict)
        survey.records.append(Record(task.index, task.epsilon, task.scope, task.x, verdict, kept))


def _ask_all(survey: Survey, count: Count) -> None:
    subject, certificates, question = survey.subject, survey.certificates, survey.question
    for epsilon in survey.epsilons:
        for place, index in enumerate(subject.rows.tolist()):
            query = question.query(subject, place, epsilon)
            verdict = decide(
                query, timeout=survey.timeout, engine=survey.engine, certificate=certificates.wanted
            )
            kept = certificates.keep(verdict, name_for_input(question.name, subject, place, epsilon))
            scope, x = subject.scopes[place], subject.X[place]
            survey.records.append(Record(index, epsilon, scope, x, uncertified(verdict), kept))
            count(verdict.status)
