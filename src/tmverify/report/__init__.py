"""The outcome of a campaign as one HTML file: data first, rendering second.

::

    Store ─rows→ series ─→ lines, distributions, gallery ─→ Report      (data: report, distributions, gallery)
    Report ─→ tiles, figures ─→ charts (SVG) ─→ page (template.html) ─→ one complete file
           ─→ inputs (rows, texts, drawing: PNG), columns ─↗
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tmverify.atomic import replacing
from tmverify.extras import need

if TYPE_CHECKING:
    from tmverify.report.report import Report

__all__ = ["write_figures", "write_report"]


def write_report(
    store: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    title: str | None = None,
    gallery: int = 200,
    image: tuple[int, int] | None = None,
) -> int:
    """Write what a store holds as one HTML file that needs no other file and no network.

    Parameters
    ----------
    store, output : paths
        ``output`` is replaced at once, or left as it was.
    title : str, optional
        Default: the name of the store.
    gallery : int
        At most how many changes are drawn; the report says how many there are.
    image : (rows, columns), optional
        How to draw inputs of rows * columns features; default: as the campaign's plan says.

    Returns
    -------
    int
        How many answers the report shows.

    Raises
    ------
    MissingExtraError
        If Jinja2 is not installed.
    StoreError
        If ``store`` is no store.
    InvalidInputError
        If ``gallery`` is negative, or no input has rows * columns features.
    """
    need("jinja2", extra="report", what="tmverify report")
    from tmverify.report.page import render

    report = _collected(Path(store), title, gallery, image)
    page = render(report).encode("utf-8", "replace")  # a label may hold a lone surrogate
    with replacing(output) as draft:
        draft.write_bytes(page)
    return report.tally.done


def write_figures(store: str | os.PathLike[str], folder: str | os.PathLike[str]) -> dict[Path, str]:
    """Write the charts of a store's report as SVG files, for documents; returns what each shows."""
    from tmverify.report.charts import standalone_svg
    from tmverify.report.figures import figures_of

    place, found = Path(store), {}
    for number, figure in enumerate(figures_of(_collected(place, None, 0, None)), start=1):
        path = Path(folder) / f"{place.stem}-{number}.svg"
        with replacing(path) as draft:
            draft.write_text(standalone_svg(figure.chart), encoding="utf-8")
        found[path] = f"{figure.chart.title}: {figure.shows}"
    return found


def _collected(place: Path, title: str | None, gallery: int, image: tuple[int, int] | None) -> Report:
    from tmverify.campaign import Store
    from tmverify.report.report import collect

    with Store.reading(place) as opened:
        return collect(
            list(opened.rows()),
            opened.models(),
            title=title or f"Campaign “{place.stem}”",
            source=place.name,
            gallery=gallery,
            image=image,
        )
