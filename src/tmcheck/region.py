"""The region of an input: which values each column may take, at what cost, within which budget.

Every column has *options*: its present value, at no cost, and the other values that the claim's rules allow,
each at a cost. The region are all inputs whose every column has one of its options, whose costs add up to at
most the budget, and which do not differ from the input in all columns of one of the lists ``apart``.

In distance "bits" every bit is a column of its own, a flag, whatever the model's space says. A flag's option
to change is kept as a byte in ``mutable``, because there may be millions of flags; what costs more than 1, or
nothing, is in the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import ne
from typing import NamedTuple

from tmcheck.errors import Refused
from tmcheck.space import CATEGORY, FLAG, Column, Space


class Rule(NamedTuple):
    """What a claim says of a column: which way it may change, to which values, and what that costs."""

    way: str = "any"  # "any", "keep", "up", "down"
    values: frozenset[int] | None = None  # any, if None
    factor: int = 1  # of the cost of a change

    def allows(self, column: Column, present: int, value: int) -> bool:
        """Whether a column may change from its present value to another."""
        if self.way == "keep" or (self.values is not None and value not in self.values):
            return False
        if self.way == "any":
            return True
        if column.kind != FLAG and not (column.is_interval(present) and column.is_interval(value)):
            return False
        return value > present if self.way == "up" else value < present


ANY, KEEP = Rule(), Rule("keep")


class Options(NamedTuple):
    """What a column may be: values, ascending, the cost of each, and which of them is the reference."""

    values: list[int]
    costs: list[int]
    reference: int  # its place in the lists


class Region:
    """The inputs around a centre.

    ``budget`` is the largest cost, None if there is no limit; ``steps`` says whether a number's change costs
    the cuts that it crosses.
    """

    def __init__(
        self,
        space: Space,
        centre: bytes,
        budget: int | None,
        *,
        mutable: bytes | None = None,
        rules: Mapping[int, Rule] | None = None,
        steps: bool = False,
        apart: Sequence[Sequence[int]] = (),
    ) -> None:
        self.space, self.centre, self.budget = space, centre, budget
        self.rules = {} if rules is None else rules
        self.steps, self.apart = steps, apart
        self.mutable = space.flag_bits if mutable is None else mutable
        self._costly: list[tuple[int, int]] = []  # mutable flags whose change does not cost 1: bit and cost
        if self.rules:
            self._apply_to_flags()

    def _apply_to_flags(self) -> None:
        mutable = bytearray(self.mutable)
        for number, rule in self.rules.items():
            column = self.space.column(number)
            if column.kind != FLAG:
                continue
            bit = column.first_bit
            present = self.centre[bit]
            if not rule.allows(column, present, 1 - present):
                mutable[bit] = 0
            elif rule.factor != 1:
                self._costly.append((bit, rule.factor))
        self.mutable = bytes(mutable)

    def present(self, column: Column) -> int:
        """The value that the centre has in a column."""
        value = column.value_of(self.centre)
        assert value is not None  # a region is made around possible inputs alone
        return value

    def cost(self, column: Column, present: int, value: int) -> int:
        """What the change of a column costs that may change so."""
        steps = self.steps and column.is_interval(present) and column.is_interval(value)
        return (abs(value - present) if steps else 1) * self.rules.get(column.number, ANY).factor

    def options(self, number: int) -> Options:
        """The options of a column."""
        column = self.space.column(number)
        present = self.present(column)
        if column.kind == FLAG and not self.mutable[column.first_bit]:
            return Options([present], [0], 0)
        values = list(self._allowed(column, present))
        costs = [0 if value == present else self.cost(column, present, value) for value in values]
        return Options(values, costs, values.index(present))

    def _allowed(self, column: Column, present: int) -> Iterator[int]:
        """The values of a column's options, ascending."""
        rule = self.rules.get(column.number, ANY)
        candidates: Sequence[int] = range(column.n_values)
        if rule.values is not None:  # few, perhaps, of very many
            candidates = sorted({present, *rule.values})
            rule = rule._replace(values=None)
        return (v for v in candidates if v == present or rule.allows(column, present, v))

    def among(self, values: Mapping[int, frozenset[int]]) -> Region:
        """The part in which these columns have one of these values, the present one among them."""
        mutable, rules = bytearray(self.mutable), dict(self.rules)
        for number, some in values.items():
            column = self.space.column(number)
            if column.kind != FLAG:
                rule = rules.get(number, ANY)
                left = some if rule.values is None else some & rule.values
                rules[number] = KEEP if len(some) == 1 else rule._replace(values=left)
            elif len(some) == 1:
                mutable[column.first_bit] = 0
                rules.pop(number, None)
        return self._part(mutable, rules, self.budget, self.apart)

    def only(self, columns: Iterable[int], budget: int | None, apart: Sequence[Sequence[int]] = ()) -> Region:
        """The part in which no other columns change, with another budget and columns kept apart."""
        mutable, rules = bytearray(len(self.mutable)), {column.number: KEEP for column in self.space.several}
        for number in columns:
            column = self.space.column(number)
            rules.pop(number, None)
            if number in self.rules:
                rules[number] = self.rules[number]
            if column.kind == FLAG:
                mutable[column.first_bit] = self.mutable[column.first_bit]
        return self._part(mutable, rules, budget, apart)

    def _part(
        self,
        mutable: bytearray,
        rules: Mapping[int, Rule],
        budget: int | None,
        apart: Sequence[Sequence[int]],
    ) -> Region:
        return Region(
            self.space,
            self.centre,
            budget,
            mutable=bytes(mutable),
            rules=rules,
            steps=self.steps,
            apart=apart,
        )

    def whole_cost(self) -> int:
        """What the dearest input of the region costs, if there were no budget."""
        flags = self.mutable.count(1) + sum(cost - 1 for _, cost in self._costly)
        return flags + sum(map(self._dearest, self.space.several))

    def _dearest(self, column: Column) -> int:
        present = self.present(column)
        rule = self.rules.get(column.number, ANY)
        if rule.values is None and column.n_values > 2:  # the ends are enough: costs grow with the distance
            last = column.n_values - 1
            ends = {0, last, column.ordered if column.kind != CATEGORY else 1} - {present}
            allowed = [v for v in ends if rule.allows(column, present, v)]
        else:
            allowed = [v for v in self._allowed(column, present) if v != present]
        return max((self.cost(column, present, v) for v in allowed), default=0)

    def cost_of(self, z: bytes) -> int:
        """What an input of the region costs; raises Refused if it is outside, whatever the budget."""
        changed = int.from_bytes(self.centre, "big") ^ int.from_bytes(z, "big")
        if self.space.several:
            changed &= int.from_bytes(self.space.flag_bits, "big")
        if changed & ~int.from_bytes(self.mutable, "big"):
            raise Refused("the witness lies outside the region")
        total = changed.bit_count()
        total += sum(cost - 1 for bit, cost in self._costly if z[bit] != self.centre[bit])
        for column in self.space.several:
            present, value = self.present(column), column.value_of(z)
            if value == present:
                continue
            if value is None or not self.rules.get(column.number, ANY).allows(column, present, value):
                raise Refused("the witness lies outside the region")
            total += self.cost(column, present, value)
        if any(all(self._differs(number, z) for number in columns) for columns in self.apart):
            raise Refused("the witness lies outside the region: columns change together that may not")
        return total

    def changed(self, z: bytes) -> list[int]:
        """The columns in which an input of the region differs from the centre, ascending."""
        bits = compress(range(len(z)), map(ne, self.centre, z))
        return sorted({self.space.column_of(bit) for bit in bits})

    def _differs(self, number: int, z: bytes) -> bool:
        column = self.space.column(number)
        own = slice(column.first_bit, column.first_bit + column.n_bits)
        return z[own] != self.centre[own]


def everywhere(space: Space, values: Mapping[int, frozenset[int]] | None = None) -> Region:
    """Every possible input in which some columns have one of these values.

    It is seen from the one that has the first of its values in every column.
    """
    centre, rules = bytearray(space.first_values()), {}
    for number, some in (values or {}).items():
        column = space.column(number)
        centre[column.first_bit : column.first_bit + column.n_bits] = column.pattern(min(some))
        rules[number] = KEEP if len(some) == 1 else Rule(values=some)
    return Region(space, bytes(centre), space.n_bits, rules=rules)
