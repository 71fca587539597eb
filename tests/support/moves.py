"""Problems over moves of columns in plain Python: what ``support.flips`` is for flips.

What a clause demands of a column is a set of the column's options. This is the only place in the tests that
knows how ``Moves`` stores that in arrays, apart from the tests of the kernels that make them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.search.problem import Moves, Problem

Rng = np.random.Generator
Choice = tuple[int, ...]
"""An option of each column, by its place there."""
Demand = tuple[tuple[int, frozenset[int]], ...]
"""A clause: columns, and the options that each may have; every other column may have any."""


@dataclass(frozen=True)
class ColumnToy:
    """Are there options of at most ``radius`` cost with enough votes for every constraint?

    ``costs`` has a row per column; the first option of each is the reference and costs 0.
    """

    costs: tuple[tuple[int, ...], ...]
    clauses: tuple[Demand, ...]
    votes: tuple[tuple[int, ...], ...]
    needs: tuple[int, ...]
    radius: int

    def sums(self, choice: Sequence[int]) -> list[int]:
        true = [all(choice[c] in some for c, some in clause) for clause in self.clauses]
        return [sum(w for w, t in zip(row, true, strict=True) if t) for row in self.votes]

    def cost(self, choice: Sequence[int]) -> int:
        return sum(costs[o] for costs, o in zip(self.costs, choice, strict=True))

    def solved_by(self, choice: Sequence[int]) -> bool:
        enough = all(s >= need for s, need in zip(self.sums(choice), self.needs, strict=True))
        return enough and self.cost(choice) <= self.radius

    def choices(self) -> Iterator[Choice]:
        return product(*(range(len(costs)) for costs in self.costs))

    def first(self) -> list[int]:
        """The number of each column's first option."""
        return [0, *accumulate(map(len, self.costs))]

    def problem(self) -> Problem:
        """The arrays of the problem; option number o differs from the origin in bit o."""
        atoms = sorted({self._atom(*part) for clause in self.clauses for part in clause}, key=_in_order)
        number = {atom: a for a, atom in enumerate(atoms)}
        flat: list[int] = []
        offsets, middles = [0], []
        for clause in self.clauses:
            wakes = sorted(number[self._atom(c, some)] for c, some in clause if 0 not in some)
            stays = sorted(number[self._atom(c, some)] for c, some in clause if 0 in some)
            middles.append(len(flat) + len(wakes))
            flat += wakes + stays
            offsets.append(len(flat))
        where, clauses, waking = [0], [], []
        for a in range(len(atoms)):
            for j, middle in enumerate(middles):
                for k in range(offsets[j], offsets[j + 1]):
                    if flat[k] == a:
                        clauses.append(j)
                        waking.append(k < middle)
            where.append(len(clauses))
        return Problem(
            offsets=np.array(offsets, np.int64),
            middles=np.array(middles, np.int64),
            features=np.array(flat, np.int32),
            votes=np.array(self.votes, np.int64).reshape(len(self.needs), len(self.clauses)),
            bounds=np.array(self.needs, np.int64),
            radius=self.radius,
            feature_ids=np.array([c for c, _ in atoms], np.int64),
            flipped=np.empty(0, np.int64),
            spent=0,
            origin=np.zeros(self.first()[-1], np.uint8),
            came_from=np.empty(0, np.int32),
            where=np.array(where, np.int64),
            clauses=np.array(clauses, np.int32),
            waking=np.array(waking, np.bool_),
            moves=self._moves(atoms),
        )

    def _atom(self, column: int, some: frozenset[int]) -> tuple[int, frozenset[int]]:
        """The set without the reference: the options allowed, or those forbidden."""
        return column, some if 0 not in some else frozenset(range(len(self.costs[column]))) - some

    def _moves(self, atoms: list[tuple[int, frozenset[int]]]) -> Moves:
        first, sizes = self.first(), [len(costs) for costs in self.costs]
        at, held, bits_at, bits = [0], [], [0], []
        for c, size in enumerate(sizes):
            for o in range(size):
                held += [a for a, (home, some) in enumerate(atoms) if home == c and o in some]
                at.append(len(held))
                bits += [first[c] + o] if o else []
                bits_at.append(len(bits))
        homes = [c for c, _ in atoms]
        return Moves(
            first=np.array(first, np.int64),
            costs=np.array([cost for costs in self.costs for cost in costs], np.int64),
            at=np.array(at, np.int64),
            atoms=np.array(held, np.int32),
            atoms_first=np.searchsorted(homes, np.arange(len(sizes) + 1)).astype(np.int64),
            masks=masks_of([some for _, some in atoms], max(sizes)),
            columns=np.arange(len(sizes)),
            values=np.concatenate([np.arange(size) for size in sizes]),
            bits_at=np.array(bits_at, np.int64),
            bits=np.array(bits, np.int32),
        )


def _in_order(atom: tuple[int, frozenset[int]]) -> tuple[int, list[int]]:
    return atom[0], sorted(atom[1])


