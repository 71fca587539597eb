"""The ``auto`` engine: search, and where its budget runs out, SAT on the cases that are left.

The search decides nearly everything in milliseconds. What it can't within ``NODES`` nodes (or half the time
there is) is put to ``sat``, which learns from its conflicts; only the open cases are, and for the nearest
witness only the radii between the bounds found.

A question about every input, not about a ball, has a way of its own (``engines.everywhere``).
"""

from __future__ import annotations

from dataclasses import replace

from tmverify.engines.everywhere import deciding as everywhere
from tmverify.engines.evidence import Evidence
from tmverify.engines.protocol import Answer, Deadline, Nearest, Outcome
from tmverify.engines.sat.deciding import decide as sat
from tmverify.engines.search.deciding import decide_within, nearest_within
from tmverify.engines.search.tree import Budget
from tmverify.engines.stepping import nearest_by_steps
from tmverify.properties.query import Query

NODES = 100_000
_BOTH = ("search", "sat")


def decide(query: Query, deadline: Deadline, evidence: Evidence | None = None) -> Answer:
    """Decide ``query``."""
    if query.region.center is None:
        return everywhere.decide(query, deadline, sat, evidence)
    first = decide_within(query, _share(deadline), evidence)
    if first.outcome is not Outcome.STOPPED:
        return replace(first, engine="search")
    if deadline.passed():
        return replace(first, engine="search", detail=f"no answer within {deadline.seconds:g} s")
    cases = query.cases if first.open_cases is None else first.open_cases
    second = sat(replace(query, cases=cases), deadline, evidence)
    return replace(second, engine="sat", relies_on=_BOTH, stats={**first.stats, **second.stats})


def nearest(query: Query, deadline: Deadline, evidence: Evidence | None = None) -> Nearest:
    """The nearest witness."""
    first = nearest_within(query, _share(deadline), evidence)
    if first.stop_reason is None:
        return first
    if deadline.passed():
        return replace(first, detail=f"no answer within {deadline.seconds:g} s")
    return replace(nearest_by_steps(sat, "sat", query, first, deadline, evidence), relies_on=_BOTH)


def _share(deadline: Deadline) -> Budget:
    left = deadline.remaining()
    return Budget(Deadline(None if left is None else left / 2), NODES)
