"""The inference forms of a Model, for the numba kernels: one for single rows, one for batches.

Both keep only the clauses that can vote: not the contradictory, not the silent, not those of weight 0.

- ``RowForm`` (``kernels.votes``): for each feature, the clauses that ask for it.
- ``BatchForm`` (``kernels.batch``): for each clause, its features; eight clauses share a table of votes.

Either is built when first needed. The training structure, the file and these are different things on purpose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tmverify.model.clauses import Clauses
from tmverify.model.decision import least_positive_score

if TYPE_CHECKING:
    from tmverify.model.machine import Model

WORD_BITS = 64
BLOCK_ROWS = 512
# A block costs the same however few of its rows are used; about here single rows become cheaper.
FEW_ROWS = 48
EIGHT = 8
LANES = 16
# Eight digits of 12 bits stay below 2**15, the limit of a sum of votes.
DIGIT_BITS = 12
MAX_SUM = (1 << 15) - 1
CACHE_LINE = 64
NO_CLAMP = (1 << 63) - 1


class PackedModel:
    """What ``Model.scores`` and ``Model.predict`` run on."""

    def __init__(self, model: Model) -> None:
        usable = (model.weights != 0).any(axis=0) & ~model.clauses.contradictory()
        if model.empty_clause == "silent":
            usable &= model.clauses.lengths > 0
        chosen = np.flatnonzero(usable)
        self._clauses = model.clauses.select(chosen)
        self._votes = np.ascontiguousarray(model.weights[:, chosen].T)
        self._bias = model.bias
        self._classes = np.array(model.classes)
        self._least_positive = least_positive_score(model.tie)
        self._clamp = NO_CLAMP if model.clamp is None else model.clamp

    def scores(self, rows: NDArray[np.uint8]) -> tuple[NDArray[np.int64], bool]:
        """Scores, (n, outputs) int64, of a C-contiguous matrix of the right width, and whether they count.

        They do not if a byte of ``rows`` is neither 0 nor 1: the kernels see this in passing.
        """
        n = len(rows)
        scores = np.empty((n, len(self._bias)), np.int64)
        scores[:] = self._bias
        rest = n % BLOCK_ROWS
        in_blocks = n - rest if rest < FEW_ROWS else n
        seen = 0
        if in_blocks:
            seen = self._batch_form.add_votes(rows, in_blocks, scores)
        if in_blocks < n:
            seen |= self._row_form.add_votes(rows[in_blocks:], scores[in_blocks:])
        return scores, seen <= 1

    def labels(self, scores: NDArray[np.int64]) -> NDArray[Any]:
        """The label of each row of scores."""
        classes = np.empty(len(scores), np.int64)
        self._decide_rows(scores, self._least_positive, self._clamp, classes)
        return self._classes[classes]

    # Kernels are imported when first used, and once: an import statement costs a microsecond a call.
    @cached_property
    def _decide_rows(self) -> Callable[..., None]:
        from tmverify.kernels.batch_decide import decide_rows

        return decide_rows

    @cached_property
    def _row_form(self) -> RowForm:
        return row_form(self._clauses, self._votes)

    @cached_property
    def _batch_form(self) -> BatchForm:
        return batch_form(self._clauses, self._votes)


@dataclass(frozen=True, slots=True, eq=False)
class RowForm:
    """Arrays for ``kernels.votes``."""

    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    clauses: NDArray[np.uint32]
    needed: NDArray[np.int32]
    vote_offsets: NDArray[np.int64]
    vote_outputs: NDArray[np.uint32]
    vote_weights: NDArray[np.int32]
    kernel: Callable[..., int]

    def add_votes(self, rows: NDArray[np.uint8], scores: NDArray[np.int64]) -> int:
        """Add all votes to ``scores``; returns the OR of all bytes of ``rows``."""
        n_clauses = len(self.needed)
        return self.kernel(
            rows,
            self.offsets,
            self.middles,
            self.clauses,
            self.needed,
            self.vote_offsets,
            self.vote_outputs,
            self.vote_weights,
            np.empty(rows.shape[1] + 1, np.uint32),
            np.empty(n_clauses, np.int32),
            np.empty(n_clauses + 1, np.uint32),
            scores,
        )


def row_form(clauses: Clauses, votes: NDArray[np.int64]) -> RowForm:
    """Lay out clauses that hold no contradiction, and their votes (n_clauses, outputs), for single rows."""
    from tmverify.kernels.votes import add_votes

    features, owners, negated = clauses.features, clauses.owners, clauses.literals < 0
    places = 2 * features + negated
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(2 * clauses.n_features + 1))
    voters, outputs = np.nonzero(votes)
    return RowForm(
        offsets=bounds[::2].copy(),
        middles=bounds[1::2].copy(),
        clauses=owners[order].astype(np.uint32),
        needed=np.bincount(owners[~negated], minlength=len(clauses)).astype(np.int32),
        vote_offsets=np.searchsorted(voters, np.arange(len(clauses) + 1)),
        vote_outputs=outputs.astype(np.uint32),
        vote_weights=votes[voters, outputs].astype(np.int32),
        kernel=add_votes,
    )


@dataclass(frozen=True, slots=True, eq=False)
class BatchForm:
    """Arrays for ``kernels.batch``."""

    n_features: int
    features: NDArray[np.uint32]
    starts: NDArray[np.int64]
    middles: NDArray[np.int64]
    run_offsets: NDArray[np.int64]
    run_shifts: NDArray[np.int64]
    part_offsets: NDArray[np.int64]
    part_groups: NDArray[np.int64]
    part_weights: NDArray[np.int16]

    def add_votes(self, rows: NDArray[np.uint8], stop: int, scores: NDArray[np.int64]) -> int:
        """Add all votes on the rows before ``stop`` to ``scores``; returns the OR of their bytes."""
        from tmverify.kernels.batch import add_block_votes
        from tmverify.kernels.transpose import transpose_rows

        octets = np.empty((EIGHT, self.n_features), np.uint8)
        planes = _aligned((self.n_features, BLOCK_ROWS // WORD_BITS), np.uint64)
        true = np.empty((EIGHT, BLOCK_ROWS // WORD_BITS), np.uint64)
        patterns = np.empty(BLOCK_ROWS // EIGHT, np.uint64)
        table = _aligned((1 << EIGHT, LANES), np.int16)
        sums = _aligned((-(-scores.shape[1] // LANES) * BLOCK_ROWS, LANES), np.int16)
        seen = 0
        for start in range(0, stop, BLOCK_ROWS):
            seen |= transpose_rows(rows, start, octets, planes)
            if seen > 1:
                break
            add_block_votes(
                planes,
                self.features,
                self.starts,
                self.middles,
                self.run_offsets,
                self.run_shifts,
                self.part_offsets,
                self.part_groups,
                self.part_weights,
                true,
                true.view(np.uint8),
                patterns,
                patterns.view(np.uint8),
                table,
                sums,
                scores[start : min(start + BLOCK_ROWS, stop)],
            )
        return seen


def _aligned(shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
    """Zeros that start on a cache line: rows that straddle two lines cost a fifth of the speed."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    skip = -room.ctypes.data % CACHE_LINE
    return room[skip : skip + size].view(dtype).reshape(shape)


