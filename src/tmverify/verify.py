"""Deciding: from a question to a Verdict.

``decide`` runs an engine on a Query and judges its answer; the ``check_*`` functions compile a question
and decide it. A witness becomes VIOLATED only after the plain evaluator has replayed it; an answer that
does not replay, a limit or a crash is UNKNOWN, never HOLDS.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tmverify.engines import check_engine, run
from tmverify.engines.protocol import Answer, Deadline, Outcome, check_timeout
from tmverify.errors import InvalidInputError
from tmverify.model import Label, Model
from tmverify.model.inputs import as_bit_matrix, as_bit_vector
from tmverify.properties import (
    Query,
    Status,
    StopReason,
    UniversalVerdict,
    Verdict,
    equivalence_query,
    robustness_query,
    similarity_query,
)
from tmverify.properties.region import Direction
from tmverify.properties.scope import Scope, check_model, comparable
from tmverify.properties.universal import Tally, exact_fraction, required_count

Features = ArrayLike | Sequence[str] | None


def decide(query: Query, *, timeout: float | None = 300.0, engine: str = "auto") -> Verdict:
    """Decide one query.

    Parameters
    ----------
    query : Query
        From ``robustness_query``, ``similarity_query`` or ``equivalence_query``.
    timeout : float or None
        Seconds for the whole call; None for no limit.
    engine : {"auto", "sat", "paper", "brute"}

    Returns
    -------
    Verdict

    Raises
    ------
    InvalidInputError
    """
    name = check_engine(engine)
    seconds = check_timeout(timeout)
    start = time.perf_counter()
    answer = run(name, query, Deadline(seconds))
    return _judge(query, answer, name, time.perf_counter() - start)


def check_robustness(
    model: Model,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = 300.0,
    engine: str = "auto",
) -> Verdict:
    """Can at most ``epsilon`` flipped bits of ``x`` change the decision? HOLDS means: no.

    Parameters
    ----------
    model : Model
    x : array of 0 and 1, (n_features,)
    epsilon : int
        0 <= epsilon <= n_features.
    scope : "team" or a class label
        Whose decision: the machine's (its argmax or sign), or that of the single machine of one class.
    features : mask of 0/1 or bool, (n_features,), or feature names; optional
        Only these features may change.
    direction : {"add", "remove"}, optional
        Bits may only be set, or only be cleared.
    timeout : float or None
        Seconds for the whole call; None for no limit.
    engine : {"auto", "sat", "paper", "brute"}

    Returns
    -------
    Verdict

    Raises
    ------
    InvalidInputError
    """
    query = robustness_query(model, x, epsilon, scope=scope, features=features, direction=direction)
    return decide(query, timeout=timeout, engine=engine)


def check_similarity(
    a: Model,
    b: Model,
    x: ArrayLike,
    epsilon: int,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = 300.0,
    engine: str = "auto",
) -> Verdict:
    """Do two models agree on every input within ``epsilon`` flips of ``x``? HOLDS means: yes.

    The models must read the same features and have the same classes; the other arguments are those of
    ``check_robustness``.
    """
    query = similarity_query(a, b, x, epsilon, scope=scope, features=features, direction=direction)
    return decide(query, timeout=timeout, engine=engine)


def check_equivalence(
    a: Model, b: Model, *, scope: Scope = "team", timeout: float | None = 300.0, engine: str = "auto"
) -> Verdict:
    """Do two models agree on every input there is? HOLDS means: yes. Arguments as in ``check_similarity``."""
    return decide(equivalence_query(a, b, scope=scope), timeout=timeout, engine=engine)


def check_universal_robustness(
    model: Model,
    X: ArrayLike,
    epsilon: int,
    eta: Fraction | float | str,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = 300.0,
    timeout_per_input: float | None = None,
    engine: str = "auto",
    on_verdict: Callable[[Verdict], None] | None = None,
) -> UniversalVerdict:
    """Is the model robust on at least an ``eta`` fraction of the rows of ``X``?

    Parameters
    ----------
    X : array of 0 and 1, (n, n_features)
        The inputs, at least one.
    eta : Fraction, float or str
        Between 0 and 1, read exactly: 0.1 is 1/10, "2/3" is two thirds.
    timeout : float or None
        Seconds for the whole call; None for no limit.
    timeout_per_input : float or None
        Seconds for each input, within ``timeout``.
    on_verdict : callable, optional
        Called with each input's Verdict as it comes, for progress.
    model, epsilon, scope, features, direction, engine
        As in ``check_robustness``.

    Returns
    -------
    UniversalVerdict
        Inputs are taken in order, and only until the outcome is decided.
    """
    check_model(model, "model")

    def ask(x: NDArray[np.uint8]) -> Query:
        return robustness_query(model, x, epsilon, scope=scope, features=features, direction=direction)

    bits = as_bit_matrix(X, model.n_features)
    return _decide_universal(ask, bits, eta, timeout, timeout_per_input, engine, on_verdict)


def check_universal_similarity(
    a: Model,
    b: Model,
    X: ArrayLike,
    epsilon: int,
    eta: Fraction | float | str,
    *,
    scope: Scope = "team",
    features: Features = None,
    direction: Direction | None = None,
    timeout: float | None = 300.0,
    timeout_per_input: float | None = None,
    engine: str = "auto",
    on_verdict: Callable[[Verdict], None] | None = None,
) -> UniversalVerdict:
    """Are the models similar on at least an ``eta`` fraction of the rows of ``X``?

    Arguments and result as in ``check_universal_robustness``.
    """
    comparable(a, b, scope)

    def ask(x: NDArray[np.uint8]) -> Query:
        return similarity_query(a, b, x, epsilon, scope=scope, features=features, direction=direction)

    bits = as_bit_matrix(X, a.n_features)
    return _decide_universal(ask, bits, eta, timeout, timeout_per_input, engine, on_verdict)


def _decide_universal(
    ask: Callable[[NDArray[np.uint8]], Query],
    bits: NDArray[np.uint8],
    eta: Fraction | float | str,
    timeout: float | None,
    timeout_per_input: float | None,
    engine: str,
    on_verdict: Callable[[Verdict], None] | None,
) -> UniversalVerdict:
    if not len(bits):
        raise InvalidInputError("X must hold at least one input. Got none instead.")
    fraction = exact_fraction(eta)
    name = check_engine(engine)
    ask(bits[0])  # whatever is wrong with the arguments shows here, even if no input need be looked at
    deadline = Deadline(check_timeout(timeout))
    each = check_timeout(timeout_per_input)
    start = time.perf_counter()
    tally = Tally(len(bits), required_count(fraction, len(bits)))
    verdicts: list[Verdict] = []
    for x in bits:
        if tally.status is not Status.UNKNOWN or deadline.passed():
            break
        verdict = decide(ask(x), timeout=_shorter(each, deadline.remaining()), engine=name)
        verdicts.append(verdict)
        tally.add(verdict.status)
        if on_verdict is not None:
            on_verdict(verdict)
    reason, detail = None, ""
    if tally.status is Status.UNKNOWN:
        reason = StopReason.TIMEOUT if deadline.passed() else StopReason.UNDECIDED_INPUTS
        detail = (
            f"{tally.holds} of {len(bits)} inputs hold and {tally.violated} do not; "
            f"{tally.required} are required and {len(bits) - tally.holds - tally.violated} are undecided"
        )
    return UniversalVerdict(
        status=tally.status,
        seconds=time.perf_counter() - start,
        engine=name,
        verdicts=tuple(verdicts),
        n_inputs=len(bits),
        required=tally.required,
        eta=fraction,
        stop_reason=reason,
        detail=detail,
    )


def _shorter(a: float | None, b: float | None) -> float | None:
    # A limit of 0 is no limit to ask with; the deadline has then passed within this very step.
    limits = [max(limit, 1e-3) for limit in (a, b) if limit is not None]
    return min(limits, default=None)


def _judge(query: Query, answer: Answer, engine: str, seconds: float) -> Verdict:
    """Turn an engine's claim into a Verdict, replaying what can be replayed."""
    reason, detail = answer.stop_reason, answer.detail
    if answer.outcome is Outcome.WITNESS:
        witness = _replayed(query, answer.witness)
        if witness is not None:
            return _violated(query, witness, answer, engine, seconds)
        reason, detail = (
            StopReason.REJECTED,
            "the engine's counterexample does not replay: a bug, please report it",
        )
    elif answer.outcome is Outcome.NO_WITNESS:
        if not query.refuted_by(query.region.origin):
            return Verdict(Status.HOLDS, seconds, engine, stats=answer.stats)
        reason, detail = (
            StopReason.REJECTED,
            "the engine overlooked the input itself: a bug, please report it",
        )
    return Verdict(Status.UNKNOWN, seconds, engine, stop_reason=reason, detail=detail, stats=answer.stats)


def _replayed(query: Query, witness: NDArray[np.uint8] | None) -> NDArray[np.uint8] | None:
    """The witness, if it really is a counterexample."""
    if witness is None:
        return None
    try:
        z = as_bit_vector(witness, query.region.n_features, name="witness")
    except InvalidInputError:
        return None
    return z if query.refuted_by(z) else None


def _violated(
    query: Query, witness: NDArray[np.uint8], answer: Answer, engine: str, seconds: float
) -> Verdict:
    center = query.region.center
    first, second = query.decisions(witness[None, :])[0]
    labels: tuple[Label, ...] = query.machines[0].classes
    return Verdict(
        Status.VIOLATED,
        seconds,
        engine,
        witness=witness,
        flips=None if center is None else np.flatnonzero(witness != center),
        decisions=(labels[first], labels[second]),
        stats=answer.stats,
    )
