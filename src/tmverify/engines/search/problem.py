"""A problem over moves: some constraints of a Query, as small as the region makes it.

    Are there moves y of at most ``radius`` cost with  votes[c] . clauses(y) >= bounds[c]  for every c?

Seen from the region's origin, a column may *move* to one of its options. Every clause is a conjunction of
literals over *atoms*, which are false at the origin and become true by moves: an atom must hold (the literal
*wakes* the clause) or must not (it *stays*). If every column is a bit that flips at cost 1, atoms are these
flips, called features here, and ``moves`` is None. Otherwise an atom is a set of options of one column
(``_moves``), and ``moves`` says what options there are.

This is the one place where a Query is specialised to its region: search, sat, proofs and exporters start from
``problem_of``. ``shrunk`` fixes more. In both, clauses that cannot be true within the radius are dropped,
those that are always true are counted in the bounds, equal ones are merged, options that make no difference
go. ``flips_of_query`` leads back to the Query.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import EncodingTooLargeError
from tmverify.engines.search._bound import FREE
from tmverify.engines.search._moves import (
    distinct_options,
    least_costs,
    over_moves,
    pack_options,
    rename_literals,
    restrict_columns,
)
from tmverify.engines.search._problem import index_features, over_flips, shrink_clauses
from tmverify.properties.query import Query
from tmverify.properties.region import Options, Region

MAX_VOTES = 1 << 27  # a gigabyte of int64
_NO_TABLE = np.full(1, -1, np.int32)
_NOTHING = np.empty(0, np.int64)
_CACHED_CELLS = 1 << 14  # larger patterns are packed anew each time


class Moves(NamedTuple):
    """The options of n columns, and what they make true.

    Attributes
    ----------
    first : int64 array, (n + 1,)
        The options of column c are ``first[c]`` to ``first[c + 1]``, without the end; the first of them is
        the reference, which costs nothing and makes nothing true.
    costs : int64 array, (n_options,)
    at, atoms : int64 (n_options + 1,), int32
        Option o makes ``atoms[at[o]:at[o + 1]]`` true.
    atoms_first : int64 array, (n + 1,)
        The atoms of column c are ``atoms_first[c]`` to ``atoms_first[c + 1]``.
    masks : uint64 array, (n_atoms, n_words)
        The options of each atom, by their place in the column.
    columns : int64 array, (n,)
        The column's place in the space; the bit, if bits are columns.
    values : int64 array, (n_options,)
        The value's number in the column.
    bits_at, bits : int64 (n_options + 1,), int32
        With option o, ``bits[bits_at[o]:bits_at[o + 1]]`` differ from the Query's origin.
    """

    first: NDArray[np.int64]
    costs: NDArray[np.int64]
    at: NDArray[np.int64]
    atoms: NDArray[np.int32]
    atoms_first: NDArray[np.int64]
    masks: NDArray[np.uint64]
    columns: NDArray[np.int64]
    values: NDArray[np.int64]
    bits_at: NDArray[np.int64]
    bits: NDArray[np.int32]


class Arrays(NamedTuple):
    """What the kernels see of a Problem: numba takes a moment for each field that it is passed."""

    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    features: NDArray[np.int32]
    votes: NDArray[np.int64]
    bounds: NDArray[np.int64]
    radius: int
    where: NDArray[np.int64]
    clauses: NDArray[np.int32]
    waking: NDArray[np.bool_]


class Problem(NamedTuple):
    """See the module. Its arrays must not be changed.

    Attributes
    ----------
    offsets, middles, features : int64 (n_clauses + 1,), int64 (n_clauses,), int32 (n_literals,)
        Clause j is true if all of ``features[offsets[j]:middles[j]]`` hold and none of
        ``features[middles[j]:offsets[j + 1]]`` does. Features ascend within each part.
    votes : int64 array, (n_constraints, n_clauses)
    bounds : int64 array, (n_constraints,)
    radius : int
        What moves may cost beyond those that are ``spent`` already.
    feature_ids : int64 array, (n_features,)
        The Query's number of each feature, if features are bits; else the column (of ``moves``) of each atom.
    flipped : int64 array
        Bits of the Query that every solution flips, besides those of moves.
    spent : int
        What these cost.
    origin : uint8 array
        The region's origin.
    came_from : int32 array, (n_literals,)
        The literal of the problem that this one was shrunk from; for ``problem_of``, of the Query's pool,
        where it is some literal of the same clause.
    where, clauses, waking : int64 (n_features + 1,), int32 and bool (n_literals,)
        The inverse index: feature i occurs in ``clauses[where[i]:where[i + 1]]``, waking them or not.
    moves : Moves or None
    """

    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    features: NDArray[np.int32]
    votes: NDArray[np.int64]
    bounds: NDArray[np.int64]
    radius: int
    feature_ids: NDArray[np.int64]
    flipped: NDArray[np.int64]
    spent: int
    origin: NDArray[np.uint8]
    came_from: NDArray[np.int32] = np.empty(0, np.int32)
    where: NDArray[np.int64] = np.empty(0, np.int64)
    clauses: NDArray[np.int32] = np.empty(0, np.int32)
    waking: NDArray[np.bool_] = np.empty(0, np.bool_)
    moves: Moves | None = None

    @property
    def arrays(self) -> Arrays:
        """What the kernels see of it."""
        return Arrays(
            self.offsets,
            self.middles,
            self.features,
            self.votes,
            self.bounds,
            self.radius,
            self.where,
            self.clauses,
            self.waking,
        )

    def solution(self, taken: NDArray[np.bool_] | NDArray[np.int64]) -> Solution:
        """The flips of the Query, and their cost, of a mask of flips, or of an option for each column."""
        if self.moves is None:
            flips = [*self.flipped.tolist(), *self.feature_ids[taken].tolist()]
            return Solution(flips, len(flips))
        moves, chosen = self.moves, taken.tolist()
        flips = self.flipped.tolist()
        for option in chosen:
            flips += moves.bits[moves.bits_at[option] : moves.bits_at[option + 1]].tolist()
        return Solution(flips, self.spent + int(moves.costs[chosen].sum()))


class Solution(NamedTuple):
    """The bits of the Query that a solution flips, and what it costs."""

    flips: list[int]
    cost: int


class _Room(NamedTuple):
    """Empty arrays for a new Problem, which a kernel fills."""

    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    features: NDArray[np.int32]
    votes: NDArray[np.int64]
    came_from: NDArray[np.int32]


class _Options(NamedTuple):
    """The options of columns, as in ``Moves``, while a problem is made; and the atoms with their columns."""

    first: NDArray[np.int64]
    costs: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.int64]
    bits_at: NDArray[np.int64]
    bits: NDArray[np.int32]
    masks: NDArray[np.uint64]
    homes: NDArray[np.int64]


def problem_of(query: Query, radius: int, *, distinct: bool = True) -> Problem:
    """All constraints of a Query, in its region, with moves of at most ``radius`` cost.

    Unless ``distinct``, options stay of which others do the same.
    """
    region, pool = query.region, query.clauses
    if len(query.constraints) * len(pool) > MAX_VOTES:
        raise EncodingTooLargeError(
            f"{len(query.constraints)} constraints on {len(pool)} clauses are more than fit in memory"
        )
    votes = np.array([c.weights(query.votes) for c in query.constraints], np.int64)
    votes = votes.reshape(len(query.constraints), len(pool))  # there may be no constraint
    bounds = np.array([c.bound for c in query.constraints], np.int64)
    radius = min(radius, region.radius)
    if not region.plain:
        return _over_columns(query, votes, bounds, radius, distinct)
    features = np.empty(len(pool.literals), np.int32)
    middles = np.empty(len(pool), np.int64)
    scratch = np.empty(region.n_features + 1, np.int32)
    origin = region.origin.copy()
    over_flips(pool.offsets, pool.literals, origin, features, middles, scratch)
    whole = Problem(
        offsets=pool.offsets.copy(),  # kernels are compiled for arrays that may be written
        middles=middles,
        features=features,
        votes=votes,
        bounds=bounds,
        radius=radius,
        feature_ids=np.arange(region.n_features),
        flipped=_NOTHING,
        spent=0,
        origin=origin,
    )
    return shrunk(whole, np.where(region.mutable, FREE, 0).astype(np.int8))


def part(problem: Problem, constraints: Sequence[int], radius: int, *, distinct: bool = True) -> Problem:
    """Only some constraints, within ``radius``, which is no larger than the problem's."""
    chosen = list(constraints)
    if radius == problem.radius and chosen == list(range(len(problem.bounds))):
        return problem
    some = problem._replace(votes=problem.votes[chosen], bounds=problem.bounds[chosen], radius=radius)
    # Nothing is fixed, so no clauses become equal that were different before.
    return shrunk(some, nothing_fixed(problem), merge=False, distinct=distinct)


