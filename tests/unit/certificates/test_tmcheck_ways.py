"""The ways to violate are complete: an input violates what was asked iff it meets all of some way.

Proofs of honest engines would not show that a checker has forgotten a way. So the checker's own constraints
are evaluated on every input, and held against the truth.
"""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

import tmverify as tv
from support.column_claims import decided_by, lead_of, random_space, votes_of
from support.columns import values_in
from support.statement_claims import Seen, holds
from support.tiny import all_inputs, random_model
from tmcheck.errors import Refused
from tmcheck.model import Machine, read_model
from tmcheck.property import read_property
from tmcheck.region import Region
from tmcheck.statement import Statement
from tmcheck.surroundings import Pool
from tmcheck.ways import Case, ways_to_violate
from tmverify.model.file import encode
from tmverify.properties.copies import Copies


def machine_of(model: tv.Model) -> Machine:
    read = read_model(encode(model)).model
    assert isinstance(read, Machine)
    return read


def meets_some(ways: list[Case], pool: Pool, z: Any) -> bool:
    """Whether the votes of an input meet all constraints of some way."""
    votes = [0] * pool.n_rows
    for clause, own in pool.clauses:
        if all(bool(z[abs(literal) - 1]) == (literal > 0) for literal in clause):
            votes = [a + b for a, b in zip(votes, own, strict=True)]
    return any(all(sum(k * votes[row] for row, k in terms) >= b for terms, b in way) for way in ways)


def clamped(rng: np.random.Generator, outputs: int, n_features: int = 4) -> tv.Model:
    """A model with enough votes for its clamp to matter, if it has one."""
    model = random_model(rng, n_features, outputs)
    top = None if rng.random() < 0.3 else int(rng.integers(1, 5))
    return tv.Model(model.clauses, model.weights, model.bias, tie=model.tie, clamp=top, classes=model.classes)


def check_margins(seed: int, n: int) -> Counter[str]:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    while n:
        outputs, two = int(rng.integers(1, 4)), bool(rng.random() < 0.5)
        models = [clamped(rng, outputs) for _ in range(1 + two)]
        margin = int(rng.integers(0, 6))
        if any(m.clamp is not None and margin > m.clamp * min(2, outputs) for m in models):
            continue  # no decision stands by so much, and the checker refuses the claim
        machines = [machine_of(model) for model in models]
        expected = None if two else int(rng.integers(max(2, outputs)))
        ways, pool = list(ways_to_violate(machines, expected, None, margin)), Pool(machines)
        for z in all_inputs(4):
            votes = [votes_of(model, z) for model in models]
            decided = [decided_by(model, own) for model, own in zip(models, votes, strict=True)]
            bad = len({*decided, expected} - {None}) > 1
            if margin:
                leads = [lead_of(own, c) for own, c in zip(votes, decided, strict=True)]
                bad = bad or min(leads) < margin
            assert meets_some(ways, pool, z) == bad, (seed, n)
            seen["violated" if bad else "kept"] += 1
        n -= 1
    return seen


