"""The forms of a model for single rows: a table if it is of moderate size (``_table``), else an index.

The index has for each feature the clauses with a literal on it. The table has, for each four features and
each of their 16 values, the clauses that these don't violate, as a bit set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.model.clauses import Clauses
from tmverify.model.inference.batch import zeros_on_a_cache_line

CHUNK = 512
WORDS = 8
NIBBLES = 16
LANES = 16
ROW_BYTES = 64
# Beyond these, the index is faster: tables leave the caches, or need many look-ups.
MAX_BYTES = 4 << 20
MAX_LOOK_UPS = 4096
MAX_SCORE = (1 << 31) - 1


class Index(NamedTuple):
    """The arrays that ``_index`` describes."""

    offsets: NDArray[np.int64]
    middles: NDArray[np.int64]
    clauses: NDArray[np.uint32]
    needed: NDArray[np.int32]
    vote_offsets: NDArray[np.int64]
    vote_outputs: NDArray[np.uint32]
    vote_weights: NDArray[np.int32]


AddVotes = Callable[[NDArray[np.uint8], NDArray[np.int64]], int]
"""Adds all votes on rows to their scores; returns the OR of all bytes of the rows."""


def index_form(clauses: Clauses, votes: NDArray[np.int64]) -> AddVotes:
    """Lay out clauses that hold no contradiction, and their votes (n_clauses, outputs), for single rows."""
    from tmverify.model.inference._index import add_votes

    features, owners, negated = clauses.features, clauses.owners, clauses.literals < 0
    places = 2 * features + negated
    order = np.argsort(places, kind="stable")
    bounds = np.searchsorted(places[order], np.arange(2 * clauses.n_features + 1))
    voters, outputs = np.nonzero(votes)
    index = Index(
        offsets=bounds[::2].copy(),
        middles=bounds[1::2].copy(),
        clauses=owners[order].astype(np.uint32),
        needed=np.bincount(owners[~negated], minlength=len(clauses)).astype(np.int32),
        vote_offsets=np.searchsorted(voters, np.arange(len(clauses) + 1)),
        vote_outputs=outputs.astype(np.uint32),
        vote_weights=votes[voters, outputs].astype(np.int32),
    )
    return partial(add_votes, index)


@dataclass(frozen=True, slots=True, eq=False)
class TableForm:
    """The array of ``_table``, and its kernel."""

    table: NDArray[np.int64]
    decide_few: Callable[[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]], int]


def table_form(
    clauses: Clauses, votes: NDArray[np.int64], bias: NDArray[np.int64], least_positive: int, clamp: int
) -> TableForm | None:
    """Lay out clauses that hold no contradiction, and their votes (n_clauses, outputs).

    None if the table would be large or slow, or if a score may leave int32.
    """
    n_outputs = len(bias)
    quarter, chunks, parts = -(-clauses.n_features // 4), -(-len(clauses) // CHUNK), -(-n_outputs // LANES)
    biases = 1 + chunks * quarter * NIBBLES
    n_rows = biases + parts + parts * chunks * CHUNK
    largest_score = (np.abs(votes).sum(axis=0) + np.abs(bias)).max()
    if n_rows * ROW_BYTES > MAX_BYTES or parts * chunks * quarter > MAX_LOOK_UPS or largest_score > MAX_SCORE:
        return None
    from tmverify.model.inference._table import decide_few

    table = zeros_on_a_cache_line((n_rows, WORDS), np.int64)
    table[0, :4] = chunks, n_outputs, least_positive, clamp
    table[1:biases] = _clauses_left(clauses, quarter, chunks)
    padded = np.zeros((1 + chunks * CHUNK, parts * LANES), np.int32)
    padded[0, :n_outputs] = bias
    padded[1 : 1 + len(clauses), :n_outputs] = votes
    by_part = padded.reshape(-1, parts, LANES).swapaxes(0, 1)
    table[biases:].view(np.int32)[:] = np.concatenate([by_part[:, 0], by_part[:, 1:].reshape(-1, LANES)])
    return TableForm(table, decide_few)


def _clauses_left(clauses: Clauses, quarter: int, chunks: int) -> NDArray[np.int64]:
    """Rows of 512 clauses, by chunk, group of four features, and their values."""
    left = np.zeros((2, 4 * quarter, chunks * CHUNK), np.bool_)
    left[:, :, : len(clauses)] = True
    left[(clauses.literals < 0).astype(np.int64), clauses.features, clauses.owners] = False
    words = np.packbits(left, axis=2, bitorder="little").view("<i8")
    by_feature = words.reshape(2, 4, quarter, chunks, WORDS)
    rows = np.empty((chunks, quarter, NIBBLES, WORDS), np.int64)
    for nibble in range(NIBBLES):
        of_group = [by_feature[nibble >> k & 1, k] for k in range(4)]
        rows[:, :, nibble] = np.bitwise_and.reduce(of_group).swapaxes(0, 1)
    return rows.reshape(-1, WORDS)
