"""A query as formulas are written from it: specialised to its region, with all constraints and cases settled.

``search.problem`` leaves a problem over moves. Here, constraints that hold whatever the clauses do are left
out, and so are cases with one that never holds; then clauses, columns and options that only these looked at.
Nothing rests on an engine's reasoning: every witness of the query stays one, up to bits and values that make
no difference. (Of values that make none, the cheapest is left.) So the least cost is that of the query.

The moves are listed as an encoding needs them, a variable for each. At most one move of a column happens; a
*flip* is the only move of its column, and changes one bit. An atom of the problem, a feature that clauses
look at, holds iff one of its moves happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.search.problem import Problem, part, problem_of
from tmverify.properties.query import Query

Cases = tuple[tuple[int, ...], ...]


class Move(NamedTuple):
    """A column takes another value.

    Attributes
    ----------
    column : int
        The column's place in the space; the bit, if bits are columns.
    value : int
        The value's number in the column.
    cost : int
    flips : tuple of int
        The bits that differ from the origin then.
    """

    column: int
    value: int
    cost: int
    flips: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """A problem in which, in at least one case, all constraints should hold.

    Attributes
    ----------
    problem : Problem
    cases : tuple of tuples of int
        As in Query. No cases: there is no witness. An empty case: every input of the region is a witness.
    sources : int64 array, (n_clauses,)
        For each clause, the first clause of the Query's pool that it stands for.
    moves : tuple of Move
        In the order of their columns.
    columns : tuple of tuples of int
        The moves of each column.
    are_flips : tuple of bool
        For each move, whether it is a flip.
    atoms : tuple of tuples of int
        For each feature of the problem, the moves with which it holds.
    """

    problem: Problem
    cases: Cases
    sources: NDArray[np.int64]
    moves: tuple[Move, ...]
    columns: tuple[tuple[int, ...], ...]
    are_flips: tuple[bool, ...]
    atoms: tuple[tuple[int, ...], ...]

    @property
    def clearing(self) -> list[bool]:
        """For each move, whether it is a flip of a bit from 1 to 0."""
        origin = self.problem.origin.tolist()
        return [
            is_flip and origin[move.flips[0]] == 1
            for move, is_flip in zip(self.moves, self.are_flips, strict=True)
        ]

    @property
    def limited(self) -> bool:
        """Whether the moves of all columns together could cost more than the radius."""
        return sum(max(self.moves[i].cost for i in own) for own in self.columns) > self.problem.radius

    def clauses(self) -> Iterator[list[tuple[int, bool]]]:
        """Each clause as pairs of an atom and whether it must hold, ascending."""
        features, ends = self.problem.features.tolist(), self.problem.offsets.tolist()
        for (a, b), middle in zip(pairwise(ends), self.problem.middles.tolist(), strict=True):
            yield sorted((features[k], k < middle) for k in range(a, b))


def settled(query: Query) -> Settled:
    """Specialise ``query`` to its region, and settle it.

    Raises
    ------
    EncodingTooLargeError
    """
    whole = problem_of(query, query.region.radius)
    cases, used = _settle(query.cases, whole.votes, whole.bounds.tolist())
    problem = part(whole, used, whole.radius)
    literals = problem.came_from
    if problem is not whole:
        literals = whole.came_from[literals]
    sources = query.clauses.owners[literals[problem.offsets[:-1]]]
    moves = _moves(problem)
    columns = tuple(tuple(own) for _, own in groupby(range(len(moves)), key=lambda i: moves[i].column))
    are_flips = tuple(len(own) == 1 and len(moves[own[0]].flips) == 1 for own in columns for _ in own)
    return Settled(problem, cases, sources, moves, columns, are_flips, _atoms(problem))


def _settle(cases: Cases, votes: NDArray[np.int64], bounds: list[int]) -> tuple[Cases, list[int]]:
    """Remove constraints that always hold and cases with one that never holds; number the rest anew."""
    highest = np.maximum(votes, 0).sum(axis=1).tolist()
    lowest = np.minimum(votes, 0).sum(axis=1).tolist()
    open_cases = []
    for case in cases:
        if all(highest[c] >= bounds[c] for c in case):
            open_cases.append(tuple(dict.fromkeys(c for c in case if lowest[c] < bounds[c])))
    if () in open_cases:
        return ((),), []
    used = sorted({c for case in open_cases for c in case})
    number = {c: i for i, c in enumerate(used)}
    return tuple(dict.fromkeys(tuple(number[c] for c in case) for case in open_cases)), used


def _moves(problem: Problem) -> tuple[Move, ...]:
    moves = problem.moves
    if moves is None:
        bits = problem.feature_ids.tolist()
        return tuple(Move(bit, 1 - int(problem.origin[bit]), 1, (bit,)) for bit in bits)
    home = np.repeat(moves.columns, np.diff(moves.first)).tolist()
    return tuple(
        Move(
            home[o],
            int(moves.values[o]),
            int(moves.costs[o]),
            tuple(moves.bits[moves.bits_at[o] : moves.bits_at[o + 1]].tolist()),
        )
        for o in _options(problem)
    )


def _atoms(problem: Problem) -> tuple[tuple[int, ...], ...]:
    moves = problem.moves
    if moves is None:
        return tuple((f,) for f in range(len(problem.feature_ids)))
    found: list[list[int]] = [[] for _ in problem.feature_ids]
    for move, o in enumerate(_options(problem)):
        for atom in moves.atoms[moves.at[o] : moves.at[o + 1]].tolist():
            found[atom].append(move)
    return tuple(map(tuple, found))


def _options(problem: Problem) -> list[int]:
    """The options other than the references, which are no moves."""
    assert problem.moves is not None
    references = set(problem.moves.first[:-1].tolist())
    return [o for o in range(len(problem.moves.costs)) if o not in references]
