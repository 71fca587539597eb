"""The nearest witness by any engine that decides: one flip more at a time, until there is a witness."""

from __future__ import annotations

import math
from dataclasses import replace

from tmverify.engines.proof_log import Evidence
from tmverify.engines.protocol import Deadline, Engine, Nearest, Outcome
from tmverify.properties.query import Query


def nearest_by_steps(
    engine: Engine,
    name: str,
    query: Query,
    known: Nearest,
    deadline: Deadline,
    evidence: Evidence | None = None,
) -> Nearest:
    """Go on from what is known: refute one radius after another, from ``known.lower`` up.

    Each radius below ``known.upper`` is put to ``engine``, with the open cases only.
    """
    last = min(known.upper - 1, query.region.reach)
    lower, spent = int(known.lower), known.stats
    while lower <= last:
        ball = replace(query.region, radius=lower)
        answer = engine(replace(query, region=ball, cases=known.open_cases), deadline, evidence)
        spent = {**spent, **answer.stats}
        if answer.outcome is Outcome.STOPPED:
            return replace(
                known,
                lower=lower,
                stop_reason=answer.stop_reason,
                detail=answer.detail,
                stats=spent,
            )
        if answer.outcome is Outcome.WITNESS:
            # Nothing is nearer: every smaller radius has been refuted.
            return Nearest(lower, lower, answer.witness, name, stats=spent)
        lower += 1
    return Nearest(known.upper, known.upper, known.witness, name, stats=spent)


def nothing_known(query: Query, name: str) -> Nearest:
    """Where to start from without a search."""
    return Nearest(0, math.inf, None, name, query.cases)
