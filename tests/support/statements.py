"""Random statements about random tiny models, each with a meaning of its own, written here from scratch.

Every piece of an expression comes as text and as a Python function of a *situation*: raw rows, decisions and
votes of one or two inputs, computed here by counting clauses. So what a text means is not asked of the code
under test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tmverify as tv
from support.columns import random_machine, random_row, random_space
from tmverify.space import Column

Rng = np.random.Generator
Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class Seen:
    """One input: the number of each column's value, the decision and the votes."""

    values: tuple[int, ...]
    decision: int
    votes: tuple[int, ...]


Situation = Sequence[Seen]
Meaning = Callable[[Situation], bool]
Said = tuple[str, Meaning]


@dataclass(frozen=True)
class Case:
    """A statement: ``holds`` says, of a situation that meets ``assumed``, whether it is as expected."""

    model: tv.Model
    differ: tuple[str, ...] | None
    assume: str | None
    assumed: Meaning
    expect: str
    holds: Meaning
    margin: int
    known_values: bool

    @property
    def assumption(self) -> Any:
        """What ``tv.prove`` is given."""
        return self.assume if self.differ is None else tv.Pair(self.differ, self.assume)

    def violated(self, inputs: Sequence[Bits]) -> bool:
        situation = [seen(self.model, bits) for bits in inputs]
        return self.assumed(situation) and not self.holds(situation)

    def pairs(self, inputs: Sequence[Bits]) -> Iterator[tuple[Bits, ...]]:
        """All inputs, or all pairs that are equal except where they may differ."""
        if self.differ is None:
            yield from ((a,) for a in inputs)
            return
        columns = self.model.space.columns
        shared = [bit for c in columns if c.name not in self.differ for bit in c.bits]
        for a, b in product(inputs, repeat=2):
            if (a[shared] == b[shared]).all():
                yield a, b


def seen(model: tv.Model, bits: Bits) -> Seen:
    """The plain facts about an input."""
    true = {i + 1 if bit else -i - 1 for i, bit in enumerate(bits.tolist())}
    scores = model.bias.tolist()
    for j, clause in enumerate(model.clauses):
        fires = true.issuperset(clause) if clause else model.empty_clause == "fires"
        if fires:
            scores = [score + int(model.weights[r, j]) for r, score in enumerate(scores)]
    if model.clamp is not None:
        scores = [max(-model.clamp, min(model.clamp, score)) for score in scores]
    if len(scores) > 1:
        decision = scores.index(max(scores))
    else:
        decision = int(scores[0] > 0 or (scores[0] == 0 and model.tie == "positive"))
    values = [
        next(v for v, p in enumerate(c.part.patterns) if (bits[list(c.bits)] == p).all())
        for c in model.space.columns
    ]
    return Seen(tuple(values), decision, tuple(scores))


def possible_inputs(space: tv.Space) -> list[Bits]:
    patterns = [list(column.part.patterns) for column in space.columns]
    return [np.concatenate(choice).astype(np.uint8) for choice in product(*patterns)]


def changed_columns(space: tv.Space, x: Bits, z: Bits) -> int:
    return sum(bool((x[list(c.bits)] != z[list(c.bits)]).any()) for c in space.columns)


def lead(votes: Sequence[int], classes: frozenset[int], n_classes: int) -> int:
    """How far the best of some classes is ahead of the best of the others."""
    if len(votes) == 1:
        return votes[0] if 1 in classes else -votes[0]
    return max(votes[c] for c in classes) - max(votes[c] for c in range(n_classes) if c not in classes)


def random_case(rng: Rng) -> Case:
    space = random_space(rng, bits=7)
    model = random_machine(rng, space, int(rng.integers(1, 4)))
    differ: tuple[str, ...] | None = None
    if rng.random() < 0.5:
        names = [column.name for column in space.columns]
        differ = tuple(map(str, rng.choice(names, min(len(names), int(rng.integers(1, 3))), replace=False)))
    write = _Writer(rng, model, differ, int(rng.integers(1, 4)) if rng.random() < 0.3 else 0)
    assume, assumed = write.expression(write.condition, 2) if rng.random() < 0.7 else (None, _always)
    known = bool(rng.random() < 0.2)
    assumed = only_known(model, assumed) if known else assumed
    write.counts = False
    expect, holds = write.expression(write.expected, 2)
    margin = write.margin if "decision" in expect else 0
    return Case(model, differ, assume, assumed, expect, holds, margin, known)


