"""Seeded random tiny questions about columns of every kind, with every rule in play."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.tiny import perturbed, random_model
from tmverify.properties.allowed import Allowed

MAX_BITS = 9


def random_query(rng: np.random.Generator) -> tv.Query:
    """Robustness, perhaps with a target, similarity or equivalence; some regions have no budget."""
    space = random_space(rng)
    outputs = int(rng.integers(1, 4))
    a, other = (_model(rng, space.n_bits, outputs) for _ in range(2))
    b = perturbed(rng, a) if rng.random() < 0.5 else other
    a, b = with_space(a, space), with_space(b, space)
    scope: Any = "team" if rng.random() < 0.6 else int(rng.integers(len(a.classes)))
    kind = rng.choice(["robustness", "target", "similarity", "equivalence"], p=[0.4, 0.1, 0.3, 0.2])
    if kind == "equivalence":
        return tv.equivalence_query(a, b, scope=scope)
    x = random_row(rng, space)
    allowed = random_rules(rng, space)
    most = space.n_bits if allowed.distance == "bits" else 4
    epsilon = None if rng.random() < 0.4 else int(rng.integers(0, most + 1))
    if kind == "similarity":
        return tv.similarity_query(a, b, x, epsilon, scope=scope, allowed=allowed)
    target = int(rng.integers(len(a.classes))) if kind == "target" else None
    scope = "team" if kind == "target" else scope
    return tv.robustness_query(a, x, epsilon, scope=scope, allowed=allowed, target=target)


def least_cost(query: tv.Query) -> int | None:
    """What the cheapest counterexample costs, by looking at every input; None if there is none."""
    verdict = tv.decide(query, engine="brute")  # it looks at the cheapest inputs first
    if verdict.witness is None:
        assert verdict.status == "holds"
        return None
    return query.region.cost(np.asarray(verdict.witness, np.uint8))


def random_space(rng: np.random.Generator) -> tv.Space:
    """A category, and up to three other columns."""
    while True:
        parts = [_part(rng, f"column {i}", kind) for i, kind in enumerate([2, *rng.integers(4, size=3)])]
        space = tv.Space([parts[i] for i in rng.permutation(4)[: rng.integers(2, 5)]])
        if space.n_bits <= MAX_BITS and not space.only_flags:
            return space


def _part(rng: np.random.Generator, name: str, kind: int) -> Any:
    missing = bool(rng.random() < 0.3)
    if kind == 0:
        return tv.Flag(name)
    if kind == 1:
        return tv.Number(name, range(1, int(rng.integers(2, 5))), missing)
    if kind == 2:
        return tv.Category(name, ["a", "b", "c"][: rng.integers(1, 4)], bool(rng.random() < 0.4), missing)
    return tv.Text(["good", "bad"], name)


def _model(rng: np.random.Generator, n_features: int, outputs: int) -> tv.Model:
    """With many short clauses, so that most questions stay open; sometimes any."""
    if rng.random() < 0.2:
        return random_model(rng, n_features, outputs)
    n_clauses = int(rng.integers(4, 11))
    signed = [feature * sign for feature in range(1, n_features + 1) for sign in (-1, 1)]
    clauses = [rng.choice(signed, int(rng.integers(1, 4))).tolist() for _ in range(n_clauses)]
    return tv.Model.from_clauses(
        n_features,
        clauses,
        rng.integers(-3, 4, size=(outputs, n_clauses)),
        clamp=int(rng.integers(1, 5)) if rng.random() < 0.3 else None,
    )


def with_space(model: tv.Model, space: tv.Space) -> tv.Model:
    return tv.Model.from_clauses(
        model.n_features,
        list(model.clauses),
        model.weights,
        bias=model.bias,
        tie=model.tie,
        clamp=model.clamp,
        empty_clause=model.empty_clause,
        space=space,
    )


def random_row(rng: np.random.Generator, space: tv.Space) -> NDArray[np.uint8]:
    """The bits of a possible input."""
    rows = [rng.choice(column.part.patterns, axis=0) for column in space.columns]
    return np.concatenate(rows).astype(np.uint8)


def random_rules(rng: np.random.Generator, space: tv.Space) -> Allowed:
    """Any rules that do not contradict each other; rarely about bits."""
    if rng.random() < 0.1:
        return Allowed("bits", features=rng.random(space.n_bits) < 0.7)
    columns = [column for column in space.columns if rng.random() < 0.5]
    ordered = [column.name for column in columns if isinstance(column.part, tv.Number | tv.Flag)]
    up = [name for name in ordered if rng.random() < 0.3]
    return Allowed(
        "steps" if rng.random() < 0.4 else "columns",
        freeze=[column.name for column in columns if rng.random() < 0.1],
        increase=up,
        decrease=[name for name in ordered if name not in up and rng.random() < 0.3],
        within={
            column.name: [str(value) for value in rng.choice(column.values, 2)]
            for column in columns
            if rng.random() < 0.3
        },
        cost={column.name: int(rng.integers(0, 5)) for column in columns if rng.random() < 0.6},
    )
