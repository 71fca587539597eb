"""The questions whose certificates are measured, section by section."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

import tmverify as tv
from harness.certified import (
    Certifying,
    Kind,
    Plan,
)
from harness.equivalence import rebuilt, shuffled
from harness.robustness import REVIEWED
from harness.trained import RECIPES


def robustness_mnist(bench: Certifying) -> list[Kind]:
    rows = bench.subjects.of_each_class("mnist", bench.few(bench.images, 1))
    return [
        _robustness(bench, "mnist-2000", scope, epsilon, "auto", rows)
        for scope in ("team", "single")
        for epsilon in (1, 3, 5)
    ]


def radius_mnist(bench: Certifying) -> list[Kind]:
    rows = bench.subjects.shuffled("mnist")[: bench.few(bench.radius_inputs, 10)]
    return [_radius(bench, "mnist-2000", rows)]


def sat_mnist(bench: Certifying) -> list[Kind]:
    """Epsilon 1 is settled by bounds, mostly before there is a formula; hence 3 and 5 as well."""
    rows = bench.subjects.of_each_class("mnist", bench.few(bench.images, 1))
    chosen = np.random.default_rng(bench.subjects.seed).permutation(len(rows))
    some = [rows[i] for i in chosen[: bench.few(bench.sat_inputs, 3)]]
    return [_robustness(bench, "mnist-2000", "team", epsilon, "sat", some) for epsilon in (1, 3, 5)]


def imdb(bench: Certifying) -> list[Kind]:
    n = bench.few(bench.reviews, 5)
    rows = bench.subjects.that_all_classify("imdb", REVIEWED, n)
    kinds = [_robustness(bench, "imdb-s2-a", "team", epsilon, "auto", rows) for epsilon in (1, 3)]
    return [*kinds, _radius(bench, "imdb-s2-a", bench.subjects.shuffled("imdb")[:n])]


def equivalence(bench: Certifying) -> list[Kind]:
    kinds = []
    for name in ("imdb-s2-a", "mnist-500", "mnist-2000"):
        for what, copy in {"reordered": shuffled, "split": split}.items():
            other = cache(partial(_copy, bench, name, copy))
            kinds.append(_equivalence(bench, name, what, other))
    return kinds


def split(model: tv.Model, rng: np.random.Generator) -> tv.Model:
    """A tenth of the clauses as two, with and against a feature they do not have; the order shuffled."""
    clauses = [tuple(int(lit) for lit in clause) for clause in model.clauses]
    weights = [model.weights]
    for j in map(int, rng.choice(model.n_clauses, model.n_clauses // 10, replace=False)):
        free = [f for f in range(1, model.n_features + 1) if f not in map(abs, clauses[j])]
        if clauses[j] and free:
            lit = int(rng.choice(free))
            clauses.append((*clauses[j], -lit))
            clauses[j] = (*clauses[j], lit)
            weights.append(model.weights[:, j : j + 1])
    return shuffled(rebuilt(model, clauses, np.concatenate(weights, axis=1)), rng)


def _copy(
    bench: Certifying, name: str, copy: Callable[[tv.Model, np.random.Generator], tv.Model]
) -> tv.Model:
    return copy(bench.subjects.model(name), np.random.default_rng(bench.subjects.seed))


def _robustness(bench: Certifying, name: str, scope: str, epsilon: int, engine: str, rows: list[int]) -> Kind:
    data = RECIPES[name].data
    limit = bench.sat_limit if engine == "sat" else bench.limit

    def scope_at(row: int) -> int | str:
        return scope if scope == "team" else bench.subjects.test_label(data, row)

    def ask(row: int, certificate: bool) -> tv.Verdict:
        return tv.check_robustness(
            bench.subjects.model(name),
            bench.subjects.test_input(data, row),
            epsilon,
            scope=scope_at(row),
            timeout=limit,
            engine=engine,
            certificate=certificate,
        )

    return Kind(
        {
            "machine": name,
            "question": "robustness",
            "scope": scope,
            "epsilon": epsilon,
            "against": None,
            "engine": engine,
        },
        rows,
        ask,
        lambda: [bench.subjects.model(name)],
        lambda row: {"question": "robustness", "scope": scope_at(row), "epsilon": epsilon, "inputs": 1},
    )


def _radius(bench: Certifying, name: str, rows: list[int]) -> Kind:
    def ask(row: int, certificate: bool) -> tv.Radius:
        x = bench.subjects.test_input(RECIPES[name].data, row)
        model = bench.subjects.model(name)
        return tv.robustness_radius(model, x, timeout=bench.limit, certificate=certificate)

    return Kind(
        {
            "machine": name,
            "question": "radius",
            "scope": "team",
            "epsilon": None,
            "against": None,
            "engine": "auto",
        },
        rows,
        ask,
        lambda: [bench.subjects.model(name)],
        lambda row: {"question": "robustness", "scope": "team", "epsilon": None, "inputs": 1},
    )


def _equivalence(bench: Certifying, name: str, what: str, other: Callable[[], tv.Model]) -> Kind:
    def ask(_: int, certificate: bool) -> tv.Verdict:
        model = bench.subjects.model(name)
        return tv.check_equivalence(model, other(), timeout=bench.limit, certificate=certificate)

    return Kind(
        {
            "machine": name,
            "question": "equivalence",
            "scope": "team",
            "epsilon": None,
            "against": f"a copy, {what}",
            "engine": "auto",
        },
        [0],
        ask,
        lambda: [bench.subjects.model(name), other()],
        lambda row: {"question": "equivalence", "scope": "team", "epsilon": None, "inputs": 1},
    )


SAT_NOTE = (
    "With recording, sat goes another way than without (only steps that the checker can follow, and one kind "
    "of counter): the ratio compares the two ways, and is not what writing costs."
)
PLANS = (
    Plan("robustness-mnist", "Robustness: MNIST", robustness_mnist),
    Plan("radius-mnist", "Exact radius: MNIST, team scope", radius_mnist),
    Plan("imdb", "Robustness and exact radius: IMDB", imdb),
    Plan("equivalence", "Equivalence, on every input, with a rewritten copy", equivalence),
    Plan("sat-mnist", "Robustness by SAT alone: MNIST", sat_mnist, SAT_NOTE),
)
