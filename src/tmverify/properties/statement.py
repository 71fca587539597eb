"""Statements: a formula that is assumed of inputs, and one that is expected of them, as a Query.

    Is there an input of the region, or a pair of them, with  assume and not expect?

*Columns.* A condition on columns is a machine of its own: it has a clause, with a vote of -1, for each way in
which the condition fails, and it holds iff the sum is 0. So engines and proofs know nothing of conditions.
The parts of an assumption that speak of one column each restrict the region instead, which engines like best:
those of a region without a centre, and those that the centre meets.

*Cases.* ``assume and not expect`` is a disjunction of cases. What speaks of columns alone is one constraint:
of the parts of an All or a Some, these come first, as one condition; conditions are numbered as they are met,
their rows follow those of the copies. The ways to decide and to deny are those of ``query``.

*The clauses of a condition* G: the negation of G as a disjunction of conjunctions of In, each In as a
disjunction of conjunctions of bits (``cover``), all combined; sorted, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError
from tmverify.model import Model
from tmverify.properties.allowed import Rule, Rules, Way
from tmverify.properties.conditions import Case, at_least, decides, fails, lead_of, stands
from tmverify.properties.copies import Bits, Copies
from tmverify.properties.formula import (
    FALSE,
    TRUE,
    Agree,
    All,
    Decides,
    Formula,
    In,
    Lead,
    Some,
    all_of,
    atoms,
    denial,
)
from tmverify.properties.query import Account, Asked, Pooled, Query, account, pooled
from tmverify.properties.region import Region, region_in
from tmverify.properties.setting import Setting
from tmverify.space import Category, Column, Number

MOST_CASES = 4096
MOST_CLAUSES = 20_000
MOST_JOINED = 500_000  # pairs of ways, many of which may be the same or impossible; some seconds
DEEPEST, MOST_PARTS = 128, 1 << 16  # levels and parts, which a certificate may have
LARGEST = 1 << 60  # engines have sums in 64 bits, and certificates numbers below 1 << 62
EVERYWHERE = Rules("columns")
_TOO_LONG = "The statement is too long to be taken apart: split it, or say it more simply."


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """``expect`` holds for all inputs, or pairs, that meet ``assume``.

    ``premise`` is the part of what is assumed that is about decisions; ``expect`` has its negation as a part.
    """

    copies: Copies
    assume: Formula
    expect: Formula
    premise: Formula = TRUE

    def violated(self, joint: Bits, *, fast: bool = False) -> NDArray[np.bool_]:
        """Which joint inputs violate it."""
        facts = self.copies.facts(joint, fast=fast)
        return self.assume.holds(facts) & ~self.expect.holds(facts)

    def query(self, region: Region, x: Bits | None = None, rules: Rules = EVERYWHERE) -> StatementQuery:
        """Is there a violation in this region of joint inputs, made of ``x`` and ``rules``?"""
        _check_size(self.assume, self.expect)
        part, left = self._restricted(region)
        compiler = _Compiler(self.copies)
        cases = [] if part is None else compiler.cases(all_of([left, denial(self.expect)]))
        pool = pooled((*self.copies.models, *compiler.conditions), [([()], cases)])
        if any(isinstance(atom, Lead) for atom in atoms(self.expect)):
            _check_votes(pool)
        return StatementQuery(
            **pool,
            region=region if part is None else part,
            machines=self.copies.models,
            expected=None,
            statement=self,
            x=x,
            allowed=rules,
        )

    def region(self, x: Bits | None, epsilon: int | None, rules: Rules) -> Region:
        """The region of joint inputs: around ``x``, or of every possible input.

        Of a pair, ``a`` lies within ``epsilon`` changes of x, and b's own columns change freely.
        """
        copies = self.copies
        if x is None:
            return Region.everything(copies.space)
        if copies.n == 1:
            return region_in(copies.space, x, epsilon, rules)
        own = _by_column(rules, len(copies.model.space.columns))
        columns = [rule._replace(column=int(copies.columns[0][rule.column])) for rule in own]
        assert copies.differ is not None
        columns += [Rule(int(copies.columns[1][c]), cost=0) for c in copies.differ]
        joint = Rules("steps" if rules.distance == "steps" else "columns", columns=tuple(sorted(columns)))
        return region_in(copies.space, copies.joined(x, x), epsilon, joint)

    def assumption(self, region: Region, *, whole: bool = False) -> StatementQuery:
        """Is there an input in this region that meets the assumption? As a ``whole``: and the premise?"""
        return replace(self, expect=self.premise.negated() if whole else FALSE).query(region)

    def _restricted(self, region: Region) -> tuple[Region | None, Formula]:
        """The region, restricted by parts of the assumption (None: to nothing), and the rest of it."""
        parts = self.assume.parts if isinstance(self.assume, All) else (self.assume,)
        values: dict[int, frozenset[int]] = {}
        left = []
        for part in parts:
            if not isinstance(part, In):
                left.append(part)
                continue
            column = int(self.copies.columns[part.of][part.column])
            if region.center is None or self._present(region.center, column) in part.values:
                values[column] = values.get(column, part.values) & part.values
            else:
                left.append(part)
        return region.restricted(values) if values else region, all_of(left)

    def _present(self, joint: Bits, column: int) -> int:
        own = self.copies.space.columns[column]
        return int(own.part.value_indices(joint[None, own.bits.start : own.bits.stop])[0])


def _check_size(*formulas: Formula) -> None:
    """Raise InvalidInputError if formulas have too many levels or parts."""
    level, depth, count = list(formulas), 0, 0
    while level:
        count += sum(1 + len(part.terms) if isinstance(part, Lead) else 1 for part in level)
        level = [part for formula in level if isinstance(formula, All | Some) for part in formula.parts]
        depth += 1
        if depth > DEEPEST or count > MOST_PARTS:
            raise InvalidInputError(_TOO_LONG)


def _check_votes(pool: Pooled) -> None:
    """Raise InvalidInputError if votes times factors may be too large for engines, or for the checker."""
    reach = np.abs(pool["votes"]).sum(axis=1).tolist()
    for constraint in pool["constraints"]:
        most = abs(constraint.bound) + sum(abs(k) * reach[row] for row, k in constraint.terms)
        if most >= LARGEST:
            raise InvalidInputError(
                "The votes of this model, times these factors, can exceed 2^60: choose smaller factors."
            )


def _by_column(rules: Rules, n_columns: int) -> list[Rule]:
    """Rules column by column, also where every column is a bit."""
    if not rules.about_bits:
        return list(rules.columns)
    kept = np.zeros(n_columns, np.bool_) if rules.features is None else ~rules.features
    found = [Rule(column, "keep") for column in np.flatnonzero(kept).tolist()]
    if rules.direction is not None:
        way: Way = "up" if rules.direction == "add" else "down"
        found += [Rule(column, way) for column in np.flatnonzero(~kept).tolist()]
    return found


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StatementQuery(Query):
    """Is there an input that violates a statement?

    ``x`` is the input that it is asked around, and ``allowed`` what may change there; None: every input.
    """

    statement: Statement
    x: Bits | None = None
    allowed: Rules = EVERYWHERE

    def asked(self) -> Asked:
        """The input, as it was given, what may change in it, and the property in the form of a claim."""
        statement, differ = self.statement, self.statement.copies.differ
        stated = {
            "differ": None if differ is None else sorted(differ),
            "assume": statement.assume.to_json(),
            "expect": statement.expect.to_json(),
        }
        return Asked(self.x, self.allowed, stated)

    def setting(self) -> Setting:
        """The input that it is asked around, in the columns of the model."""
        return replace(
            Query.setting(self), space=self.statement.copies.model.space, x=self.x, rules=self.allowed
        )

    def violates(self, bits: Bits, *, fast: bool = False) -> NDArray[np.bool_]:
        """For each row, whether it violates the statement."""
        return self.statement.violated(bits, fast=fast)

    def decisions(self, bits: Bits) -> NDArray[np.int64]:
        """The decision on each input, (n, inputs)."""
        facts = self.statement.copies.facts(bits)
        return np.stack([facts.decisions(of) for of in range(self.statement.copies.n)], axis=1)

    def account(self, z: Bits) -> Account:
        """What a counterexample is, in words; of a pair, how b differs from a."""
        copies, center = self.statement.copies, self.region.center
        inputs = copies.apart(z)
        pair = inputs if copies.n == 2 else None
        before = inputs[0] if pair is not None else center
        labels = tuple(copies.model.classes[c] for c in self.decisions(z[None, :])[0])
        return account(copies.model, inputs[-1], before, labels)._replace(witness=inputs[0], pair=pair)


@dataclass(slots=True, eq=False)
class _Compiler:
    """Makes cases, and the machines of the conditions in them."""

    copies: Copies
    conditions: list[Model] = field(default_factory=list)

    def cases(self, formula: Formula) -> list[Case]:
        """The cases in which a formula holds."""
        if formula == FALSE:
            return []
        if formula.about_columns:
            return [(at_least(self._condition(formula), 0),)]
        if isinstance(formula, All | Some):
            of_columns = [part for part in formula.parts if part.about_columns]
            others = [part for part in formula.parts if not part.about_columns]
            parts = [type(formula)(tuple(of_columns)), *others] if of_columns else others
            found = [self.cases(part) for part in parts]
            if isinstance(formula, Some):
                return few([case for cases in found for case in cases])
            return few(sum(cases, ()) for cases in product(*found))
        rows, model = self.copies.rows, self.copies.model
        if isinstance(formula, Decides):
            row, classes = rows[formula.of], sorted(formula.classes)
            if formula.denied:
                return few(fails(model, row, classes, formula.margin))
            if formula.margin:
                return few(stands(model, row, classes, formula.margin))
            return few(case for c in classes for case in decides(model, row, c))
        if isinstance(formula, Agree):
            return few(self._agree(formula))
        assert isinstance(formula, Lead)
        terms = [(rows[of] + row, k) for of, row, k in formula.terms]
        return few(lead_of(terms, formula.bound, model.clamp))

    def _agree(self, formula: Agree) -> Iterator[Case]:
        (a, b), model, m = self.copies.rows, self.copies.model, formula.margin
        for c in range(formula.n_classes):
            says = decides(model, a, c)
            if not formula.denied:
                others = decides(model, b, c)
                assert not m
            else:
                others = [*fails(model, b, [c], m), *(fails(model, a, [c], m) if m else ())]
            yield from (left + right for left in says for right in others)

    def _condition(self, formula: Formula) -> int:
        """The score row of a new condition."""
        clauses = failing(formula, self.copies)
        machine = Model.from_clauses(
            self.copies.space.n_bits, clauses, -np.ones((1, len(clauses)), np.int64), space=self.copies.space
        )
        self.conditions.append(machine)
        return self.copies.n * self.copies.model.n_outputs + len(self.conditions) - 1


def few(cases: Iterable[Case]) -> list[Case]:
    """The cases, if there are not too many."""
    found: list[Case] = []
    for case in cases:
        found.append(case)
        if len(found) > MOST_CASES:
            raise InvalidInputError(_TOO_LONG)
    return found


def failing(formula: Formula, copies: Copies) -> list[tuple[int, ...]]:
    """Conjunctions of joint bits, of which one is true iff the formula, about columns, does not hold."""
    found: set[tuple[int, ...]] = set()
    for values in _ways(formula.negated(), copies):
        covers = [cover(copies.space.columns[column], some) for column, some in values.items()]
        for parts in product(*covers):
            clause = tuple(sorted((literal for part in parts for literal in part), key=abs))
            assert clause, "a condition that never holds"
            found.add(clause)
            if len(found) > MOST_CLAUSES:
                raise InvalidInputError(_TOO_LONG)
    return sorted(found)


def _ways(formula: Formula, copies: Copies) -> list[dict[int, frozenset[int]]]:
    """A formula about columns as a disjunction: in each way, joint columns have some of these values."""
    if isinstance(formula, In):
        return [{int(copies.columns[formula.of][formula.column]): formula.values}]
    assert isinstance(formula, All | Some)
    parts = [_ways(part, copies) for part in formula.parts]
    if isinstance(formula, Some):
        if sum(map(len, parts)) > MOST_CLAUSES:
            raise InvalidInputError(_TOO_LONG)
        return [way for ways in parts for way in ways]
    found: list[dict[int, frozenset[int]]] = [{}]
    for ways in parts:
        if len(found) * len(ways) > MOST_JOINED:
            raise InvalidInputError(_TOO_LONG)
        joined = (joint for one in found for other in ways if (joint := _both(one, other)) is not None)
        found = list({tuple(joint.items()): joint for joint in joined}.values())
        if len(found) > MOST_CLAUSES:
            raise InvalidInputError(_TOO_LONG)
    return found


def _both(
    one: Mapping[int, frozenset[int]], other: Mapping[int, frozenset[int]]
) -> dict[int, frozenset[int]] | None:
    """Two ways at once; None if that can't be."""
    found = dict(one)
    for column, values in other.items():
        left = found.get(column, values) & values
        if not left:
            return None
        found[column] = left
    return dict(sorted(found.items()))


