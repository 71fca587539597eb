"""A store as one HTML file: ``tmverify report``."""

from __future__ import annotations

import re
from pathlib import Path

from tmverify.cli.output import plain, show
from tmverify.cli.saving import check_apart, check_target
from tmverify.errors import InvalidInputError
from tmverify.report import write_report


def draw(store: Path, output: Path, *, title: str | None, gallery: int, image: str | None) -> None:
    """Write the report of a store; ``image`` is the shape of its pictures as typed, 28x28."""
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
