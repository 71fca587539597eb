"""The gallery: for each input the nearest change that is known to alter a decision.

One input may have many answers with a counterexample: at several epsilons, by several engines, and from its
radius. They would all look much the same, so an input has one entry: the change with the fewest flips. The
entry lists all the answers that it stands for, since 2 flips answer epsilon 2, 3 and 5 alike.

Inputs that are pictures are drawn as tiny palette PNGs in ``data:`` addresses, a pixel for a feature. A PNG
is a signature and chunks (length, kind, content, CRC-32); here IHDR, PLTE, IDAT, IEND. Pixels are places in
the palette, two bits each, rows padded to whole bytes after a filter byte of 0
(https://www.w3.org/TR/png-3/). The page enlarges them: ``image-rendering: pixelated``.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.campaign import Asked, Task, TaskAnswer
from tmverify.campaign.store import StoredModel
from tmverify.model.names import feature_name
from tmverify.report.series import Series
from tmverify.report.words import bounds_text, decisions_text, question_text, seconds_text

_MAX_NAMES = 40
_MAX_UNCHANGED = 14  # how many names of unchanged features are shown
_PICTURE = 92  # CSS pixels of the longer side
OFF, ON, SET, CLEARED = range(4)
_PLAIN = ("f3f5f8", "1d2736", "f3f5f8", "1d2736")
_MARKED = ("f3f5f8", "c3cad5", "12b76a", "b3122a")  # a light green and a dark red differ even without hue


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A counterexample.

    Attributes
    ----------
    task, answer : where it comes from
    places : numbers, among all rows, of the answers that it stands for, its own first
    witness, flips : the changed input, and the features that differ from the input; None for equivalence
    """

    task: Task
    answer: TaskAnswer
    series: Series
    places: tuple[int, ...]
    witness: NDArray[np.uint8]
    flips: NDArray[np.intp] | None

    @property
    def n_flips(self) -> int:
        return 0 if self.flips is None else len(self.flips)

    @property
    def added(self) -> tuple[int, ...]:
        """The features that it sets."""
        return () if self.flips is None else tuple(int(i) for i in self.flips if self.witness[i])

    @property
    def removed(self) -> tuple[int, ...]:
        """The features that it clears."""
        return () if self.flips is None else tuple(int(i) for i in self.flips if not self.witness[i])

    @property
    def shape(self) -> tuple[int, int] | None:
        """Rows and columns, if the input is a picture."""
        shape = self.task.image
        return shape if shape is not None and shape[0] * shape[1] == self.task.n_features else None


@dataclass(frozen=True, slots=True)
class Gallery:
    """The changes that are shown, the nearest first; ``total`` counts those that are not shown, too."""

    changes: tuple[Change, ...]
    total: int


def gallery_of(rows: Sequence[Asked], series: Sequence[Series], *, limit: int) -> Gallery:
    """The nearest change of each input; ``series`` has the series of each row."""
    places: dict[object, list[int]] = {}
    for place, row in enumerate(rows):
        if row.answer is not None and row.answer.witness is not None:
            task = row.task
            about = task.models, task.data, task.index, task.bits, task.scope, task.mask, task.direction
            places.setdefault(about, []).append(place)
    found = [_nearest(rows, series, among) for among in places.values()]
    return Gallery(tuple(_classes_in_turn(found)[:limit]), len(found))


def _nearest(rows: Sequence[Asked], series: Sequence[Series], places: Sequence[int]) -> Change:
    """The change that stands for the answers at ``places``.

    It has the fewest flips; among equals, those with a certificate come first, then radii, then the smallest
    epsilon.
    """

    def preference(place: int) -> tuple[int, bool, bool, int]:
        task, flips = rows[place].task, rows[place].flips
        certified = rows[place].found.certificate_path is not None
        n_flips = 0 if flips is None else len(flips)
        return n_flips, not certified, not task.asks.is_distance, task.epsilon or 0

    first, *others = sorted(places, key=preference)
    best = rows[first]
    assert best.witness is not None
    return Change(
        task=best.task,
        answer=best.found,
        series=series[first],
        places=(first, *others),
        witness=best.witness,
        flips=best.flips,
    )


def _classes_in_turn(changes: Sequence[Change]) -> list[Change]:
    """The nearest first; among equally near ones, one of each class in turn."""
    seen: Counter[tuple[int, object]] = Counter()
    keyed = []
    for change in changes:
        kind = (change.n_flips, change.task.label)
        keyed.append((change.n_flips, seen[kind], change))
        seen[kind] += 1
    return [change for *_, change in sorted(keyed, key=lambda item: item[:2])]


