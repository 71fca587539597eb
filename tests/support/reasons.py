"""Reasons of tiny models: their truth from the definitions, and certificates of any of them.

``Truth`` looks at every input of a region and knows nothing of the checker. ``honest`` makes certificates as
the library does: witnesses that it finds there, and refutations of an engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.certified_networks import random_network_case
from support.column_claims import region_of
from support.columns import Rng, random_allowed, random_machine, random_row, random_space, values_of
from tmverify.certificates import Certificate, claims
from tmverify.engines.engine import Deadline, Outcome
from tmverify.engines.proof_log import Proof, Refutation, Where
from tmverify.model import Classifier
from tmverify.properties.allowed import Allowed
from tmverify.properties.query import AnyQuery
from tmverify.properties.region import Region
from tmverify.space import Number, Space
from tmverify.verify.verdict import prepared

Bits = NDArray[np.uint8]
Values = Mapping[int, frozenset[int]]
SUFFICIENT = ("suffices", "minimal", "widest", "smallest")


@dataclass(frozen=True)
class Row:
    """An input of the region: the value of each column, its bits, and whether it violates the property."""

    values: tuple[int, ...]
    bits: Bits
    bad: bool


class Truth:
    """What is true of a claim's region, around one input."""

    def __init__(self, claim: Mapping[str, Any], model: Classifier, x: Bits) -> None:
        self.space = Space.flags(len(x)) if claim["distance"] == "bits" else model.space
        machine = model if claim["scope"] == "team" else model.single(claim["scope"])  # type: ignore[attr-defined]
        region = region_of(dict(claim), model.space, x) or []
        region = [(z, cost) for z, cost in region if not (z != x)[~model.attainable].any()]
        self.possible = bool(region)
        if not region:
            return
        self.here = tuple(values_of(self.space, x[None, :])[0].tolist())
        inputs = np.array([z for z, _ in region])
        decided = [machine.classes[i] for i in machine.class_indices(inputs)]
        own = machine.classes[machine.class_indices(x[None, :])[0]]
        self.rows = []
        values = values_of(self.space, inputs).tolist()
        found: list[set[int]] = [set() for _ in self.here]
        for (z, cost), there, label in zip(region, values, decided, strict=True):
            for some, value in zip(found, there, strict=True):
                some.add(value)
            bad = label != own if claim["target"] is None else label == claim["target"]
            if claim["epsilon"] is None or cost <= claim["epsilon"]:
                self.rows.append(Row(tuple(there), z, bool(bad)))
        self.options = [sorted(some) for some in found]

    @cached_property
    def bad(self) -> list[Row]:
        return [row for row in self.rows if row.bad]

    @property
    def movable(self) -> list[int]:
        """The columns that may change."""
        return [c for c, some in enumerate(self.options) if len(some) > 1]

    def breaking(self, values: Values) -> list[Row]:
        """The violating inputs that have these values."""
        return [row for row in self.bad if all(row.values[c] in some for c, some in values.items())]

    def own(self, columns: Sequence[int]) -> dict[int, frozenset[int]]:
        return {c: frozenset([self.here[c]]) for c in columns}

    def addable(self, c: int, some: frozenset[int]) -> list[int]:
        """The values that could be added, one of them at a time."""
        part = self.space.columns[c].part
        return [
            value
            for value in self.options[c]
            if value not in some and (not isinstance(part, Number) or self.is_run(c, some | {value}))
        ]

    def is_run(self, c: int, some: frozenset[int]) -> bool:
        """Whether values of a number are neighbours among its options, but for missing."""
        part = self.space.columns[c].part
        if not isinstance(part, Number):
            return True
        marks = "".join("01"[v in some] for v in self.options[c] if v <= len(part.cuts))
        return "0" not in marks.strip("0")

    def differing(self, row: Row) -> frozenset[int]:
        pairs = enumerate(zip(self.here, row.values, strict=True))
        return frozenset(c for c, (before, after) in pairs if before != after)

    def is_minimal(self, values: Values) -> bool:
        return all(self.breaking({d: s for d, s in values.items() if d != c}) for c in values)

    def is_true(self, answer: str, reason: Sequence[tuple[int, Any]]) -> bool:
        """Whether a claim makes sense and is true."""
        columns = [c for c, _ in reason]
        if not self.possible or not set(columns) <= set(self.movable) or sorted(set(columns)) != columns:
            return False
        if answer == "contrastive":
            bad = [self.differing(row) for row in self.bad]
            smaller = [some for some in bad if some < set(columns)]
            return set(columns) in bad and not smaller and bool(columns)
        values = {c: frozenset(some) for c, some in reason}
        for c, some in values.items():
            if self.here[c] not in some or not some < set(self.options[c]):
                return False
        if self.breaking(values):
            return False
        if answer == "minimal":
            return self.is_minimal(values)
        if answer == "widest":
            if not all(self.is_run(c, some) for c, some in values.items()):
                return False
            wider = [{**values, c: s | {v}} for c, s in values.items() for v in self.addable(c, s)]
            return self.is_minimal(values) and all(map(self.breaking, wider))
        if answer == "smallest":
            fewer = combinations(self.movable, len(columns) - 1) if columns else ()
            return values == self.own(columns) and all(self.breaking(self.own(some)) for some in fewer)
        return answer == "suffices"