def cover(column: Column, values: frozenset[int]) -> list[tuple[int, ...]]:
    """Conjunctions of bits, from 1, of which one is true iff the column, if possible, has one of the values.

    Of a number, one for each run of intervals, and one for missing. Of a category, the bits of the values,
    each by itself; but if the value without a bit is among them, or no value is without one and there are
    several: one conjunction that denies the bits of all others.
    """
    first, part = column.bits.start + 1, column.part
    if isinstance(part, Number):
        return _cover_number(part, values, first)
    if isinstance(part, Category):
        bits = [*range(len(part.categories)), *([-1] if part.other else [])]
        bits += [len(part.categories)] if part.missing else []
        bare = part.other and len(part.categories) in values
        if bare or (not part.other and len(values) > 1):
            return [tuple(-(first + bit) for v, bit in enumerate(bits) if v not in values and bit >= 0)]
        return [(first + bits[v],) for v in sorted(values)]
    return [(first if value else -first,) for value in sorted(values)] if len(values) == 1 else [()]


def _cover_number(part: Number, values: frozenset[int], first: int) -> list[tuple[int, ...]]:
    m = len(part.cuts)
    found = []
    runs: list[list[int]] = []
    for value in sorted(v for v in values if v <= m):
        if runs and runs[-1][-1] == value - 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    for run in runs:
        low = [first + run[0] - 1] if run[0] > 0 else []
        high = [-(first + run[-1])] if run[-1] < m else []
        # The bits of missing are those of the lowest interval, and one more.
        gone = [-(first + m)] if part.missing and not low else []
        found.append((*low, *high, *gone))
    if part.missing and m + 1 in values:
        found.append((first + m,))
    return found
