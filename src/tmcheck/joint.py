"""Joint inputs: one input of a model, or two that are the same except in some columns, seen as one.

Of two inputs, a and b, a joint input has the columns that they share once, and each of the others twice in a
row: a's, then b's. A *copy* of the model is the model with its clauses moved to the bits of one of the
inputs. So what is said of two inputs is said of two machines on one joint input.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from tmcheck.model import Machine
from tmcheck.region import Region, Rule
from tmcheck.space import FLAG, Column, Run, Space


class Joint:
    """The joint inputs of a machine; ``differ`` are the columns that a pair has twice, None for one input.

    ``machines`` are the copies, ``space`` the columns of joint inputs.
    """

    def __init__(self, machine: Machine, space: Space, differ: tuple[int, ...] | None) -> None:
        self.n_inputs = 1 if differ is None else 2
        self.differ = () if differ is None else differ
        self._columns = [space.column(number) for number in self.differ]
        self._ends = [column.first_bit + column.n_bits for column in self._columns]
        self._extra = [0]  # bits that are there twice, up to each column that is
        for column in self._columns:
            self._extra.append(self._extra[-1] + column.n_bits)
        self.space, self.machines = space, [machine]
        if differ is not None:
            self.space = Space(list(self._runs(space)))
            self.machines = [self._copy(machine, of) for of in range(2)]

    def _runs(self, space: Space) -> Iterator[Run]:
        column = bit = 0
        for run in space.runs:
            first, last = run.first_column, run.first_column + run.n_columns
            twice = bisect_left(self.differ, last) - bisect_left(self.differ, first)
            if run.kind == FLAG:
                n = run.n_columns + twice
                yield Run(FLAG, column, n, bit, n, [])
                column, bit = column + n, bit + n
            else:
                for _ in range(1 + twice):
                    yield Run(run.kind, column, 1, bit, run.n_bits, run.parts)
                    column, bit = column + 1, bit + run.n_bits

    def place(self, of: int, column: int) -> int:
        """The joint column of a column of an input."""
        before = bisect_left(self.differ, column)
        own = before < len(self.differ) and self.differ[before] == column
        return column + before + (of if own else 0)

    def column(self, of: int, number: int) -> Column:
        """The same, as a column."""
        return self.space.column(self.place(of, number))

    def _bit(self, of: int, bit: int) -> int:
        """The joint bit of a bit of an input."""
        before = bisect_left(self._ends, bit + 1)  # columns that are there twice, and end before the bit
        own = before < len(self._columns) and self._columns[before].first_bit <= bit
        return bit + self._extra[before] + (self._columns[before].n_bits if own and of else 0)

    def _copy(self, machine: Machine, of: int) -> Machine:
        moved = {}
        for f in machine.occurring:
            joint = self._bit(of, f - 1) + 1
            moved[f], moved[-f] = joint, -joint
        return Machine(
            self.space.n_bits,
            [tuple([moved[literal] for literal in clause]) for clause in machine.clauses],
            machine.votes,
            machine.always,
            machine.least,
            machine.clamp,
            machine.classes,
        )

    def doubled(self, bits: bytes) -> bytes:
        """The joint input of an input and itself; of any bytes that belong to bits."""
        pieces, start = [], 0
        for column, end in zip(self._columns, self._ends, strict=True):
            pieces += [bits[start:end], bits[column.first_bit : end]]
            start = end
        return b"".join((*pieces, bits[start:]))

    def around(self, region: Region) -> Region:
        """The joint inputs of a region: a lies in it, and b's own columns are free, at no cost."""
        if self.n_inputs == 1:
            return region
        mutable = bytearray(self.doubled(region.mutable))
        rules = {self.place(0, number): rule for number, rule in region.rules.items()}
        for number in self.differ:
            column = self.column(1, number)
            rules[column.number] = Rule(factor=0)
            if column.kind == FLAG:
                mutable[column.first_bit] = 1
        return Region(
            self.space,
            self.doubled(region.centre),
            region.budget,
            mutable=bytes(mutable),
            rules=rules,
            steps=region.steps,
        )
