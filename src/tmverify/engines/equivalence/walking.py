"""Walking towards a disagreement: local search in one part of a question, restarted from many inputs.

Starts are the region's origin, at which the part's own clause is true, the inputs that were given, and random
ones of every density. Walks are deterministic: they end after so many steps, a deadline only cuts them short.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.equivalence import _walk
from tmverify.engines.protocol import Deadline, EncodingTooLargeError
from tmverify.engines.reduction import Reduced, reduce
from tmverify.properties.query import Query

SLICE = 20_000_000  # literals and gains looked at between two looks at the clock, some 20 ms
PATIENCE = 300  # steps without a better input
NOISE = 100  # thousandths of the steps that lead nowhere: wake a clause instead
_MOST_CELLS = 1 << 26  # gains kept
_INT64 = 1 << 61


def find_by_walking(
    part: Query, hints: NDArray[np.uint8] | None, steps: int, seed: int, deadline: Deadline
) -> tuple[NDArray[np.uint8] | None, int]:
    """A witness in ``part``, a query with one case, or None; and how many steps were taken."""
    if deadline.passed():
        return None, 0
    try:
        reduced = reduce(part)
    except EncodingTooLargeError:
        return None, 0
    if reduced.cases == ((),):
        return reduced.origin, 0
    if not reduced.cases or not _fits(reduced):
        return None, 0
    walker = Walker(reduced, hints, seed)
    return walker.go(steps, deadline), walker.steps


class Walker:
    """Walks in a specialised query with one case, which can go on where they stopped."""

    def __init__(self, reduced: Reduced, hints: NDArray[np.uint8] | None, seed: int) -> None:
        self.reduced, self.hints = reduced, hints
        (case,) = reduced.cases
        clauses, n, k = reduced.clauses, len(reduced.features), len(case)
        votes = np.ascontiguousarray(reduced.weights[list(case)].T)
        needs = np.array([reduced.bounds[c] for c in case], np.int64)
        features = (np.abs(clauses.literals) - 1).astype(np.int32)
        wakes = clauses.literals > 0
        order = np.argsort(features, kind="stable")
        where = np.concatenate([[0], np.cumsum(np.bincount(features, minlength=n))]).astype(np.int64)
        self._problem = clauses.offsets.copy(), features, wakes, votes, needs
        self._index = where, clauses.owners[order].astype(np.int32), wakes[order]
        self._y = np.zeros(n, np.bool_)
        self._kept = np.empty(len(clauses), np.int32), np.empty(k, np.int64), np.empty((n, k), np.int64)
        self._until = np.zeros(n, np.int64)
        self._counts = np.zeros(3, np.int64)
        rng = np.random.default_rng(seed)
        self._rng = rng.integers(1, 1 << 63, 1, np.uint64)
        self._starts = self._inputs(rng)
        self._walking = False
        self.steps = 0

    def go(self, steps: int, deadline: Deadline) -> NDArray[np.uint8] | None:
        """Walk for so many steps; an input that meets every constraint, or None."""
        last = self.steps + steps
        while self.steps < last and not deadline.passed():
            if not self._walking:
                self._start(next(self._starts))
            before = int(self._counts[_walk.STEP])
            end = _walk.walk(
                *self._problem, *self._index, self._y, *self._kept, self._until, self._counts, self._rng,
                PATIENCE, NOISE, before + last - self.steps, SLICE,
            )  # fmt: skip
            self.steps += int(self._counts[_walk.STEP]) - before
            if end == _walk.ARRIVED:
                return self.reduced.witness(np.flatnonzero(self._y).tolist())
            self._walking = end == _walk.PAUSED
        return None

    def _start(self, y: NDArray[np.bool_]) -> None:
        self._y[:] = y
        self._until[:] = 0
        self._counts[:] = 0, 1 << 62, 0  # step, least shortfall, when
        offsets, features, wakes, votes, _ = self._problem
        _walk.prepare(offsets, features, wakes, votes, self._y, *self._kept)
        self._walking = True

    def _inputs(self, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
        """Where walks start, over flips."""
        reduced, n = self.reduced, len(self.reduced.features)
        here = reduced.origin[reduced.features]
        yield np.zeros(n, np.bool_)
        given = [] if self.hints is None else [*rng.permutation(len(self.hints))]
        while True:
            if given:
                yield np.asarray(self.hints)[given.pop()][reduced.features] != here
            density = 2.0 ** -rng.integers(1, max(2, n.bit_length() + 1))
            yield (rng.random(n) < density) != here
            yield rng.random(n) < density


def _fits(reduced: Reduced) -> bool:
    """Whether gains fit in memory, and shortfalls, which add up over the constraints, in 64 bits."""
    votes = np.abs(reduced.weights).sum(axis=1).tolist()
    largest = sum(votes) + sum(abs(bound) for bound in reduced.bounds)
    return largest < _INT64 and len(reduced.features) * len(reduced.bounds) <= _MOST_CELLS
