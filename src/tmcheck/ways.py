"""What decisions mean as constraints on votes: the ways to decide a class, and to violate a property.

A condition is (rows with coefficients, bound): the scores, so multiplied and added, reach the bound. A
constraint is the same about votes: what a score has in any case is taken from the bound.

A decision for one of the classes S stands by m >= 1 votes iff every row outside of S has at least m votes
less than some row of S. It fails to iff some row r outside has none that is so far ahead. With a clamp T, r
is less than m votes behind c iff  s_r - s_c >= 1 - m,  or  s_r >= T - (m - 1),  or  s_c <= (m - 1) - T, for
any m that can be reached at all, which is 2 T at most; so r is m votes behind iff none of these is so. Of
one row, class 1 is ahead by the score.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

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


def stands(machine: Machine, first: int, classes: Sequence[int], margin: int) -> Iterator[list[Constraint]]:
    """The ways to decide one of some classes by so many votes, at least one: it is ahead of all others."""
    top, n = machine.clamp, len(machine.always)
    if n == 1:
        yield [at_least(first, margin) if classes[0] == 1 else at_most(first, -margin)]
        return
    for c in classes:
        found: list[Constraint] = []
        for r in range(n):
            if r not in classes:
                found.append(ahead(first, c, r, margin))
                if top is not None:
                    found.append(at_most(first + r, top - margin))
        yield found if top is None else [*found, at_least(first + c, margin - top)]


def denies(
    machine: Machine, first: int, classes: Sequence[int], margin: int = 0
) -> Iterator[list[Constraint]]:
    """The ways not to decide one of some classes by so many votes: another row is not behind any of them."""
    within = set(classes)
    for r in range(len(machine.classes)):
        if r not in within:
            for ways in product(*(_not_behind(machine, first, r, c, margin) for c in classes)):
                yield [condition for way in ways for condition in way]


def _not_behind(machine: Machine, first: int, r: int, c: int, margin: int) -> list[list[Constraint]]:
    """The ways for row r not to have ``margin`` votes less than row c; for 0, to beat it."""
    top = machine.clamp
    if len(machine.always) == 1:
        if c == 1:
            return [[at_most(first, max(machine.least, margin) - 1)]]
        return [[at_least(first, 1 - max(1 - machine.least, margin))]]
    if margin:
        close = ahead(first, r, c, 1 - margin)
        if top is None:
            return [[close]]
        return [[close], [at_least(first + r, top - margin + 1)], [at_most(first + c, margin - 1 - top)]]
    beats = ahead(first, r, c, 1 if r > c else 0)
    if top is None:
        return [[beats]]
    if r < c:
        return [[beats], [at_least(first + r, top)], [at_most(first + c, -top)]]
    return [[beats, at_least(first + r, 1 - top), at_most(first + c, top - 1)]]


def adds_up(terms: Sequence[tuple[int, int]], bound: int, clamp: int | None) -> Iterator[list[Constraint]]:
    """The ways for scores, cut by a clamp, each times its factor, to add up to at least a bound."""
    if clamp is None:
        yield [(tuple(terms), bound)]
        return
    for sides in product((-1, 0, 1), repeat=len(terms)):
        # Each score is at the bottom, between, or at the top.
        conditions: list[Constraint] = []
        between, rest = [], bound
        for (row, k), side in zip(terms, sides, strict=True):
            if side == 0:
                conditions += [at_least(row, 1 - clamp), at_most(row, clamp - 1)]
                between.append((row, k))
            else:
                conditions.append(at_least(row, clamp) if side > 0 else at_most(row, -clamp))
                rest -= side * k * clamp
        if between:
            yield [*conditions, (tuple(between), rest)]
        elif rest <= 0:
            yield conditions


def at_least(row: int, bound: int) -> Constraint:
    return ((row, 1),), bound


def at_most(row: int, bound: int) -> Constraint:
    return ((row, -1),), -bound


def ahead(first: int, winner: int, loser: int, margin: int) -> Constraint:
    terms = sorted([(first + winner, 1), (first + loser, -1)])
    return tuple(terms), margin


def on_votes(conditions: Iterable[Constraint], always: Sequence[int]) -> Case:
    """Conditions on scores as constraints on votes: what a score has in any case is taken from the bound."""
    return frozenset((terms, bound - sum(k * always[row] for row, k in terms)) for terms, bound in conditions)


def ways_to_violate(
    machines: list[Machine], expected: int | None, target: int | None, margin: int = 0
) -> Iterator[Case]:
    """All ways to violate a property.

    With a ``target``, to decide that class; else to decide otherwise than ``expected``, or not by so many
    votes; without either, two machines decide differently, or one of them not by so many votes.
    """
    always = [score for machine in machines for score in machine.always]
    if target is not None:
        yield from (on_votes(way, always) for way in says(machines[0], 0, target))
        return
    if expected is not None:
        yield from (on_votes(way, always) for way in denies(machines[0], 0, [expected], margin))
        return
    a, b = machines
    for way in ways_to_disagree(a, (0, len(a.always)), b, margin):
        yield on_votes(way, always)


def ways_to_disagree(
    a: Machine, first: tuple[int, int], b: Machine, margin: int = 0
) -> Iterator[list[Constraint]]:
    """The ways for two machines to decide differently, or for one of them not to stand by so many votes."""
    for c in range(len(a.classes)):
        others = [*denies(b, first[1], [c], margin), *(denies(a, first[0], [c], margin) if margin else ())]
        yield from (left + right for left in says(a, first[0], c) for right in others)
