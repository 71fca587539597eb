"""The form of a model for batches (``_batch``): for each clause, its features.

Eight clauses share a table of votes, 16 outputs wide. Votes are split into digits, and clauses into runs,
so that sums fit 16 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.model.clauses import Clauses

WORD_BITS = 64
BLOCK_ROWS = 512
EIGHT = 8
LANES = 16
# The sum of eight 12-bit digits stays below 2**15, the limit of a sum of votes.
DIGIT_BITS = 12
MAX_SUM = (1 << 15) - 1
CACHE_LINE = 64


@dataclass(frozen=True, slots=True, eq=False)
class BatchForm:
    """Arrays for ``_batch``."""

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
        from tmverify.model.inference._batch import add_block_votes, transpose_rows

        octets = np.empty((EIGHT, rows.shape[1]), np.uint8)
        planes = zeros_on_a_cache_line((rows.shape[1], BLOCK_ROWS // WORD_BITS), np.uint64)
        true = np.empty((EIGHT, BLOCK_ROWS // WORD_BITS), np.uint64)
        patterns = np.empty(BLOCK_ROWS // EIGHT, np.uint64)
        table = zeros_on_a_cache_line((1 << EIGHT, LANES), np.int16)
        sums = zeros_on_a_cache_line((-(-scores.shape[1] // LANES) * BLOCK_ROWS, LANES), np.int16)
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
    """The clauses that vote, sorted by their first output, padded with index ``n`` to a multiple of eight."""
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
    # Kernels are compiled for one array layout, but NumPy's layout here depends on the number of groups.
    return offsets, np.ascontiguousarray(group), tables[eight, group].reshape(-1, LANES)


def _literal_lists(
    clauses: Clauses, order: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Features of each clause of ``order`` (index ``n`` is an empty one): required to be 1, then to be 0.

    The latter are padded to fours by repetition. Ones come first: on mostly-zero inputs, fewer samples pass.
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


def zeros_on_a_cache_line(shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
    """Zeros that start on a cache line: rows that span two lines cost a fifth of the speed."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    room = np.zeros(size + CACHE_LINE, np.uint8)
    skip = -room.ctypes.data % CACHE_LINE
    return room[skip : skip + size].view(dtype).reshape(shape)
