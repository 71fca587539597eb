"""Seeded random questions for ``explain``, and what their answers claim, held against every possible input.

``Asked`` keeps the arguments as a caller gives them; its ``truth`` counts what each input costs from these
words (``plain_costs``), and knows nothing of regions, engines or certificates.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import tmverify as tv
from support.columns import (
    Bits,
    Rng,
    plain_costs,
    random_allowed,
    random_machine,
    random_row,
    random_space,
    values_of,
)
from support.reasons import Row, Truth
from support.tiny import all_inputs
from tmverify.model.evaluate import reference_classes
from tmverify.properties.allowed import Allowed

Set = frozenset[int]


@dataclass(frozen=True)
class Asked:
    """A question about one input of a tiny model."""

    model: tv.Model
    x: Bits
    allowed: Allowed
    epsilon: int | None = None
    more: dict[str, Any] = field(default_factory=dict)
    """``target`` or ``scope``."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of ``explain``; a distance goes by either of its names."""
        allowed = self.allowed
        given: dict[str, Any] = {
            "distance": allowed.distance,
            "columns": allowed.columns,
            "freeze": allowed.freeze,
            "increase": allowed.increase,
            "decrease": allowed.decrease,
            "cost": allowed.cost,
            "known_values": allowed.known_values,
            "features": allowed.features,
            "direction": allowed.direction,
            **self.more,
        }
        if allowed.within is None and self.epsilon is not None:
            return {**given, "within": self.epsilon}
        return {**given, "within": allowed.within, "epsilon": self.epsilon}

    def explain(self, **options: Any) -> tv.Explanation:
        return tv.explain(self.model, self.x, **self.arguments, **options)

    def explanations(self, **options: Any) -> Any:
        return tv.explanations(self.model, self.x, **self.arguments, **options)

    def importance(self, **options: Any) -> Any:
        return tv.importance(self.model, self.x, **self.arguments, **options)

    @cached_property
    def machine(self) -> tv.Model:
        scope = self.more.get("scope", "team")
        return self.model if scope == "team" else self.model.single(scope)

    @cached_property
    def decision(self) -> Any:
        return self.machine.classes[reference_classes(self.machine, self.x[None, :])[0]]

    @cached_property
    def truth(self) -> Truth:
        """Every input that is allowed, its cost counted from the arguments."""
        truth = object.__new__(Truth)
        bits = self.allowed.distance == "bits"
        truth.space = tv.Space.flags(len(self.x)) if bits else self.model.space
        truth.possible = True
        inputs = all_inputs(len(self.x))
        inputs = inputs[truth.space.possible(inputs)]
        labels = [self.machine.classes[i] for i in reference_classes(self.machine, inputs)]
        target = self.more.get("target")
        truth.here = tuple(values_of(truth.space, self.x[None, :])[0].tolist())
        truth.rows = []
        options: list[set[int]] = [set() for _ in truth.here]
        costs = plain_costs(self.model.space, self.allowed, self.x, inputs)
        values = values_of(truth.space, inputs).tolist()
        for z, label, cost, there in zip(inputs, labels, costs, values, strict=True):
            if cost is None:
                continue
            for known, value in zip(options, there, strict=True):
                known.add(value)
            bad = label != self.decision if target is None else label == target
            if self.epsilon is None or cost <= self.epsilon:
                truth.rows.append(Row(tuple(there), z, bool(bad)))
        truth.options = [sorted(known) for known in options]
        return truth

    def name(self, column: int) -> str:
        """What a column is called."""
        if self.allowed.distance == "bits" and not self.model.space.only_flags:
            return str(self.model.space.bit_names[column])
        return str(self.model.space.columns[column].name)


def random_question(rng: Rng, n_contrasts: int = 0) -> Asked:
    """Any rules, perhaps a target, a scope, a limit; mostly one with reasons that are not empty.

    It has at least so many contrastive reasons.
    """
    while True:
        asked = _random_question(rng)
        some = 0 < len(asked.truth.bad) < len(asked.truth.rows) or rng.random() < 0.1
        if some and (not n_contrasts or len(contrastive_sets(asked.truth)) >= n_contrasts):
            return asked


def _random_question(rng: Rng) -> Asked:
    space = random_space(rng) if rng.random() < 0.6 else _random_flags(rng)
    machine = random_machine if rng.random() < 0.5 else _with_many_clauses
    model = machine(rng, space, int(rng.choice([1, 2, 3])))
    x, allowed = random_row(rng, space), random_allowed(rng, space)
    if rng.random() < 0.3:
        allowed = Allowed("bits" if rng.random() < 0.3 else "columns")
    epsilon = int(rng.integers(0, 6)) if rng.random() < 0.5 else None
    if epsilon is not None and (space.only_flags or allowed.distance == "bits"):
        epsilon = min(epsilon, space.n_bits)
    asked = Asked(model, x, allowed, epsilon)
    if rng.random() < 0.3:
        others = [label for label in model.classes if label != asked.decision]
        return Asked(model, x, allowed, epsilon, {"target": others[int(rng.integers(len(others)))]})
    if rng.random() < 0.2:
        label = model.classes[int(rng.integers(len(model.classes)))]
        return Asked(model, x, allowed, epsilon, {"scope": label})
    return asked


