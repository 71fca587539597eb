"""The kinds of columns where they are one: a flag, a number of one cut and a category of two values.

A model over flags is rewritten for columns of the other kinds: what it asks about a flag, it asks about the
bit of the cut, or about either or both of the categories' bits. Every answer stays as it is.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.batteries import few_or_many
from tmverify.engines import auto, brute
from tmverify.engines.engine import Deadline, Decide, Outcome
from tmverify.engines.sat import specialised
from tmverify.engines.search import engine as search
from tmverify.properties.allowed import Allowed

FOREVER = Deadline(None)
KINDS = ("flag", "number", "category", "mixed")
ENGINES: dict[str, Decide] = {
    "brute": brute.decide,
    "sat": lambda query, deadline, log=None: specialised.solve(query),
    "search": search.decide,
    "auto": auto.decide,
}


def column(kind: str, name: str) -> tv.Flag | tv.Number | tv.Category:
    if kind == "flag":
        return tv.Flag(name)
    return tv.Number(name, (10,)) if kind == "number" else tv.Category(name, ("no", "yes"))


def literals(rng: np.random.Generator, kind: str, first: int, positive: bool) -> list[int]:
    """What says of the column whose first bit is ``first`` that it is 1, or that it is 0."""
    if kind != "category":
        return [first if positive else -first]
    both = [-first, first + 1] if positive else [first, -first - 1]
    return both if rng.random() < 0.3 else [both[int(rng.integers(2))]]


class Rewritten:
    """Models over flags, an input and rules, for columns of given kinds."""

    def __init__(self, kinds: list[str]) -> None:
        self.kinds = kinds
        parts = [column(kind, f"c{i}") for i, kind in enumerate(kinds)]
        self.space = tv.Space(parts)
        self.first = np.cumsum([1, *(part.n_bits for part in parts)]).tolist()

    def model(self, rng: np.random.Generator, flags: tv.Model) -> tv.Model:
        clauses = [
            [
                lit
                for f in clause
                for lit in literals(rng, self.kinds[abs(f) - 1], self.first[abs(f) - 1], f > 0)
            ]
            for clause in flags.clauses
        ]
        return tv.Model.from_clauses(
            self.space.n_bits, clauses, flags.weights, bias=flags.bias, tie=flags.tie, clamp=flags.clamp,
            space=self.space,
        )  # fmt: skip

    def bits(self, x: list[int]) -> list[int]:
        return [
            bit
            for kind, value in zip(self.kinds, x, strict=True)
            for bit in ([1 - value, value] if kind == "category" else [value])
        ]

    def allowed(self, up: list[str], **given: Any) -> Allowed:
        """Columns that may only be set: for categories, that may only become the second value."""
        names = {f"c{i}": kind for i, kind in enumerate(self.kinds)}
        within = {name: ["yes"] for name in up if names[name] == "category"}
        increase = [name for name in up if names[name] != "category"]
        return Allowed(increase=increase, within=within or None, **given)


def random_flags(rng: np.random.Generator, n: int, outputs: int) -> tv.Model:
    clauses = []
    for _ in range(int(rng.integers(1, 9))):
        features = rng.choice(n, size=min(n, int(rng.integers(1, 4))), replace=False) + 1
        clauses.append((features * rng.choice([-1, 1], len(features))).tolist())
    return tv.Model.from_clauses(
        n,
        clauses,
        rng.integers(-3, 4, size=(outputs, len(clauses))),
        bias=rng.integers(-2, 3, size=outputs),
        tie="positive" if rng.random() < 0.5 else "negative",
        clamp=int(rng.integers(1, 4)) if rng.random() < 0.25 else None,
    )


def queries(
    rng: np.random.Generator, kinds: list[str], models: tuple[tv.Model, tv.Model], x: list[int], given: Any
) -> list[tv.Query]:
    form = Rewritten(kinds)
    a, b = (form.model(rng, model) for model in models)
    z, allowed = form.bits(x), form.allowed(**given)
    return [
        tv.robustness_query(a, z, None, allowed=allowed),
        tv.robustness_query(a, z, None, allowed=allowed, target=a.classes[-1]),
        tv.similarity_query(a, b, z, None, allowed=allowed),
        tv.equivalence_query(a, b),
    ]


@few_or_many(120, 1500)
def test_the_kinds_give_the_same_answers(n_cases: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "sat", ENGINES["sat"])
    rng = np.random.default_rng(0)
    seen: Counter[Any] = Counter()
    for number in range(n_cases):
        n, outputs = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        models = (random_flags(rng, n, outputs), random_flags(rng, n, outputs))
        x = rng.integers(0, 2, n).tolist()
        names = [f"c{i}" for i in range(n)]
        given: dict[str, Any] = {"up": [name for name in names if rng.random() < 0.2]}
        if rng.random() < 0.4:
            given["cost"] = {name: int(rng.integers(0, 4)) for name in names if rng.random() < 0.5}
        if rng.random() < 0.3:
            given["freeze"] = [name for name in names if rng.random() < 0.3]
        given["distance"] = "steps" if rng.random() < 0.5 else "columns"
        answers: list[list[Any]] = []
        for kind in KINDS:
            kinds = rng.choice(KINDS[:3], n).tolist() if kind == "mixed" else [kind] * n
            asked = queries(rng, kinds, models, x, given)
            solve = ENGINES[list(ENGINES)[number % 4]]
            found: list[Any] = []
            for query in asked:
                if query.region.center is not None:
                    radius = search.nearest(query, FOREVER)
                    assert radius.lower == radius.upper
                    found.append(radius.upper)
                    seen["radius", min(radius.upper, 3)] += 1
                    last = 2 if radius.upper == math.inf else int(radius.upper)
                    for epsilon in {last, max(0, last - 1)}:
                        near = replace(query, region=query.region.within(epsilon))
                        found.append(solve(near, FOREVER).outcome)
                else:
                    found.append(solve(query, FOREVER).outcome)
                seen[found[-1]] += 1
            answers.append(found)
        assert answers == [answers[0]] * len(KINDS)
    assert min(seen[Outcome.WITNESS], seen[Outcome.NO_WITNESS]) > n_cases // 2
    assert min(seen["radius", r] for r in (0, 1, 2, 3)) > n_cases // 10
