"""Report: everything that a page shows, as plain data; collected from a store's rows and models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tmverify.campaign import Row
from tmverify.campaign.store import StoredModel
from tmverify.errors import InvalidInputError
from tmverify.report.gallery import Gallery, gallery_of
from tmverify.report.radii import Radii, radii_of
from tmverify.report.robust_share import Curve, curves_of
from tmverify.report.subjects import Subject, by_subject, called, subject_of
from tmverify.report.summary import Headline, Line, headline, summarise
from tmverify.report.times import Times, times_of
from tmverify.report.unknowns import Refusals, Trust, Unknowns, refusals_of, trust_of, unknowns_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What there is to show; ``subjects`` are those of ``rows``, one by one."""

    title: str
    source: str
    rows: tuple[Row, ...]
    subjects: tuple[Subject, ...]
    models: tuple[StoredModel, ...]
    versions: Mapping[str, tuple[str, ...]]
    headline: Headline
    lines: tuple[Line, ...]
    radii: tuple[Radii, ...]
    curves: tuple[Curve, ...]
    times: tuple[Times, ...]
    unknowns: tuple[Unknowns, ...]
    refusals: Refusals
    trust: tuple[Trust, ...]
    gallery: Gallery


def collect(
    rows: Sequence[Row],
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
    drawn = tuple(rows if image is None else _as_pictures(rows, image))
    grouped_rows = by_subject(drawn)
    names = called([row.task for row in drawn])
    subjects = tuple(subject_of(row, names) for row in drawn)
    lines, radii = summarise(grouped_rows), radii_of(grouped_rows)
    asked = {key for row in drawn for key in row.task.models}
    return Report(
        title=title,
        source=source,
        rows=drawn,
        subjects=subjects,
        models=tuple(model for key, model in models.items() if key in asked or not asked),
        versions=_versions(drawn),
        headline=headline(drawn, lines),
        lines=lines,
        radii=radii,
        curves=curves_of(grouped_rows, radii),
        times=times_of(drawn),
        unknowns=unknowns_of(drawn),
        refusals=refusals_of(drawn),
        trust=trust_of(drawn),
        gallery=gallery_of(drawn, subjects, limit=gallery),
    )


def _as_pictures(rows: Sequence[Row], image: tuple[int, int]) -> list[Row]:
    """The rows with the shape of those pictures that have so many pixels."""
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


def _versions(rows: Sequence[Row]) -> dict[str, tuple[str, ...]]:
    """Of each program that took part, all versions."""
    found: dict[str, dict[str, None]] = {}
    for row in rows:
        for program, version in (row.answer.versions if row.answer is not None else {}).items():
            found.setdefault(program, {})[version] = None
    return {program: tuple(versions) for program, versions in found.items()}
