"""The exact radius: how far is the nearest change? And how near do two models disagree?"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from numpy.typing import ArrayLike

from tmverify.certificates import claims
from tmverify.engines.engine import Engine
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.protocol import Deadline, Outcome, check_timeout
from tmverify.errors import InvalidInputError
from tmverify.model import Classifier, Model
from tmverify.properties import Radius, robustness_query, similarity_query
from tmverify.properties.query import AnyQuery, check_query
from tmverify.properties.region import Direction, Features
from tmverify.properties.scope import Scope, check_classifier, check_model
from tmverify.properties.trust import NO_CERTIFICATE
from tmverify.verify.verdict import judged, prepared, rejection


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
    model, x, scope, features, direction, timeout, engine
        As in ``check_robustness``.
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
    n = check_classifier(model, "model").n_features
    query = robustness_query(model, x, n, scope=scope, features=features, direction=direction)
    return nearest(query, timeout=timeout, engine=engine, certificate=certificate)


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
    n = check_model(a, "a").n_features
    query = similarity_query(a, b, x, n, scope=scope, features=features, direction=direction)
    return nearest(query, timeout=timeout, engine=engine, certificate=certificate)


def nearest(
    query: AnyQuery, *, timeout: float | None = 300.0, engine: str = "auto", certificate: bool = False
) -> Radius:
    """The nearest witness of a query about a ball, within its region; arguments as in ``decide``."""
    seconds = check_timeout(timeout)
    check_query(query)
    if query.region.center is None:
        raise InvalidInputError("query must be about a ball: without an input there is no distance.")
    chosen, log = prepared(query, engine, certificate)
    start, deadline = time.perf_counter(), Deadline(seconds)
    answer = chosen.nearest(query, deadline, log)
    if answer.lower == 0 and answer.upper > 0 and not query.refuted_by(query.region.origin):
        # Whatever the engine had time for: the input itself is no witness, and there may be no other input.
        answer = replace(answer, lower=1 if query.region.reach else math.inf)
    if answer.lower == answer.upper:
        answer = replace(answer, stop_reason=None, detail="")  # a limit that struck too late to matter
    found, proved = answer.witness is not None or answer.upper != math.inf, answer.lower > 0
    stands, fields = judged(query, chosen, answer, start, found=found, proved=proved, flips=answer.upper)
    radius = Radius(*(answer.lower, answer.upper) if stands else (0, math.inf), **fields)
    if log is None or not radius.exact:
        return radius
    radius = _certified(query, radius, chosen, deadline, log)
    return replace(radius, seconds=time.perf_counter() - start)


def _certified(query: AnyQuery, radius: Radius, engine: Engine, deadline: Deadline, log: ProofLog) -> Radius:
    """The radius with its certificate: what the engine wrote down on its way, and what it left out."""
    within = query.region.reach if radius.lower == math.inf else int(radius.lower) - 1
    text: claims.Text | None = tuple  # nothing is nearer than the input itself
    if within >= 0:
        left = log.left_open(query, within)
        if left is not None and engine.decide(left, deadline, log).outcome is Outcome.WITNESS:
            fault = rejection("the engine contradicts itself about the radius")
            return Radius(0, math.inf, radius.seconds, radius.engine, question=radius.question, **fault)
        text = log.proof_of(query, within)
    if text is None:
        missing = log.no_proof or "no time was left to complete the evidence"
        return replace(radius, detail=f"{NO_CERTIFICATE}{missing}")
    return replace(radius, certificate=claims.radius(query, radius.lower, radius.witness, text))
