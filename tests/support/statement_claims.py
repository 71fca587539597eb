"""Properties that people could state about tiny models, at random; and the truth of claims about them.

``is_true`` reads a claim's property from its JSON and looks at every input, or at every two. It knows models
and spaces, and nothing of formulas, copies, statements, or of the checker.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.column_claims import cost_of_change, decided_by, lead_of, votes_of
from support.columns import values_in
from support.tiny import all_inputs
from support.tiny_columns import _model, random_row, random_rules, random_space, with_space
from tmverify.properties.allowed import Allowed
from tmverify.properties.statement import StatementQuery
from tmverify.verify.stated import Pair, Stated, monotone

Bits = NDArray[np.uint8]
Rng = np.random.Generator


# ------------------------------------------------------------------------------------------------ expressions


@dataclass(frozen=True)
class Saying:
    """Texts about one model; of two inputs, if they ``differ`` in some columns."""

    rng: Rng
    model: tv.Model
    differ: tuple[str, ...] = ()

    def _one_of(self, some: Any) -> Any:
        return some[int(self.rng.integers(len(some)))]

    def _name(self, column: Any) -> str:
        before = "" if not self.differ else str(self._one_of(["a.", "b."]))
        if column.name not in self.differ and self.rng.random() < 0.5:
            before = ""
        return f"{before}`{column.name}`"

    def about_columns(self) -> str:
        """A condition on one column, or on two."""
        columns = self.model.space.columns
        c, r = self._one_of(columns), self.rng.random()
        if r < 0.15:
            d = self._one_of([d for d in columns if d.values == c.values and d.kind == c.kind])
            signs = ["==", "!="] if c.kind == "category" else ["<", "<=", ">", ">=", "==", "!="]
            return f"{self._name(c)} {self._one_of(signs)} {self._name(d)}"
        if r < 0.25:
            return f"{self._name(c)} is {self._one_of(['', 'not '])}None"
        if c.kind in ("flag", "word"):
            return self._name(c)
        if c.kind == "number":
            return f"{self._name(c)} {self._one_of(['>', '<='])} {int(self._one_of(c.part.cuts))}"
        n = int(self.rng.integers(1, len(c.values) + 1))
        some = [str(value) for value in self.rng.choice(c.values, n, replace=False)]
        if n == 1:
            return f"{self._name(c)} {self._one_of(['==', '!='])} {some[0]!r}"
        return f"{self._name(c)} {self._one_of(['in', 'not in'])} {tuple(some)!r}"

    def about_decisions(self) -> str:
        """What is decided, or by how many votes; now and then a condition on columns."""
        labels, r = [int(label) for label in self.model.classes], self.rng.random()
        of = "" if not self.differ else str(self._one_of(["a.", "b."]))
        if r < 0.2:
            return self.about_columns()
        if self.differ and r < 0.4:
            return f"a.decision {self._one_of(['==', '==', '==', '!='])} b.decision"
        if r < 0.75:
            some = self.rng.choice(labels, int(self.rng.integers(1, len(labels) + 1)), replace=False)
            return f"{of}decision {self._one_of(['in', 'not in'])} ({', '.join(map(str, some))},)"
        first, second = (int(label) for label in self.rng.choice(labels, 2, replace=False))
        votes = f"{of}votes({first}) - {of}votes({second})"
        if self.model.n_outputs == 1:
            votes = f"{of}votes(1) - {of}votes(0)"
        elif self.differ and r < 0.9:
            votes = f"a.votes({first}) - 2 * b.votes({second}) + a.votes({second})"
        elif r < 0.9:
            votes = f"{of}votes({first})"
        return f"{votes} {self._one_of(['>=', '<=', '>', '<', '==', '!='])} {int(self.rng.integers(-3, 4))}"

    def joined(self, make: Any, depth: int) -> str:
        """Several of them, with and, or, not."""
        if depth == 0 or self.rng.random() < 0.3:
            return str(make())
        joint = self._one_of(["and", "or", "not"])
        if joint == "not":
            return f"not ({self.joined(make, depth - 1)})"
        return f"({self.joined(make, depth - 1)}) {joint} ({self.joined(make, depth - 1)})"


@dataclass(frozen=True)
class Case:
    """A property, and how it is asked: of every input, or around one."""

    stated: Stated
    x: Bits | None
    epsilon: int | None
    allowed: Allowed

    @property
    def query(self) -> StatementQuery:
        return self.stated.query(self.x, self.epsilon, self.stated.rules(self.allowed))


def random_case(rng: Rng) -> Case:
    """Any property of a tiny model."""
    while True:
        space = random_space(rng) if rng.random() < 0.85 else tv.Space.flags(int(rng.integers(2, 6)))
        model = with_space(_model(rng, space.n_bits, int(rng.integers(1, 4))), space)
        names = [column.name for column in space.columns]
        differ: tuple[str, ...] = ()
        if rng.random() < 0.5:
            n = min(int(rng.integers(1, 3)), len(names))
            differ = tuple(str(name) for name in rng.choice(names, n, replace=False))
        says = Saying(rng, model, differ)
        assume = says.joined(says.about_columns, 2) if rng.random() < 0.7 else None
        expect = says.joined(says.about_decisions, 2)
        margin = int(rng.integers(1, 4)) if rng.random() < 0.3 else 0
        x = random_row(rng, space) if rng.random() < 0.5 else None
        epsilon = None if rng.random() < 0.2 else int(rng.integers(0, 3))
        allowed = Allowed() if rng.random() < 0.5 else random_rules(rng, space)
        if allowed.distance == "bits":
            allowed = Allowed()
        try:
            if rng.random() < 0.15:
                stated = random_monotone(rng, model, margin)
            else:
                stated = Stated(model, Pair(differ, assume) if differ else assume, expect, margin=margin)
            case = Case(stated, x, epsilon, allowed)
            case.query  # noqa: B018  # it may be too long to be taken apart
        except tv.InvalidInputError as error:
            if not any(
                word in str(error) for word in ("margin", "itself", "too long", "may differ in", "no order")
            ):
                raise
            continue
        return case


def random_monotone(rng: Rng, model: tv.Model, margin: int) -> Stated:
    """That more of a column never hurts, now and then by a margin."""
    columns, classes = model.space.columns, model.classes
    column, toward = columns[int(rng.integers(len(columns)))], classes[int(rng.integers(len(classes)))]
    return monotone(model, column.name, toward, assume=None, margin=margin or 1, round=None)


# -------------------------------------------------------------------------------------------------- the truth


@dataclass(frozen=True)
class Seen:
    """One possible input: its bits, the values of its columns, its votes, its decision."""

    bits: tuple[int, ...]
    values: tuple[int, ...]
    votes: tuple[int, ...]
    decided: int


@lru_cache(maxsize=64)
def _possible(model: tv.Model) -> tuple[Seen, ...]:
    found = []
    for bits in all_inputs(model.n_features):
        values = values_in(model.space, bits)
        if values is not None:
            votes = votes_of(model, bits)
            found.append(Seen(tuple(bits.tolist()), tuple(values), tuple(votes), decided_by(model, votes)))
    return tuple(found)


def holds(formula: list[Any], inputs: tuple[Seen, ...]) -> bool:
    """Whether a formula, as a claim has it, is so of these inputs."""
    kind, *rest = formula
    if kind == "all":
        return all(holds(part, inputs) for part in rest)
    if kind == "some":
        return any(holds(part, inputs) for part in rest)
    if kind == "in":
        return bool(inputs[rest[0]].values[rest[1]] in rest[2])
    if kind == "fails":
        return not holds(["decides", *rest], inputs)
    if kind == "decides":
        z = inputs[rest[0]]
        if z.decided not in rest[1]:
            return False
        # Some class of them has so many votes more than each of the others.
        others = [c for c in range(max(2, len(z.votes))) if c not in rest[1]]
        ahead = [min(_more(z.votes, c, other) for other in others) for c in rest[1]]
        return not rest[2] or max(ahead) >= rest[2]
    if kind == "votes":
        return bool(sum(k * inputs[of].votes[row] for of, row, k in rest[0]) >= rest[1])
    a, b = inputs
    if kind == "differ":
        return a.decided != b.decided
    assert kind == "agree"
    same = a.decided == b.decided
    return same and (not rest[0] or all(lead_of(z.votes, z.decided) >= rest[0] for z in inputs))


def _more(votes: tuple[int, ...], c: int, other: int) -> int:
    if len(votes) == 1:
        return votes[0] if c == 1 else -votes[0]
    return votes[c] - votes[other]


def _joint(claim: dict[str, Any], model: tv.Model, x: Bits | None) -> Iterator[tuple[Seen, ...]]:
    """Every input that a claim is about, or every two."""
    possible, differ = _possible(model), claim["property"]["differ"]
    here = None if x is None else values_in(model.space, x)
    for a in possible:
        if here is not None and not _is_near(claim, model, here, a.values):
            continue
        if differ is None:
            yield (a,)
            continue
        for b in possible:
            if all(
                v == w for i, (v, w) in enumerate(zip(a.values, b.values, strict=True)) if i not in differ
            ):
                yield a, b


def _is_near(claim: dict[str, Any], model: tv.Model, here: list[int], there: tuple[int, ...]) -> bool:
    total = 0
    mask = None
    if claim["features"] is not None:
        mask = np.unpackbits(np.frombuffer(bytes.fromhex(claim["features"]), np.uint8))
    for i, (before, after) in enumerate(zip(here, there, strict=True)):
        cost = cost_of_change(claim, model.space.columns[i], i, before, after)
        barred = mask is not None and not mask[i]
        barred = barred or (claim["direction"] is not None and after != (claim["direction"] == "add"))
        if cost is None or (barred and before != after):
            return False
        total += cost
    return total <= int(claim["epsilon"])


def is_true(text: bytes, model: tv.Model) -> bool:
    """Whether the claim about a property in a certificate's text is true of the model."""
    first, *rest = text.splitlines()
    claim = json.loads(first)
    inputs: list[Bits | None] = [
        np.unpackbits(np.frombuffer(bytes.fromhex(line.split()[1].decode()), np.uint8))[: model.n_features]
        for line in rest
        if line.startswith(b"input ")
    ]
    if claim["epsilon"] is None:
        inputs = [None]
    if len(inputs) != claim["inputs"]:
        return False
    if any(x is not None and values_in(model.space, x) is None for x in inputs):
        return False
    stated = claim["property"]
    good = sum(
        all(
            holds(stated["expect"], some) for some in _joint(claim, model, x) if holds(stated["assume"], some)
        )
        for x in inputs
    )
    return bool((good >= Fraction(claim["eta"]) * len(inputs)) == (claim["answer"] == "holds"))


