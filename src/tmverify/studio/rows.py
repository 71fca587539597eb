"""Rows: the user's rows in a studio, found and ordered; and their radii, as far as they are known."""

from __future__ import annotations

import math
from typing import Any

from tmverify.errors import InvalidInputError
from tmverify.space import Text
from tmverify.space.text import words_in_place
from tmverify.studio.asked import Filter, Page
from tmverify.studio.form import bits_text
from tmverify.studio.opened import Data, Opened

_MOST_PIXELS = 1024  # of a picture that is shown small
_NOT_KNOWN = (0, math.inf)


class Rows:
    """The rows of a studio."""

    def __init__(self, opened: Opened) -> None:
        assert opened.data is not None
        self.data: Data = opened.data
        self._small = opened.image is not None and opened.named.n_features <= _MOST_PIXELS
        self.radii: dict[int, tuple[float, float]] = {}  # lower and upper bounds, of the first model

    def page(self, asked: Page) -> dict[str, Any]:
        """Some of the rows that a filter lets through, in order."""
        found = self.found(asked.filter)
        if asked.sort == "radius":
            found = sorted(found, key=self._nearest_first)
        shown = found[asked.offset : asked.offset + asked.limit]
        return {"total": len(found), "rows": [self._short(row) for row in shown]}

    def found(self, asked: Filter) -> list[int]:
        """The rows that a filter lets through, by number."""
        data, text = self.data, (asked.text or "").lower()
        decided, labels = data.decisions[0], data.labels
        return [
            row
            for row in range(len(data))
            if (asked.decided is None or str(decided[row]) == asked.decided)
            and (asked.labelled is None or (labels[row] is not None and str(labels[row]) == asked.labelled))
            and (not asked.wrong or (labels[row] is not None and labels[row] != decided[row]))
            and (not text or text in data.searched[row])
        ]

    def unranked(self, asked: Filter, limit: int) -> list[int]:
        """The first rows whose radius is not known."""
        return [row for row in self.found(asked) if row not in self.radii][:limit]

    def whole(self, row: int) -> dict[str, Any]:
        """One row, with its bits and its cells."""
        data, cells = self.data, self.data.cells(row)
        texts = [] if cells is None else [str(cell) for cell in cells.values()]
        return {
            **self._about(row),
            "bits": bits_text(data.inputs.X[row]),
            "cells": cells,
            "text": texts[0] if len(texts) == 1 else None,
        }

    def _nearest_first(self, row: int) -> tuple[bool, float, float]:
        lower, upper = self.radii.get(row, _NOT_KNOWN)
        return row not in self.radii, lower, upper

    def _short(self, row: int) -> dict[str, Any]:
        small = {"thumb": {"bits": bits_text(self.data.inputs.X[row])}} if self._small else {}
        return {**self._about(row), **small}

    def _about(self, row: int) -> dict[str, Any]:
        data, label = self.data, self.data.labels[row]
        lower, upper = self.radii.get(row, _NOT_KNOWN)
        return {
            "index": row,
            "name": data.name(row),
            "line": data.line(row),
            "label": None if label is None else str(label),
            "decision": str(data.decisions[0][row]),
            "decisions": [str(own[row]) for own in data.decisions],
            "radius": int(lower) if lower == upper != math.inf else None,
            "at_least": int(lower) if row in self.radii and lower != math.inf else None,
            "never": lower == math.inf,
        }


def encoded_text(opened: Opened, text: str, name: str | None) -> dict[str, Any]:
    """The bits of a text, and where in it the known words are: from which character, to which, its column."""
    parts = [part for part in opened.space.parts if isinstance(part, Text)] if opened.space.named else []
    part = next((part for part in parts if name in (None, part.name)), None)
    if part is None:
        raise InvalidInputError("The model reads no such text.")
    start = 0
    for each in opened.space.parts:
        if each is part:
            break
        start += each.n_bits if each.kind in ("text", "image") else 1
    known = [
        [at, at + len(word), start + part.places[word]]
        for word, at in words_in_place(text)
        if word in part.places
    ]
    return {"bits": bits_text(part.encode([text])[0]), "known": known}


def encoded_cells(opened: Opened, cells: dict[str, Any]) -> dict[str, Any]:
    """The bits of a row that is given by its cells."""
    return {"bits": bits_text(opened.space.encode([cells], row_names=["this row"])[0])}
