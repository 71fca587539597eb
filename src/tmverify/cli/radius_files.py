"""The files of ``tmverify radius``: a line of CSV for every input, and the nearest inputs themselves."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from tmverify.cli.distances import Distance, Distances, number
from tmverify.drafts import replacing

_COLUMNS = ("index", "scope", "class", "radius", "lower", "upper", "nearest")
_MORE_COLUMNS = ("seconds", "engine", "stop_reason", "flips")


def save_csv(path: Path, distances: Distances) -> None:
    """Write the answers, in the order of the data; what is not known is left empty, infinity is ``inf``.

    ``nearest`` is what the model says of the nearest input known; of two models, ``against`` is what the
    second says of it. ``certificate`` is there if certificates were wanted.
    """
    two = len(distances.subject.models) == 2
    certified = distances.certificates.wanted
    more = [*(["against"] if two else []), *_MORE_COLUMNS, *(["certificate"] if certified else [])]
    with replacing(path) as draft, open(draft, "x", newline="", encoding="utf-8") as text:
        writer = csv.writer(text)
        writer.writerow([*_COLUMNS, *more])
        writer.writerows(_line(answer, two=two, certified=certified) for answer in distances.answers)


def save_nearest(path: Path, distances: Distances) -> None:
    """Write the witnesses: X, where they come from (X0, index), and the bounds; perhaps none."""
    found = [answer for answer in distances.answers if answer.found.witness is not None]
    shape = (len(found), distances.subject.X.shape[1])
    with replacing(path) as draft, open(draft, "xb") as file:
        np.savez_compressed(
            file,
            X=np.array([answer.found.witness for answer in found], np.uint8).reshape(shape),
            X0=np.array([answer.x for answer in found], np.uint8).reshape(shape),
            index=np.array([answer.index for answer in found], np.int64),
            lower=np.array([answer.found.lower for answer in found], np.int64),
            upper=np.array([answer.found.upper for answer in found], np.int64),
        )


def _line(answer: Distance, *, two: bool, certified: bool) -> list[Any]:
    found = answer.found
    first, second = answer.nearest
    flips = "" if found.flips is None else " ".join(map(str, found.flips.tolist()))
    reason = None if found.stop_reason is None else found.stop_reason.value
    return [
        answer.index,
        answer.scope,
        answer.label,
        *map(number, (found.radius, found.lower, found.upper)),
        *((first, second) if two else (second,)),
        round(found.seconds, 6),
        found.engine,
        reason,
        flips,
        *([answer.kept.path] if certified else []),
    ]
