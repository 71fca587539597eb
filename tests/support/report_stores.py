"""Small stores for tests of reports, with answers made by hand so that every figure can be counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tmverify import Model
from tmverify.asking.bits import pack
from tmverify.campaign import Store, Task, TaskAnswer
from tmverify.engines import trust_in
from tmverify.properties.trust import CHECKED, REPLAYED
from tmverify.space import Category, Number, Part, Space, Text

Pair = tuple[Task, TaskAnswer | None]
VERSIONS = {"tmverify": "0.0.test", "python": "3"}


def machine(n_features: int = 4, *, clause: int = 1, **options: Any) -> Model:
    """A machine with one clause of one literal for, and one against."""
    return Model.from_clauses(n_features, [[clause], [-clause]], [1, -1], **options)


def task(
    question: str, x: Sequence[int] | None, *models: Model, names: Sequence[str] = (), **more: Any
) -> Task:
    """A question about an input, or about none."""
    called = tuple(names) or ("first", "second")[: len(models)]
    bits = None if x is None else pack(np.array(x))
    n_features = models[0].n_features
    hashes = tuple(model.content_hash for model in models)
    return Task(question=question, models=hashes, names=called, n_features=n_features, bits=bits, **more)


def answer(about: Task, status: str, *, witness: Sequence[int] | None = None, **more: Any) -> TaskAnswer:
    """The answer to a task, found by ``search`` in a tenth of a second unless ``more`` says otherwise."""
    found = None if witness is None else pack(np.array(witness))
    proved = trust_in(["search"]) if status == "holds" or more.get("lower") else ()
    rests_on = tuple(dict.fromkeys((*proved, *(REPLAYED if witness is not None else ()))))
    told: dict[str, Any] = {"seconds": 0.1, "engine": "search", "versions": VERSIONS, **more}
    return TaskAnswer(
        task=about.id,
        status=status,
        witness=found,
        trusts=CHECKED if "certificate_path" in more else rests_on,
        trusts_alone=rests_on,
        **told,
    )


def write_store(path: Path, pairs: Sequence[Pair], models: Sequence[tuple[str, Model]]) -> Path:
    """A store of these tasks and answers."""
    with Store.writing(path) as store:
        store.plan([about for about, _ in pairs], models)
        for about, found in pairs:
            if found is not None:
                store.keep(about, found)
    return path


def mixed_store(path: Path) -> Path:
    """Pictures of 2 x 2 pixels: four inputs at epsilon 1 and 2, with unknowns; radii of 2, 1, inf, open."""
    model = machine(classes=("cat", "dog"))
    inputs = [([1, 0, 0, 0], "cat"), ([0, 1, 0, 0], "dog"), ([1, 1, 0, 0], "cat"), ([0, 0, 1, 1], "dog")]
    pairs: list[Pair] = []
    for epsilon, statuses in ((1, "hvhu"), (2, "vvhu")):
        for index, ((x, label), status) in enumerate(zip(inputs, statuses, strict=True)):
            about = task(
                "robustness", x, model, index=index, label=label, data="test", image=(2, 2), epsilon=epsilon
            )
            flips = [1 - x[0], *x[1:]] if (index, epsilon) != (0, 2) else [x[0], 1, 1, x[3]]
            pairs.append((about, _verdict(about, status, flips, seconds=0.1 * (index + 1))))
    for index, (lower, upper) in enumerate(((2, 2), (1, 1), (math.inf, math.inf), (1, math.inf))):
        x, label = inputs[index]
        about = task("radius", x, model, index=index, label=label, data="test", image=(2, 2))
        exact = lower == upper
        near = {0: [0, 1, 0, 0], 1: [1, 1, 0, 0]}.get(index)
        more: dict[str, Any] = {} if exact else {"stop_reason": "timeout", "detail": "after 5 s"}
        decisions = None if near is None else (label, _other(label))
        found = answer(
            about,
            "exact" if exact else "unknown",
            witness=near,
            lower=lower,
            upper=upper,
            decisions=decisions,
            **more,
        )
        pairs.append((about, found))
    return write_store(path, pairs, [("first", model)])


def _verdict(about: Task, status: str, witness: list[int], *, seconds: float) -> TaskAnswer:
    if status == "v":
        decisions = (about.label, _other(about.label))
        return answer(about, "violated", witness=witness, decisions=decisions, seconds=seconds)
    if status == "u":
        return answer(about, "unknown", seconds=5.0, stop_reason="timeout", detail="after 5 s")
    return answer(about, "holds", seconds=seconds)


def _other(label: object) -> str:
    return "dog" if label == "cat" else "cat"


def two_model_store(path: Path, *, names: Sequence[str] = ("first", "second")) -> Path:
    """Features are words: similarity at epsilon 0 and 1, a radius, equivalence refuted by an input."""
    words = ("good", "bad", "film", "plot")
    a, b = machine(feature_names=words), machine(clause=2, feature_names=words)
    x = [1, 1, 0, 0]
    zero, one = (
        task("similarity", x, a, b, names=names, index=7, label=1, data="reviews", epsilon=epsilon)
        for epsilon in (0, 1)
    )
    radius = task("radius", x, a, b, names=names, index=7, label=1, data="reviews")
    same = task("equivalence", None, a, b, names=names)
    pairs: list[Pair] = [
        (zero, answer(zero, "holds")),
        (one, answer(one, "violated", witness=[1, 0, 0, 0], decisions=(1, 0))),
        (radius, answer(radius, "exact", lower=1, upper=1, witness=[0, 1, 0, 0], decisions=(0, 1))),
        (same, answer(same, "violated", witness=[1, 0, 0, 1], decisions=(1, 0))),
    ]
    return write_store(path, pairs, [(names[0], a), (names[1], b)])


def table_store(path: Path) -> Path:
    """Rows of a table with age and city: a possible change, and one to two cities at once."""
    space = Space([Number("age", (25, 40)), Category("city", ("Bergen", "Oslo"), other=True)], target="risk")
    model = Model.from_clauses(4, [[2], [-2]], [1, -1], space=space, classes=("high", "low"))
    rows = [
        ("31", "Oslo", "Ann", [1, 1, 0, 1]),
        ("24", "Bodø", "Bob", [1, 0, 0, 0]),
        ("66", "Oslo", "Cy", [1, 1, 1, 1]),
    ]
    pairs: list[Pair] = []
    for index, (age, city, name, witness) in enumerate(rows):
        x = space.encode([{"age": age, "city": city}])[0].tolist()
        row: dict[str, Any] = {"line": index + 2, "row_name": name, "raw": (age, city)}
        about = task("radius", x, model, index=index, label="low", data="people", **row)
        n = sum(a != b for a, b in zip(x, witness, strict=True))
        near = answer(about, "exact", lower=n, upper=n, witness=witness, decisions=("high", "low"))
        pairs.append((about, near))
    return write_store(path, pairs, [("first", model)])


def text_store(path: Path, *, raw: str | None = None, more: Sequence[Part] = ()) -> Path:
    """A text of four known words, of which the change removes one and adds another."""
    space = Space([Text(("good", "boring", "film", "plot"), "review"), *more], target="sentiment")
    n = space.n_bits
    model = Model.from_clauses(n, [[1], [-1]], [1, -1], space=space, classes=("bad", "fine"))
    text = "A <b>BORING</b> film; so boring, it's not good." if raw is None else raw
    x = [1, 1, 1, *[0] * (n - 3)]
    about = task(
        "robustness",
        x,
        model,
        index=0,
        line=2,
        label="fine",
        data="reviews",
        epsilon=2,
        raw=(text,) + ("0",) * len(more),
    )
    found = answer(about, "violated", witness=[1, 0, 1, 1, *x[4:]], decisions=("fine", "bad"))
    return write_store(path, [(about, found)], [("first", model)])


def rows_store(path: Path, text: str) -> Path:
    """``text`` wherever a user's words come in: columns, values, the target, names and cells of rows."""
    columns = [
        Number(f"number {text}", (25,)),
        Category(f"city {text}", (text, "Oslo"), other=True),
        Text(("good", "boring"), f"review {text}"),
    ]
    space = Space(columns, target=text)
    model = Model.from_clauses(5, [[1], [-1]], [1, -1], space=space)
    row = ("31", text, f"boring {text}")
    asked: dict[str, Any] = {"index": 0, "line": 2, "row_name": text, "data": "d", "epsilon": 2}
    about = task("robustness", [1, 1, 0, 0, 1], model, raw=row, **asked)
    found = answer(about, "violated", witness=[1, 1, 1, 0, 0], decisions=(1, 0))
    other = task("robustness", [1, 1, 0, 0, 1], model, raw=(text, text, text), **{**asked, "index": 1})
    wrong = answer(other, "violated", witness=[1, 0, 0, 0, 1], decisions=(1, 0))
    return write_store(path, [(about, found), (other, wrong)], [("first", model)])