# ---------------------------------------------------------------------------------------------------- mutants


def changed_formulas(rng: Rng, formula: list[Any], model: tv.Model, pair: bool) -> Iterator[list[Any]]:
    """The formula with one thing changed, in each place; not all of them are formulas."""
    kind, *rest = formula
    if kind in ("all", "some"):
        yield ["some" if kind == "all" else "all", *rest]
        for place, part in enumerate(rest):
            left = [*rest[:place], *rest[place + 1 :]]
            yield left[0] if len(left) == 1 else [kind, *left]
            for new in changed_formulas(rng, part, model, pair):
                yield [kind, *rest[:place], new, *rest[place + 1 :]]
        return
    if kind == "in":
        of, column, values = rest
        n = len(model.space.columns[column].values)
        value = int(rng.integers(n))
        yield ["in", of, column, sorted({*values} ^ {value})]
        yield ["in", 1 - of, column, values]
        yield ["in", of, int(rng.integers(len(model.space.columns))), values]
    elif kind == "decides":
        of, classes, margin = rest
        yield ["decides", of, sorted({*classes} ^ {int(rng.integers(len(model.classes)))}), margin]
        yield ["decides", of, classes, margin + int(rng.choice([-1, 1]))]
        yield ["decides", 1 - of, classes, margin]
        yield ["fails", of, classes, margin]
    elif kind == "fails":
        of, classes, margin = rest
        yield ["decides", of, classes, margin]
        yield ["fails", of, classes, margin + int(rng.choice([-1, 1]))]
        yield ["fails", of, sorted({*classes} ^ {int(rng.integers(len(model.classes)))}), margin]
        yield ["fails", 1 - of, classes, margin]
    elif kind == "votes":
        terms, bound = rest
        yield ["votes", terms, bound + int(rng.choice([-1, 1]))]
        for place in range(len(terms)):
            changed = list(terms[place])
            changed[int(rng.integers(3))] += int(rng.choice([-1, 1]))
            yield ["votes", [*terms[:place], changed, *terms[place + 1 :]], bound]
    elif kind == "agree":
        yield ["agree", rest[0] + 1]
        yield ["differ"]
    else:
        yield ["agree", 0]
    if pair:
        yield ["agree", 0]


def all_formulas(rng: Rng, stated: dict[str, Any], model: tv.Model) -> Iterator[dict[str, Any]]:
    """The property with one thing changed."""
    pair = stated["differ"] is not None
    for key in ("assume", "expect"):
        changed = list(changed_formulas(rng, stated[key], model, pair and key == "expect"))
        for new in (*changed, ["all"], ["some"]):
            yield {**stated, key: new}
    n = len(model.space.columns)
    yield {**stated, "differ": None if pair else [int(rng.integers(n))]}
    if pair:
        yield {**stated, "differ": sorted({*stated["differ"]} ^ {int(rng.integers(n))})}
