"""What decisions mean as constraints on votes: the ways to decide a class, and to violate a property.

A condition is (rows with coefficients, bound): the scores, so multiplied and added, reach the bound. A
constraint is the same about votes: what a score has in any case is taken from the bound.
"""

from __future__ import annotations

from collections.abc import Iterator

from tmcheck.model import Machine

Terms = tuple[tuple[int, int], ...]  # of (row of votes, coefficient), rows ascending
Constraint = tuple[Terms, int]  # sum of coefficient * votes[row] >= bound
Case = frozenset[Constraint]  # all of them hold


def says(machine: Machine, first: int, c: int) -> list[list[Constraint]]:
    """The ways to decide class c, each a list of conditions on scores; rows are numbered from ``first``."""
    n, top = len(machine.always), machine.clamp
    if n == 1:
        t = machine.least
        return [[at_least(first, t) if c == 1 else at_most(first, t - 1)]]
    others = [r for r in range(n) if r != c]
    wins = [ahead(first, c, r, 1 if r < c else 0) for r in others]
    if top is None:
        return [wins]
    ways = [
        [at_least(first + c, top), *(at_most(first + r, top - 1) for r in others if r < c)],
        [at_least(first + c, 1 - top), at_most(first + c, top - 1), *wins],
    ]
    if c == 0:  # all at the bottom: a tie, and the first of them wins
        ways.append([at_most(first + r, -top) for r in range(n)])
    return ways


def denies(machine: Machine, first: int, c: int) -> list[list[Constraint]]:
    """The ways not to decide class c: some row r beats it."""
    n, top = len(machine.always), machine.clamp
    if n == 1:
        return says(machine, first, 1 - c)
    ways: list[list[Constraint]] = []
    for r in range(n):
        if r == c:
            continue
        beats = ahead(first, r, c, 1 if r > c else 0)
        if top is None:
            ways.append([beats])
        elif r < c:
            ways += [[beats], [at_least(first + r, top)], [at_most(first + c, -top)]]
        else:
            ways.append([beats, at_least(first + r, 1 - top), at_most(first + c, top - 1)])
    return ways


def at_least(row: int, bound: int) -> Constraint:
    return ((row, 1),), bound


def at_most(row: int, bound: int) -> Constraint:
    return ((row, -1),), -bound


def ahead(first: int, winner: int, loser: int, margin: int) -> Constraint:
    terms = sorted([(first + winner, 1), (first + loser, -1)])
    return tuple(terms), margin


def ways_to_violate(machines: list[Machine], expected: int | None, target: int | None) -> Iterator[Case]:
    """All ways to violate a property.

    With a ``target``, to decide that class; else to decide otherwise than ``expected``; without either, two
    machines decide differently.
    """
    always = [score for machine in machines for score in machine.always]

    def on_votes(condition: Constraint) -> Constraint:
        terms, bound = condition
        return terms, bound - sum(coefficient * always[row] for row, coefficient in terms)

    def cases(ways: list[list[Constraint]]) -> list[Case]:
        return [frozenset(map(on_votes, way)) for way in ways]

    if target is not None:
        yield from cases(says(machines[0], 0, target))
        return
    if expected is not None:
        yield from cases(denies(machines[0], 0, expected))
        return
    a, b = machines
    for c in range(len(a.classes)):
        some, others = cases(says(a, 0, c)), cases(denies(b, len(a.always), c))
        for left in some:
            for right in others:
                yield left | right
