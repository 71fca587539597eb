"""The hunt for a disagreement: evaluate samples of all inputs, then search locally in a part of them.

Samples are the given inputs and random ones, from sparse to dense. Two models that were not made from each
other nearly always differ on some of them.

A walk is a local search in one part, restarted from many inputs: the region's origin, at which the part's own
clause is true, the given inputs, and random ones of every density. Walks are deterministic: they end after a
given number of steps, and a deadline only cuts them short.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline, EncodingTooLargeError
from tmverify.engines.equivalence import _walk
from tmverify.engines.search.problem import Problem, problem_of
from tmverify.model import Model
from tmverify.properties import equivalence_query
from tmverify.properties.query import Query

SLICE = 20_000_000  # literals and gains looked at between two checks of the clock, about 20 ms
PATIENCE = 300  # steps without a better input
NOISE = 100  # in thousandths: how often a step that brings no progress makes a clause true instead
_MOST_CELLS = 1 << 26  # of the matrix of gains
_INT64 = 1 << 61
_SEED = 2
_BATCH = 512  # inputs in a block of the fast evaluator
_CELLS = 1 << 25  # random bits in a batch, at most


def find_among_samples(query: Query, deadline: Deadline) -> NDArray[np.uint8] | None:
    """An input that violates the property, by the fast evaluator, or None."""
    for rows in _samples(query):
        if deadline.passed():
            return None
        different = np.flatnonzero(query.violates(rows, fast=True))
        if len(different):
            return np.asarray(rows[different[0]])
    return None


def _samples(query: Query) -> Iterator[NDArray[np.uint8]]:
    region, n = query.region, query.region.n_features
    if query.hints is not None:
        for start in range(0, len(query.hints), 8 * _BATCH):
            yield query.hints[start : start + 8 * _BATCH]
    rng = np.random.default_rng(_SEED)
    size = max(2, min(_BATCH, _CELLS // n))
    density = 0.5
    while density * n >= 0.5:  # sparser ones would be all zeros
        rows = (rng.random((size, n), np.float32) < density).view(np.uint8)
        if density == 0.5:
            rows[0], rows[-1] = 1, 0
        rows[:, ~region.mutable] = region.origin[~region.mutable]
        for options in region.options:
            chosen = rng.integers(len(options.values), size=size)
            rows[:, options.bits.start : options.bits.stop] = options.patterns[chosen]
        yield rows
        density /= 4


def find_by_walking(
    part: Query, hints: NDArray[np.uint8] | None, steps: int, seed: int, deadline: Deadline
) -> tuple[NDArray[np.uint8] | None, int]:
    """A witness in ``part``, a query with one case, or None; and the number of steps taken."""
    if deadline.passed():
        return None, 0
    if not part.region.plain:
        return None, 0  # walks are over flips
    try:
        problem = problem_of(part, part.region.radius)
    except EncodingTooLargeError:
        return None, 0
    (case,) = part.cases
    if not _fits(problem) or not _within_reach(problem, case):
        return None, 0
    if not len(problem.feature_ids):
        return part.region.origin, 0  # nothing matters, and nothing is lacking
    walker = Walker(part, problem, hints, seed)
    return walker.go(steps, deadline), walker.steps


class Terrain(NamedTuple):
    """A problem of m clauses over n flips, with k constraints, as the kernels need it."""

    offsets: NDArray[np.int64]  # (m + 1,)
    features: NDArray[np.int32]  # (n_literals,)
    wakes: NDArray[np.bool_]  # (n_literals,): whether a literal requires the flip
    votes: NDArray[np.int64]  # (m, k)
    bounds: NDArray[np.int64]  # (k,)
    where: NDArray[np.int64]  # (n + 1,): feature i is in clauses[where[i]:where[i + 1]] …
    clauses: NDArray[np.int32]  # (n_literals,)
    waking: NDArray[np.bool_]  # (n_literals,): … waking them or not


class Place(NamedTuple):
    """The input that a walk is at, and what is kept up to date about it."""

    y: NDArray[np.bool_]  # (n,)
    false: NDArray[np.int32]  # (m,): how many literals of each clause are false
    sums: NDArray[np.int64]  # (k,)
    gains: NDArray[np.int64]  # (n, k)
    until: NDArray[np.int64]  # (n,): the step from which a flip may be taken back
    counts: NDArray[np.int64]  # step, least shortfall so far, the step when it was reached
    rng: NDArray[np.uint64]


class Walker:
    """Walks in a problem with one case; ``go`` continues where the last call stopped."""

    def __init__(self, query: Query, problem: Problem, hints: NDArray[np.uint8] | None, seed: int) -> None:
        self.query, self.problem, self.hints = query, problem, hints
        (case,) = query.cases
        chosen = list(dict.fromkeys(case))
        m, n, k = len(problem.middles), len(problem.feature_ids), len(chosen)
        owners = np.repeat(np.arange(m), np.diff(problem.offsets))
        self._terrain = Terrain(
            offsets=problem.offsets,
            features=problem.features,
            wakes=np.arange(len(owners)) < problem.middles[owners],
            votes=np.ascontiguousarray(problem.votes[chosen].T),
            bounds=problem.bounds[chosen],
            where=problem.where,
            clauses=problem.clauses,
            waking=problem.waking,
        )
        rng = np.random.default_rng(seed)
        self._place = Place(
            y=np.zeros(n, np.bool_),
            false=np.empty(m, np.int32),
            sums=np.empty(k, np.int64),
            gains=np.empty((n, k), np.int64),
            until=np.zeros(n, np.int64),
            counts=np.zeros(3, np.int64),
            rng=rng.integers(1, 1 << 63, 1, np.uint64),
        )
        self._starts = self._inputs(rng)
        self._walking = False
        self.steps = 0

    def go(self, steps: int, deadline: Deadline) -> NDArray[np.uint8] | None:
        """Walk for at most ``steps`` steps; return an input that meets every constraint, or None."""
        last = self.steps + steps
        while self.steps < last and not deadline.passed():
            if not self._walking:
                self._start(next(self._starts))
            counts = self._place.counts
            before = int(counts[_walk.STEP])
            last_step = before + last - self.steps
            end = _walk.walk(self._terrain, self._place, PATIENCE, NOISE, last_step, SLICE)
            self.steps += int(counts[_walk.STEP]) - before
            if end == _walk.ARRIVED:
                return self.query.region.with_flips(self.problem.solution(self._place.y).flips)
            self._walking = end == _walk.PAUSED
        return None

    def _start(self, y: NDArray[np.bool_]) -> None:
        self._place.y[:] = y
        self._place.until[:] = 0
        self._place.counts[:] = 0, 1 << 62, 0  # see Place
        _walk.prepare(self._terrain, self._place)
        self._walking = True

    def _inputs(self, rng: np.random.Generator) -> Iterator[NDArray[np.bool_]]:
        """The inputs at which walks start, as flips."""
        features = self.problem.feature_ids
        n, here = len(features), self.query.region.origin[features]
        yield np.zeros(n, np.bool_)
        given = [] if self.hints is None else [*rng.permutation(len(self.hints))]
        while True:
            if given:
                yield np.asarray(self.hints)[given.pop()][features] != here
            density = 2.0 ** -rng.integers(1, max(2, n.bit_length() + 1))
            yield (rng.random(n) < density) != here
            yield rng.random(n) < density


def _fits(problem: Problem) -> bool:
    """Whether gains fit in memory, and shortfalls, which are summed over the constraints, fit in 64 bits."""
    votes = np.abs(problem.votes).sum(axis=1).tolist()
    largest = sum(votes) + sum(abs(bound) for bound in problem.bounds.tolist())
    return largest < _INT64 and len(problem.feature_ids) * len(problem.bounds) <= _MOST_CELLS


def _within_reach(problem: Problem, case: tuple[int, ...]) -> bool:
    """Whether the clauses that help are enough for each constraint of the case, if all of them are true."""
    some = list(case)
    return bool((np.maximum(problem.votes[some], 0).sum(axis=1) >= problem.bounds[some]).all())


@cache
def compile_kernels() -> None:
    """Compile every kernel by asking a small question that uses it; once in a process."""
    forever = Deadline(None)
    # The models agree everywhere: neither samples nor walks find a witness, so both run to their end.
    one = Model.from_clauses(3, [[1, 2], [-1, 2], [1, -2, 3]], [[1, 1, 1]], bias=-2)
    query = equivalence_query(one, Model.from_clauses(3, [], np.zeros((1, 0), np.int64), bias=-1))
    few = np.zeros((2, 3), np.uint8)  # a small batch of inputs has kernels of its own …
    find_among_samples(replace(query, hints=few), forever)
    one.scores(few)  # … and so has one for a large model
    find_by_walking(replace(query, cases=query.cases[-1:]), None, 50, 0, forever)
