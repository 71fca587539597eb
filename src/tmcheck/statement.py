"""Statements: a property of a model as a question about joint inputs, and the ways to violate it.

*The region.* Parts of the assumption (itself, or parts of its All) that are an In each restrict the region:
all of them where every input is meant, and around an input those that it meets. What is ``left`` of the
assumption is taken apart with the rest.

*Cases.* A violation is the formula  left and opposite(expect).  It is a disjunction of cases, each a list of
conditions on scores. What speaks of columns alone becomes one *condition* on columns: of the parts of an All
or a Some these come first, together. Conditions are numbered as they are met. Each is a machine with one row;
these rows follow those of the copies.

*A condition* G has a clause, with a vote of -1, for each way in which G fails; so it holds iff the votes add
up to 0. The ways are those of the opposite of G as a disjunction: in each way some columns have one of some
values. A column's values are conjunctions of its bits (``cover``). All are combined; sorted, each once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from tmcheck import limits
from tmcheck.errors import Refused
from tmcheck.joint import Joint
from tmcheck.model import Machine, lead
from tmcheck.moves import places
from tmcheck.property import (
    Agree,
    All,
    Decides,
    Formula,
    In,
    Property,
    Some,
    Votes,
    is_about_columns,
    opposite,
)
from tmcheck.region import Region, everywhere
from tmcheck.space import CATEGORY, NUMBER, Column, Space
from tmcheck.surroundings import Pool
from tmcheck.ways import Case, Constraint, adds_up, at_least, denies, on_votes, says, stands, ways_to_disagree

Conditions = list[Constraint]
Way = tuple[tuple[int, int], ...]  # of (joint column, set of its values as a mask), columns ascending
_TOO_LONG = "the property is too long to be taken apart"


class Statement:
    """A property of one model."""

    def __init__(self, stated: Property, machine: Machine, space: Space) -> None:
        stated.check_fits(machine, space)
        self.stated, self.joint = stated, Joint(machine, space, stated.differ)
        assume = stated.assume
        self._parts = assume.parts if isinstance(assume, All) else (assume,)
        self._made: tuple[tuple[Formula, ...] | None, Violations | None] = (None, None)

    def violated_by(self, z: bytes) -> bool:
        """Whether a joint input meets what is assumed, and not what is expected."""
        facts = _Facts(self.joint, z)
        return facts.holds(self.stated.assume) and not facts.holds(self.stated.expect)

    def everywhere(self) -> tuple[Region, Region | None, Violations]:
        """Every joint input; its part to look at, None if that is empty; and the violations there."""
        values: dict[int, frozenset[int]] = {}
        for part in self._parts:
            if isinstance(part, In):
                place, some = self.joint.place(part.of, part.column), frozenset(part.values)
                values[place] = values.get(place, some) & some
        left = tuple(part for part in self._parts if not isinstance(part, In))
        whole, space = everywhere(self.joint.space), self.joint.space
        if not all(values.values()):
            return whole, None, Violations(self.joint, Some(()))
        return whole, everywhere(space, values), self._violations(left)

    def around(self, region: Region) -> tuple[Region, Region, Violations]:
        """The joint inputs around an input; their part to look at; and the violations there."""
        whole = self.joint.around(region)
        values: dict[int, frozenset[int]] = {}
        left = []
        for part in self._parts:
            column = self.joint.column(part.of, part.column) if isinstance(part, In) else None
            if isinstance(part, In) and column is not None and whole.present(column) in part.values:
                some = frozenset(part.values)
                values[column.number] = values.get(column.number, some) & some
            else:
                left.append(part)
        return whole, whole.among(values), self._violations(tuple(left))

    def _violations(self, left: tuple[Formula, ...]) -> Violations:
        """What is left of the assumption is often the same for many inputs."""
        key, made = self._made
        if made is None or key != left:
            denied = opposite(self.stated.expect)
            parts = (*left, *(denied.parts if isinstance(denied, All) else (denied,)))
            never = any(isinstance(part, Some) and not part.parts for part in parts)
            whole: Formula = parts[0] if len(parts) == 1 else All(parts)
            made = Violations(self.joint, Some(()) if never else whole)
            self._made = left, made
        return made


class _Facts:
    """What is so of a joint input."""

    def __init__(self, joint: Joint, z: bytes) -> None:
        self.joint, self.z = joint, z
        self.votes = [machine.votes_on(z) for machine in joint.machines]
        self.decided = [
            machine.winner(votes) for machine, votes in zip(joint.machines, self.votes, strict=True)
        ]

    def holds(self, formula: Formula) -> bool:
        if isinstance(formula, All):
            return all(map(self.holds, formula.parts))
        if isinstance(formula, Some):
            return any(map(self.holds, formula.parts))
        if isinstance(formula, Votes):
            return sum(k * self.votes[of][row] for of, row, k in formula.terms) >= formula.bound
        return self._is_so(formula) != formula.denied

    def _is_so(self, formula: In | Decides | Agree) -> bool:
        if isinstance(formula, In):
            return self.joint.column(formula.of, formula.column).value_of(self.z) in formula.values
        if isinstance(formula, Decides):
            return self._stands(formula.of, formula.classes, formula.margin)
        a, b = self.decided
        return a == b and all(self._stands(of, (a,), formula.margin) for of in (0, 1))

    def _stands(self, of: int, classes: Sequence[int], margin: int) -> bool:
        if self.decided[of] not in classes:
            return False
        return not margin or lead(self.votes[of], classes) >= margin


class Violations:
    """A formula taken apart: its cases as constraints on votes, and the pool that has these votes."""

    def __init__(self, joint: Joint, formula: Formula) -> None:
        self.joint, self._conditions = joint, _Conditions(joint)
        self._firsts = [0]
        for machine in joint.machines:
            self._firsts.append(self._firsts[-1] + len(machine.always))
        self._made = 0
        cases = self._cases(formula)
        machines = [*joint.machines, *self._conditions.machines]
        always = [score for machine in machines for score in machine.always]
        self.ways: list[Case] = [on_votes(case, always) for case in cases]
        self._check_size()
        self.pool = Pool(machines)

    def _check_size(self) -> None:
        found = self._conditions.machines
        more = sum(len(machine.clauses) for machine in found)
        clauses = more + sum(len(machine.clauses) for machine in self.joint.machines)
        if len(found) * clauses + more * self._firsts[-1] > limits.MOST_VOTES:
            raise Refused("the property has too many conditions for so many clauses")

    def _few(self, cases: Iterable[Conditions]) -> list[Conditions]:
        found = []
        for case in cases:
            found.append(case)
            self._made += 1 + len(case)
            if len(found) > limits.MOST_CASES or self._made > limits.MOST_CONDITIONS:
                raise Refused(_TOO_LONG)
        return found

    def _cases(self, formula: Formula) -> list[Conditions]:
        """The cases in which a formula holds."""
        if isinstance(formula, Some) and not formula.parts:
            return []
        if is_about_columns(formula):
            return [[at_least(self._firsts[-1] + self._conditions.take(formula), 0)]]
        if isinstance(formula, All | Some):
            return self._joined(formula)
        return self._few(self._ways(formula))

    def _joined(self, formula: All | Some) -> list[Conditions]:
        of_columns = tuple(part for part in formula.parts if is_about_columns(part))
        parts = [part for part in formula.parts if not is_about_columns(part)]
        if of_columns:
            parts.insert(0, All(of_columns) if isinstance(formula, All) else Some(of_columns))
        found = [self._cases(part) for part in parts]
        if isinstance(formula, Some):
            return self._few(case for cases in found for case in cases)
        return self._few([one for case in cases for one in case] for cases in product(*found))

    def _ways(self, formula: Formula) -> Iterator[Conditions]:
        """What is denied of a decision, or said of votes, as conditions on scores."""
        firsts, machines = self._firsts, self.joint.machines
        if isinstance(formula, Votes):
            terms = [(firsts[of] + row, k) for of, row, k in formula.terms]
            yield from adds_up(terms, formula.bound, machines[0].clamp)
        elif isinstance(formula, Decides):
            rule = denies if formula.denied else stands
            yield from rule(machines[formula.of], firsts[formula.of], formula.classes, formula.margin)
        elif isinstance(formula, Agree):
            a, b = machines
            if formula.denied:
                yield from ways_to_disagree(a, (firsts[0], firsts[1]), b, formula.margin)
                return
            assert not formula.margin
            for c in range(len(a.classes)):
                both = product(says(a, firsts[0], c), says(b, firsts[1], c))
                yield from (left + right for left, right in both)


class _Conditions:
    """The conditions on columns that were met, each a machine of one row."""

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        self.machines: list[Machine] = []
        self._joined = self._weight = self._literals = 0
        self._covers: dict[tuple[int, int], list[tuple[int, ...]]] = {}

    def take(self, formula: Formula) -> int:
        """The number of a new condition."""
        clauses = sorted(self._failing(formula))
        votes: list[tuple[int, ...]] = [(-1,)] * len(clauses)
        self.machines.append(Machine(self.joint.space.n_bits, clauses, votes, [0], 0, None, [0, 1]))
        return len(self.machines) - 1

    def _failing(self, formula: Formula) -> set[tuple[int, ...]]:
        """Conjunctions of bits, of which one is true iff the formula does not hold."""
        found: set[tuple[int, ...]] = set()
        for way in self._ways(opposite(formula)):
            for parts in product(*(self._cover(place, chosen) for place, chosen in way)):
                self._count(1)
                clause = tuple(literal for part in parts for literal in part)
                if clause not in found:
                    self._literals += len(clause)
                    found.add(clause)
                if len(found) > limits.MOST_CLAUSES or self._literals > limits.LARGEST_FORMULA:
                    raise Refused(_TOO_LONG)
        return found

    def _ways(self, formula: Formula) -> list[Way]:
        """A formula about columns as a disjunction."""
        if isinstance(formula, In):
            column = self.joint.column(formula.of, formula.column)
            chosen = _mask(formula.values)
            if formula.denied:
                chosen ^= (1 << column.n_values) - 1
            return [self._kept(((column.number, chosen),))]
        assert isinstance(formula, All | Some)
        if isinstance(formula, Some):
            return [way for part in formula.parts for way in self._ways(part)]
        found: list[Way] = [()]
        for part in formula.parts:
            ways, joined = self._ways(part), {}
            for one, other in product(found, ways):
                self._count(1)
                both = _both(one, other)
                if both is not None and both not in joined:
                    joined[both] = self._kept(both)
            found = list(joined)
            if len(found) > limits.MOST_CLAUSES:
                raise Refused(_TOO_LONG)
        return found

    def _count(self, more: int) -> None:
        self._joined += more
        if self._joined > limits.MOST_JOINED:
            raise Refused(_TOO_LONG)

    def _kept(self, way: Way) -> Way:
        self._weight += sum(100 + (chosen.bit_length() >> 3) for _, chosen in way)
        if self._weight > limits.MOST_WAYS:
            raise Refused(_TOO_LONG)
        return way

    def _cover(self, place: int, chosen: int) -> list[tuple[int, ...]]:
        if (place, chosen) not in self._covers:
            found = cover(self.joint.space.column(place), places(chosen))
            self._count(len(found))
            self._covers[place, chosen] = found
        return self._covers[place, chosen]


def _mask(values: Sequence[int]) -> int:
    found = bytearray((values[-1] >> 3) + 1)
    for value in values:
        found[value >> 3] |= 1 << (value & 7)
    return int.from_bytes(found, "little")


def _both(one: Way, other: Way) -> Way | None:
    """Two ways at once; None if that can't be."""
    found = dict(one)
    for place, chosen in other:
        found[place] = found.get(place, chosen) & chosen
        if not found[place]:
            return None
    return tuple(sorted(found.items()))


