"""The universal questions: inputs are decided one by one, and counted until the outcome is certain."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from tmverify.certificates import Certificate, claims
from tmverify.engines.engine import Deadline, check_timeout
from tmverify.errors import InvalidInputError
from tmverify.model import Classifier, Model
from tmverify.model.inputs import Rows, input_rows
from tmverify.model.names import named_first
from tmverify.properties import Status, StopReason, UniversalVerdict, Verdict
from tmverify.properties.allowed import (
    Allowed,
    Columns,
    Costs,
    Direction,
    Distance,
    Features,
    Rules,
    Within,
    rules_of,
)
from tmverify.properties.query import AnyQuery
from tmverify.properties.questions import (
    DEFAULT_TIMEOUT,
    UNIVERSAL_ROBUSTNESS,
    UNIVERSAL_SIMILARITY,
    Question,
)
from tmverify.properties.scope import Scope, check_classifier, comparable
from tmverify.properties.trust import NO_CERTIFICATE
from tmverify.properties.universal import Count, exact_fraction, required_count
from tmverify.verify.verdict import decide, prepared


def check_universal_robustness(
    model: Classifier,
    X: Rows,
    epsilon: int,
    eta: Fraction | float | str,
    *,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    within: Within | None = None,
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    margin: int = 0,
    timeout: float | None = DEFAULT_TIMEOUT,
    timeout_per_input: float | None = None,
    engine: str = "auto",
    certificate: bool = False,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> UniversalVerdict:
    """Is the model robust on at least an ``eta`` fraction of the rows of ``X``?

    Parameters
    ----------
    X : array of 0 and 1, (n, n_features)
        The inputs, at least one. The columns of a frame are matched to the model's ``feature_names``.
    eta : Fraction, float or str
        Between 0 and 1, read exactly: 0.1 is 1/10, "2/3" is two thirds.
    timeout : float or None
        Seconds for the whole call; None for no limit.
    timeout_per_input : float or None
        Seconds for each input, within ``timeout``.
    certificate : bool
        Whether to write down the evidence, for each input and for the whole.
    on_verdict : callable, optional
        Called with each input's Verdict as soon as it is known, to show progress.
    model, epsilon, scope, distance, columns, freeze, increase, decrease, within, cost, known_values,
    features, direction, margin, engine
        As in ``check_robustness``.

    Returns
    -------
    UniversalVerdict
        Inputs are taken in order, and only until the outcome is decided.
    """
    check_classifier(model, "model")
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, within, cost, known_values, features, direction
    )
    return check_universal(
        UNIVERSAL_ROBUSTNESS,
        (model,),
        X,
        epsilon,
        eta,
        scope=scope,
        allowed=allowed,
        margin=margin,
        timeout=timeout,
        timeout_per_input=timeout_per_input,
        engine=engine,
        certificate=certificate,
        on_verdict=on_verdict,
    )


def check_universal_similarity(
    a: Model,
    b: Model,
    X: Rows,
    epsilon: int,
    eta: Fraction | float | str,
    *,
    scope: Scope = "team",
    distance: Distance = "columns",
    columns: Columns | None = None,
    freeze: Columns = (),
    increase: Columns = (),
    decrease: Columns = (),
    within: Within | None = None,
    cost: Costs | None = None,
    known_values: bool = False,
    features: Features = None,
    direction: Direction | None = None,
    margin: int = 0,
    timeout: float | None = DEFAULT_TIMEOUT,
    timeout_per_input: float | None = None,
    engine: str = "auto",
    certificate: bool = False,
    on_verdict: Callable[[Verdict], None] | None = None,
) -> UniversalVerdict:
    """Are the models similar on at least an ``eta`` fraction of the rows of ``X``?

    Arguments and result as in ``check_universal_robustness``.
    """
    comparable(a, b, scope)
    allowed = Allowed(
        distance, columns, freeze, increase, decrease, within, cost, known_values, features, direction
    )
    return check_universal(
        UNIVERSAL_SIMILARITY,
        (a, b),
        X,
        epsilon,
        eta,
        scope=scope,
        allowed=allowed,
        margin=margin,
        timeout=timeout,
        timeout_per_input=timeout_per_input,
        engine=engine,
        certificate=certificate,
        on_verdict=on_verdict,
    )


def check_universal(
    question: Question,
    models: Sequence[Classifier],
    X: Rows,
    epsilon: int,
    eta: Fraction | float | str,
    *,
    scope: Scope,
    allowed: Allowed | Rules,
    margin: int = 0,
    timeout: float | None,
    timeout_per_input: float | None,
    engine: str,
    certificate: bool,
    on_verdict: Callable[[Verdict], None] | None,
) -> UniversalVerdict:
    """Does the property that ``question`` is made of hold on at least an ``eta`` fraction of the rows?"""
    rules = allowed if isinstance(allowed, Rules) else rules_of(named_first(models), allowed)

    def ask(x: NDArray[np.uint8]) -> AnyQuery:
        return question.query(models, x, epsilon=epsilon, scope=scope, allowed=rules, margin=margin)

    return decide_share(
        ask,
        input_rows(X, named_first(models)),
        eta,
        timeout=timeout,
        timeout_per_input=timeout_per_input,
        engine=engine,
        certificate=certificate,
        on_verdict=on_verdict,
    )


def decide_share(
    ask: Callable[[NDArray[np.uint8]], AnyQuery],
    bits: NDArray[np.uint8],
    eta: Fraction | float | str,
    *,
    timeout: float | None,
    timeout_per_input: float | None,
    engine: str,
    certificate: bool,
    on_verdict: Callable[[Verdict], None] | None = None,
    judge: Callable[[int, Verdict], Verdict] | None = None,
    every: bool = False,
) -> UniversalVerdict:
    """Does the property that ``ask`` makes of an input hold on at least an ``eta`` fraction of the rows?

    ``judge`` may change what is said of a row, by its place. With ``every``, all rows are looked at.
    """
    check_some(bits)
    fraction = exact_fraction(eta)
    # This raises if an argument is wrong, even if no input needs to be decided.
    asked = ask(bits[0])
    name = prepared(asked, engine, certificate)[0].name
    deadline = Deadline(check_timeout(timeout))
    each = check_timeout(timeout_per_input)
    start = time.perf_counter()
    count = Count(len(bits), required_count(fraction, len(bits)))
    verdicts: list[Verdict] = []
    for place, x in enumerate(bits):
        if (count.status is not Status.UNKNOWN and not every) or deadline.passed():
            break
        # The deadline may have passed since the line above, but a limit of 0 is not allowed.
        limits = [max(limit, 1e-3) for limit in (each, deadline.remaining()) if limit is not None]
        limit = min(limits, default=None)
        verdict = decide(ask(x), timeout=limit, engine=name, certificate=certificate)
        verdict = verdict if judge is None else judge(place, verdict)
        verdicts.append(verdict)
        count.add(verdict.status)
        if on_verdict is not None:
            on_verdict(verdict)
    reason, detail = None, ""
    if count.status is Status.UNKNOWN:
        reason = StopReason.TIMEOUT if deadline.passed() else StopReason.UNDECIDED_INPUTS
        first = next((f" (the first: {v.detail})" for v in verdicts if v.status is Status.UNKNOWN), "")
        detail = (
            f"{count.holds} of {len(bits)} inputs hold and {count.violated} do not; {count.required} are "
            f"required and {len(bits) - count.holds - count.violated} are undecided{first}"
        )
    result = UniversalVerdict(
        status=count.status,
        seconds=time.perf_counter() - start,
        engine=name,
        verdicts=tuple(verdicts),
        n_inputs=len(bits),
        required=count.required,
        eta=fraction,
        stop_reason=reason,
        detail=detail,
        margin=asked.margin,
    )
    return _certified(result, asked, bits) if certificate else result


def check_some(bits: NDArray[np.uint8]) -> None:
    """Raise InvalidInputError if there are no rows."""
    if not len(bits):
        raise InvalidInputError("X must hold at least one input. Got none instead.")


def _certified(result: UniversalVerdict, query: AnyQuery, bits: NDArray[np.uint8]) -> UniversalVerdict:
    """The result with a certificate for the whole, if enough inputs have certificates."""
    if result.status is Status.UNKNOWN:
        return result
    shown = [v.certificate if isinstance(v.certificate, Certificate) else None for v in result.verdicts]
    count = Count(result.n_inputs, result.required)
    for verdict, certificate in zip(result.verdicts, shown, strict=True):
        count.add(Status.UNKNOWN if certificate is None else verdict.status)
    if count.status is not result.status:
        return replace(result, detail=f"{NO_CERTIFICATE}not enough inputs have one")
    return replace(result, certificate=claims.universal(query, result.status, result.eta, bits, shown))
