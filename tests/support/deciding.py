"""The engines as they are held against each other, and what is expected of their answers."""

from __future__ import annotations

import math

import pytest

import tmverify as tv
from support.engines import stand_in
from tmverify.engines import auto, brute
from tmverify.engines.engine import Answer, Deadline, Decide, Nearest, Outcome
from tmverify.engines.sat import paper, refutation, specialised
from tmverify.engines.search import engine as search

FOREVER = Deadline(None)
# In this process: ten times as fast as through a worker.
ENGINES: dict[str, Decide] = {
    "brute": brute.decide,
    "paper": lambda query, deadline, log=None: paper.solve(query),
    "sat": lambda query, deadline, log=None: (
        specialised.solve(query) if log is None else refutation.prove(query, log)
    ),
    "search": search.decide,
    "auto": auto.decide,
}
NEAREST = {"search": search.nearest, "auto": auto.nearest}


def use_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also, ``auto`` turns to sat after a node, so that both halves and the way between them are used."""
    for name, decide in ENGINES.items():
        stand_in(monkeypatch, name, decide=decide)
    monkeypatch.setattr(auto, "NODES", 1)
    monkeypatch.setattr(auto, "sat", ENGINES["sat"])


def expect(answer: Answer, query: tv.Query, violated: bool, what: str) -> None:
    """The outcome is right, and a witness is one."""
    assert answer.outcome is (Outcome.WITNESS if violated else Outcome.NO_WITNESS), what
    if violated:
        assert answer.witness is not None, what
        assert query.refuted_by(answer.witness), what


def expect_radius(claim: Nearest, query: tv.Query, radius: float, what: str) -> None:
    """The radius is exact and right, and its witness is one at that cost."""
    assert (claim.lower, claim.upper, claim.stop_reason) == (radius, radius, None), what
    assert (claim.witness is None) == (radius == math.inf), what
    if claim.witness is not None:
        assert query.refuted_by(claim.witness), what
        assert query.region.cost(claim.witness) == radius, what
