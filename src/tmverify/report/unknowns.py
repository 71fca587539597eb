"""Why answers are unknown or not believed, and what the others rest on: counted, most frequent first."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from tmverify.campaign import Row
from tmverify.report.words import REASONS

_DETAILS = 5


@dataclass(frozen=True, slots=True)
class Unknowns:
    """Those with one reason; ``details`` with their counts, ``others``: how many say yet something else."""

    reason: str
    meaning: str
    count: int
    details: tuple[tuple[str, int], ...]
    others: int


@dataclass(frozen=True, slots=True)
class Refusals:
    """Answers that are not believed: why, with their counts; ``others`` are refused for yet other reasons."""

    count: int
    reasons: tuple[tuple[str, int], ...]
    others: int


@dataclass(frozen=True, slots=True)
class Trust:
    """``count`` answers are right if these parts are."""

    parts: tuple[str, ...]
    count: int


def unknowns_of(rows: Sequence[Row]) -> tuple[Unknowns, ...]:
    """By reason."""
    details: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.answer is not None and not row.answer.solved:
            details[row.answer.stop_reason or "not recorded"][row.answer.detail] += 1
    ranked = sorted(details.items(), key=lambda item: -item[1].total())
    return tuple(_unknowns(reason, said) for reason, said in ranked)


def refusals_of(rows: Sequence[Row]) -> Refusals:
    """All of them."""
    why = Counter(row.refused for row in rows if row.refused is not None)
    shown = tuple(why.most_common(_DETAILS))
    return Refusals(why.total(), shown, why.total() - sum(n for _, n in shown))


def trust_of(rows: Sequence[Row]) -> tuple[Trust, ...]:
    """What the solved answers rest on."""
    counts = Counter(row.answer.trusts for row in rows if row.answer is not None and row.answer.solved)
    return tuple(Trust(parts, count) for parts, count in counts.most_common() if parts)


def _unknowns(reason: str, said: Counter[str]) -> Unknowns:
    telling = [(detail, n) for detail, n in said.most_common() if detail]
    shown = tuple(telling[:_DETAILS])
    others = sum(n for _, n in telling[_DETAILS:])
    return Unknowns(reason, REASONS.get(reason, ""), said.total(), shown, others)
