"""Seeded random tiny questions over columns, and their answers straight from the definitions.

A ``ColumnCase`` is small enough to look at every pattern of bits: those that ``Space.possible`` accepts, at
costs that are counted here, column by column, from the arguments as a caller gives them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.tiny import all_inputs, perturbed
from tmverify.model.evaluate import reference_classes
from tmverify.properties.allowed import Allowed
from tmverify.space import Column

Rng = np.random.Generator
Bits = NDArray[np.uint8]
MAX_BITS = 8
QUESTIONS = ("robustness", "target", "similarity", "equivalence")


def random_part(rng: Rng, name: str) -> tv.Flag | tv.Number | tv.Category | tv.Text:
    """Any kind of column; a number may have no cut, and then no bit but that of a missing value."""
    kind, missing = int(rng.integers(0, 10)), rng.random() < 0.4
    if kind < 2:
        return tv.Flag(name)
    if kind == 2:
        return tv.Text((f"{name}a", f"{name}b"), name)
    if kind < 6:
        cuts = sorted(rng.choice(9, int(rng.integers(0, 5)), replace=False).tolist())
        return tv.Number(name, tuple(cuts), missing)
    values = tuple(f"{name}{i}" for i in range(int(rng.integers(1, 5))))
    return tv.Category(name, values, rng.random() < 0.4, missing)


def random_space(rng: Rng, most: int = 4, bits: int = MAX_BITS) -> tv.Space:
    """One to ``most`` parts, and one to ``bits`` bits."""
    while True:
        parts = [random_part(rng, f"c{i}") for i in range(int(rng.integers(1, most + 1)))]
        if 1 <= sum(part.n_bits for part in parts) <= bits:
            return tv.Space(parts)


def random_row(rng: Rng, space: tv.Space) -> Bits:
    """A possible input."""
    values = [column.part.patterns[rng.integers(len(column.values))] for column in space.columns]
    return np.concatenate(values).astype(np.uint8)


def random_machine(rng: Rng, space: tv.Space, outputs: int) -> tv.Model:
    """A model whose clauses often look at one bit of a column, sometimes at several."""
    n, n_clauses = space.n_bits, int(rng.integers(1, 9))
    clauses = []
    for _ in range(n_clauses):
        features = rng.choice(n, size=min(n, int(rng.integers(1, 6))), replace=False) + 1
        clauses.append((features * rng.choice([-1, 1], len(features))).tolist())
    heaviest = int(rng.choice([1, 3]))
    return tv.Model.from_clauses(
        n,
        clauses,
        rng.integers(-heaviest, heaviest + 1, size=(outputs, n_clauses)),
        bias=rng.integers(-2, 3, size=outputs),
        tie="positive" if rng.random() < 0.5 else "negative",
        clamp=int(rng.integers(1, 4)) if rng.random() < 0.25 else None,
        space=space,
    )


def some(rng: Rng, names: Iterable[str], share: float) -> list[str]:
    return [name for name in names if rng.random() < share]


def random_allowed(rng: Rng, space: tv.Space) -> Allowed:
    """Each argument now and then; they never contradict each other."""
    if rng.random() < 0.08:
        mask = rng.random(space.n_bits) < 0.7
        directions: tuple[Any, ...] = (None, "add", "remove")
        return Allowed("bits", features=mask, direction=directions[int(rng.integers(3))])
    names = [column.name for column in space.columns]
    given: dict[str, Any] = {"distance": "steps" if rng.random() < 0.5 else "columns"}
    if rng.random() < 0.6:
        given["cost"] = {name: int(rng.integers(0, 5)) for name in some(rng, names, 0.6)}
    if rng.random() < 0.2:
        given["columns"] = some(rng, names, 0.7)
    elif rng.random() < 0.3:
        given["freeze"] = some(rng, names, 0.3)
    ordered = [column.name for column in space.columns if column.kind != "category"]
    if rng.random() < 0.4:
        up = set(some(rng, ordered, 0.4))
        given["increase"] = sorted(up)
        given["decrease"] = some(rng, [name for name in ordered if name not in up], 0.4)
    if rng.random() < 0.4:
        chosen = [column for column in space.columns if rng.random() < 0.5]
        given["within"] = {column.name: random_values(rng, column) for column in chosen}
    (own,) = rng.spawn(1)  # so that it changes no other draw
    return Allowed(**given, known_values=bool(own.random() < 0.25))


def random_values(rng: Rng, column: Column) -> Any:
    """What ``within`` takes: a range of a number, or a list of values."""
    if isinstance(column.part, tv.Number) and rng.random() < 0.5:
        low, high = sorted(rng.integers(-1, 10, 2).tolist())
        return (None if rng.random() < 0.2 else low, None if rng.random() < 0.2 else high)
    n = len(column.values)
    return [column.values[i] for i in rng.permutation(n)[: rng.integers(1, n + 1)]]


def values_of(space: tv.Space, inputs: Bits) -> NDArray[np.int64]:
    """The value of each column of each input, by comparing all patterns; -1 where none of them fits."""
    found = np.empty((len(inputs), len(space.columns)), np.int64)
    for c, column in enumerate(space.columns):
        own = inputs[:, None, column.bits.start : column.bits.stop]
        matches = (own == column.part.patterns).all(axis=2)
        found[:, c] = np.where(matches.any(axis=1), matches.argmax(axis=1), -1)
    return found


def values_in(space: tv.Space, x: Bits) -> list[int] | None:
    """The value of each column of one input; None if it is impossible."""
    found = values_of(space, x[None, :])[0].tolist()
    return None if -1 in found else found


def is_within(column: Column, value: int, given: Any) -> bool:
    """Whether ``within`` allows a value."""
    if not isinstance(given, tuple):
        return column.values[value] in given
    assert isinstance(column.part, tv.Number)
    low, high = (-5 if given[0] is None else given[0], 15 if given[1] is None else given[1])
    # A cut is a whole number, so that half steps meet every interval between two of them.
    points = np.arange(2 * low, 2 * high + 1) / 2
    return value in {sum(cut < point for cut in column.part.cuts) for point in points.tolist()}


def plain_costs(space: tv.Space, allowed: Allowed, x: Bits, inputs: Bits) -> list[int | None]:
    """What it costs to make each input of ``x``, from the words of the arguments; None if not allowed."""
    if allowed.distance == "bits":
        changed = inputs != x
        mask = np.ones(len(x), np.bool_) if allowed.features is None else np.asarray(allowed.features)
        wrong = {"add": x == 1, "remove": x == 0, None: np.zeros(len(x), np.bool_)}[allowed.direction]
        closed = (changed & (~mask | wrong)).any(axis=1).tolist()
        flips: list[int] = changed.sum(axis=1).tolist()
        return [None if no else n for no, n in zip(closed, flips, strict=True)]
    here = values_of(space, x[None, :])[0].tolist()
    prices = [
        [0 if v == before else plain_step(column, allowed, before, v) for v in range(len(column.values))]
        for column, before in zip(space.columns, here, strict=True)
    ]

    def total(there: list[int]) -> int | None:
        if -1 in here or -1 in there:
            return None
        costs = [price[v] for price, v in zip(prices, there, strict=True)]
        return None if None in costs else sum(cost for cost in costs if cost is not None)

    return [total(there) for there in values_of(space, inputs).tolist()]


def plain_step(column: Column, allowed: Allowed, before: int, after: int) -> int | None:
    """What a change of one column costs; None if it is not allowed."""
    name, part = column.name, column.part
    number = isinstance(part, tv.Number)
    ordered = not isinstance(part, tv.Number) or max(before, after) <= len(part.cuts)  # neither is missing
    rises = after > before
    if (
        name in allowed.freeze
        or (allowed.columns is not None and name not in allowed.columns)
        or (name in allowed.increase and not (ordered and rises))
        or (name in allowed.decrease and not (ordered and not rises))
    ):
        return None
    within = allowed.within or {}
    if name in within and not is_within(column, after, within[name]):
        return None
    if allowed.known_values and name not in within and column.values[after] in ("missing", "unseen"):
        return None
    each = 1 if allowed.cost is None else allowed.cost.get(name, 1)
    steps = abs(after - before) if allowed.distance == "steps" and number and ordered else 1
    return each * steps


@dataclass(frozen=True)
class ColumnCase:
    """A question over columns, whose answers are known for every budget."""

    question: str
    models: tuple[tv.Model, ...]
    x: Bits
    allowed: Allowed = field(default_factory=Allowed)
    target: int | None = None

    @property
    def space(self) -> tv.Space:
        return self.models[0].space

    def query(self, epsilon: int | None = None) -> tv.Query:
        """The question, within a budget; all that is allowed without one."""
        if self.question == "equivalence":
            return tv.equivalence_query(*self.models)
        first, last = self.models[0], self.models[-1]
        if self.question == "similarity":
            return tv.similarity_query(first, last, self.x, epsilon, allowed=self.allowed)
        target = None if self.target is None else first.classes[self.target]
        return tv.robustness_query(first, self.x, epsilon, allowed=self.allowed, target=target)

    @cached_property
    def inputs(self) -> list[tuple[int, Bits, bool]]:
        """Every input that is allowed: its cost, its bits, and whether it is a witness."""
        bits = all_inputs(self.space.n_bits)
        if self.allowed.distance != "bits":
            bits = bits[self.space.possible(bits)]
        said = [reference_classes(model, bits) for model in self.models]
        if self.question in ("robustness", "target"):
            own = reference_classes(self.models[0], self.x[None, :])[0]
            hit = said[0] != own if self.target is None else said[0] == self.target
        else:
            hit = said[0] != said[1]
        costs: list[int | None] = [0] * len(bits)
        if self.question != "equivalence":
            costs = plain_costs(self.space, self.allowed, self.x, bits)
        every = zip(costs, bits, hit.tolist(), strict=True)
        return [(cost, z, bool(wrong)) for cost, z, wrong in every if cost is not None]

    @property
    def radius(self) -> float:
        """The least cost of a witness."""
        return min((cost for cost, _, wrong in self.inputs if wrong), default=math.inf)

    def has_witness(self, epsilon: int) -> bool:
        return self.radius <= epsilon


def random_column_case(rng: Rng, question: str | None = None) -> ColumnCase:
    """Any question about a random space, under random rules."""
    asked = QUESTIONS[int(rng.integers(len(QUESTIONS)))] if question is None else question
    space = random_space(rng)
    outputs = int(rng.choice([1, 1, 2, 3])) if asked != "target" else int(rng.integers(2, 4))
    first = random_machine(rng, space, outputs)
    x, allowed = random_row(rng, space), random_allowed(rng, space)
    if asked in ("robustness", "target"):
        target = int(rng.integers(outputs)) if asked == "target" else None
        return ColumnCase(asked, (first,), x, allowed, target)
    second = random_machine(rng, space, outputs)
    if rng.random() < 0.5:
        second = replace(perturbed(rng, first), space=space)
    return ColumnCase(asked, (first, second), x, Allowed() if asked == "equivalence" else allowed)
