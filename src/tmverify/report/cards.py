"""The cards above a report: its figures at a glance, each with the counts that it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tmverify.report.report import Report
from tmverify.report.summary import Share
from tmverify.report.words import bounds_text, percent, seconds_text


@dataclass(frozen=True, slots=True)
class Card:
    """A figure: what it is, the figure, and in small what it is of; ``tone`` is its colour."""

    name: str
    figure: str
    note: str
    tone: str = ""


def cards_of(report: Report) -> tuple[Card, ...]:
    """How far it is, how much is decided, how, and how fast."""
    tally = report.headline.tally
    violated = Card("violated", str(tally.violated), "with an example each", "bad" if tally.violated else "")
    unknown = Card(
        "unknown", str(tally.unknown), _of(tally.unknown, tally.done), "open" * bool(tally.unknown)
    )
    return (
        Card("answered", percent(tally.done, tally.total), f"{tally.done} of {tally.total} tasks"),
        Card("solved", percent(tally.solved, tally.done), f"{tally.solved} of {tally.done} answered"),
        *(_share_card(report, adjective, shares) for adjective, shares in report.headline.shares.items()),
        *_radius_cards(report),
        violated,
        unknown,
        Card("median time", seconds_text(report.headline.median_seconds), "for a solved task"),
    )


def _share_card(report: Report, adjective: str, shares: tuple[Share, ...]) -> Card:
    """Over several epsilons the first figure would be of nothing: the least epsilon's stands for all."""
    overall, *each = shares
    first = each[0] if each else overall
    at = "" if first.epsilon is None else f" at ε {first.epsilon}"
    others = [f"ε {share.epsilon}: {share.part}/{share.whole}" for share in each[1:5]]
    more = ["…"] if len(each) > 5 else []
    subjects = {line.subject for line in report.lines if line.adjective == adjective}
    pooled = [f"{len(subjects)} series together"] if len(subjects) > 1 else []
    note = "\n".join([f"{first.part} of {first.whole} solved", *others, *more, *pooled])
    return Card(f"{adjective}{at}", percent(first.part, first.whole), note, "good")


def _radius_cards(report: Report) -> Iterator[Card]:
    if not report.radii:
        return
    first, *others = report.radii
    assert first.median is not None
    notes = [f"{first.subject.model}, {len(first.bounds)} inputs"]
    notes += [f"{each.subject.model}: {bounds_text(*each.median)}" for each in others[:3] if each.median]
    notes += ["…"] if len(others) > 3 else []
    yield Card("median radius", bounds_text(*first.median), "\n".join(notes))


def _of(part: int, whole: int) -> str:
    return f"{percent(part, whole)} of answered"
