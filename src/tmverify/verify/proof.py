"""From evidence to the text of a proof: a refutation for each case, and those that they refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tmverify.bnn.query import NetworkQuery
from tmverify.engines import check_certifying
from tmverify.engines.proof_log import Evidence, Refutation
from tmverify.errors import InvalidInputError
from tmverify.properties import Query
from tmverify.properties.query import AnyQuery

Text = Callable[[], Iterator[bytes]]
NO_CERTIFICATE = "no certificate: "  # how the detail of an answer begins that is right, but without evidence


def evidence_for(query: AnyQuery, engine: str, wanted: bool) -> Evidence | None:
    """Where to write evidence, if it is wanted."""
    if not wanted:
        return None
    check_certifying(engine)
    if query.topic is None:
        raise InvalidInputError("A certificate is about a question: build the query with *_query functions.")
    return Evidence()


def open_cases(query: Query, radius: int, evidence: Evidence) -> tuple[tuple[int, ...], ...]:
    """The cases that are not refuted within ``radius``."""
    return tuple(case for case in query.cases if evidence.covers(case, radius) is None)


def proof_of(query: AnyQuery, radius: int, evidence: Evidence) -> Text | None:
    """The proof that no case holds within ``radius``, or None if it is not complete."""
    if isinstance(query, NetworkQuery):
        return _proof_of_shells(min(radius, int(query.region.mutable.sum())), evidence)
    assert isinstance(query, Query)
    needed: dict[Refutation, None] = {}
    # Cases that can be refuted by few constraints first: what refutes them refutes others too.
    found = {case: evidence.covers(case, radius) for case in query.cases}
    for case, refutation in sorted(
        found.items(), key=lambda item: len(item[1].constraints) if item[1] else 0
    ):
        if refutation is None:
            return None
        if not any(set(other.constraints).issubset(case) for other in needed if not other.inside):
            needed.update(dict.fromkeys((*refutation.needs, refutation)))
    # A checker keeps the last surroundings that it made.
    ordered = sorted(needed, key=lambda r: (not r.inside, r.inside, r.radius))
    return Proof(evidence, ordered)


def no_certificate(query: AnyQuery, otherwise: str) -> str:
    """Why an answer that was proved has no certificate."""
    if isinstance(query, NetworkQuery):
        otherwise = "more inputs than the checker enumerates, and no clausal proof in the time"
    return f"{NO_CERTIFICATE}{otherwise}"


def _proof_of_shells(radius: int, evidence: Evidence) -> Text | None:
    shells = {refutation.radius: refutation for refutation in evidence.refutations}
    wanted = range(1, radius + 1)
    return Proof(evidence, [shells[k] for k in wanted]) if all(k in shells for k in wanted) else None


@dataclass(frozen=True, slots=True, eq=False)
class Proof:
    """The text of some refutations, from where the engine wrote it; a pickle has the text itself."""

    evidence: Evidence
    refutations: list[Refutation]

    def __call__(self) -> Iterator[bytes]:
        yield self.evidence.preamble
        for refutation in self.refutations:
            yield from self.evidence.text(refutation)

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptProof, (b"".join(self()),)


@dataclass(frozen=True, slots=True)
class KeptProof:
    """A proof as plain bytes."""

    text: bytes

    def __call__(self) -> Iterator[bytes]:
        yield self.text