def nothing_fixed(problem: Problem) -> NDArray[np.int8]:
    """For ``shrunk``: every feature is free, or every option is alive."""
    moves = problem.moves
    return np.full(len(problem.feature_ids) if moves is None else len(moves.costs), FREE, np.int8)


def shrunk(
    problem: Problem, fixed: NDArray[np.int8], *, merge: bool = True, distinct: bool = True
) -> Problem:
    """The problem with features fixed: 1 flips, 0 stays. Without ``merge``, equal clauses stay apart.

    If there are ``moves``, ``fixed`` is about options: 0 is ruled out, anything else is not; at least one of
    each column is left.
    """
    if problem.moves is not None:
        return _restricted(problem, problem.moves, fixed != 0, merge, distinct)
    flips = np.flatnonzero(fixed == 1)
    if len(flips):
        problem = problem._replace(
            radius=problem.radius - len(flips),
            flipped=np.append(problem.flipped, problem.feature_ids[flips]),
            spent=problem.spent + len(flips),
        )
    found = _compact(problem, fixed, None, merge)
    n = len(found.feature_ids)
    return found if found.radius <= n else found._replace(radius=n)


def _compact(
    problem: Problem, fixed: NDArray[np.int8], least: NDArray[np.int64] | None, merge: bool
) -> Problem:
    """Drop, strip and merge clauses; number the features that are left. ``least``: their costs."""
    (n_constraints, m), size = problem.votes.shape, len(problem.features)
    room = _room(m, size, n_constraints)
    always = np.zeros(n_constraints, np.int64)
    table = np.full(1 << (2 * m + 1).bit_length(), -1, np.int32) if merge else _NO_TABLE
    n = shrink_clauses(problem.arrays, fixed, least, problem.radius, merge, room, always, table)
    end = room.offsets[n]
    offsets, middles, features = room.offsets[: n + 1], room.middles[:n], room.features[:end]
    used = np.empty(len(problem.feature_ids), np.int64)
    where = np.zeros(len(used) + 1, np.int64)
    clauses, waking = np.empty(end, np.int32), np.empty(end, np.bool_)
    used = used[: index_features(offsets, middles, features, used, where, clauses, waking)]
    return Problem(  # faster than _replace
        offsets=offsets,
        middles=middles,
        features=features,
        votes=np.ascontiguousarray(room.votes[:, :n]),
        bounds=problem.bounds - always,
        radius=problem.radius,
        feature_ids=problem.feature_ids[used],
        flipped=problem.flipped,
        spent=problem.spent,
        origin=problem.origin,
        came_from=room.came_from[:end],
        where=where[: len(used) + 1],
        clauses=clauses,
        waking=waking,
    )


