"""Compiling the kernels before a clock starts.

numba compiles at first use, for some ten seconds, and keeps the result for later processes. Those seconds
belong to no question: within a time limit they would leave the first one open.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from tmverify.engines.evidence import Evidence
from tmverify.engines.protocol import Deadline
from tmverify.engines.search._shrink import inherit
from tmverify.engines.search.deciding import nearest
from tmverify.model import Model
from tmverify.properties import similarity_query

_N_FEATURES, _N_CLAUSES, _N_QUESTIONS = 12, 40, 4


@cache
def compile_kernels(*, recorded: bool) -> None:
    """Ask small questions that meet every kernel, with or without a record of the proof; once in a process.

    A search with a record is another kernel, which only certificates need.
    """
    rng = np.random.default_rng(0)
    for _ in range(_N_QUESTIONS):
        a, b = _machine(rng), _machine(rng)
        x = rng.integers(0, 2, _N_FEATURES)
        for scope in ("team", 1):
            query = similarity_query(a, b, x, _N_FEATURES, scope=scope)
            nearest(query, Deadline(None), Evidence() if recorded else None)
    _meet_inherit()


def _meet_inherit() -> None:
    """Small problems are solved before they are worth rebuilding: the kernel for that is called by itself."""
    one, none = np.zeros(1, np.int32), np.zeros(1, np.float32)
    inherit(np.array([0, 1], np.int64), one, one, none, none, none.copy(), none.copy())


def _machine(rng: np.random.Generator) -> Model:
    features = [rng.choice(_N_FEATURES, 3, replace=False) + 1 for _ in range(_N_CLAUSES)]
    clauses = [(each * rng.choice([-1, 1], 3)).tolist() for each in features]
    return Model.from_clauses(_N_FEATURES, clauses, rng.integers(-2, 3, size=(3, _N_CLAUSES)))
