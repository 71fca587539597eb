"""Form: what a page needs to know to show an input and to change it: models, parts, columns, values.

The page keeps the input, as its bits. It changes a column by writing the pattern of one of its values, so
pixels, words, flags, numbers and categories are all changed in one way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.space import Category, Column, Flag, Image, Number, Space, Text
from tmverify.studio.opened import Opened, OpenModel

_PLAIN = ("0", "1")


def bits_text(bits: NDArray[np.uint8]) -> str:
    """Bits as they are sent: a text of 0 and 1."""
    return (bits + ord("0")).tobytes().decode()


def form_of(opened: Opened) -> dict[str, Any]:
    """All that does not depend on the input."""
    space, kind = opened.space, kind_of(opened)
    return {
        "models": [_model(each) for each in opened.models],
        "kind": kind,
        "target": space.target,
        "parts": _parts(opened),
        "columns": {} if kind == "bits" else _columns(space),
        "words": [word for part in _named_parts(space) if isinstance(part, Text) for word in part.words],
        "names": [column.name for column in space.columns] if kind == "bits" else [],
        "start": {"bits": bits_text(opened.start), "row": None if opened.data is None else 0},
    }


def kind_of(opened: Opened) -> str:
    """How an input is shown: as an image, a text, a table or bits."""
    space = opened.space
    if opened.image is not None:
        return "image"
    if space.is_text:
        return "text"
    return "bits" if all(part == Flag(part.name) for part in _named_parts(space)) else "table"


def _model(each: OpenModel) -> dict[str, Any]:
    model = each.model
    return {
        "name": each.file,
        "title": each.title,
        "classes": [str(label) for label in model.classes],
        "n_features": model.n_features,
        "n_clauses": model.n_clauses,
        "binary": model.n_outputs == 1,
        "hash": model.content_hash[:16],
        "weighted": bool((np.abs(model.weights) > 1).any()),
        "clamp": model.clamp,
    }


def _named_parts(space: Space) -> tuple[Any, ...]:
    """The parts, if anything is known of them."""
    return tuple(space.parts) if space.named else ()


def _parts(opened: Opened) -> list[dict[str, Any]]:
    """What a raw row holds; "start" is the first column of each part, "bit" its first bit."""
    space, shape = opened.space, opened.image
    if shape is not None:
        name = next((part.name for part in _named_parts(space) if isinstance(part, Image)), "image")
        return [_image(name, shape, 0, 0)]
    if not space.named:
        return [{"kind": "bits", "name": "bits", "start": 0, "bit": 0, "n": space.n_bits}]
    found: list[dict[str, Any]] = []
    column = bit = 0
    for part in space.parts:
        if isinstance(part, Image):
            found.append(_image(part.name, part.shape, column, bit))
        elif isinstance(part, Text):
            found.append({"kind": "text", "name": part.name, "start": column, "bit": bit, "n": part.n_bits})
        else:
            found.append({"kind": part.kind, "name": part.name, "start": column, "bit": bit})
        column += part.n_bits if isinstance(part, Image | Text) else 1
        bit += part.n_bits
    return found


def _image(name: str, shape: tuple[int, ...], column: int, bit: int) -> dict[str, Any]:
    channels = shape[2] if len(shape) == 3 else 1
    return {
        "kind": "image",
        "name": name,
        "shape": list(shape[:2]),
        "channels": channels,
        "start": column,
        "bit": bit,
    }


def _columns(space: Space) -> dict[str, dict[str, Any]]:
    """The columns that are neither pixels nor words of a text, by their number."""
    found: dict[str, dict[str, Any]] = {}
    place = 0
    for part in _named_parts(space):
        if isinstance(part, Image | Text):
            place += part.n_bits
            continue
        found[str(place)] = _column(space.columns[place])
        place += 1
    return found


def _column(column: Column) -> dict[str, Any]:
    part = column.part
    missing = len(column.values) - 1 if isinstance(part, Number | Category) and part.missing else None
    unseen = len(part.categories) if isinstance(part, Category) and part.other else None
    return {
        "name": column.name,
        "kind": column.kind,
        "values": list(column.values),
        "patterns": [bits_text(pattern) for pattern in part.patterns],
        "bits": [column.bits.start, column.bits.stop],
        "cuts": list(part.cuts) if isinstance(part, Number) else None,
        "missing": missing,
        "unseen": unseen,
    }