def cover(column: Column, values: Sequence[int]) -> list[tuple[int, ...]]:
    """Conjunctions of bits, from 1, of which one is true iff the column, if possible, has one of the values.

    Of a number, one for each run of intervals, and one for missing. Of a category, the bits of the values,
    each by itself; but if the value without a bit is among them, or no value is without one and there are
    several: one conjunction that denies the bits of all others.
    """
    first, n = column.first_bit + 1, column.ordered
    if column.kind == NUMBER:
        return list(_runs(column, values))
    if column.kind != CATEGORY:
        return [(first,) if value else (-first,) for value in values]
    other = column.n_values > column.n_bits
    bits = {value: first + value for value in range(n)}
    if column.missing:
        bits[column.n_values - 1] = first + n
    if (other and n in values) or (not other and len(values) > 1):
        chosen = set(values)
        return [tuple(-bit for value, bit in bits.items() if value not in chosen)]
    return [(bits[value],) for value in values]


def _runs(column: Column, values: Sequence[int]) -> Iterator[tuple[int, ...]]:
    first, n = column.first_bit + 1, column.ordered
    intervals = [value for value in values if value <= n]
    start = 0
    for place, value in enumerate(intervals):
        if place + 1 < len(intervals) and intervals[place + 1] == value + 1:
            continue
        low, high = intervals[start], value
        literals = [first + low - 1] if low else []
        if high < n:
            literals.append(-(first + high))
        if column.missing and not low:
            literals.append(-(first + n))  # missing has the bits of the lowest interval, and one more
        yield tuple(literals)
        start = place + 1
    if column.missing and values and values[-1] > n:
        yield (first + n,)