def is_true(text: bytes, model: Classifier) -> bool:
    """Whether the claim in a certificate's text, about a reason, is true of a model."""
    first, *rest = text.splitlines()
    claim = json.loads(first)
    inputs = [line.split()[1].decode() for line in rest if line.startswith(b"input ")]
    if len(inputs) != 1 or claim["apart"] is not None:
        return False
    x = np.unpackbits(np.frombuffer(bytes.fromhex(inputs[0]), np.uint8))[: model.n_features]
    if claim["answer"] == "holds":
        return claim["reason"] is None and Truth(claim, model, x).is_true("suffices", [])
    if claim["answer"] == "violated":
        return claim["reason"] is None and bool(Truth(claim, model, x).bad)
    return Truth(claim, model, x).is_true(claim["answer"], claim["reason"])


# ---------------------------------------------------------------------------------------- honest certificates


@dataclass(frozen=True)
class Asked:
    """A question about reasons: robustness in a whole region, whose budget may be part of the claim."""

    query: Any
    limited: bool
    engine: str = "auto"

    @property
    def model(self) -> Classifier:
        model: Classifier = self.query.topic.models[0]
        return model

    @cached_property
    def truth(self) -> Truth:
        claim = claims.reason(self.query, "suffices", [], [], None, limited=self.limited).claim
        return Truth(claim, self.model, self.query.region.center)


def random_asked(rng: Rng) -> Asked:
    """Any rules, perhaps a target, a scope, a limit; mostly one with reasons that are not empty."""
    while True:
        asked = _random_asked(rng)
        if 0 < len(asked.truth.bad) < len(asked.truth.rows) or rng.random() < 0.1:
            return asked


def _random_asked(rng: Rng) -> Asked:
    space = random_space(rng)
    outputs = int(rng.choice([1, 2, 3]))
    model = random_machine(rng, space, outputs)
    x, allowed = random_row(rng, space), random_allowed(rng, space)
    if rng.random() < 0.15:
        allowed = Allowed("bits")
    asked: dict[str, Any] = {}
    if rng.random() < 0.3:
        asked["target"] = model.classes[int(rng.integers(len(model.classes)))]
    elif rng.random() < 0.2:
        asked["scope"] = model.classes[int(rng.integers(len(model.classes)))]
    limited = bool(rng.random() < 0.5)
    epsilon = int(rng.integers(0, 1 + min(5, space.n_bits))) if limited else None
    query = tv.robustness_query(model, x, epsilon, allowed=allowed, **asked)
    return Asked(query, limited, str(rng.choice(["auto", "search", "sat"])))


def random_network_asked(rng: Rng) -> Asked:
    """Reasons of a network, which are about bits."""
    while True:
        case = random_network_case(rng)
        limited = bool(rng.random() < 0.5)
        epsilon = int(rng.integers(0, len(case.x) + 1)) if limited else None
        allowed = Allowed("bits", features=case.features, direction=case.direction)
        asked = Asked(tv.robustness_query(case.model, case.x, epsilon, allowed=allowed), limited)
        if asked.truth.bad or rng.random() < 0.1:
            return asked


