"""Questions for external solvers, each with the expected answer; and how a solution is read as an input."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.tiny import perturbed, random_case
from support.tiny_columns import least_cost, random_query
from tmverify.properties.allowed import Allowed


@dataclass(frozen=True)
class Question:
    """A query, and the least cost of a counterexample in its region (None: there is none)."""

    query: tv.Query
    nearest: int | None

    def check(self, z: NDArray[np.uint8] | None) -> None:
        """Whether a solver's answer is right: a counterexample, or None for unsatisfiable."""
        assert tv.decide(self.query).status == ("holds" if z is None else "violated")
        assert (self.nearest is None) == (z is None)
        if z is not None:
            assert self.query.refuted_by(z)

    def check_nearest(self, z: NDArray[np.uint8] | None, cost: float | None) -> None:
        """Whether a solver's nearest counterexample is one."""
        self.check(z)
        assert cost == self.nearest
        if z is not None:
            assert self.query.region.cost(z) == self.nearest


def tiny_questions(seed: int, n: int) -> Iterator[Question]:
    """Robustness, similarity and equivalence in turn, with every option; half of the regions are whole."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        case = random_case(rng)
        epsilon = case.a.n_features if rng.random() < 0.5 else case.epsilon
        yield _question(i % 3, case.a, case.b, case.x, epsilon, case.options)


def column_questions(seed: int, n: int) -> Iterator[Question]:
    """About columns of every kind, with every rule; brute force has the answer."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        query = random_query(rng)
        yield Question(query, least_cost(query))


def firm_questions(seed: int, n: int, *, n_features: int, n_clauses: int) -> Iterator[Question]:
    """The same of three classes, about inputs of a large margin: it takes several flips to change these."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        kind = i % 3
        a, other = (_random_model(rng, n_features, n_clauses) for _ in range(2))
        # Two machines that are alike everywhere but at a few inputs are too hard for most solvers.
        b = perturbed(rng, a) if kind == 1 else other
        X = rng.integers(0, 2, (200, n_features))
        ranked = np.sort(a.scores(X), axis=1)
        x = X[np.argmax(ranked[:, -1] - ranked[:, -2])]
        yield _question(kind, a, b, x, int(rng.integers(1, 4)), {"scope": "team"})


def _random_model(rng: np.random.Generator, n_features: int, n_clauses: int) -> tv.Model:
    sizes = rng.integers(1, 6, n_clauses)
    features = [rng.choice(n_features, size, replace=False) + 1 for size in sizes]
    clauses = [chosen * rng.choice([-1, 1], len(chosen)) for chosen in features]
    return tv.Model.from_clauses(n_features, clauses, rng.integers(-3, 4, (3, n_clauses)))


def _question(
    kind: int, a: tv.Model, b: tv.Model, x: NDArray[np.uint8], epsilon: int, options: dict[str, Any]
) -> Question:
    scope, allowed = options["scope"], Allowed(**{key: options[key] for key in options if key != "scope"})
    if kind == 0:
        query = tv.robustness_query(a, x, epsilon, scope=scope, allowed=allowed)
        radius = tv.robustness_radius(a, x, **options)
    elif kind == 1:
        query = tv.similarity_query(a, b, x, epsilon, scope=scope, allowed=allowed)
        radius = tv.similarity_radius(a, b, x, **options)
    else:
        epsilon = a.n_features
        query = tv.equivalence_query(a, b, scope=scope)
        radius = tv.similarity_radius(a, b, np.zeros(epsilon, int), scope=scope)
    return Question(query, _within(radius, epsilon))


def _within(radius: tv.Radius, epsilon: int) -> int | None:
    assert radius.radius is not None
    if math.isinf(radius.radius) or radius.radius > epsilon:
        return None
    return int(radius.radius)


def witness(text: str, values: Mapping[str, bool]) -> NDArray[np.uint8]:
    """The input that the comments of a file make of a solver's values; a minus sign means "is 0"."""
    found = {int(i): int(bit) for i, bit in re.findall(r"^\S+ fixed feature (\d+) = ([01])", text, re.M)}
    for sign, variable, i in re.findall(r"^\S+ bit (-?)(\w+) = feature (\d+)", text, re.M):
        assert int(i) not in found
        found[int(i)] = int(values[variable] != bool(sign))
    parts = {int(i) for i in re.findall(r"^\S+ part feature (\d+) = column", text, re.M)}
    assert parts.isdisjoint(found)
    said = {**found, **_features_of_columns(text, values)}
    assert found.items() <= said.items()  # SMT-LIB also defines the features of columns
    assert sorted(said) == list(range(len(said)))
    return np.array([said[i] for i in range(len(said))], np.uint8)


def _features_of_columns(text: str, values: Mapping[str, bool]) -> dict[int, int]:
    """The features of columns with values: of the value whose variable is true, or else of their own."""
    chosen: dict[str, str] = {}
    for variable, column in re.findall(r"^\S+ value (\w+) = column (\d+) is ", text, re.M):
        if values[variable]:
            assert column not in chosen
            chosen[column] = variable
    found: dict[int, int] = {}
    for column in re.findall(r"^\S+ column (\d+) \(.*\) is .*, unless a value of it is true$", text, re.M):
        what = f"value {chosen[column]}" if column in chosen else f"column {column}"
        for start, bits in re.findall(rf"^\S+ {what} from (\d+) = ([01]+)$", text, re.M):
            found |= {int(start) + i: int(bit) for i, bit in enumerate(bits)}
    return found
