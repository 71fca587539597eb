"""``tmverify report``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from tmverify.cli.output import plain, show
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError

StoreToDraw = Annotated[
    Path, typer.Argument(metavar="STORE", help="The file that --store named.", show_default=False)
]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="FILE.html", help="The file to write.")]
Title = Annotated[
    str | None,
    typer.Option("--title", help="Title of the page. Default: the store's name.", show_default=False),
]
Gallery = Annotated[
    int, typer.Option("--gallery", min=0, help="Show at most so many changed inputs, the nearest first.")
]
Image = Annotated[
    str | None,
    typer.Option(
        "--image",
        metavar="ROWSxCOLUMNS",
        help="The inputs are pictures of this shape, e.g. 28x28. Default: what the plan says, or the "
        "features' names (pixel_0_0, …).",
        show_default=False,
    ),
]


def report(
    store: StoreToDraw,
    output: Output = Path("report.html"),
    title: Title = None,
    gallery: Gallery = 200,
    image: Image = None,
) -> None:
    """Draw what a store has: tables, charts and a gallery of changed inputs, in one HTML file.

    The file needs nothing else, no network either: open it in any browser, mail it, print it.
    It needs the extra [cyan]\\[report][/cyan]: pip install 'tmverify\\[report]'.

    Example: [cyan]tmverify report results.db -o report.html[/cyan]
    """
    from tmverify.report import write_report

    check_target(output, "--output", [".html", ".htm"])
    check_apart([store], [output], "STORE and --output")
    write_report(store, output, title=title, gallery=gallery, image=_shape(image))
    show(f"report written to {plain(output)}")


def _shape(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})[xX](\d{1,6})", text)
    if match is None:
        raise InvalidInputError(f"--image must be rows x columns, such as 28x28. Got {text!r} instead.")
    return int(match[1]), int(match[2])
