"""Deciding a Query, or finding its nearest witness: run an engine, then check its answer.

An engine only makes claims. The answer is VIOLATED only after the plain evaluator has replayed the witness;
if the replay fails, a limit is reached or the engine crashes, it is UNKNOWN, never HOLDS.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.certificates import claims
from tmverify.engines import check_certifying, engine_for, trust_in
from tmverify.engines.engine import Answer, Deadline, Engine, Nearest, Outcome, check_timeout
from tmverify.engines.follow import follower_of_now
from tmverify.engines.proof_log import ProofLog
from tmverify.errors import InvalidInputError
from tmverify.model.checks import as_bit_vector
from tmverify.properties import Radius, Status, StopReason, Verdict
from tmverify.properties.query import Account, AnyQuery, check_query
from tmverify.properties.questions import DEFAULT_TIMEOUT
from tmverify.properties.trust import NO_CERTIFICATE


def decide(
    query: AnyQuery,
    *,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Verdict:
    """Decide one query.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    timeout, engine, certificate
        As in ``check_robustness``.

    Returns
    -------
    Verdict

    Raises
    ------
    InvalidInputError
    """
    seconds = check_timeout(timeout)
    chosen, log = prepared(query, engine, certificate)
    start = time.perf_counter()
    answer = chosen.decide(query, Deadline(seconds), log)
    if answer.witness is not None:
        answer = replace(answer, witness=with_near_values(query, answer.witness))
    found, proved = answer.outcome is Outcome.WITNESS, answer.outcome is Outcome.NO_WITNESS
    took = time.perf_counter() - start
    stands, fields = judged(query, chosen, answer, took, found=found, proved=proved)
    if not stands or not (found or proved):
        return Verdict(Status.UNKNOWN, **fields)
    verdict = Verdict(Status.VIOLATED if found else Status.HOLDS, **fields)
    return verdict if log is None else _certified(query, verdict, answer.witness, log)


def _certified(
    query: AnyQuery, verdict: Verdict, witness: NDArray[np.uint8] | None, log: ProofLog
) -> Verdict:
    if witness is not None:
        return replace(verdict, certificate=claims.violated(query, witness))
    text = log.proof_of(query, query.region.radius)
    if text is not None:
        return replace(verdict, certificate=claims.holds(query, text))
    missing = "the engine could not leave complete evidence; try auto or search"
    if verdict.engine == "brute":
        missing = "every input was looked at, one by one, and that leaves no evidence"
    return replace(verdict, detail=f"{NO_CERTIFICATE}{log.no_proof or missing}")


def nearest(
    query: AnyQuery,
    *,
    timeout: float | None = DEFAULT_TIMEOUT,
    engine: str = "auto",
    certificate: bool = False,
) -> Radius:
    """The nearest witness of a query about a ball, within its region; arguments as in ``decide``."""
    seconds = check_timeout(timeout)
    check_query(query)
    if query.region.center is None:
        raise InvalidInputError("query must be about a ball: without an input there is no distance.")
    if certificate and query.asked().stated is not None:
        raise InvalidInputError("A certificate about a property says whether it holds, not how near.")
    chosen, log = prepared(query, engine, certificate)
    follower = follower_of_now()
    start, deadline = time.perf_counter(), Deadline(seconds, None if follower is None else follower.told)
    answer = chosen.nearest(query, deadline, log)
    answer = _with_near_values(query, answer)
    unsettled = answer.lower == 0 and answer.upper > 0 and not query.region.free_changes
    if unsettled and not query.refuted_by(query.region.origin):
        # Known even without the engine: the input itself is no witness, and there may be no other input.
        answer = replace(answer, lower=1 if query.region.reach else math.inf)
    if answer.lower == answer.upper:
        answer = replace(answer, stop_reason=None, detail="")  # a limit was reached too late to matter
    found, proved = answer.witness is not None or answer.upper != math.inf, answer.lower > 0
    took = time.perf_counter() - start
    stands, fields = judged(query, chosen, answer, took, found=found, proved=proved, cost=answer.upper)
    fields.pop("pair", None)  # a distance is about one input
    radius = Radius(*(answer.lower, answer.upper) if stands else (0, math.inf), **fields)
    if log is None or not radius.exact:
        return radius
    radius = _certified_radius(query, radius, chosen, deadline, log)
    return replace(radius, seconds=time.perf_counter() - start)


def _certified_radius(
    query: AnyQuery, radius: Radius, engine: Engine, deadline: Deadline, log: ProofLog
) -> Radius:
    """The radius with its certificate: the refutations written so far, and those still missing."""
    within = query.region.reach if radius.lower == math.inf else int(radius.lower) - 1
    text: claims.Text | None = tuple  # nothing is nearer than the input itself
    if within >= 0:
        left = log.left_open(query, within)
        if left is not None and engine.decide(left, deadline, log).outcome is Outcome.WITNESS:
            fault = rejection("the engine contradicts itself about the radius")
            fault |= {"question": radius.question, "margin": radius.margin}
            fault |= {"setting": radius.setting}
            return Radius(0, math.inf, radius.seconds, radius.engine, **fault)
        text = log.proof_of(query, within)
    if text is None:
        missing = log.no_proof or "no time was left to complete the evidence"
        return replace(radius, detail=f"{NO_CERTIFICATE}{missing}")
    return replace(radius, certificate=claims.radius(query, radius.lower, radius.witness, text))


def prepared(query: AnyQuery, engine: str, certificate: bool) -> tuple[Engine, ProofLog | None]:
    """The engine, with its kernels compiled, and the log for its evidence, if that is wanted.

    Raises
    ------
    InvalidInputError
        If there is no such engine for ``query``, or a certificate is wanted and impossible.
    """
    check_query(query)
    chosen = engine_for(engine, query)
    if certificate:
        check_certifying(chosen.name)
        if query.wanted is not None and query.topic is not None and query.topic.scope != "team":
            raise InvalidInputError("A certificate about a target needs scope 'team'.")
        if query.topic is None:
            raise InvalidInputError(
                "A certificate is about a question: build the query with *_query functions."
            )
    chosen.prepare(query, certificate)
    return chosen, chosen.log() if certificate else None


def judged(
    query: AnyQuery,
    engine: Engine,
    claim: Answer | Nearest,
    seconds: float,
    *,
    found: bool,
    proved: bool,
    cost: float | None = None,
) -> tuple[bool, dict[str, Any]]:
    """Whether an engine's claim stands, and the fields of the Verdict or the Radius.

    The engine may claim that its witness is one (``found``), at this ``cost``, and that there is none in
    all or in a part of the region that contains the centre (``proved``). What can be replayed is replayed.
    """
    name = claim.engine or engine.name
    seen = replay(query, claim.witness) if found else None
    fields: dict[str, Any] = {
        "seconds": seconds,
        "engine": name,
        "stats": claim.stats,
        "question": "" if query.topic is None else query.topic.question,
        "margin": query.margin,
        "setting": query.setting(),
    }
    far = None if seen is None or claim.witness is None else query.region.cost(claim.witness)
    if found and (seen is None or cost not in (None, far)):
        return False, {**fields, **rejection("the engine's counterexample does not replay")}
    if proved and seen is None and query.refuted_by(query.region.origin):
        return False, {**fields, **rejection("the engine overlooked the input itself")}
    fields |= {"stop_reason": claim.stop_reason, "detail": claim.detail, "relies_on": claim.relies_on}
    fields |= {} if seen is None else seen._asdict()
    proof = trust_in(claim.relies_on or (name,)) if proved else ()
    fields["rests_on"] = tuple(dict.fromkeys((*proof, *(engine.replayed if found else ()))))
    return True, fields


def rejection(fault: str) -> dict[str, Any]:
    """The fields of a rejected answer: an engine that is wrong about one thing is not believed at all."""
    return {"stop_reason": StopReason.REJECTED, "detail": f"{fault}: a bug, please report it"}


def with_near_values(query: AnyQuery, witness: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The witness with columns as near to the origin's values as can be, one by one, at no more cost.

    An engine takes any value that does; a person would rather hear of the nearest.
    """
    region = query.region
    if not region.options or witness.shape != region.origin.shape or not query.refuted_by(witness):
        return witness  # there is nothing to choose, or it is no counterexample anyway
    return with_nearer_values(query, witness)


