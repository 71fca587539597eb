"""The ``auto`` engine: search, then enumeration where the region is small, or SAT.

The search decides nearly everything in milliseconds. What it can't decide within ``NODES`` nodes (or half the
available time) goes on to ``_rest``. A region of few inputs is enumerated: where weights are so huge that the
search has no bounds, a solver fails too. Other regions go to ``sat``, which learns from its conflicts; it
gets only the open cases and, for the nearest witness, only the radii between the bounds found.

A question about every input, not about a ball, is decided by ``engines.equivalence``.
"""

from __future__ import annotations

from dataclasses import replace

from tmverify.engines import brute
from tmverify.engines.engine import Answer, Deadline, Nearest, Outcome, nearest_by_steps
from tmverify.engines.equivalence import engine as equivalence
from tmverify.engines.equivalence.hunt import compile_kernels
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.sat.engine import SAT
from tmverify.engines.search import SEARCH
from tmverify.engines.search.engine import decide_within, nearest_within
from tmverify.engines.search.tree import Budget
from tmverify.properties.query import Query

NODES = 100_000
_BOTH = ("search", "sat")
sat = SAT.decide


def prepare(query: Query, certificate: bool) -> None:
    """Compile the kernels that such a query needs."""
    SEARCH.prepare(query, certificate)
    if query.region.center is None:
        SEARCH.prepare(query, False)  # searches around given inputs write no proof
        compile_kernels()


def decide(query: Query, deadline: Deadline, log: ProofLog | None = None) -> Answer:
    """Decide ``query``."""
    if query.region.center is None:
        return equivalence.decide(query, deadline, sat, log)
    first = decide_within(query, Budget(deadline.share(1 / 2), NODES), log)
    if first.outcome is not Outcome.STOPPED:
        return replace(first, engine="search")
    if deadline.passed():
        return replace(first, engine="search", detail=f"no answer within {deadline.seconds:g} s")
    cases = query.cases if first.open_cases is None else first.open_cases
    second = _rest(replace(query, cases=cases), deadline, log)
    # An enumeration looks at the decisions themselves, so it does not rely on what the search refuted.
    relies_on = ("brute",) if second.engine == "brute" else _BOTH
    return replace(second, relies_on=relies_on, stats={**first.stats, **second.stats})


def nearest(query: Query, deadline: Deadline, log: ProofLog | None = None) -> Nearest:
    """The nearest witness."""
    first = nearest_within(query, Budget(deadline.share(1 / 2), NODES), log)
    if first.stop_reason is None:
        return first
    if deadline.passed():
        return replace(first, detail=f"no answer within {deadline.seconds:g} s")
    ball = query.region.within(int(min(first.upper - 1, query.region.reach)))
    looked = brute.decide_if_small(replace(query, region=ball), deadline)
    if looked is None:
        rest = replace(query, cases=first.open_cases)
        return replace(nearest_by_steps(sat, "sat", rest, first, deadline, log), relies_on=_BOTH)
    stats = {**first.stats, **looked.stats}
    if looked.witness is None:
        return Nearest(first.upper, first.upper, first.witness, "brute", stats=stats)
    far = query.region.cost(looked.witness)
    assert far is not None
    return Nearest(far, far, looked.witness, "brute", stats=stats)


def _rest(query: Query, deadline: Deadline, log: ProofLog | None) -> Answer:
    """Decide what the search leaves open."""
    looked = brute.decide_if_small(query, deadline)
    if looked is not None and (looked.outcome is Outcome.WITNESS or log is None):
        return looked
    answer = replace(sat(query, deadline, log), engine="sat")
    # An enumeration leaves no evidence, so the solver is asked for some; if it fails, the answer stands.
    return looked if looked is not None and answer.outcome is Outcome.STOPPED else answer
