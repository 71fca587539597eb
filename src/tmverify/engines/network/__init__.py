"""Deciding questions about binarized networks; ``engine`` runs the steps.

The engines have the same names as those for machines; the parts that their proofs rest on have other names.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from tmverify.bnn.model import BnnModel
from tmverify.bnn.query import NetworkQuery
from tmverify.engines import brute
from tmverify.engines.engine import Answer, Deadline, Engine, Nearest, Outcome, Signer, at_first_use
from tmverify.engines.proof_log import ProofLog, Refutation
from tmverify.properties.trust import NETWORK_REPLAYED

INTERVALS, PATTERNS, SOLVER, BRUTE = "network-intervals", "network-search", "network-sat", "network-brute"
_TRUST = {
    INTERVALS: ("intervals (tmverify.engines.network.shell)", "NumPy"),
    PATTERNS: ("the enumeration of patterns (tmverify.engines.network.patterns)", "numba", "NumPy"),
    SOLVER: ("the encoding of networks (tmverify.engines.network.solver)", "CaDiCaL 1.9.5 in PySAT", "NumPy"),
    BRUTE: NETWORK_REPLAYED,
}
_SEARCHED = ((INTERVALS,), (INTERVALS, PATTERNS))
_SOLVED = ((INTERVALS,), (INTERVALS, SOLVER))
_ANY_WAY = (*_SEARCHED, (INTERVALS, SOLVER), (INTERVALS, PATTERNS, SOLVER))


class ShellLog(ProofLog):
    """The refutations of shells: a ball is refuted if all its shells are, apart from the centre."""

    no_proof = "more inputs than the checker enumerates, and no clausal proof in the time"

    def refutations_of(self, query: Any, radius: int) -> list[Refutation] | None:
        """The refutations of the shells up to ``radius``, or None if one is missing."""
        shells = {refutation.radius: refutation for refutation in self.refutations}
        wanted = range(1, min(radius, int(query.region.mutable.sum())) + 1)
        return [shells[k] for k in wanted] if all(k in shells for k in wanted) else None

    def left_open(self, query: Any, radius: int) -> None:
        """None: asking again would not help, because every shell has already been tried."""


_SHARED: dict[str, Any] = {
    "accepts": lambda asked: isinstance(asked, NetworkQuery | BnnModel),
    "subject": "a binarized network",
    "log": ShellLog,
    "trust": _TRUST,
    "replayed": NETWORK_REPLAYED,
}


def _by_shells(name: str, *signers: Signer) -> Engine:
    """An engine that goes from shell to shell."""
    return Engine(
        name=name,
        decide=at_first_use("network.engine:decide", name),
        find_nearest=at_first_use("network.engine:nearest", name),
        prepare=at_first_use("network.engine:prepare", name),
        certifies=True,
        signers=signers,
        **_SHARED,
    )


def _brute(query: NetworkQuery, deadline: Deadline, log: ProofLog | None = None, /) -> Answer:
    return replace(brute.decide(query, deadline), relies_on=(BRUTE,))


def _brute_nearest(query: NetworkQuery, deadline: Deadline, log: ProofLog | None = None, /) -> Nearest:
    """The first witness found, which is the nearest because inputs come nearest first."""
    answer = _brute(query, deadline)
    far = math.inf if answer.witness is None else int((answer.witness != query.region.origin).sum())
    lower = 0 if answer.outcome is Outcome.STOPPED else far
    why = answer.stop_reason, answer.detail, answer.stats, answer.relies_on
    return Nearest(lower, far, answer.witness, "brute", (), *why)


_EITHER = Signer("search", _ANY_WAY), Signer("sat", _ANY_WAY)
NETWORK_ENGINES = (
    _by_shells("auto", *_EITHER),
    _by_shells(
        "search",
        Signer("search", _SEARCHED, certified=False),
        # A solver proves what the search decides but can't show to a checker.
        *(replace(signer, certified=True) for signer in _EITHER),
    ),
    _by_shells("sat", Signer("sat", _SOLVED)),
    Engine(
        name="brute",
        decide=_brute,
        find_nearest=_brute_nearest,
        signers=(Signer("brute", ((BRUTE,),)),),
        **_SHARED,
    ),
)
