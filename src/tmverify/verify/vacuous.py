"""Whom an assumption is about: is there an input in the region, or a pair, that meets it?

*Vacuous.* A property that holds because nothing possible satisfies what it assumes is right, and mostly a
mistake of the one who wrote it. So of what holds it is asked once more, with nothing expected; if it is
proved that there is no such input, the answer is marked. What a property assumes of a decision (that a is
decided "good", where more should not hurt) belongs to that; not so for rows.

*Rows.* An assumption is *about* a row if some input around it (of a pair: some a around it, with some b)
meets the assumption. The property says nothing of other rows, and so they do not count in a share. This is
found out for all rows before the first is decided: what is required is a share of a known number. A row of
which it is not found out in time counts, as one that holds at best in doubt: then neither outcome can be
wrong. If the row does not count in truth, there is one row less, of which at most one less holds; as a share
is at most 1, that can't turn "too few can hold" into "enough do", nor the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline
from tmverify.properties import Status, StopReason, Verdict
from tmverify.properties.formula import TRUE
from tmverify.properties.statement import Statement, StatementQuery
from tmverify.verify.verdict import decide

VACUOUS = "nothing possible satisfies the assumption"
NEVER_DECIDED = "nothing possible meets the assumption and is decided so in the first place"
PERHAPS = (
    "perhaps nothing satisfies the assumption as it was written, as the model can't tell some values apart"
)
IN_DOUBT = "whether anything possible satisfies the assumption was not found out in time"
_TIME = 5.0
"""Seconds for the second question, of each row or of all inputs."""

Bits = NDArray[np.uint8]


def noted(
    verdict: Verdict,
    query: StatementQuery,
    rounded: Sequence[str],
    rests_on_rounding: Callable[[Verdict], bool],
) -> Verdict:
    """The verdict, with what a reader must know besides: whether it is vacuous, and what was rounded.

    ``rests_on_rounding``: whether an input that meets the assumption may not do so as it was written.
    """
    words, met = "", True
    if verdict.status is Status.HOLDS and _assumes(query.statement, whole=True):
        seen = _sought(query, _TIME, whole=True)
        met = seen.status is not Status.HOLDS
        if seen.status is Status.UNKNOWN:
            words = IN_DOUBT
        elif not met:
            words = why_vacuous(query.statement)
        elif rests_on_rounding(seen):
            words = PERHAPS
    return replace(verdict, vacuous=not met, detail=joined(verdict.detail, words, *rounded))


def why_vacuous(statement: Statement) -> str:
    """Why a statement says nothing, in words."""
    return VACUOUS if statement.premise == TRUE else NEVER_DECIDED


def joined(*notes: str) -> str:
    """Notes as one text."""
    return "; ".join(note for note in notes if note)


def rows_met(
    statement: Statement, rows: Bits, ask: Callable[[Bits], StatementQuery], deadline: Deadline
) -> Iterator[bool | None]:
    """Of each row, whether its assumption is about it; None if that was not found out in time.

    ``ask`` makes the question about a row.
    """
    copies = statement.copies
    joint = np.array([copies.joined(*[x] * copies.n) for x in rows])
    itself = statement.assume.holds(copies.facts(joint))
    for x, met in zip(rows, itself.tolist(), strict=True):
        left = deadline.remaining()
        seconds = _TIME if left is None else min(_TIME, left)
        yield True if met else (_is_met(ask(x), seconds) if seconds > 0 else None)


def unless_in_doubt(verdict: Verdict) -> Verdict:
    """The verdict about a row, of which it is not known whether the assumption is about it."""
    if verdict.status is not Status.HOLDS:
        return verdict
    return replace(
        verdict,
        status=Status.UNKNOWN,
        stop_reason=StopReason.TIMEOUT,
        detail="whether the assumption is about this row was not found out in time",
        certificate=None,
    )


def about_rows(met: Sequence[bool | None]) -> str:
    """In words, how many rows an assumption is about."""
    sure, doubtful = sum(is_met is True for is_met in met), met.count(None)
    more = f", and perhaps about {doubtful} more" if doubtful else ""
    return f"the assumption is about {sure or 'none'} of the {len(met)} rows{more}"


def _is_met(query: StatementQuery, seconds: float) -> bool | None:
    """Whether some input of the query's region meets the assumption; None if time did not suffice."""
    if not _assumes(query.statement):
        return True
    if query.region.size(1) == 1:  # only the row itself, which was looked at
        return False
    return {Status.HOLDS: False, Status.VIOLATED: True}.get(_sought(query, seconds).status)


def _assumes(statement: Statement, *, whole: bool = False) -> bool:
    return statement.assume != TRUE or (whole and statement.premise != TRUE)


def _sought(query: StatementQuery, seconds: float, *, whole: bool = False) -> Verdict:
    """VIOLATED by an input that meets the assumption (and, if ``whole``, what it supposes of decisions)."""
    return decide(query.statement.assumption(query.region, whole=whole), timeout=max(1e-3, seconds))
