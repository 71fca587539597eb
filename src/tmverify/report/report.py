"""Report: everything that a page shows, as plain data, collected from the rows and models of a store.

Shares are counts, n of m. Times are those of solved tasks: the time of a task that was stopped says something
about the limit, not about the question.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from tmverify.asking.tally import tally_of
from tmverify.campaign import Asked, Tally, grouped
from tmverify.campaign.store import NOT_BELIEVED, StoredModel
from tmverify.errors import InvalidInputError
from tmverify.properties.questions import QUESTIONS, Question
from tmverify.report.distributions import Curve, Radii, Times, curves_of, radii_of, times_of
from tmverify.report.gallery import Gallery, gallery_of
from tmverify.report.reasons import Reasons, reasons_of
from tmverify.report.series import Series, series_of
from tmverify.report.words import REASONS

_MAX_DETAILS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the summary: the tally of one question about a series, at one epsilon if it has one."""

    series: Series
    question: str
    epsilon: int | None
    tally: Tally

    @property
    def asks(self) -> Question:
        return QUESTIONS[self.question]

    @property
    def whole(self) -> int:
        """The count that the positive answers are a share of: solved tasks; for distances, all answers."""
        return self.tally.done if self.asks.is_distance else self.tally.solved

    @property
    def max_seconds(self) -> float | None:
        return max(self.tally.seconds, default=None)


@dataclass(frozen=True, slots=True)
class Unanswered:
    """``count`` tasks without a usable answer, all for one reason.

    ``details`` are the most frequent explanations with their counts, ``others`` is how many have another one.
    """

    reason: str
    meaning: str
    count: int
    details: tuple[tuple[str, int], ...]
    others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The content of a page.

    Attributes
    ----------
    rows, series : all tasks with their answers, and the series of each
    tally : of all rows
    refusals : answers in the store that are not believed
    trust : sets of parts that answers rest on, and how many answers rest on each
    reasons : explanations, by the places of their rows
    impossible : places of the rows whose counterexample is no possible input: no raw row has its bits
    """

    title: str
    source: str
    rows: tuple[Asked, ...]
    series: tuple[Series, ...]
    models: tuple[StoredModel, ...]
    versions: Mapping[str, tuple[str, ...]]
    tally: Tally
    lines: tuple[Line, ...]
    radii: tuple[Radii, ...]
    curves: tuple[Curve, ...]
    times: tuple[Times, ...]
    unknowns: tuple[Unanswered, ...]
    refusals: Unanswered
    trust: tuple[tuple[tuple[str, ...], int], ...]
    gallery: Gallery
    reasons: Reasons
    impossible: frozenset[int]


def collect(
    rows: Sequence[Asked],
    models: Mapping[str, StoredModel],
    *,
    title: str,
    source: str,
    gallery: int = 200,
    image: tuple[int, int] | None = None,
) -> Report:
    """Count everything.

    Raises
    ------
    InvalidInputError
        If ``gallery`` is negative, or ``image`` fits no input.
    """
    if gallery < 0:
        raise InvalidInputError(f"gallery must be at least 0. Got {gallery} instead.")
    rows = tuple(rows if image is None else _as_pictures(rows, image))
    series = tuple(series_of(rows, models))
    by_series: dict[Series, list[Asked]] = defaultdict(list)
    for each, row in zip(series, rows, strict=True):
        by_series[each].append(row)
    radii = radii_of(by_series)
    asked = {key for row in rows for key in row.task.models}
    impossible = _impossible(rows, models)
    refused = Counter(row.refused for row in rows if row.refused is not None)
    return Report(
        title=title,
        source=source,
        rows=rows,
        series=series,
        models=tuple(model for key, model in models.items() if key in asked or not asked),
        versions=_versions(rows),
        tally=tally_of(rows),
        lines=tuple(
            Line(series=each, question=group.question, epsilon=group.epsilon, tally=tally)
            for each, own in by_series.items()
            for group, tally in grouped(own).items()
        ),
        radii=radii,
        curves=curves_of(by_series, radii),
        times=times_of(rows),
        unknowns=_unknowns(rows),
        refusals=_unanswered(NOT_BELIEVED, "", refused),
        trust=_trust(rows),
        gallery=gallery_of(rows, series, limit=gallery, impossible=impossible),
        reasons=reasons_of(rows, limit=gallery),
        impossible=impossible,
    )


def median_seconds(tally: Tally) -> float | None:
    """The median time of solved tasks."""
    return median(tally.seconds) if tally.seconds else None


def _as_pictures(rows: Sequence[Asked], image: tuple[int, int]) -> list[Asked]:
    """The rows; inputs with as many features as the image has pixels are to be drawn in its shape."""
    n_pixels = image[0] * image[1]
    if min(image) < 1 or (rows and all(row.task.n_features != n_pixels for row in rows)):
        n_features = ", ".join(sorted({str(row.task.n_features) for row in rows}))
        raise InvalidInputError(
            f"image must be rows and columns of as many pixels as there are features ({n_features}). "
            f"Got {image[0]} x {image[1]} instead."
        )
    return [
        replace(row, task=replace(row.task, image=image)) if row.task.n_features == n_pixels else row
        for row in rows
    ]


def _impossible(rows: Sequence[Asked], models: Mapping[str, StoredModel]) -> frozenset[int]:
    """The places of the rows whose counterexample no raw row has."""
    witnesses: dict[str, list[tuple[int, NDArray[np.uint8]]]] = defaultdict(list)
    for place, row in enumerate(rows):
        if row.witness is not None and not (named := row.task.named(models)).space.only_flags:
            witnesses[named.hash].append((place, row.witness))
    return frozenset(
        place
        for key, found in witnesses.items()
        for (place, _), possible in zip(
            found, models[key].space.possible(np.stack([bits for _, bits in found])), strict=True
        )
        if not possible
    )


def _versions(rows: Sequence[Asked]) -> dict[str, tuple[str, ...]]:
    """All versions of each program that took part."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        for program, version in (row.answer.versions if row.answer is not None else {}).items():
            found[program][version] = None
    return {program: tuple(versions) for program, versions in found.items()}


def _unknowns(rows: Sequence[Asked]) -> tuple[Unanswered, ...]:
    """Unknown answers by reason, the most frequent first."""
    details: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        if row.answer is not None and not row.answer.solved:
            details[row.answer.stop_reason or "not recorded"][row.answer.detail] += 1
    ranked = sorted(details.items(), key=lambda item: -item[1].total())
    return tuple(_unanswered(reason, REASONS.get(reason, ""), told) for reason, told in ranked)


def _unanswered(reason: str, meaning: str, told: Counter[str]) -> Unanswered:
    explained = [(detail, n) for detail, n in told.most_common() if detail]
    others = sum(n for _, n in explained[_MAX_DETAILS:])
    return Unanswered(reason, meaning, told.total(), tuple(explained[:_MAX_DETAILS]), others)


def _trust(rows: Sequence[Asked]) -> tuple[tuple[tuple[str, ...], int], ...]:
    """What the solved answers rest on, the most frequent first."""
    counts = Counter(row.answer.trusts for row in rows if row.answer is not None and row.answer.solved)
    return tuple((parts, count) for parts, count in counts.most_common() if parts)