def masks_of(sets: Sequence[frozenset[int]], width: int) -> NDArray[np.uint64]:
    """Sets of options as bits of 64-bit words."""
    words = (width + 63) // 64
    rows = [[sum(1 << (o % 64) for o in some if o // 64 == w) for w in range(words)] for some in sets]
    return np.array(rows, np.uint64).reshape(len(sets), words)


def sets_of(masks: NDArray[np.uint64]) -> list[frozenset[int]]:
    """The inverse of ``masks_of``."""
    return [
        frozenset(64 * w + i for w, word in enumerate(row) for i in range(64) if word >> i & 1)
        for row in masks.tolist()
    ]


def toy_of(problem: Problem) -> ColumnToy:
    """A ``Problem`` turned back into a toy, with the problem's own columns and options."""
    moves = problem.moves
    assert moves is not None
    costs = tuple(tuple(row.tolist()) for row in np.split(moves.costs, moves.first[1:-1]) if len(row))
    sets, flat = sets_of(moves.masks), problem.features.tolist()
    clauses = []
    for j, middle in enumerate(problem.middles.tolist()):
        demand = []
        for k in range(problem.offsets[j], problem.offsets[j + 1]):
            column, some = int(problem.feature_ids[flat[k]]), sets[flat[k]]
            demand.append((column, some if k < middle else frozenset(range(len(costs[column]))) - some))
        clauses.append(tuple(sorted(demand, key=_in_order)))
    votes = tuple(tuple(row) for row in problem.votes.tolist())
    return ColumnToy(costs, tuple(clauses), votes, tuple(problem.bounds.tolist()), problem.radius)


def numbers(problem: Problem, choice: Sequence[int]) -> NDArray[np.int64]:
    """The options of a choice by their numbers, as ``Problem.solution`` takes them."""
    assert problem.moves is not None
    return problem.moves.first[:-1] + np.array(choice, np.int64)


def named(toy: ColumnToy, problem: Problem, choice: Sequence[int]) -> tuple[Choice, int]:
    """The choice of the toy that a choice of a problem made from it stands for, and what it costs."""
    solution = problem.solution(numbers(problem, choice))
    first, found = toy.first(), [0] * len(toy.costs)
    for bit in solution.flips:
        column = int(np.searchsorted(first, bit, side="right")) - 1
        assert found[column] == 0
        found[column] = bit - first[column]
    return tuple(found), solution.cost


def random_column_toy(
    rng: Rng,
    *,
    n: int,
    n_clauses: int,
    n_constraints: int = 1,
    longest: int = 4,
    heaviest: int = 3,
    options: int = 4,
    dearest: int = 4,
    radius: int | None = None,
) -> ColumnToy:
    """Clauses of random demands, some twice, votes of either sign, needs near what some choice reaches."""
    costs = []
    for _ in range(n):
        others = rng.integers(0, dearest + 1, size=int(rng.integers(1, options)))
        costs.append((0, *(np.ones_like(others) if rng.random() < 0.3 else others).tolist()))
    clauses: list[Demand] = []
    for _ in range(n_clauses):
        if clauses and rng.random() < 0.2:
            clauses.append(clauses[int(rng.integers(len(clauses)))])
            continue
        columns = rng.choice(n, size=min(n, int(rng.integers(1, longest + 1))), replace=False)
        clauses.append(tuple((c, random_set(rng, len(costs[c]))) for c in sorted(columns.tolist())))
    votes = rng.integers(-heaviest, heaviest + 1, size=(n_constraints, n_clauses)).tolist()
    limit = int(rng.integers(0, n * dearest // 2 + 2)) if radius is None else radius
    toy = ColumnToy(tuple(costs), tuple(clauses), tuple(map(tuple, votes)), (0,) * n_constraints, limit)
    needs = tuple(s + int(rng.integers(-1, 2)) for s in toy.sums(random_choice(rng, toy)))
    return ColumnToy(toy.costs, toy.clauses, toy.votes, needs, limit)


def random_set(rng: Rng, size: int) -> frozenset[int]:
    """Some options of a column, neither all nor none."""
    some = rng.permutation(size)[: rng.integers(1, size)]
    return frozenset(some.tolist())


def random_choice(rng: Rng, toy: ColumnToy) -> Choice:
    """Options that are within the radius."""
    choice = [0] * len(toy.costs)
    for c in rng.permutation(len(choice)).tolist():
        before, choice[c] = choice[c], int(rng.integers(len(toy.costs[c])))
        if toy.cost(choice) > toy.radius:
            choice[c] = before
    return tuple(choice)


def random_alive(
    rng: Rng, toy: ColumnToy, share: float, kept: Sequence[int] | None = None
) -> list[list[bool]]:
    """Some options of each column ruled out, at least one is left; those of ``kept`` always."""
    alive = []
    for c, costs in enumerate(toy.costs):
        row = [bool(rng.random() >= share) for _ in costs]
        row[int(rng.integers(len(costs))) if kept is None else kept[c]] = True
        alive.append(row)
    return alive


def flat(rows: Sequence[Sequence[bool]]) -> NDArray[np.bool_]:
    return np.array([value for row in rows for value in row], np.bool_)
