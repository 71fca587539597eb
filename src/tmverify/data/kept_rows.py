"""Write some rows of a user's table to a file of their own, as they stand in it.

The text of a row is copied, with its quotes and its line end, and so is the header. Only if the copy would be
read otherwise than the original (what separates cells is found out from the first lines, and a few rows may
look otherwise than all of them), the cells are written anew.
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tmverify.atomic import replacing
from tmverify.data.files import Line, RawRows, csv_lines
from tmverify.errors import DataFormatError

_BOM = b"\xef\xbb\xbf"


def save_rows(path: Path, raw: RawRows, y: NDArray[Any], target: str, *, source: Path | None = None) -> None:
    """Write raw rows and their labels as a ``.csv`` file with a header line.

    Parameters
    ----------
    path : path
    raw, y : rows, and a label for each
    target : str
        The name of the label column.
    source : path or None
        The file that the rows come from: their text is then copied, if that reads as it did.
    """
    copied = None if source is None or raw.lines is None else _copy(source, raw.lines)
    with replacing(path) as draft:
        if copied is not None:
            draft.write_bytes(copied)
            return
        with open(draft, "x", newline="", encoding="utf-8") as text:
            writer = csv.writer(text)
            writer.writerow([*raw.names, target])
            writer.writerows([*row, label] for row, label in zip(raw.cells, y.tolist(), strict=True))


def _copy(source: Path, lines: Sequence[int]) -> bytes | None:
    """The text of the header and of the rows that begin in these lines; None if it reads otherwise alone."""
    rows: list[Line] = list(csv_lines(source, "values", skip_spaces=True))
    with open(source, newline="", encoding="utf-8-sig") as file:
        text = list(file)
    starts = [line for line, _ in rows]
    ends = [*(start - 1 for start in starts[1:]), len(text)]
    place = {start: i for i, start in enumerate(starts)}
    chosen = [0, *(place[line] for line in lines)]
    first = text[starts[0] - 1]
    end = first[len(first.rstrip("\r\n")) :] or "\n"
    kept = ["".join(text[starts[i] - 1 : ends[i]]).rstrip("\r\n") + end for i in chosen]
    with open(source, "rb") as binary:
        bom = _BOM if binary.read(len(_BOM)) == _BOM else b""
    content = bom + "".join(kept).encode()
    return content if _cells_of(content) == [rows[i][1] for i in chosen] else None


def _cells_of(content: bytes) -> list[list[str]] | None:
    """The cells of a ``.csv`` file with this content; None if it can't be read."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "rows.csv")
        file.write_bytes(content)
        try:
            return [cells for _, cells in csv_lines(file, "values", skip_spaces=True)]
        except DataFormatError:
            return None
