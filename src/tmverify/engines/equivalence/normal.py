"""The normal form of a pool of clauses: equal clauses are merged, and so are the two halves of a clause.

A score is a weighted sum of conjunctions, which can be written in many ways:

    w c + w' c         =  (w + w') c
    w (c and not x)    =  w c  -  w (c and x)

The second rule is used from left to right, and only if its *parent* ``c`` or its *other half* ``c and x`` is
in the pool already. So there are never more clauses than before, but fewer negated literals, and the process
ends. If two models share a clause, or one has both halves of a clause of the other, both have it afterwards,
and it cancels in their difference. Halves of equal votes are merged first, then other halves, then clauses
with a parent: any order is correct, and this one undoes splits (with parents first, halves of short clauses
stayed apart in a model of 20,000 clauses).

The unique form, products of features alone, would have 2^k terms for a clause of k negated literals. This one
misses identities in which no clause has its parent or other half in the pool; the other engines decide those.

All votes are integers and every step is an identity, so scores are the same on every input. Clauses without
one literal are looked up by sums of codes and then compared literal by literal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline
from tmverify.model.clauses import Clauses, concatenate
from tmverify.properties.query import Query

Clause = tuple[int, ...]

_MOST = 1 << 60  # the absolute votes of a row add up to less than this, so no sum overflows 64 bits
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True, eq=False)
class NormalForm:
    """Row r of a Query's votes adds up to ``always[r] + votes[r] . clauses(z)`` on every input z."""

    clauses: Clauses
    votes: NDArray[np.int64]
    always: NDArray[np.int64]
    rounds: list[list[tuple[Clause, int]]]
    """How it was reached: the clauses rewritten in each round, each with the feature of a negated literal."""


def by_feature(clause: Clause) -> Clause:
    """The literals in order of their features."""
    return tuple(sorted(clause, key=abs))


def normal_form(query: Query, deadline: Deadline) -> NormalForm:
    """The pool of ``query``, rewritten until no rule applies or the time is over."""
    clauses, votes = _merged(query.clauses, query.votes)
    rounds = []
    while _largest(votes) < _MOST and not deadline.passed():
        places = _reducible(clauses, votes)
        if not len(places):
            break
        owners, features = clauses.owners[places], np.abs(clauses.literals[places]) - 1
        rounds.append(list(zip(clauses.select(owners), features.tolist(), strict=True)))
        clauses, votes = _merged(*_rewritten(clauses, votes, places))
    empty = clauses.lengths == 0
    proper = np.flatnonzero(~empty)
    return NormalForm(clauses.select(proper), votes[:, proper], votes[:, empty].sum(axis=1), rounds)


def merge_equal(clauses: Clauses, votes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first of each group of equal clauses, and the sum of each group's votes."""
    number: dict[bytes, int] = {}
    group = np.array([number.setdefault(key, len(number)) for key in clause_keys(clauses)], np.int64)
    merged = np.zeros((len(votes), len(number)), np.int64)
    for row, sums in zip(votes, merged, strict=True):
        np.add.at(sums, group, row)
    return np.unique(group, return_index=True)[1], merged


def clause_keys(clauses: Clauses) -> Iterator[bytes]:
    """A key for each clause: equal clauses have equal bytes."""
    flat, ends = clauses.literals, clauses.offsets.tolist()
    return (flat[a:b].tobytes() for a, b in pairwise(ends))


def _merged(clauses: Clauses, votes: NDArray[np.int64]) -> tuple[Clauses, NDArray[np.int64]]:
    """Merge equal clauses, adding their votes, and leave out those without a vote."""
    leaders, merged = merge_equal(clauses, votes)
    kept = np.flatnonzero(merged.any(axis=0))
    return clauses.select(leaders[kept]), merged[:, kept]


def _reducible(clauses: Clauses, votes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of negated literals to remove, at most one in a clause; no parent or half of one is changed."""
    number = {key: j for j, key in enumerate(clause_keys(clauses))}
    ranked: list[list[int]] = [[], [], []]
    for j, place in _candidates(clauses):
        half, parent = _relatives(clauses, j, place)
        other = number.get(half)
        if other is not None:
            ranked[0 if (votes[:, j] == votes[:, other]).all() else 1].append(place)
        elif parent in number or not parent:  # no literals: the constant, which is always available
            ranked[2].append(place)
    best = np.array(next((places for places in ranked if places), []), np.int64)
    owners = clauses.owners
    chosen = best[np.unique(owners[best], return_index=True)[1]]
    # Parents and halves have one negated literal less: so clauses with even and odd counts take turns.
    negated = np.bincount(owners[clauses.literals < 0], minlength=len(clauses))
    parity = negated[owners[chosen]] % 2
    return np.asarray(chosen[parity == parity[:1]])


def _candidates(clauses: Clauses) -> Iterator[tuple[int, int]]:
    """Clauses, each with the place of a negated literal whose half or parent seems to be in the pool."""
    literals, owners = clauses.literals, clauses.owners
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_codes(literals))])  # modulo 2**64
    code = sums[clauses.offsets[1:]] - sums[clauses.offsets[:-1]]
    known = np.sort(np.append(code, np.uint64(0)))
    places = np.flatnonzero(literals < 0)
    parents = code[owners[places]] - _codes(literals[places])
    halves = parents + _codes(-literals[places])
    maybe = places[_are_in(halves, known) | _are_in(parents, known)]
    return zip(owners[maybe].tolist(), maybe.tolist(), strict=True)


def _rewritten(
    clauses: Clauses, votes: NDArray[np.int64], places: NDArray[np.int64]
) -> tuple[Clauses, NDArray[np.int64]]:
    """Write every ``c and not x``, whose ``not x`` is at one of ``places``, as ``c - (c and x)``."""
    changed = clauses.owners[places]
    kept = np.setdiff1d(np.arange(len(clauses)), changed, assume_unique=True)
    flipped = clauses.literals.copy()
    flipped[places] *= -1
    halves = Clauses(clauses.n_features, flipped, clauses.offsets).select(changed)
    lengths = clauses.lengths.copy()
    lengths[changed] -= 1
    shorter = Clauses(
        clauses.n_features, np.delete(clauses.literals, places), np.concatenate([[0], np.cumsum(lengths)])
    )
    return (
        concatenate([clauses.select(kept), shorter.select(changed), halves]),
        np.concatenate([votes[:, kept], votes[:, changed], -votes[:, changed]], axis=1),
    )


def _relatives(clauses: Clauses, j: int, place: int) -> tuple[bytes, bytes]:
    """Keys of clause j with the literal at ``place`` negated, and without it."""
    start, end = clauses.offsets[j : j + 2]
    half = clauses.literals[start:end].copy()
    half[place - start] *= -1
    return half.tobytes(), np.delete(half, place - start).tobytes()


def _codes(literals: NDArray[np.int32]) -> NDArray[np.uint64]:
    """A random-looking 64-bit word for each literal (splitmix64)."""
    words = literals.astype(np.int64).view(np.uint64) * _MIX[0]
    words = (words ^ (words >> np.uint64(30))) * _MIX[1]
    words = (words ^ (words >> np.uint64(27))) * _MIX[2]
    return np.asarray(words ^ (words >> np.uint64(31)))


def _are_in(codes: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    places = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return np.asarray(known[places] == codes, np.bool_)


def _largest(votes: NDArray[np.int64]) -> int:
    """The largest sum of absolute votes in a row; votes are small enough for it to be exact."""
    return int(np.abs(votes).sum(axis=1).max(initial=0))
