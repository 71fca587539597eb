"""Making a Certificate from a query and its answer: the claim, exactly as it was asked, and its proof."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmcheck import FORMAT, VERSION
from tmverify.certificates.certificate import Body, Certificate
from tmverify.properties.allowed import Rules
from tmverify.properties.query import AnyQuery
from tmverify.properties.verdict import Status

Text = Callable[[], Iterable[bytes]]


def holds(query: AnyQuery, refutations: Text) -> Certificate:
    """The property holds: every way to violate it is refuted (for a network, every shell)."""
    return Certificate(_claim(query, Status.HOLDS.value), [_body(query, (), refutations)])


def violated(query: AnyQuery, witness: NDArray[np.uint8]) -> Certificate:
    """The property is violated by ``witness``."""
    return Certificate(_claim(query, Status.VIOLATED.value), [_body(query, [witness])])


def radius(
    query: AnyQuery, least: float, witness: NDArray[np.uint8] | None, refutations: Text
) -> Certificate:
    """The nearest witness is ``least`` flips away, or there is none."""
    claim = _claim(query, "radius", epsilon=None, radius=None if least == math.inf else int(least))
    return Certificate(claim, [_body(query, () if witness is None else [witness], refutations)])


def universal(
    query: AnyQuery,
    status: Status,
    eta: Fraction,
    inputs: NDArray[np.uint8],
    shown: Sequence[Certificate | None],
) -> Certificate:
    """The claim about all inputs, proved by certificates ``shown`` for the first; ``query`` is about one."""
    bodies = [
        Body(_line("input", _hex(x))) if certificate is None else certificate.bodies[0]
        for x, certificate in zip(inputs, [*shown, *[None] * (len(inputs) - len(shown))], strict=True)
    ]
    claim = _claim(query, status.value, inputs=len(inputs), eta=f"{eta.numerator}/{eta.denominator}")
    # Where all may change that is allowed, that may cost more around some inputs than around others.
    costs: list[Any] = [certificate.claim["epsilon"] for certificate in shown if certificate is not None]
    return Certificate({**claim, "epsilon": max([claim["epsilon"], *costs])}, bodies)


def reason(
    query: AnyQuery,
    answer: str,
    reason: Sequence[tuple[int, Sequence[int] | None]],
    witnesses: Sequence[NDArray[np.uint8]],
    refutations: Text | None,
    *,
    limited: bool,
) -> Certificate:
    """The columns ``reason``, with their values, are why the decision is as it is.

    Parameters
    ----------
    query : AnyQuery
        Robustness in the whole region.
    answer : str
        "suffices", "minimal", "widest", "smallest" or "contrastive".
    reason : sequence of (column, values)
        For a contrastive reason, values are None.
    witnesses : sequence of uint8 array, (n_features,)
        What shows that it is no larger than it has to be: inputs of the whole region.
    refutations : Text or None
        The proof about what is left of the region (``Region.among``); of a contrastive reason, about the part
        in which its columns alone change, and one of them keeps its value. None if there is nothing to prove.
    limited : bool
        Whether the region's budget is part of the claim; else it is about everything that may change.
    """
    assert not query.region.apart
    columns = [
        [int(column), None if values is None else sorted(map(int, values))]
        for column, values in sorted(reason, key=lambda pair: pair[0])
    ]
    epsilon = query.region.radius if limited else None
    return Certificate(
        _claim(query, answer, epsilon=epsilon, reason=columns), [_body(query, witnesses, refutations)]
    )


def _claim(query: AnyQuery, answer: str, **others: Any) -> dict[str, Any]:
    assert query.topic is not None
    asked, region, scope = query.asked(), query.region, query.topic.scope
    return {
        "format": FORMAT,
        "version": VERSION,
        "question": query.topic.question,
        "answer": answer,
        "models": [model.content_hash for model in query.topic.models],
        "scope": int(scope) if isinstance(scope, np.integer) else scope,
        "target": None if query.wanted is None else query.machines[0].classes[query.wanted],
        "margin": query.margin,
        "epsilon": None if asked.x is None else region.radius,
        "radius": None,
        **_ways_to_change(asked.rules),
        "apart": [sorted(columns) for columns in region.apart] or None,
        "reason": None,
        "property": asked.stated,
        "inputs": 1,
        "eta": "1/1",
        **others,
    }


def _ways_to_change(rules: Rules) -> dict[str, Any]:
    """What a claim says about distances and changes."""
    return {
        "distance": rules.distance,
        "features": None if rules.features is None else _hex(rules.features),
        "direction": rules.direction,
        "columns": [list(rule) for rule in rules.columns] or None,
    }


def _body(query: AnyQuery, witnesses: Iterable[NDArray[np.uint8]], refutations: Text | None = None) -> Body:
    center = query.asked().x
    lines = [_line("everywhere") if center is None else _line("input", _hex(center))]
    lines += [_line("witness", _hex(witness)) for witness in witnesses]
    if refutations is None:
        return Body(b"".join(lines))
    lines += map(_line, query.proof_header())
    return Body(b"".join(lines), refutations)


def _line(*words: str) -> bytes:
    return " ".join(words).encode() + b"\n"


def _hex(bits: NDArray[Any]) -> str:
    """Bits in hexadecimal, feature 0 first."""
    return np.packbits(bits).tobytes().hex()