def _room(n_clauses: int, size: int, n_constraints: int) -> _Room:
    return _Room(
        offsets=np.empty(n_clauses + 1, np.int64),
        middles=np.empty(n_clauses, np.int64),
        features=np.empty(size, np.int32),
        votes=np.empty((n_constraints, n_clauses), np.int64),
        came_from=np.empty(size, np.int32),
    )


def _over_columns(
    query: Query, votes: NDArray[np.int64], bounds: NDArray[np.int64], radius: int, distinct: bool
) -> Problem:
    """The problem of a region in which some columns are more than a bit that flips at cost 1."""
    region, pool = query.region, query.clauses
    origin = region.origin.copy()
    options, home, holds, full = _options_of(region)
    m, size, words = len(pool), len(pool.literals), full.shape[1]
    room = _room(m, size, 0)
    kept, homes = np.empty(m, np.int64), np.empty(size, np.int64)
    masks = np.empty((size, words), np.uint64)
    n, n_atoms = over_moves(
        pool.offsets.copy(), pool.literals.copy(), origin, home, holds, full, room, kept, masks,
        homes, np.empty((2, len(options.columns) + 1), np.int32), np.empty(words, np.uint64),
        np.full(1 << (2 * size + 1).bit_length(), -1, np.int32),
    )  # fmt: skip
    by_column = np.argsort(homes[:n_atoms], kind="stable")
    number = np.empty(n_atoms, np.int32)
    number[by_column] = np.arange(n_atoms, dtype=np.int32)
    whole = Problem(
        offsets=room.offsets[: n + 1],
        middles=room.middles[:n],
        features=number[room.features[: room.offsets[n]]],
        votes=np.ascontiguousarray(votes[:, kept[:n]]),
        bounds=bounds,
        radius=radius,
        feature_ids=homes[by_column],
        flipped=_NOTHING,
        spent=0,
        origin=origin,
    )
    options = options._replace(masks=masks[by_column], homes=homes[by_column])
    found = _finished(whole, options, True, distinct)
    return found._replace(came_from=room.came_from[found.came_from])