def batch_form(clauses: Clauses, votes: NDArray[np.int64]) -> BatchForm:
    """Lay out clauses and their votes (n_clauses, outputs) for batches: digit by digit, eight by eight."""
    orders, digits, run_offsets, run_shifts = [], [], [0], []
    n_eights = 0
    magnitude, sign = np.abs(votes), np.sign(votes)
    for shift in range(0, 32, DIGIT_BITS):
        digit = sign * (magnitude >> shift & (1 << DIGIT_BITS) - 1)
        order = _in_eights(digit)
        if len(order):
            digits.append(np.vstack([digit, np.zeros_like(digit[:1])])[order].astype(np.int16))
            ends = _run_ends(digits[-1])
            run_offsets += [n_eights + end for end in ends]
            run_shifts += [shift] * len(ends)
            n_eights = run_offsets[-1]
            orders.append(order)
    part_offsets, part_groups, part_weights = _parts(digits, votes.shape[1])
    features, starts, middles = _literal_lists(clauses, np.concatenate([np.zeros(0, np.int64), *orders]))
    return BatchForm(
        clauses.n_features,
        features,
        starts,
        middles,
        np.array(run_offsets, np.int64),
        np.array(run_shifts, np.int64),
        part_offsets,
        part_groups,
        part_weights,
    )


