"""Vacuous answers: a property that holds because nothing possible satisfies what it assumes.

Such a HOLDS is right, and mostly a mistake of the one who wrote the assumption. So the question is asked once
more, without an expectation: is there an input that meets the assumption? If it is proved that there is none,
the answer says so in its ``detail``. The same goes for each row of a share. What was rounded is said there
too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline
from tmverify.properties import Status, UniversalVerdict, Verdict
from tmverify.properties.formula import TRUE
from tmverify.properties.statement import StatementQuery
from tmverify.verify.verdict import decide

VACUOUS = "nothing possible satisfies the assumption"
_TIME = 5.0
"""Seconds for the second question, of all rows together."""

AnswerT = TypeVar("AnswerT", Verdict, UniversalVerdict)


def is_vacuous(answer: Verdict | UniversalVerdict) -> bool:
    """Whether it holds because nothing possible satisfies the assumption, of a share: around no row."""
    if isinstance(answer, Verdict):
        return answer.status is Status.HOLDS and VACUOUS in answer.detail
    holding = [verdict for verdict in answer.verdicts if verdict.status is Status.HOLDS]
    return answer.status is Status.HOLDS and bool(holding) and all(map(is_vacuous, holding))


def noted(verdict: Verdict, query: StatementQuery, rounded: Sequence[str]) -> Verdict:
    """The verdict, with what a reader must know besides."""
    return _with(verdict, [*_vacuous(verdict, query, Deadline(_TIME)), *rounded])


def noted_share(
    result: UniversalVerdict,
    ask: Callable[[NDArray[np.uint8]], StatementQuery],
    rows: NDArray[np.uint8],
    rounded: Sequence[str],
) -> UniversalVerdict:
    """The same of a share of rows; ``ask`` makes the question about a row."""
    deadline = Deadline(_TIME)
    verdicts = []
    for verdict, row in zip(result.verdicts, rows, strict=False):
        asked = verdict.status is Status.HOLDS and not deadline.passed()
        verdicts.append(_with(verdict, _vacuous(verdict, ask(row), deadline) if asked else []))
    n = sum(map(is_vacuous, verdicts))
    around = [f"{VACUOUS} around {n} of the {len(verdicts)} rows looked at"] if n else []
    return _with(replace(result, verdicts=tuple(verdicts)), [*around, *rounded])


def _vacuous(verdict: Verdict, query: StatementQuery, deadline: Deadline) -> list[str]:
    statement = query.statement
    if verdict.status is not Status.HOLDS or statement.assume == TRUE:
        return []
    limit = max(1e-3, deadline.remaining() or 0.0)
    seen = decide(statement.assumption(query.region), timeout=limit)
    return [VACUOUS] if seen.status is Status.HOLDS else []


def _with(answer: AnswerT, notes: Sequence[str]) -> AnswerT:
    if not notes:
        return answer
    return replace(answer, detail="; ".join([answer.detail, *notes] if answer.detail else notes))