def _options_of(
    region: Region,
) -> tuple[_Options, NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]:
    """The options of a region's columns; and each bit's column, the options in which it is 1; all options."""
    flags = np.flatnonzero(region.mutable)
    wide: list[tuple[int, Options | int]] = [(own.column, own) for own in region.options]
    wide += zip(region.column_of(flags).tolist(), flags.tolist(), strict=True)
    wide.sort(key=lambda item: item[0])
    words = max((_words(own) for own in region.options), default=1)
    n, origin = len(wide), region.origin
    sizes = np.array([2 if isinstance(own, int) else len(own.values) for _, own in wide], np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    costs, values = np.zeros(first[-1], np.int64), np.zeros(first[-1], np.int64)
    home = np.full(region.n_features, -1, np.int64)
    holds = np.zeros((region.n_features, words), np.uint64)
    full = np.zeros((n, words), np.uint64)
    changed: list[NDArray[np.int64]] = []
    for c, (_, own) in enumerate(wide):
        start = first[c]
        if isinstance(own, int):  # a bit that flips
            costs[start + 1], home[own], full[c, 0] = 1, c, 3
            values[start], values[start + 1] = origin[own], 1 - origin[own]
            holds[own, 0] = 1 if origin[own] else 2
            changed += [_NOTHING, np.array([own])]
            continue
        costs[start : start + len(own.costs)], values[start : start + len(own.values)] = own.costs, own.values
        home[own.bits.start : own.bits.stop] = c
        packed, all_ = (_packed if own.patterns.size <= _CACHED_CELLS else _packed.__wrapped__)(own)
        holds[own.bits.start : own.bits.stop, : packed.shape[1]] = packed
        full[c, : len(all_)] = all_
        changed += own.changed
    bits_at = np.cumsum([0, *(len(bits) for bits in changed)], dtype=np.int64)
    options = _Options(
        first=first,
        costs=costs,
        columns=np.array([column for column, _ in wide], np.int64),
        values=values,
        bits_at=bits_at,
        bits=np.concatenate([_NOTHING, *changed]).astype(np.int32),
        masks=np.empty((0, words), np.uint64),
        homes=_NOTHING,
    )
    return options, home, holds, full


def _words(options: Options) -> int:
    return (len(options.values) + 63) // 64


@lru_cache(maxsize=1 << 12)
def _packed(options: Options) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """For each bit the options in which it is 1, and all options, as bits of 64-bit words."""
    padded = np.zeros((len(options.bits) + 1, 64 * _words(options)), np.uint8)
    padded[:-1, : len(options.values)] = options.patterns.T
    padded[-1, : len(options.values)] = 1
    packed = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    return packed[:-1], packed[-1]


def _restricted(
    problem: Problem, moves: Moves, alive: NDArray[np.bool_], merge: bool, distinct: bool
) -> Problem:
    """The problem with the options that are alive, each column seen from its cheapest one."""
    n_atoms, n_alive = len(problem.feature_ids), int(alive.sum())
    order, costs = np.empty(n_alive, np.int64), np.empty(n_alive, np.int64)
    first = np.empty(len(moves.first), np.int64)
    masks = np.empty((n_atoms, moves.masks.shape[1]), np.uint64)
    number, homes = np.empty(n_atoms, np.int64), np.empty(n_atoms, np.int64)
    negated = np.empty(n_atoms, np.bool_)
    left, spent = restrict_columns(moves, alive, order, first, costs, masks, number, negated, homes)
    m = problem.votes.shape[1]
    room, kept = _room(m, len(problem.features), 0), np.empty(m, np.int64)
    n = rename_literals(
        problem.arrays, number, negated, room, kept, np.empty((2, len(moves.columns) + 1), np.int32)
    )
    end = room.offsets[n]
    renamed = problem._replace(
        offsets=room.offsets[: n + 1],
        middles=room.middles[:n],
        features=room.features[:end],
        votes=np.ascontiguousarray(problem.votes[:, kept[:n]]),
        radius=problem.radius - int(spent),
        spent=problem.spent + int(spent),
        feature_ids=homes[:left],
        moves=None,
    )
    chosen = _selected(moves.bits_at, moves.bits, order)
    options = _Options(first, costs, moves.columns, moves.values[order], *chosen, masks[:left], homes[:left])
    found = _finished(renamed, options, merge, distinct)
    return found._replace(came_from=room.came_from[:end][found.came_from])


def _finished(whole: Problem, options: _Options, merge: bool, distinct: bool) -> Problem:
    """The problem made compact, with options that make a difference."""
    least = np.empty(len(options.homes), np.int64)
    least_costs(options.masks, options.homes, options.first, options.costs, least)
    everything = np.full(len(options.homes), FREE, np.int8)
    numbered = whole._replace(feature_ids=np.arange(len(options.homes)))
    found = _compact(numbered, everything, least, merge)
    masks, homes = options.masks[found.feature_ids], options.homes[found.feature_ids]
    keep = np.empty(len(options.costs), np.bool_)
    if distinct:
        distinct_options(masks, homes, options.first, options.costs, keep)
    else:
        keep[:] = np.repeat(np.isin(np.arange(len(options.columns)), homes), np.diff(options.first))
    kept = np.flatnonzero(keep)
    at = np.zeros(len(kept) + 1, np.int64)
    new_masks = np.empty_like(masks)
    atoms = np.empty(int(np.unpackbits(masks.view(np.uint8)).sum()), np.int32)
    pack_options(masks, homes, options.first, keep, new_masks, at, atoms)
    sizes = np.add.reduceat(keep, options.first[:-1], dtype=np.int64)
    open_ = np.flatnonzero(sizes)
    column = np.cumsum(sizes > 0) - 1  # the new number of each column
    # A column that is closed has its reference, which may differ from the Query's origin.
    closed: NDArray[np.int64] = _selected(options.bits_at, options.bits, options.first[:-1][sizes == 0])[
        1
    ].astype(np.int64)
    bits_at, bits = _selected(options.bits_at, options.bits, kept)
    moves = Moves(
        first=np.concatenate([[0], np.cumsum(sizes[open_])]).astype(np.int64),
        costs=options.costs[kept],
        at=at,
        atoms=atoms[: at[-1]],
        atoms_first=np.searchsorted(column[homes], np.arange(len(open_) + 1)).astype(np.int64),
        masks=new_masks,
        columns=options.columns[open_],
        values=options.values[kept],
        bits_at=bits_at,
        bits=bits,
    )
    flipped: NDArray[np.int64] = np.append(found.flipped, closed)
    return found._replace(feature_ids=column[homes], flipped=flipped, moves=moves)


def _selected(
    at: NDArray[np.int64], items: NDArray[np.int32], chosen: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Some of the rows ``items[at[i]:at[i + 1]]``."""
    lengths = (at[1:] - at[:-1])[chosen]
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    places = np.repeat(at[:-1][chosen] - ends[:-1], lengths) + np.arange(ends[-1])
    return ends, items[places]