def with_nearer_values(query: AnyQuery, witness: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """``with_near_values`` of a witness that has been replayed."""
    region = query.region
    for options in region.options:
        now = options.of(witness)
        if now == 0:
            continue
        far = region.steps(options)
        nearer = np.flatnonzero((far < far[now]) & (options.costs <= options.costs[now]))
        if not len(nearer):
            continue
        nearer = nearer[np.argsort(far[nearer], kind="stable")]
        tried = np.repeat(witness[None, :], len(nearer), axis=0)
        tried[:, options.bits.start : options.bits.stop] = options.patterns[nearer]
        good = np.flatnonzero(query.violates(tried))
        if len(good):
            witness = tried[good[0]]
    return witness


def _with_near_values(query: AnyQuery, answer: Nearest) -> Nearest:
    """The answer with such a witness, which may be cheaper where the engine has not found the cheapest."""
    if answer.witness is None:
        return answer
    witness = with_near_values(query, answer.witness)
    if witness is answer.witness:
        return answer
    before, after = query.region.cost(answer.witness), query.region.cost(witness)
    assert before is not None
    assert after is not None
    upper = answer.upper - (before - after)
    if upper < answer.lower:  # it refutes the engine's lower bound: a claim without a witness is rejected
        return replace(answer, witness=None)
    return replace(answer, witness=witness, upper=upper)


def replay(query: AnyQuery, witness: NDArray[np.uint8] | None) -> Account | None:
    """What the plain evaluator says of a witness, if it really is a counterexample."""
    if witness is None:
        return None
    try:
        z = as_bit_vector(witness, query.region.n_features, name="witness")
    except InvalidInputError:
        return None
    return query.account(z) if query.refuted_by(z) else None
