"""Small stores for tests of reports, with answers made by hand so that every figure can be counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tmverify import Model
from tmverify.asking.task import pack
from tmverify.campaign import Store, Task, TaskAnswer
from tmverify.engines import trust_in
from tmverify.properties.trust import CHECKED, REPLAYED

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
