"""The form of a model for single rows if it is large (``_index``): for each feature, its clauses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.model.clauses import Clauses


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
