"""The two universal questions: does it hold on at least an eta fraction of the inputs?"""

from __future__ import annotations

import time
from pathlib import Path

from tmverify.campaign.scopes import OWN
from tmverify.cli.census import Census, UniversalQuestion
from tmverify.cli.certificate_names import name_for_all
from tmverify.cli.certificates import Kept, check_wanted, open_folder, uncertified
from tmverify.cli.exit_codes import ExitCode, exit_code
from tmverify.cli.limits import read_limit
from tmverify.cli.records import Record, save_witnesses
from tmverify.cli.saving import check_apart, check_target
from tmverify.cli.subject import Wanted, open_subject
from tmverify.cli.universal_report import report
from tmverify.engines import check_engine
from tmverify.errors import InvalidInputError
from tmverify.progress import Count, counting
from tmverify.properties import Verdict
from tmverify.properties.universal import exact_fraction


def ask_universal(
    question: UniversalQuestion,
    wanted: Wanted,
    epsilon: int,
    eta: str,
    *,
    timeout: float,
    timeout_per_input: float | None,
    engine: str,
    as_json: bool,
    witness_file: Path | None,
    certificate_folder: Path | None,
) -> ExitCode:
    """Ask about the set of inputs, report, and say how it went."""
    if wanted.scope == OWN:
        raise InvalidInputError(
            "--scope must be team or a class for a universal question. Got 'own' instead."
        )
    total = read_limit(timeout, "--timeout")
    each = read_limit(timeout_per_input, "--timeout-per-input")
    fraction, name = exact_fraction(eta), check_engine(engine)
    check_wanted(certificate_folder, name)
    if witness_file is not None:
        check_target(witness_file, "--save-witnesses", [".npz"])
        check_apart([*wanted.models, wanted.data], [witness_file], "MODEL, DATA and --save-witnesses")
    subject = open_subject(wanted, [epsilon])
    census = Census(
        question=question,
        subject=subject,
        epsilon=epsilon,
        eta=fraction,
        engine=name,
        timeout=total,
        timeout_per_input=each,
        certificates=open_folder(certificate_folder, wanted.models),
    )
    try:
        with counting(question.name, len(subject.rows)) as count:
            _ask(census, count)
        _keep(census)
    except KeyboardInterrupt:
        census.interrupted = True
    if witness_file is not None:
        save_witnesses(witness_file, census.records, subject.named)
    report(census, as_json=as_json, witness_file=witness_file)
    census.certificates.raise_failure()
    return exit_code(census.status, interrupted=census.interrupted)


def _ask(census: Census, count: Count) -> None:
    subject = census.subject
    scope = subject.scopes[0]

    def keep(verdict: Verdict) -> None:
        place = len(census.records)
        bare = uncertified(verdict)
        index, x = int(subject.rows[place]), subject.X[place]
        census.records.append(Record(index, census.epsilon, scope, x, bare, Kept(bare.trusts)))
        count(verdict.status)

    start = time.perf_counter()
    try:
        census.outcome = census.question.check(
            *subject.models,
            subject.X,
            census.epsilon,
            census.eta,
            scope=scope,
            features=subject.features,
            direction=subject.direction,
            timeout=census.timeout,
            timeout_per_input=census.timeout_per_input,
            engine=census.engine,
            certificate=census.certificates.wanted,
            on_verdict=keep,
        )
    finally:
        census.seconds = time.perf_counter() - start


def _keep(census: Census) -> None:
    assert census.outcome is not None
    name = name_for_all(census.question.name, census.subject, census.epsilon, census.eta)
    census.kept = census.certificates.keep(census.outcome, name)