def random_input(rng: Rng, case: Case) -> Bits:
    return random_row(rng, case.model.space)


def only_known(model: tv.Model, assumed: Meaning) -> Meaning:
    """The assumption, and that no value of any input is missing or unseen."""
    n_known = []
    for column in model.space.columns:
        part: Any = column.part
        unknown = bool(getattr(part, "missing", False)) + bool(getattr(part, "other", False))
        n_known.append(len(column.values) - unknown)  # which are the last ones

    def meaning(s: Situation) -> bool:
        known = all(v < n for one in s for v, n in zip(one.values, n_known, strict=True))
        return known and assumed(s)

    return meaning


def _always(situation: Situation) -> bool:
    return True


class _Writer:
    """Writes pieces of expressions about one model."""

    def __init__(self, rng: Rng, model: tv.Model, differ: tuple[str, ...] | None, margin: int) -> None:
        self.rng, self.model, self.differ = rng, model, differ
        self.counts = True  # whether a violation may be where the piece holds, or else where it does not
        clamped = model.clamp is not None and margin > model.clamp * min(2, model.n_outputs)
        self.margin = 0 if clamped else margin

    def expression(self, piece: Callable[[], Said], depth: int, *, negatable: bool = True) -> Said:
        """Pieces joined. Where a margin counts, decisions are not negated as wholes."""
        kind = int(self.rng.integers(4)) if depth else 3
        if kind == 2 and not (self.margin and piece == self.expected):
            self.counts = not self.counts
            text, meaning = self.expression(piece, depth - 1)
            self.counts = not self.counts
            return f"not ({text})", lambda s: not meaning(s)
        if kind == 3 or kind == 2:
            return piece()
        (a, first), (b, second) = (self.expression(piece, depth - 1) for _ in range(2))
        if kind == 0:
            return f"({a}) and ({b})", lambda s: first(s) and second(s)
        return f"({a}) or ({b})", lambda s: first(s) or second(s)

    def _of(self, name: str | None = None) -> tuple[str, int]:
        """What comes before a name, and the number of the input."""
        if self.differ is None:
            return "", 0
        if name is not None and name not in self.differ and self.rng.random() < 0.5:
            return "", int(self.rng.integers(2))  # they have the same value there
        of = int(self.rng.integers(2))
        return f"{'ab'[of]}.", of

    def _column(self) -> tuple[str, int, int, Column]:
        columns = self.model.space.columns
        place = int(self.rng.integers(len(columns)))
        before, of = self._of(columns[place].name)
        return f"{before}`{columns[place].name}`", of, place, columns[place]

    def condition(self) -> Said:
        """A condition on columns."""
        name, of, place, column = self._column()
        n = len(column.values)
        gone = n - 1 if getattr(column.part, "missing", False) else None
        kind = self.rng.random()
        if kind < 0.1:
            denied = self.rng.random() < 0.5
            text = f"{name} is {'not ' if denied else ''}None"
            return text, lambda s: (s[of].values[place] == gone) != denied
        if kind < 0.3:
            return self._two(name, of, place, column, gone)
        if column.kind == "number" and column.part.cuts:  # type: ignore[attr-defined]
            cuts = column.part.cuts  # type: ignore[attr-defined]
            i, above = int(self.rng.integers(len(cuts))), self.rng.random() < 0.5
            cut = repr(float(cuts[i]))
            text = f"{name} {'>' if above else '<='} {cut}"
            if self.rng.random() < 0.3:
                text = f"{cut} {'<' if above else '>='} {name}"
            return text, lambda s: s[of].values[place] != gone and (s[of].values[place] > i) == above
        if n == 2 and column.kind not in ("number", "category") and self.rng.random() < 0.5:
            return name, lambda s: s[of].values[place] == 1
        some = self.rng.choice(n, int(self.rng.integers(1, n + 1)), replace=False).tolist()
        denied = self.rng.random() < 0.4
        words = [repr(column.values[v]) for v in some]
        if len(some) == 1 and self.rng.random() < 0.7:
            text = f"{name} {'!=' if denied else '=='} {words[0]}"
        else:
            text = f"{name} {'not in' if denied else 'in'} ({', '.join(words)},)"
        return text, lambda s: (s[of].values[place] in some) != denied

    def _two(self, name: str, of: int, place: int, column: Column, gone: int | None) -> Said:
        """Two columns with the same values compared.

        Where both look the same and may differ, it is as bad as can be: ``counts`` says what that is.
        """
        columns = self.model.space.columns
        alike = [i for i, c in enumerate(columns) if c.values == column.values and c.kind == column.kind]
        other = int(self.rng.choice(alike))
        before, of_other = self._of(columns[other].name)
        if column.kind == "category":
            operator = str(self.rng.choice(["==", "!="]))
        else:
            operator = str(self.rng.choice(["<", "<=", ">", ">=", "==", "!="]))
        shared = self.differ is None or column.name not in self.differ
        one = other == place and (shared or of == of_other)
        unseen = len(column.part.categories) if getattr(column.part, "other", False) else None  # type: ignore[attr-defined]
        counts = self.counts

        def equal(a: int, b: int, counts: bool) -> bool:
            if gone in (a, b) or a != b:
                return False
            return one or counts or (column.kind != "number" and a != unseen)

        def meaning(s: Situation) -> bool:
            a, b = s[of].values[place], s[of_other].values[other]
            if operator in ("==", "!="):
                return equal(a, b, counts) if operator == "==" else not equal(a, b, not counts)
            if gone in (a, b):
                return False
            if a == b and column.kind == "number" and not one:
                return counts
            return {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[operator]

        return f"{name} {operator} {before}`{columns[other].name}`", meaning

    def expected(self) -> Said:
        """Something about decisions or votes; sometimes about columns."""
        kind, n, m = self.rng.random(), len(self.model.classes), self.margin
        if kind < 0.2:
            return self.condition()
        if kind < 0.35 and self.differ is not None:
            return self._agree(n, m)
        before, of = self._of()
        if kind < 0.75:
            some = self.rng.choice(n, int(self.rng.integers(1, n + 1)), replace=False).tolist()
            denied = self.rng.random() < 0.4
            labels = ", ".join(repr(self.model.classes[c]) for c in some)
            wanted = frozenset(set(range(n)) - set(some) if denied else some)
            text = f"{before}decision {'not in' if denied else 'in'} ({labels},)"
            if len(some) == 1 and self.rng.random() < 0.5:
                text = f"{before}decision {'!=' if denied else '=='} {labels}"

            def decided(s: Situation) -> bool:
                if len(wanted) in (0, n):
                    return len(wanted) == n
                return s[of].decision in wanted and (m == 0 or lead(s[of].votes, wanted, n) >= m)

            return text, decided
        return self._votes(before, of, n)

    def _agree(self, n: int, m: int) -> Said:
        if m == 0 and self.rng.random() < 0.3:
            return "a.decision != b.decision", lambda s: s[0].decision != s[1].decision

        def agree(s: Situation) -> bool:
            a, b = s
            stands = all(m == 0 or lead(x.votes, frozenset([x.decision]), n) >= m for x in (a, b))
            return a.decision == b.decision and stands

        return "a.decision == b.decision", agree

    def _votes(self, before: str, of: int, n: int) -> Said:
        operator, bound = (
            str(self.rng.choice([">=", "<=", ">", "<", "==", "!="])),
            int(self.rng.integers(-3, 4)),
        )
        labels = [f"{before}votes({label!r})" for label in self.model.classes]
        i, j = (int(c) for c in self.rng.choice(n, 2, replace=False))
        k = int(self.rng.choice([-1, 1, 1, 2]))
        if self.model.n_outputs == 1:
            text = f"{k} * ({labels[1]} - {labels[0]})"
            total: Callable[[Situation], int] = lambda s: k * s[of].votes[0]  # noqa: E731
        else:
            text = f"{k} * {labels[i]} - {labels[j]}"
            total = lambda s: k * s[of].votes[i] - s[of].votes[j]  # noqa: E731
        compare: dict[str, Callable[[int], bool]] = {
            ">=": lambda v: v >= bound,
            "<=": lambda v: v <= bound,
            ">": lambda v: v > bound,
            "<": lambda v: v < bound,
            "==": lambda v: v == bound,
            "!=": lambda v: v != bound,
        }
        return f"{text} {operator} {bound}", lambda s: compare[operator](total(s))
