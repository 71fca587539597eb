"""Deciding a Query: run an engine, judge its answer.

An engine only claims. A witness becomes VIOLATED after the plain evaluator has replayed it; an answer that
does not replay, a limit or a crash is UNKNOWN, never HOLDS.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tmverify.certificates import claims
from tmverify.engines import check_engine, check_engine_for, prepare, run
from tmverify.engines.proof_log import Evidence
from tmverify.engines.protocol import Answer, Deadline, Outcome, check_timeout
from tmverify.errors import InvalidInputError
from tmverify.model import Label
from tmverify.model.inputs import as_bit_vector
from tmverify.model.names import Named, feature_name, named_first
from tmverify.properties import Status, StopReason, Verdict
from tmverify.properties.query import AnyQuery, check_query
from tmverify.verify.proof import evidence_for, no_certificate, proof_of


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """A counterexample, where it differs from the centre (if there is one), and the decisions that differ."""

    witness: NDArray[np.uint8]
    flips: NDArray[np.int64] | None
    flipped: tuple[str, ...]
    decisions: tuple[Label, Label]


def decide(
    query: AnyQuery, *, timeout: float | None = 300.0, engine: str = "auto", certificate: bool = False
) -> Verdict:
    """Decide one query.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    timeout : float or None
        Seconds for the whole call; None for no limit.
    engine : {"auto", "search", "sat", "paper", "brute"}
    certificate : bool
        Whether to write down the evidence (``.certificate`` of the result); engines ``"auto"``,
        ``"search"`` and ``"sat"`` can.

    Returns
    -------
    Verdict

    Raises
    ------
    InvalidInputError
    """
    check_query(query)
    name = check_engine(engine)
    check_engine_for(query, name)
    seconds = check_timeout(timeout)
    evidence = evidence_for(query, name, certificate)
    prepare(name, query, certificate=certificate)
    start = time.perf_counter()
    answer = run(name, query, Deadline(seconds), evidence)
    verdict = _judge(query, answer, answer.engine or name, time.perf_counter() - start)
    return verdict if evidence is None else _certified(query, verdict, evidence)


def question_of(query: AnyQuery) -> str:
    """The name of the question that ``query`` was compiled from."""
    return "" if query.topic is None else query.topic.question


def _certified(query: AnyQuery, verdict: Verdict, evidence: Evidence) -> Verdict:
    if verdict.witness is not None:
        return replace(verdict, certificate=claims.violated(query, verdict.witness))
    if verdict.status is Status.HOLDS:
        text = proof_of(query, query.region.radius, evidence)
        if text is not None:
            return replace(verdict, certificate=claims.holds(query, text))
        missing = "the engine could not leave complete evidence; try auto or search"
        if verdict.engine == "brute":
            missing = "every input was looked at, one by one, and that leaves no evidence"
        return replace(verdict, detail=no_certificate(query, missing))
    return verdict


def _judge(query: AnyQuery, answer: Answer, engine: str, seconds: float) -> Verdict:
    """Turn an engine's claim into a Verdict, replaying what can be replayed."""
    question = question_of(query)
    reason, detail = answer.stop_reason, answer.detail
    if answer.outcome is Outcome.WITNESS:
        seen = replay(query, answer.witness)
        if seen is not None:
            return Verdict(
                Status.VIOLATED,
                seconds,
                engine,
                witness=seen.witness,
                flips=seen.flips,
                flipped=seen.flipped,
                decisions=seen.decisions,
                stats=answer.stats,
                relies_on=answer.relies_on,
                question=question,
            )
        reason, detail = (
            StopReason.REJECTED,
            "the engine's counterexample does not replay: a bug, please report it",
        )
    elif answer.outcome is Outcome.NO_WITNESS:
        if not query.refuted_by(query.region.origin):
            return Verdict(
                Status.HOLDS,
                seconds,
                engine,
                stats=answer.stats,
                relies_on=answer.relies_on,
                question=question,
            )
        reason, detail = (
            StopReason.REJECTED,
            "the engine overlooked the input itself: a bug, please report it",
        )
    return Verdict(
        Status.UNKNOWN,
        seconds,
        engine,
        stop_reason=reason,
        detail=detail,
        stats=answer.stats,
        question=question,
    )


def replay(query: AnyQuery, witness: NDArray[np.uint8] | None) -> Replay | None:
    """What the plain evaluator says of a witness, if it really is a counterexample."""
    if witness is None:
        return None
    try:
        z = as_bit_vector(witness, query.region.n_features, name="witness")
    except InvalidInputError:
        return None
    first, second = query.decisions(z[None, :])[0]
    if first == second or not query.region.contains(z):
        return None
    center = query.region.center
    labels: tuple[Label, ...] = query.machines[0].classes
    flips = None if center is None else np.flatnonzero(z != center)
    named: Named = named_first(query.machines)
    flipped = () if flips is None else tuple(feature_name(named, f) for f in flips.tolist())
    return Replay(z, flips, flipped, (labels[first], labels[second]))
