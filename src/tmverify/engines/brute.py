"""Brute force: look at every input of the region. For tests, and for small regions in ``auto``.

It runs the machines themselves, through the plain evaluator, and never looks at the compiled constraints;
so it tests not only the other engines but also how questions are compiled.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Answer, Deadline, Engine, Outcome, Signer, found, none_exists, stopped
from tmverify.engines.proof_log import ProofLog
from tmverify.properties.query import AnyQuery, Query
from tmverify.properties.region import Region
from tmverify.properties.trust import REPLAYED
from tmverify.properties.verdict import StopReason

MAX_INPUTS = 1 << 20
# The clock is looked at after each batch, so a batch must be short on a large model too.
_BATCH = 1 << 10
_BATCH_CELLS = 1 << 22
# Rough estimates of the time needed. Cells are the literals and votes that the plain evaluator looks at.
_CELLS_A_SECOND = 2e8
_CELLS_AN_INPUT = 200  # the cost of making an input, in cells
PATIENCE = 60.0  # seconds that a small region may take if there is no time limit


def decide(query: AnyQuery, deadline: Deadline, log: ProofLog | None = None) -> Answer:
    """Enumerate the region, nearest inputs first; refuse more than ``MAX_INPUTS``. Leaves no evidence."""
    region = query.region
    size = region.size(MAX_INPUTS)
    if size > MAX_INPUTS:
        return stopped(
            StopReason.REGION_TOO_LARGE,
            f"brute force looks at no more than {MAX_INPUTS} inputs; this region has more",
        )
    batch_size = max(1, min(_BATCH, _BATCH_CELLS // max(query.cells, region.n_features)))
    for inputs in _batches(region, batch_size):
        if deadline.passed():
            return stopped(StopReason.TIMEOUT, f"no answer within {deadline.seconds} s")
        hits = np.flatnonzero(query.violates(inputs))
        if len(hits):
            return found(inputs[hits[0]], inputs=size)
    return none_exists(inputs=size)


def decide_if_small(query: Query, deadline: Deadline, most: float = math.inf) -> Answer | None:
    """The answer, if enumerating takes at most half the time left and at most ``most`` seconds; else None."""
    left = deadline.remaining()
    share = min(most, PATIENCE if left is None else left / 2)
    size = query.region.size(MAX_INPUTS)
    cells = _CELLS_AN_INPUT + query.cells + sum(machine.weights.size for machine in query.machines)
    if size > MAX_INPUTS or size * cells > share * _CELLS_A_SECOND:
        return None
    answer = decide(query, Deadline(share))
    return None if answer.outcome is Outcome.STOPPED else replace(answer, engine="brute")


def _batches(region: Region, size: int) -> Iterator[NDArray[np.uint8]]:
    """All inputs of a region, at most ``size`` at a time, those of least cost first."""
    chosen, costs = _choices(region)
    n_flags = int(region.mutable.sum())
    spent = {int(cost) + k for cost in np.unique(costs) for k in range(n_flags + 1)}
    for total in sorted(cost for cost in spent if cost <= region.radius):
        for k in range(min(n_flags, total) + 1):
            some = chosen[costs == total - k]
            for flips in _sets_of_flips(region, k, size) if len(some) else ():
                n = size // len(flips)
                for start in range(0, len(some), n):
                    yield _flipped(_with_options(region, some[start : start + n]), flips)


def _sets_of_flips(region: Region, k: int, size: int) -> Iterator[NDArray[np.int64]]:
    """Every set of ``k`` mutable bits, a row each, at most ``size`` at a time."""
    sets = combinations(np.flatnonzero(region.mutable).tolist(), k)
    while batch := list(islice(sets, size)):
        yield np.array(batch, np.int64).reshape(len(batch), k)


def _flipped(inputs: NDArray[np.uint8], flips: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Each input with each set of bits flipped."""
    flipped = np.repeat(inputs, len(flips), axis=0)
    flipped[np.arange(len(flipped))[:, None], np.tile(flips, (len(inputs), 1))] ^= 1
    return flipped


def _choices(region: Region) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every choice of an option for each column with options, within the radius, and what it costs."""
    chosen, costs = np.zeros((1, 0), np.int64), np.zeros(1, np.int64)
    for options in region.options:
        n = len(options.costs)
        costs = (costs[:, None] + options.costs).ravel()
        chosen = np.column_stack([np.repeat(chosen, n, axis=0), np.tile(np.arange(n), len(chosen))])
        chosen, costs = chosen[costs <= region.radius], costs[costs <= region.radius]
    return chosen, costs


def _with_options(region: Region, chosen: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The origin with the options of each row of ``chosen``."""
    inputs = np.repeat(region.origin[None, :], len(chosen), axis=0)
    for options, own in zip(region.options, chosen.T, strict=True):
        inputs[:, options.bits.start : options.bits.stop] = options.patterns[own]
    return inputs


BRUTE = Engine(
    name="brute", decide=decide, trust={"brute": REPLAYED}, signers=(Signer("brute", (("brute",),)),)
)