class Formulas:
    """Formulas in the form of claims, at random, about a model."""

    def __init__(self, rng: np.random.Generator, model: tv.Model, differ: list[int] | None) -> None:
        self.rng, self.model, self.differ = rng, model, differ
        top = model.clamp
        most = 3 if top is None else min(3, top * min(2, model.n_outputs))
        self.margin = int(rng.integers(0, most + 1))
        self.wide = [c for c, column in enumerate(model.space.columns) if len(column.values) > 1]

    def one(self, depth: int, above: str = "", *, columns: bool = False) -> list[Any]:
        if depth == 0 or self.rng.random() < 0.2:
            return self._in() if columns or self.rng.random() < 0.4 else self._said()
        kind = str(self.rng.choice([kind for kind in ("all", "some") if kind != above]))
        return [kind, *(self.one(depth - 1, kind, columns=columns) for _ in range(self.rng.integers(2, 4)))]

    def _of(self, column: int | None = None) -> int:
        both = self.differ is not None and (column is None or column in self.differ)
        return int(self.rng.integers(2)) if both else 0

    def _some(self, n: int) -> list[int]:
        return sorted(self.rng.permutation(n)[: self.rng.integers(1, n)].tolist())

    def _in(self) -> list[Any]:
        c = int(self.rng.choice(self.wide))
        return ["in", self._of(c), c, self._some(len(self.model.space.columns[c].values))]

    def _said(self) -> list[Any]:
        kind, n = int(self.rng.integers(4)), self.model.n_outputs
        if kind == 0 and self.differ is not None:
            return ["agree", self.margin]
        if kind == 1 and self.differ is not None and self.margin == 0:
            return ["differ"]
        if kind == 2:
            rows = [(of, row) for of in range(1 if self.differ is None else 2) for row in range(n)]
            chosen = [rows[i] for i in sorted(self.rng.permutation(len(rows))[: self.rng.integers(1, 4)])]
            factors = [-2, -1, 1, 2]
            terms = [[*row, int(self.rng.choice(factors))] for row in chosen]
            return ["votes", terms, int(self.rng.integers(-4, 5))]
        return ["decides", self._of(), self._some(len(self.model.classes)), self.margin]


def check_statements(seed: int, n: int) -> Counter[str]:
    rng = np.random.default_rng(seed)
    seen: Counter[str] = Counter()
    while n:
        space = random_space(rng)
        small = clamped(rng, int(rng.integers(1, 4)), space.n_bits)
        model = tv.Model(
            small.clauses, small.weights, small.bias, tie=small.tie, clamp=small.clamp,
            classes=small.classes, space=space,
        )  # fmt: skip
        differ = [int(rng.integers(len(space.columns)))] if rng.random() < 0.5 else None
        formulas = Formulas(rng, model, differ)
        if not formulas.wide:
            continue
        stated: dict[str, Any] = {
            "differ": differ,
            "assume": formulas.one(2, columns=True) if rng.random() < 0.8 else ["all"],
            "expect": formulas.one(2),
        }
        machine = machine_of(model)
        assert machine.space is not None
        try:
            statement = Statement(read_property(stated), machine, machine.space)
            if rng.random() < 0.5:
                _, part, violations = statement.everywhere()
            else:  # without a budget, and so about each value that x does not rule out
                x = np.concatenate([rng.choice(column.part.patterns) for column in space.columns])
                _, part, violations = statement.around(Region(machine.space, bytes(x.tolist()), None))
        except Refused as reason:
            if "too long" not in str(reason):
                raise
            continue
        copies = Copies(model, differ)
        for patterns in product(*(column.part.patterns for column in copies.space.columns)):
            z = np.concatenate(patterns).astype(np.uint8)
            inputs = tuple(_seen(model, own) for own in copies.apart(z))
            bad = holds(stated["assume"], inputs) and not holds(stated["expect"], inputs)
            assert statement.violated_by(z.tobytes()) == bad, (seed, stated, z)
            if part is None or not _is_in(part, z):
                assert not bad, (seed, stated, z)
                seen["outside"] += 1
                continue
            assert meets_some(violations.ways, violations.pool, z) == bad, (seed, stated, z)
            seen["violated" if bad else "kept"] += 1
        n -= 1
    return seen


def _seen(model: tv.Model, bits: Any) -> Seen:
    values, votes = values_in(model.space, bits), votes_of(model, bits)
    assert values is not None
    return Seen(tuple(bits.tolist()), tuple(values), tuple(votes), decided_by(model, votes))


def _is_in(part: Region, z: Any) -> bool:
    for number in range(part.space.n_columns):
        value = part.space.column(number).value_of(z.tobytes())
        if value not in part.options(number).values:
            return False
    return True


@pytest.mark.parametrize("seed", range(2))
def test_margins(seed: int) -> None:
    seen = check_margins(seed, 150)
    assert min(seen["violated"], seen["kept"]) > 200, seen


def test_statements() -> None:
    seen = check_statements(0, 200)
    assert min(seen["violated"], seen["kept"], seen["outside"]) > 200, seen


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(10, 14))
def test_more(seed: int) -> None:
    check_margins(seed, 5000)
    check_statements(seed, 1000)
