"""Compiling the kernels of walks and of samples before a clock starts, as ``search.warming`` does."""

from __future__ import annotations

from functools import cache

import numpy as np

from tmverify.engines.equivalence.sampling import find_among_samples
from tmverify.engines.equivalence.walking import find_by_walking
from tmverify.engines.protocol import Deadline
from tmverify.model import Model
from tmverify.properties import equivalence_query


@cache
def compile_kernels() -> None:
    """Ask a small question that meets every kernel; once in a process."""
    forever = Deadline(None)
    # Never 2 votes at once: neither samples nor walks find any, and both go all the way.
    one = Model.from_clauses(3, [[1, 2], [-1, 2], [1, -2, 3]], [[1, 1, 1]], bias=-2)
    query = equivalence_query(one, Model.from_clauses(3, [], np.zeros((1, 0), np.int64), bias=-1))
    find_among_samples(query, forever)
    find_by_walking(query, None, 50, 0, forever)