def decided(query: AnyQuery, region: Region, engine: str) -> Proof | None:
    """The proof that nothing in a part of the region violates the property."""
    part = replace(query, region=region)
    chosen, log = prepared(part, engine, True)
    assert log is not None
    assert chosen.decide(part, Deadline(None), log).outcome is Outcome.NO_WITNESS
    proof = log.proof_of(part, region.radius)
    assert proof is not None
    return proof


def decided_apart(query: tv.Query, columns: Sequence[int], others: Sequence[int], engine: str) -> Proof:
    """The proof that nothing violates the property while one of the columns keeps its value, like others."""
    chosen, log = prepared(query, engine, True)
    assert log is not None
    needed: dict[Refutation, None] = {}
    for c in columns:
        part = replace(query, region=query.region.keeping([*others, c]))
        portion = log.portion(range(len(query.constraints)), Where(keep=(c,)))
        assert chosen.decide(part, Deadline(None), portion).outcome is Outcome.NO_WITNESS
        found = portion.refutations_of(part, part.region.radius)
        assert found is not None
        needed.update(dict.fromkeys(found))
    return Proof(log, list(needed))


def honest(rng: Rng, asked: Asked) -> Iterator[Certificate]:
    """A certificate of each kind of reason that there is."""
    for answer in SUFFICIENT:
        reason = sufficient(rng, asked.truth, answer)
        if reason is not None:
            yield certified(rng, asked, answer, reason)
    differing = {asked.truth.differing(row) for row in asked.truth.bad}
    minimal = [some for some in differing if some and not any(other < some for other in differing)]
    if minimal:
        yield certified(rng, asked, "contrastive", dict.fromkeys(minimal[int(rng.integers(len(minimal)))]))


def sufficient(rng: Rng, truth: Truth, answer: str) -> dict[int, frozenset[int]] | None:
    """A random reason of a kind; None if there is none."""
    values = truth.own(truth.movable)
    if truth.breaking(values):
        return None  # the input itself violates the property
    if answer == "smallest":
        for size in range(len(values) + 1):
            enough = [c for c in combinations(truth.movable, size) if not truth.breaking(truth.own(c))]
            if enough:
                return truth.own(enough[int(rng.integers(len(enough)))])
    for c in rng.permutation(truth.movable).tolist():
        if answer == "suffices" and rng.random() < 0.3:
            continue
        fewer = {d: some for d, some in values.items() if d != c}
        values = values if truth.breaking(fewer) else fewer
    if answer != "widest" and rng.random() < 0.3:
        return values
    while True:
        wider = [
            {**values, c: some | {v}}
            for c, some in values.items()
            for v in (truth.addable(c, some) if answer == "widest" else truth.options[c])
            if v not in some and len(some) + 1 < len(truth.options[c])
        ]
        wider = [some for some in wider if not truth.breaking(some)]
        if not wider:
            return values
        values = wider[int(rng.integers(len(wider)))]


def certified(rng: Rng, asked: Asked, answer: str, reason: Mapping[int, Any]) -> Certificate:
    """The certificate of a reason that is one."""
    truth, query = asked.truth, asked.query

    def pick(rows: list[Row]) -> Bits:
        return rows[int(rng.integers(len(rows)))].bits

    listed = sorted(reason.items())
    if answer == "contrastive":
        columns = [c for c, _ in listed]
        others = [c for c in truth.movable if c not in reason]
        proof: Any
        if isinstance(query, tv.Query):
            proof = decided_apart(query, columns, others, asked.engine)
        else:
            within = min(query.region.radius, len(columns) - 1)
            proof = decided(query, query.region.keeping(others).within(within), asked.engine)
        witness = pick([row for row in truth.bad if truth.differing(row) == set(columns)])
        return claims.reason(query, answer, listed, [witness], proof, limited=asked.limited)
    witnesses: list[Bits] = []
    if answer == "smallest":
        witnesses = [row.bits for row in truth.bad]
    if answer == "minimal":
        for c in reason:
            witnesses.append(pick(truth.breaking({d: some for d, some in reason.items() if d != c})))
    if answer == "widest":
        for c, some in reason.items():
            witnesses += [pick(truth.breaking({**reason, c: frozenset([v])})) for v in truth.addable(c, some)]
    proof = decided(query, query.region.among(reason), asked.engine)
    return claims.reason(query, answer, listed, witnesses, proof, limited=asked.limited)
