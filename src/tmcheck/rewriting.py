"""Structural proofs that two models agree: clauses over single bits, rewritten until their sums cancel.

Every bit is a flag of its own, around the input of zeros: that are all inputs, also those that the space of
the models has no values for. Rewriting keeps every sum of votes as it is: ``c and l`` is c minus
``c and not l``, and c is the sum of ``c and f`` and ``c and not f``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tmcheck import limits
from tmcheck.errors import Refused
from tmcheck.flips import FlipProblem, Groups, specialised
from tmcheck.multipliers import Key
from tmcheck.surroundings import Pool, Voters
from tmcheck.ways import Constraint


class Bits:
    """All clauses of some machines around the input of zeros, each bit a flag that may flip."""

    def __init__(self, pool: Pool, n_bits: int) -> None:
        self.pool, self.n_bits = pool, n_bits
        self.free = {f - 1 for f in pool.occurring}
        clauses = pool.over_flips({-f for f in pool.occurring}, n_bits)
        groups, self._given = specialised(clauses, {}, n_bits, pool.n_rows)
        self._groups = {key: votes for key, votes in groups.items() if any(votes)}
        self._voters: Voters | None = None

    def rewrite(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Rewrite clauses, for all refutations to come."""
        most = most_clauses(len(self.pool.clauses))
        self._groups, more = rewritten(self._groups, pairs, self.free, self.pool.n_rows, most)
        self._given = [a + b for a, b in zip(self._given, more, strict=True)]
        self._voters = None

    def problem(self, constraints: Sequence[Constraint]) -> FlipProblem:
        """The problem of these constraints, about all inputs."""
        if self._voters is None:
            self._voters = Voters(self._groups, self._given)
        groups, needs = self._voters.sums(constraints)
        return FlipProblem(groups, needs, self.n_bits, bit_values)


def bit_values(_: int) -> tuple[int, int]:
    """The values of a bit at the input of zeros: as it is, and flipped."""
    return 0, 1


def rewritten(
    groups: Groups, pairs: Sequence[tuple[int, int]], free: set[int], width: int, most: int
) -> tuple[Groups, list[int]]:
    """The same sums with clauses rewritten by a feature each, and the votes that are there in any case.

    ``c and l`` is c minus ``c and not l``; c is the sum of ``c and f`` and ``c and not f``.
    """
    keys, groups, given = list(groups), dict(groups), [0] * width
    before = n_literals(keys)
    if not pairs or len(keys) + len(pairs) > most:
        raise Refused("'rewrite' of nothing, or into too many clauses")
    for j, f in pairs:
        if j >= len(keys) or f not in free:
            raise Refused("'rewrite' of a clause or by a feature that is not there")
        votes = groups.pop(keys[j], None)
        if votes is None:
            raise Refused("'rewrite' of a clause twice")
        wakes, stays = keys[j]
        whole = tuple(g for g in wakes if g != f), tuple(g for g in stays if g != f)
        awake, asleep = (_with(whole[0], f), whole[1]), (whole[0], _with(whole[1], f))
        if f in wakes:
            sums = [(whole, 1), (asleep, -1)]
        elif f in stays:
            sums = [(whole, 1), (awake, -1)]
        else:
            sums = [(awake, 1), (asleep, 1)]
        for key, sign in sums:
            if key == ((), ()):
                given = [g + sign * v for g, v in zip(given, votes, strict=True)]
            else:
                old = groups.get(key, (0,) * width)
                groups[key] = tuple(a + sign * b for a, b in zip(old, votes, strict=True))
    if n_literals(groups) > max(before, limits.LARGEST_FORMULA):
        raise Refused("'rewrite' into clauses that are too long")
    return {key: votes for key, votes in groups.items() if any(votes)}, given


def n_literals(keys: Iterable[Key]) -> int:
    """How many literals clauses have in all."""
    return sum(len(wakes) + len(stays) for wakes, stays in keys)


def most_clauses(start: int) -> int:
    """How many clauses rewriting may lead to: enough for all that helps."""
    return 4 * start + 64


def _with(features: tuple[int, ...], f: int) -> tuple[int, ...]:
    return tuple(sorted((*features, f)))