def _with_many_clauses(rng: Rng, space: tv.Space, outputs: int) -> tv.Model:
    """A model of many short clauses, which has many reasons."""
    n, n_clauses = space.n_bits, int(rng.integers(8, 25))
    signed = [sign * feature for feature in range(1, n + 1) for sign in (-1, 1)]
    return tv.Model.from_clauses(
        n,
        [rng.choice(signed, int(rng.integers(1, 4))).tolist() for _ in range(n_clauses)],
        rng.integers(-3, 4, size=(outputs, n_clauses)),
        tie="positive" if rng.random() < 0.5 else "negative",
        clamp=int(rng.integers(1, 8)) if rng.random() < 0.25 else None,
        space=space,
    )


def _random_flags(rng: Rng) -> tv.Space:
    """Flags alone, where walks look for witnesses: as flags, a text or an image."""
    n = int(rng.integers(3, 9))
    kind = int(rng.integers(3))
    if kind == 0:
        return tv.Space([tv.Flag(f"f{i}") for i in range(n)])
    if kind == 1:
        return tv.Space([tv.Text([f"w{i}" for i in range(n)])])
    return tv.Space([tv.Image((2, n // 2))])


# -------------------------------------------------------------------------------------- what is true of a set


def suffices(truth: Truth, columns: Iterable[int]) -> bool:
    """Whether no violating input has the present values of these columns."""
    return not truth.breaking(truth.own(list(columns)))


def sufficient_sets(truth: Truth) -> set[Set]:
    """The minimal sufficient reasons, by trying every set of columns, the smaller ones first."""
    found: set[Set] = set()
    for size in range(len(truth.movable) + 1):
        for some in map(frozenset, combinations(truth.movable, size)):
            if not any(known <= some for known in found) and suffices(truth, some):
                found.add(some)
    return found


def contrastive_sets(truth: Truth) -> set[Set]:
    """The minimal contrastive reasons: what violating inputs change, none of them within another."""
    differing = {truth.differing(row) for row in truth.bad}
    return {some for some in differing if not any(other < some for other in differing)}


def minimal_hitting_sets(sets: set[Set]) -> set[Set]:
    """By trying every set."""
    elements = sorted(set().union(*sets))
    found: set[Set] = set()
    for size in range(len(elements) + 1):
        for some in map(frozenset, combinations(elements, size)):
            if not any(known <= some for known in found) and all(some & one for one in sets):
                found.add(some)
    return found


# ------------------------------------------------------------------------------------- what an answer claims


def check_claims(asked: Asked, why: tv.Explanation) -> None:
    """Whatever an Explanation claims is true; what it leaves open, it names."""
    truth = asked.truth
    places = list(why.places)
    assert why.decision == asked.decision
    assert why.columns == tuple(map(asked.name, places))
    assert places == sorted(set(places))
    assert set(places) <= set(truth.movable)
    assert set(why.undecided) <= set(why.columns)
    assert tuple(fact.column for fact in why.facts) == why.columns
    assert why.within == asked.epsilon
    if why.sufficient is tv.Status.UNKNOWN:
        assert why.minimal == "open"
        assert not places
        assert why.stop_reason is not None
        return
    assert (why.minimal == "open") == bool(why.undecided)
    # A reason is given if and only if something is not known: a column, or whether there is a smaller one.
    assert why.stop_reason is not None or not why.undecided
    if why.kind == "sufficient":
        check_sufficient(asked, why)
    else:
        check_contrastive(asked, why)


def check_sufficient(asked: Asked, why: tv.Explanation) -> None:
    truth = asked.truth
    assert why.sufficient is tv.Status.HOLDS
    values = {c: frozenset(some) for c, some in zip(why.places, why.values, strict=True)}
    for c, some in values.items():
        assert truth.here[c] in some <= set(truth.options[c])
        assert truth.is_run(c, some)
        assert why.widened or some == {truth.here[c]}
    assert not truth.breaking(values), "it does not suffice"
    decided = [c for c, name in zip(why.places, why.columns, strict=True) if name not in why.undecided]
    for c in decided:
        fewer = {d: some for d, some in values.items() if d != c}
        assert truth.breaking(fewer), f"{asked.name(c)} can be left out"
        if why.widened:
            for value in truth.addable(c, values[c]):
                assert truth.breaking({**values, c: values[c] | {value}}), f"{asked.name(c)} can be wider"
    if why.minimal == "smallest":
        fewer_columns = combinations(truth.movable, len(values) - 1) if values else ()
        assert not any(suffices(truth, some) for some in fewer_columns), "there is a smaller one"


def check_contrastive(asked: Asked, why: tv.Explanation) -> None:
    truth, places = asked.truth, frozenset(why.places)
    if why.sufficient is tv.Status.VIOLATED:
        assert not truth.bad
        assert not places
        assert why.witness is None
        assert why.minimal == "smallest"
        return
    rows = {row.bits.tobytes(): row for row in truth.bad}
    assert why.witness is not None
    assert truth.differing(rows[why.witness.tobytes()]) == places, "the witness changes other columns"
    said = asked.machine.classes[reference_classes(asked.machine, why.witness[None, :])[0]]
    assert why.outcome == said != why.decision
    assert {change.column for change in why.changes} == set(why.columns)
    contrasts = contrastive_sets(truth)
    for c, name in zip(why.places, why.columns, strict=True):
        if name not in why.undecided:
            assert not any(some <= places - {c} for some in contrasts), f"{name} can be left out"
    if why.minimal == "smallest":
        assert len(places) == min(map(len, contrasts)), "there is a smaller one"
