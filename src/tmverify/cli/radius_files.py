"""The files of ``tmverify radius``: a line of CSV for every input, and the nearest inputs themselves."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np

from tmverify.atomic import replacing
from tmverify.cli.distances import Distance, Distances, number
from tmverify.cli.records import flips_json, names_array
from tmverify.model.names import Named

_COLUMNS = ("index", "scope", "class", "radius", "lower", "upper", "nearest")
_MORE_COLUMNS = ("seconds", "engine", "stop_reason", "flips", "flipped_features")


def save_csv(path: Path, distances: Distances) -> None:
    """Write the answers, in the order of the data; what is not known is left empty, infinity is ``inf``.

    ``nearest`` is what the model says of the nearest input known; of two models, ``against`` is what the
    second says of it. ``flips`` are indices with spaces between them, ``flipped_features`` their names as a
    list in JSON. ``certificate`` is there if certificates were wanted.
    """
    two = len(distances.subject.models) == 2
    certified = distances.certificates.wanted
    more = [*(["against"] if two else []), *_MORE_COLUMNS, *(["certificate"] if certified else [])]
    with replacing(path) as draft, open(draft, "x", newline="", encoding="utf-8") as text:
        writer = csv.writer(text)
        writer.writerow([*_COLUMNS, *more])
        model = distances.subject.named
        writer.writerows(_line(answer, model, two=two, certified=certified) for answer in distances.answers)


def save_nearest(path: Path, distances: Distances) -> None:
    """Write the witnesses: X, where they come from (X0, index), the bounds and names; perhaps none."""
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
            feature_names=names_array(distances.subject.named),
        )


def _line(answer: Distance, model: Named, *, two: bool, certified: bool) -> list[Any]:
    found = answer.found
    first, second = answer.nearest
    flips, names = flips_json(found, model).values()
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
        "" if flips is None else " ".join(map(str, flips)),
        "" if names is None else json.dumps(names),
        *([answer.kept.path] if certified else []),
    ]