def _in_eights(votes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The clauses that vote, those for the same outputs together, filled up to eights by number ``n``."""
    voting = np.flatnonzero((votes != 0).any(axis=1))
    voting = voting[np.argsort((votes[voting] != 0).argmax(axis=1), kind="stable")]
    return np.concatenate([voting, np.full(-len(voting) % EIGHT, len(votes))])


def _run_ends(votes: NDArray[np.int16]) -> list[int]:
    """Cut eights of clauses into runs in which no output's sum can leave +-``MAX_SUM``."""
    ends = []
    eights = votes.reshape(-1, EIGHT, votes.shape[1]).astype(np.int64)
    bounds = np.stack([np.maximum(eights, 0).sum(axis=1), np.maximum(-eights, 0).sum(axis=1)], axis=1)
    total = np.zeros_like(bounds[0])
    for i, bound in enumerate(bounds):
        total += bound
        if total.max() > MAX_SUM:
            ends.append(i)
            total = bound.copy()
    return [*ends, len(bounds)]


def _parts(
    digits: list[NDArray[np.int16]], n_outputs: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16]]:
    """The votes of each eight as tables of 8 x 16 for each group of 16 outputs that it votes on."""
    n_groups = -(-n_outputs // LANES)
    votes = np.vstack([np.zeros((0, n_outputs), np.int16), *digits])
    votes = np.pad(votes, ((0, 0), (0, n_groups * LANES - n_outputs)))
    tables = votes.reshape(-1, EIGHT, n_groups, LANES).swapaxes(1, 2)
    eight, group = np.nonzero(tables.any(axis=(2, 3)))
    offsets = np.searchsorted(eight, np.arange(len(tables) + 1))
    return offsets, group, tables[eight, group].reshape(-1, LANES)


def _literal_lists(
    clauses: Clauses, order: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Features of each clause of ``order`` (number ``n`` is an empty one): asked to be 1, then to be 0.

    The latter are filled up to fours by repetition. Ones come first: in mostly-zero inputs, they leave fewer.
    """
    with_empty = Clauses(
        clauses.n_features, clauses.literals, np.append(clauses.offsets, clauses.offsets[-1])
    )
    chosen = with_empty.select(order)
    owners, positive = chosen.owners, chosen.literals > 0
    n_positive = np.bincount(owners[positive], minlength=len(order))
    n_negated = np.bincount(owners[~positive], minlength=len(order))
    starts = np.concatenate([[0], np.cumsum(n_positive + -(-n_negated // 4) * 4)]).astype(np.int64)
    middles = starts[:-1] + n_positive

    last = np.zeros(len(order), np.uint32)
    last[owners[~positive]] = chosen.features[~positive]
    features = np.repeat(last, np.diff(starts))
    for mask, firsts, counts in ((positive, starts[:-1], n_positive), (~positive, middles, n_negated)):
        before = np.cumsum(counts) - counts
        rank = np.arange(np.count_nonzero(mask)) - before[owners[mask]]
        features[firsts[owners[mask]] + rank] = chosen.features[mask]
    return features, starts, middles
