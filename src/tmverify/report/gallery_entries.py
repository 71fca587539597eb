"""Entries: changes as the gallery shows them: pictures, or the names of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tmverify.campaign.store import StoredModel
from tmverify.model import Label
from tmverify.model.names import feature_name
from tmverify.report.gallery import Change
from tmverify.report.pictures import marked, picture
from tmverify.report.words import bounds_text, decisions_text, seconds_text

_MAX_CHIPS = 40
_MAX_PLAIN = 14
_ALSO = "also there"
_PICTURE = 92  # CSS pixels of the longer side


@dataclass(frozen=True, slots=True)
class Picture:
    """An address for ``<img>``, what is to be seen, in a word and in full, and its size."""

    source: str
    caption: str
    said: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Chips:
    """Some features by name, ``more`` of them left out; ``kind`` is added, removed or plain."""

    kind: str
    caption: str
    names: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A change in words and pictures; ``places`` are the numbers of the rows that it stands for."""

    places: tuple[int, ...]
    heading: str
    label: str | None
    model: str
    decisions: tuple[str, str] | None
    speakers: tuple[str, ...]
    misclassified: bool
    size: str
    pictures: tuple[Picture, ...]
    chips: tuple[Chips, ...]
    facts: Mapping[str, str]
    trusts: tuple[str, ...]


def entry_of(change: Change, models: Mapping[str, StoredModel], asked: Sequence[str]) -> Entry:
    """What to show of a change; ``asked`` says what it answers."""
    task, answer = change.row.task, change.row.answer
    assert answer is not None
    decisions = decisions_text(task, answer)
    one, plain = len(task.models) == 1, task.scope == "team"
    return Entry(
        places=change.places,
        heading="any input" if task.index is None else f"input {task.index}",
        label=None if task.label is None else str(task.label),
        model=change.subject.model,
        decisions=decisions,
        speakers=() if one else change.subject.names,
        misclassified=one and plain and _wrong(task.label, answer.decisions),
        size=_size(change),
        pictures=_pictures(change),
        chips=() if _shape(change) is not None else _chips(change, task.named(models)),
        facts=_facts(change, asked),
        trusts=answer.trusts,
    )


def _wrong(label: Label | None, decisions: tuple[Label, Label] | None) -> bool:
    return label is not None and decisions is not None and decisions[0] != label


def _size(change: Change) -> str:
    if change.flips is None:
        return "an input that tells them apart"
    n, added, removed = change.n_flips, len(change.added), len(change.removed)
    if not n:
        return "no change: they differ here already"
    kinds = ", ".join(f"{k} {kind}" for k, kind in ((added, "set"), (removed, "cleared")) if k)
    return f"{n} change{'s' if n > 1 else ''}: {kinds}"


def _facts(change: Change, asked: Sequence[str]) -> dict[str, str]:
    task, answer = change.row.task, change.row.answer
    assert answer is not None
    facts = {
        "answers": ", ".join(dict.fromkeys(asked)),
        "model": change.subject.model,
        "data": task.data,
        "scope": "" if task.scope == "team" else f"class {task.scope}",
        "allowed": change.subject.conditions,
        "radius": bounds_text(answer.lower, answer.upper),
        "found by": f"{answer.engine}, {seconds_text(answer.seconds)}",
        "certificate": answer.certificate_path or "",
    }
    return {name: said for name, said in facts.items() if said}


def _shape(change: Change) -> tuple[int, int] | None:
    shape = change.row.task.image
    fits = shape is not None and shape[0] * shape[1] == change.row.task.n_features
    return shape if fits else None


def _pictures(change: Change) -> tuple[Picture, ...]:
    shape = _shape(change)
    if shape is None:
        return ()
    scale = _PICTURE / max(shape)
    width, height = max(round(scale * shape[1]), 1), max(round(scale * shape[0]), 1)
    result = Picture(picture(change.witness, shape), "result", "the changed picture", width, height)
    if change.x is None:
        return (result,)
    pixels = [f"{_pixel(i, shape)} set" for i in change.added]
    pixels += [f"{_pixel(i, shape)} cleared" for i in change.removed]
    said = "; ".join(pixels[:_MAX_CHIPS]) or "none"
    return (
        Picture(picture(change.x, shape), "input", "the input", width, height),
        Picture(marked(change.x, change.witness, shape), "change", f"changed pixels: {said}", width, height),
        result,
    )


def _pixel(feature: int, shape: tuple[int, int]) -> str:
    """As pixels are named: from 0, like ``pixel_0_0``."""
    return f"row {feature // shape[1]} column {feature % shape[1]}"


def _chips(change: Change, model: StoredModel) -> tuple[Chips, ...]:
    before = change.witness if change.x is None else change.x
    present = [int(i) for i in np.flatnonzero(before)]
    removed = set(change.removed)
    kept = [i for i in present if i not in removed]
    rows = (
        ("added", "added", change.added),
        ("removed", "removed", change.removed),
        ("plain", _ALSO if change.x is not None else "the input has", kept),
    )
    return tuple(_some(kind, caption, features, model) for kind, caption, features in rows if features)


def _some(kind: str, caption: str, features: Sequence[int], model: StoredModel) -> Chips:
    most = _MAX_PLAIN if caption == _ALSO else _MAX_CHIPS
    shown = tuple(feature_name(model, i) for i in features[:most])
    return Chips(kind, caption, shown, len(features) - len(shown))
