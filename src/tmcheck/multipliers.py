"""Multipliers: what turns the constraints of a refutation into one linear bound.

The *mixture* adds up the constraints, so that each clause has one weight and there is one need. A clause of
positive weight has *shares*, one for each literal, that add up to the unit at least; one of negative weight
has a *load*, at most the unit. Certificates set them; what the bound makes of them is in flips.py and
moves.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from tmcheck.errors import Refused

Key = tuple[tuple[int, ...], tuple[int, ...]]  # what must be done for a clause to be true, and what must not


class Sums(Protocol):
    """Clauses, their votes for each constraint, and what these need."""

    keys: list[Key]
    votes: list[tuple[int, ...]]
    needs: list[int]


class Multipliers:
    """The multipliers of a problem, all as they are at the start but for the mixture."""

    def __init__(self, problem: Sums, unit: int, mix: list[int]) -> None:
        self.problem, self.unit, self.mix = problem, unit, mix
        sizes = [(len(wakes), len(stays)) for wakes, stays in problem.keys]
        start = {size: _even(*size, unit) for size in set(sizes)}  # shared: new ones are put in their place
        self.shares = [start[size] for size in sizes]
        self.loads = [unit if wakes <= 1 else 0 for wakes, _ in sizes]
        self.weigh()

    def weigh(self) -> None:
        """The weight of each clause, and what all of it needs, times the unit."""
        votes, mix = self.problem.votes, self.mix
        if len(mix) == 1:
            self.weights = [mix[0] * vote for (vote,) in votes]
        else:
            self.weights = [sum([m * v for m, v in zip(mix, vote, strict=True)]) for vote in votes]
        self.need = sum(m * need for m, need in zip(mix, self.problem.needs, strict=True)) * self.unit

    def set_mix(self, mix: list[int]) -> None:
        """Add up the constraints with these multiples."""
        if len(mix) != len(self.problem.needs):
            raise Refused(f"'mix' of {len(mix)} for {len(self.problem.needs)} constraints")
        self.mix = mix
        self.weigh()

    def most_bytes(self) -> int:
        """How many bytes the numbers of ``set`` may take."""
        return 10 * (sum(map(len, self.shares)) + 2 * len(self.shares) + 1)

    def set(self, values: Iterator[int]) -> None:
        """New shares, or a new load, for some clauses: gap to the clause, then its numbers."""
        j = -1
        for gap in values:
            j += gap + 1
            if j >= len(self.weights):
                raise Refused("'set' beyond the last clause")
            weight, key = self.weights[j], self.problem.keys[j]
            new = [next(values, -1) for _ in range(len(key[0]) + len(key[1]) if weight > 0 else 1)]
            if min(new) < 0:
                raise Refused("'set' ends within a clause")
            if weight > 0:
                if sum(new) < self.unit:
                    raise Refused(f"'set' shares of clause {j} that do not make up the whole")
                self.shares[j] = new
            else:
                if new[0] > self.unit:
                    raise Refused(f"'set' a load of clause {j} beyond the whole")
                self.loads[j] = new[0]


def meets(needs: Sequence[int], votes: Sequence[tuple[int, ...]]) -> bool:
    """Whether the votes of these clauses, added up, meet every need."""
    sums = [0] * len(needs)
    for some in votes:
        sums = [total + vote for total, vote in zip(sums, some, strict=True)]
    return all(total >= need for total, need in zip(sums, needs, strict=True))


def _even(wakes: int, stays: int, unit: int) -> list[int]:
    """The shares of a start: evenly on the literals that wake a clause, or else on all."""
    n = wakes or stays
    shares = [unit // n] * n + [0] * (wakes + stays - n)
    shares[0] += unit - sum(shares)
    return shares
