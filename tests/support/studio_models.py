"""Small models for tests of the studio, and rows for them, so that every figure can be counted by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from support.report_stores import answer, task, write_store
from tmverify import Model
from tmverify.model.file import load
from tmverify.space import Category, Flag, Image, Number, Space, Text

N_COUNTED = 6


def counting(n_features: int, counted: int, space: Space | None = None) -> Model:
    """Light iff at least half of the first features are on: each has a vote for, and one against."""
    literals = range(1, counted + 1)
    clauses = [[i] for i in literals] + [[-i] for i in literals]
    return Model.from_clauses(
        n_features, clauses, [1] * counted + [-1] * counted, classes=("dark", "light"), space=space
    )


def hard() -> Model:
    """A model whose radius takes a search: random clauses of four literals."""
    random = np.random.default_rng(0)
    places = [random.choice(np.arange(1, 41), 4, replace=False) for _ in range(200)]
    clauses = [(random.choice([-1, 1], 4) * own).tolist() for own in places]
    return Model.from_clauses(40, clauses, random.choice([-1, 1], 200), bias=40)


def write_pictures(folder: Path) -> tuple[Path, Path, Path]:
    """A model of pictures of 4 x 4 pixels, another one that looks at the first pixel only, and four rows.

    Row 0 has five of the six counted pixels on: 4 votes, three pixels from dark. Row 1 is dark, one pixel
    from light, and labelled light.
    """
    space = Space([Image((4, 4))], target="picture")
    first, second, rows = folder / "pictures.tm", folder / "corner.tm", folder / "pictures.npz"
    counting(16, N_COUNTED, space).save(first)
    counting(16, 1, space).save(second)
    X = np.zeros((4, 16), np.uint8)
    X[0, :5] = X[1, :2] = X[2, :6] = 1
    np.savez(rows, X=X, y=np.array(["light", "light", "light", "dark"]))
    return first, second, rows


def write_table(folder: Path) -> tuple[Path, Path]:
    """Who is over 40 or lives in Oslo is a good risk."""
    cities = ("Bergen", "Oslo", "Tromsø", "Bodø")
    parts = [Number("age", (25, 40, 60), missing=True), Category("city", cities), Flag("member")]
    space = Space(parts, target="risk")
    over_40, oslo = 2, 6  # literals
    model = Model.from_clauses(
        space.n_bits, [[over_40], [oslo]], [2, 2], bias=-1, space=space, classes=("bad", "good")
    )
    rows = folder / "people.csv"
    lines = ["name,age,city,member,risk", "Ann,31,Bergen,1,bad", "Bob,66,Oslo,0,good", "Cy,,Bodø,0,good"]
    rows.write_text("\n".join(lines), encoding="utf-8")
    model.save(folder / "people.tm")
    return folder / "people.tm", rows


def write_texts(folder: Path) -> tuple[Path, Path]:
    """Good and great speak for a film, boring against it, and outweighs one of them."""
    space = Space([Text(("good", "great", "boring", "film", "plot"), "review")], target="verdict")
    model = Model.from_clauses(5, [[1], [2], [3]], [1, 1, -2], space=space, classes=("bad", "fine"))
    rows = folder / "films.csv"
    lines = ["review,verdict", '"A good film, 😀 a great film.",fine', "A boring plot.,bad"]
    rows.write_text("\n".join(lines), encoding="utf-8")
    model.save(folder / "films.tm")
    return folder / "films.tm", rows


def write_bits(folder: Path) -> tuple[Path, Path]:
    """A model that knows nothing of its features."""
    rows = folder / "bits.npz"
    np.savez(rows, X=np.eye(8, dtype=np.uint8), y=np.zeros(8, int))
    counting(8, 3).save(folder / "bits.tm")
    return folder / "bits.tm", rows


def write_answers(folder: Path) -> Path:
    """A store of what was asked about the rows of ``write_pictures``; needs its files."""
    model = load(folder / "pictures.tm")
    X = np.load(folder / "pictures.npz")["X"]
    pairs = []
    for index, (status, n) in enumerate([("holds", 0), ("violated", 1), ("holds", 0), ("exact", 3)]):
        x = X[index].tolist()
        asked: dict[str, Any] = {"index": index, "label": "light", "data": "pictures", "image": (4, 4)}
        asked |= {} if status == "exact" else {"epsilon": 1}
        question = "radius" if status == "exact" else "robustness"
        about = task(question, x, model, names=["pictures"], **asked)
        found: dict[str, Any] = {}
        if n:
            found = {"witness": [1 - bit if 2 <= i < 2 + n else bit for i, bit in enumerate(x)]}
            found |= {"decisions": ("dark", "light")}
        if status == "exact":
            found |= {"lower": n, "upper": n}
        pairs.append((about, answer(about, status, **found)))
    return write_store(folder / "answers.db", pairs, [("pictures", model)])
