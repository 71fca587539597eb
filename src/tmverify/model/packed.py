"""The inference form of a Model: bit masks per 64-bit word, votes per clause, for the numba kernels.

A clause keeps only the words in which it has literals, so the size is bounded by the number of literals
(not by ``n_clauses * n_features``); a clause keeps only the outputs that it votes on. The training
structure, the file and this are three different things on purpose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tmverify.model.machine import Model

WORD_BITS = 64


@dataclass(frozen=True, slots=True, eq=False)
class PackedModel:
    """Arrays for ``kernels.votes``: clause j owns words ``[word_offsets[j], word_offsets[j + 1])``."""

    n_words: int
    word_offsets: NDArray[np.int64]
    word_index: NDArray[np.int64]
    must_be_one: NDArray[np.uint64]
    must_be_zero: NDArray[np.uint64]
    vote_offsets: NDArray[np.int64]
    vote_output: NDArray[np.int64]
    vote_weight: NDArray[np.int64]
    bias: NDArray[np.int64]

    def scores(self, bits: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Scores of each row of ``bits``, a checked uint8 matrix: (n, outputs) int64."""
        from tmverify.kernels.bits import pack_rows
        from tmverify.kernels.votes import add_votes

        words = np.zeros((len(bits), self.n_words), np.uint64)
        pack_rows(bits, words)
        scores = np.empty((len(bits), len(self.bias)), np.int64)
        scores[:] = self.bias
        add_votes(
            words,
            self.word_offsets,
            self.word_index,
            self.must_be_one,
            self.must_be_zero,
            self.vote_offsets,
            self.vote_output,
            self.vote_weight,
            scores,
        )
        return scores


def pack_model(model: Model) -> PackedModel:
    """Lay a model out for the kernels."""
    clauses = model.clauses
    features, owners = clauses.features, clauses.owners
    n_words = -(-clauses.n_features // WORD_BITS)
    cells, cell = np.unique(owners * n_words + features // WORD_BITS, return_inverse=True)
    masks = np.uint64(1) << (features % WORD_BITS).astype(np.uint64)
    ones, zeros = np.zeros(len(cells), np.uint64), np.zeros(len(cells), np.uint64)
    positive = clauses.literals > 0
    np.bitwise_or.at(ones, cell[positive], masks[positive])
    np.bitwise_or.at(zeros, cell[~positive], masks[~positive])

    votes = model.weights.T.copy()
    if model.empty_clause == "silent":
        votes[clauses.lengths == 0] = 0
    vote_clause, vote_output = np.nonzero(votes)
    numbers = np.arange(len(clauses) + 1)
    return PackedModel(
        n_words=n_words,
        word_offsets=np.searchsorted(cells, numbers * n_words).astype(np.int64),
        word_index=cells % n_words,
        must_be_one=ones,
        must_be_zero=zeros,
        vote_offsets=np.searchsorted(vote_clause, numbers).astype(np.int64),
        vote_output=vote_output.astype(np.int64),
        vote_weight=votes[vote_clause, vote_output],
        bias=model.bias,
    )
