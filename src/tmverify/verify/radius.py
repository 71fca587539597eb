"""The exact radius: how far is the nearest change? And how near do two models disagree?"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from numpy.typing import ArrayLike

from tmverify.certificates import claims
from tmverify.engines import check_engine, check_engine_for, prepare, run, run_nearest
from tmverify.engines.proof_log import Evidence
from tmverify.engines.protocol import Deadline, Nearest, Outcome, check_timeout
from tmverify.errors import InvalidInputError
from tmverify.model import Classifier, Model
from tmverify.properties import Query, StopReason, robustness_query, similarity_query
from tmverify.properties.query import AnyQuery, check_query
from tmverify.properties.radius import Radius
from tmverify.properties.region import Direction, Features
from tmverify.properties.scope import Scope, check_classifier, check_model
from tmverify.verify.proof import evidence_for, no_certificate, open_cases, proof_of
from tmverify.verify.verdict import question_of, replay


def robustness_radius(
    model: Classifier,
    x: ArrayLike,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = 300.0,
    engine: str = "auto",
    certificate: bool = False,
) -> Radius:
    """The least number of flipped bits of ``x`` that changes the decision, exactly.

    Parameters
    ----------
    model : Model
    x : array of 0 and 1, (n_features,)
    scope : "team" or a class label
        Whose decision: the machine's (its argmax or sign), or that of the single machine of one class.
    features : mask of 0/1 or bool, (n_features,), or feature names; optional
        Only these features may change.
    direction : {"add", "remove"}, optional
        Bits may only be set, or only be cleared.
    timeout : float or None
        Seconds for the whole call; None for no limit.
    engine : {"auto", "search", "sat", "paper", "brute"}
    certificate : bool
        Whether to write down the evidence (``.certificate`` of the result): the witness, and a proof that no
        fewer flips are enough. Engines ``"auto"``, ``"search"`` and ``"sat"`` can.

    Returns
    -------
    Radius
        ``.radius`` is None if a limit struck first: ``.lower`` and ``.upper`` hold all the same.

    Raises
    ------
    InvalidInputError

    Examples
    --------
    >>> import tmverify as tv
    >>> either = tv.Model.from_clauses(3, [[1], [2]], [[1, 1]], bias=-1)
    >>> r = tv.robustness_radius(either, [1, 1, 0])
    >>> r.radius, r.flips.tolist()
    (2, [0, 1])
    """
    check_classifier(model, "model")
    n = model.n_features
    return nearest(
        robustness_query(model, x, n, scope=scope, features=features, direction=direction),
        timeout=timeout,
        engine=engine,
        certificate=certificate,
    )


def similarity_radius(
    a: Model,
    b: Model,
    x: ArrayLike,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = 300.0,
    engine: str = "auto",
    certificate: bool = False,
) -> Radius:
    """How many flips from ``x`` is the nearest input on which two models disagree? 0: on ``x`` itself.

    The models must read the same features and have the same classes; the other arguments and the result are
    those of ``robustness_radius``. The radius is infinite if they agree wherever the features may go.
    """
    check_model(a, "a")
    return nearest(
        similarity_query(a, b, x, a.n_features, scope=scope, features=features, direction=direction),
        timeout=timeout,
        engine=engine,
        certificate=certificate,
    )


def nearest(
    query: AnyQuery, *, timeout: float | None = 300.0, engine: str = "auto", certificate: bool = False
) -> Radius:
    """The nearest witness of a query about a ball, within its region; arguments as in ``decide``."""
    check_query(query)
    if query.region.center is None:
        raise InvalidInputError("query must be about a ball: without an input there is no distance.")
    name = check_engine(engine)
    check_engine_for(query, name)
    seconds = check_timeout(timeout)
    evidence = evidence_for(query, name, certificate)
    prepare(name, query, certificate=certificate)
    start = time.perf_counter()
    deadline = Deadline(seconds)
    answer = run_nearest(name, query, deadline, evidence)
    if answer.lower == 0 and answer.upper > 0 and not query.refuted_by(query.region.origin):
        # Seen, whatever the engine had time for: the input itself is none, and perhaps there is no other.
        answer = replace(answer, lower=1 if query.region.reach else math.inf)
    if answer.lower == answer.upper:
        answer = replace(answer, stop_reason=None, detail="")  # a limit that struck too late to matter
    radius = _judge(query, answer, time.perf_counter() - start)
    if evidence is None or not radius.exact:
        return radius
    radius = _certified(query, radius, name, deadline, evidence)
    return replace(radius, seconds=time.perf_counter() - start)


def _certified(query: AnyQuery, radius: Radius, name: str, deadline: Deadline, evidence: Evidence) -> Radius:
    """The radius with its certificate: what the engine wrote down on its way, and what it left out."""
    within = query.region.reach if radius.lower == math.inf else int(radius.lower) - 1
    if within < 0:
        return replace(radius, certificate=claims.radius(query, radius.lower, radius.witness, tuple))
    if isinstance(query, Query) and (left := open_cases(query, within, evidence)):
        ball = replace(query.region, radius=within)
        again = run(name, replace(query, region=ball, cases=left), deadline, evidence)
        if again.outcome is Outcome.WITNESS:
            return _rejected(radius.engine, radius.seconds, "the engine contradicts itself about the radius")
    text = proof_of(query, within, evidence)
    if text is None:
        missing = "no time was left to complete the evidence"
        return replace(radius, detail=no_certificate(query, missing))
    return replace(radius, certificate=claims.radius(query, radius.lower, radius.witness, text))


def _judge(query: AnyQuery, answer: Nearest, seconds: float) -> Radius:
    """Turn an engine's claim into a Radius, replaying what can be replayed."""
    seen = replay(query, answer.witness)
    if seen is None:
        if answer.witness is not None or answer.upper != math.inf:
            return _rejected(answer.engine, seconds, "the engine's counterexample does not replay")
        if answer.lower > 0 and query.refuted_by(query.region.origin):
            return _rejected(answer.engine, seconds, "the engine overlooked the input itself")
    elif int((seen.witness != query.region.origin).sum()) != answer.upper:
        return _rejected(answer.engine, seconds, "the engine's counterexample does not replay")
    return Radius(
        answer.lower,
        answer.upper,
        seconds,
        answer.engine,
        witness=None if seen is None else seen.witness,
        flips=None if seen is None else seen.flips,
        flipped=() if seen is None else seen.flipped,
        decisions=None if seen is None else seen.decisions,
        stop_reason=answer.stop_reason,
        detail=answer.detail,
        stats=answer.stats,
        relies_on=answer.relies_on,
        question=question_of(query),
    )


def _rejected(engine: str, seconds: float, what: str) -> Radius:
    """An engine that is wrong about one thing is believed in nothing."""
    detail = f"{what}: a bug, please report it"
    return Radius(0, math.inf, seconds, engine, stop_reason=StopReason.REJECTED, detail=detail)