@dataclass(frozen=True, slots=True)
class Picture:
    """An address for ``<img>``, a caption, a description in full, and the size in CSS pixels."""

    source: str
    caption: str
    description: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class FeatureNames:
    """Features by name, ``more`` of them left out; ``kind`` is added, removed or plain."""

    kind: str
    caption: str
    names: tuple[str, ...]
    more: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A change as the page shows it; ``speakers`` are the two models that disagree, if there are two."""

    change: Change
    heading: str
    decisions: tuple[str, str] | None
    speakers: tuple[str, ...]
    misclassified: bool
    size: str
    pictures: tuple[Picture, ...]
    features: tuple[FeatureNames, ...]
    facts: Mapping[str, str]


def entry_of(change: Change, rows: Sequence[Asked], models: Mapping[str, StoredModel]) -> Entry:
    """A change in words and pictures, or with the names of features if it is no picture."""
    task, decisions = change.task, change.answer.decisions
    one_model = len(task.models) == 1
    wrong = task.label is not None and decisions is not None and decisions[0] != task.label
    return Entry(
        change=change,
        heading="any input" if task.index is None else f"input {task.index}",
        decisions=decisions_text(task, change.answer),
        speakers=() if one_model else change.series.names,
        misclassified=one_model and task.scope == "team" and wrong,
        size=_size(change),
        pictures=() if change.shape is None else _pictures(change, change.shape),
        features=() if change.shape is not None else _features(change, task.named(models)),
        facts=_facts(change, rows),
    )


def _size(change: Change) -> str:
    if change.flips is None:
        return "an input that tells them apart"
    n = change.n_flips
    if not n:
        return "no change: they differ here already"
    kinds = ((len(change.added), "set"), (len(change.removed), "cleared"))
    return f"{n} change{'s' * (n > 1)}: " + ", ".join(f"{k} {kind}" for k, kind in kinds if k)


def _facts(change: Change, rows: Sequence[Asked]) -> dict[str, str]:
    task, answer = change.task, change.answer
    questions = dict.fromkeys(question_text(rows[place].task) for place in sorted(change.places))
    facts = {
        "answers": ", ".join(questions),
        "model": change.series.model,
        "data": task.data,
        "scope": "" if task.scope == "team" else f"class {task.scope}",
        "allowed": change.series.conditions,
        "radius": bounds_text(answer.lower, answer.upper),
        "found by": f"{answer.engine}, {seconds_text(answer.seconds)}",
        "certificate": answer.certificate_path or "",
        "rests on": "; ".join(answer.trusts),
    }
    return {name: fact for name, fact in facts.items() if fact}


def _pictures(change: Change, shape: tuple[int, int]) -> tuple[Picture, ...]:
    scale = _PICTURE / max(shape)
    size = max(round(scale * shape[1]), 1), max(round(scale * shape[0]), 1)
    x, result = change.task.x, Picture(picture(change.witness, shape), "result", "the changed picture", *size)
    if x is None:
        return (result,)
    kinds = (("set", change.added), ("cleared", change.removed))
    # Rows and columns count from 0, as in names of features: pixel_0_0.
    pixels = [f"row {i // shape[1]} column {i % shape[1]} {kind}" for kind, own in kinds for i in own]
    changed = "changed pixels: " + ("; ".join(pixels[:_MAX_NAMES]) or "none")
    return (
        Picture(picture(x, shape), "input", "the input", *size),
        Picture(marked(x, change.witness, shape), "change", changed, *size),
        result,
    )


def _features(change: Change, model: StoredModel) -> tuple[FeatureNames, ...]:
    x = change.task.x
    removed = set(change.removed)
    kept = [int(i) for i in np.flatnonzero(change.witness if x is None else x) if int(i) not in removed]
    unchanged = ("the input has", _MAX_NAMES) if x is None else ("also there", _MAX_UNCHANGED)
    groups = (
        ("added", "added", _MAX_NAMES, change.added),
        ("removed", "removed", _MAX_NAMES, change.removed),
        ("plain", *unchanged, kept),
    )
    found = []
    for kind, caption, most, features in groups:
        if features:
            names = tuple(feature_name(model, i) for i in features[:most])
            found.append(FeatureNames(kind, caption, names, len(features) - len(names)))
    return tuple(found)


def picture(bits: NDArray[np.uint8], shape: tuple[int, int]) -> str:
    """An input as an address for ``<img src>``."""
    return _address(bits.reshape(shape), _PLAIN)


def marked(x: NDArray[np.uint8], witness: NDArray[np.uint8], shape: tuple[int, int]) -> str:
    """An input, dimmed, with the pixels that the witness sets in green and those it clears in red."""
    changed = np.where(witness == x, x, np.where(witness == 1, SET, CLEARED))
    return _address(changed.reshape(shape), _MARKED)


def _address(pixels: NDArray[np.integer], palette: tuple[str, ...]) -> str:
    """The address of a PNG; ``pixels`` are places 0 to 3 in a palette of hexadecimal colours."""
    height, width = pixels.shape
    colours = b"".join(bytes.fromhex(colour) for colour in palette)
    header = struct.pack(">IIBBBBB", width, height, 2, 3, 0, 0, 0)
    chunks = (("IHDR", header), ("PLTE", colours), ("IDAT", zlib.compress(_rows(pixels), 9)), ("IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind.encode(), content) for kind, content in chunks)
    return "data:image/png;base64," + b64encode(png).decode()


def _rows(pixels: NDArray[np.integer]) -> bytes:
    two_bits = np.stack([pixels >> 1 & 1, pixels & 1], axis=-1).reshape(len(pixels), -1).astype(np.uint8)
    packed = np.packbits(two_bits, axis=1)
    return np.pad(packed, ((0, 0), (1, 0))).tobytes()


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
