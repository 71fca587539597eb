"""Clause lists in files: ``.json`` (``model.rules`` describes the format) or ``.csv``, one clause per line.

::

    # n_features = 3
    # feature_names = ["fever", "cough", "rash"]
    clause,well,ill
    1 -3,0,2
    fever and not rash,0,2

The lines with # come first and set the other keys of the JSON format, with values as in JSON. In the table,
the first column has the literals: signed numbers from 1 separated by spaces, or names separated by "and" (x0,
x1, … if features have no names). Then comes a column for each class, with its name; a single column
``weight`` makes a binary machine.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tmverify.errors import ModelFormatError, shown
from tmverify.model import Model
from tmverify.model.rules import MAX_TEXT_BYTES, OPTIONS, build, from_json

_NUMBERS = re.compile(r"\s*([+-]?\d{1,12}(\s+[+-]?\d{1,12})*)?\s*", re.ASCII)
_AND = re.compile(r"\sand\s")
_INTEGER = re.compile(r"\s*[+-]?\d{1,12}\s*", re.ASCII)


def from_clauses(path: str | os.PathLike[str]) -> Model:
    """Read a clause list, ``.json`` or ``.csv``.

    Raises
    ------
    ModelFormatError
        If the file is not exactly such a list; the message says where.
    OSError
        If it is missing or may not be read.
    """
    file = Path(path)
    readers = {".json": from_json, ".csv": _from_csv}
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise ModelFormatError(f"{file}: a clause list ends in .json or .csv. Got {file.suffix or 'nothing'}")
    try:
        return reader(_read(file))
    except ModelFormatError as error:
        raise ModelFormatError(f"{file}: {error}") from None


def _read(file: Path) -> str:
    status = os.stat(file)
    if not stat.S_ISREG(status.st_mode):
        raise ModelFormatError("not a regular file")
    if status.st_size > MAX_TEXT_BYTES:
        raise ModelFormatError(f"{status.st_size} bytes; a clause list has at most {MAX_TEXT_BYTES}")
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ModelFormatError("not text in UTF-8") from None


def _from_csv(text: str) -> Model:
    settings, table = _settings(text)
    rows = _rows(table)
    header = next(rows, None)
    if header is None or len(header) < 2 or header[0].strip().lower() != "clause":
        raise ModelFormatError("the table must begin with the line clause,weight or clause,<class>,<class>,…")
    _take_classes(settings, [label.strip() for label in header[1:]])
    _check_names(settings.get("feature_names"))
    literals: list[list[Any]] = []
    weights = []
    for j, (first, *cells) in enumerate(rows):
        if len(cells) != len(header) - 1:
            raise ModelFormatError(f"clause {j} has {len(cells) + 1} columns, and the table {len(header)}")
        numbers = _NUMBERS.fullmatch(first)
        literals.append([*map(int, first.split())] if numbers else [*map(str.strip, _AND.split(first))])
        wrong = [cell for cell in cells if not _INTEGER.fullmatch(cell)]
        if wrong:
            raise ModelFormatError(f"clause {j} has the weight {shown(wrong[0])}; weights are integers")
        weights.append([*map(int, cells)])
    return build(settings.pop("n_features", None), literals, weights, settings, len(header) - 1)


def _check_names(names: Any) -> None:
    """Raise ModelFormatError for a name that could be taken for literals."""
    for name in names if isinstance(names, list) else []:
        if isinstance(name, str) and (
            _NUMBERS.fullmatch(name) or _AND.search(f" {name} ") or name != name.strip()
        ):
            raise ModelFormatError(
                f"a table can't say the feature name {shown(name)}, which could be read as numbers or as two "
                "literals: leave the names out, or write JSON"
            )


def _take_classes(settings: dict[str, Any], labels: list[str]) -> None:
    if labels == ["weight"]:
        return
    if len(labels) < 2:
        raise ModelFormatError("a single column of weights must be called weight; else there is one a class")
    classes = [int(label) for label in labels] if all(map(_INTEGER.fullmatch, labels)) else labels
    if settings.setdefault("classes", classes) != classes:
        raise ModelFormatError("the classes set above the table are not those of its columns")


def _settings(text: str) -> tuple[dict[str, Any], str]:
    """The values set in the first lines, which begin with #, and the rest of the text."""
    settings: dict[str, Any] = {}
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("#"):
            return settings, "\n".join(lines[i:])
        key, equals, value = (part.strip() for part in line.strip().lstrip("#").partition("="))
        if not equals:
            _check_remark(key, i)
            continue
        if key not in ("n_features", *OPTIONS) or key in settings:
            known = ", ".join(("n_features", *OPTIONS))
            raise ModelFormatError(f"line {i + 1} sets {shown(key)}; each of these can be set once: {known}")
        try:
            settings[key] = json.loads(value)
        except (ValueError, RecursionError):
            raise ModelFormatError(f"line {i + 1}: {key} must be as in JSON. Found {shown(value)}") from None
    return settings, ""


def _check_remark(text: str, i: int) -> None:
    """Raise ModelFormatError for a comment that begins like a setting: it may have been meant as one."""
    words = re.findall(r"\w+", text.casefold())
    if words and words[0] in ("n_features", *OPTIONS):
        raise ModelFormatError(
            f"line {i + 1} sets nothing: write {words[0]} = and a value as in JSON, or another remark"
        )


def _rows(table: str) -> Iterator[list[str]]:
    try:
        for row in csv.reader(io.StringIO(table, newline=""), strict=True):
            if row:
                yield row
    except csv.Error as error:
        raise ModelFormatError(f"no valid CSV ({error}); JSON has fewer limits") from None
