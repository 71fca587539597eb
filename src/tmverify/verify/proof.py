"""From evidence to the text of a proof: a refutation for each case, and those that they refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tmverify.engines import check_certifying
from tmverify.engines.evidence import Evidence, Refutation
from tmverify.errors import InvalidInputError
from tmverify.properties import Query

Text = Callable[[], Iterator[bytes]]


def evidence_for(query: Query, engine: str, wanted: bool) -> Evidence | None:
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


def proof_of(query: Query, radius: int, evidence: Evidence) -> Text | None:
    """The proof that no case holds within ``radius``, or None if it is not complete."""
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

    def text() -> Iterator[bytes]:
        yield evidence.preamble
        for refutation in ordered:
            yield from evidence.text(refutation)

    return text
