"""Compiling the kernels before the clock starts.

numba compiles at first use, for some seconds, and keeps the result for later processes. These seconds must
not count against a time limit, or the first question might stay undecided. The kernel of the tree takes
longer than all others together, so the very first time another process compiles it in parallel.
"""

from __future__ import annotations

import os
import threading
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.search._tree import explore
from tmverify.engines.search.engine import nearest
from tmverify.engines.search.problem import Problem, part, problem_of
from tmverify.engines.search.sweep import swept
from tmverify.engines.search.tree import Budget, Tree, greedy
from tmverify.engines.subprocesses.call import call
from tmverify.model import Model
from tmverify.properties import Query, robustness_query, similarity_query
from tmverify.space import Category, Flag, Number, Space

_N_FEATURES, _N_CLAUSES, _N_QUESTIONS = 12, 40, 4
_TREE = "tmverify.engines.search.kernels:compile_tree"
_PATIENCE = 300.0  # seconds for the other process; after that, the tree is compiled here


def prepare(query: Query, certificate: bool) -> None:
    """Compile the kernels that such a query needs."""
    several = any(len(case) > 1 for case in query.cases)
    compile_kernels(several=several, recorded=certificate, columns=not query.region.plain)


@cache
def compile_kernels(*, several: bool, recorded: bool, columns: bool = False) -> None:
    """Compile the kernels by asking small questions that use them; once in a process.

    Cases with ``several`` constraints, proofs that are ``recorded`` for a certificate, and ``columns`` that
    are more than bits have separate kernels, which most questions never need.
    """
    if several:
        # Whether a constraint can't fail is never recorded.
        compile_kernels(several=False, recorded=False, columns=columns)
        compile_kernels(several=False, recorded=recorded, columns=columns)
    elif not recorded and not columns and _is_first_time():
        _share_the_work()
    rng = np.random.default_rng(0)
    log = ProofLog() if recorded else None
    space = _columns() if columns else Space.flags(_N_FEATURES)
    for _ in range(_N_QUESTIONS):
        a, b, x = _machine(rng, space), _machine(rng, space), _row(rng, space)
        query = similarity_query(a, b, x, _N_FEATURES) if several else robustness_query(a, x, _N_FEATURES)
        nearest(query, Deadline(None), log)
    _meet_the_rest(part(problem_of(query, _N_FEATURES), query.cases[0], _N_FEATURES), log)


def compile_tree() -> None:
    """Search a tree of one clause and one feature."""
    one, ends, clause = np.zeros(1, np.int64), np.array([0, 1], np.int64), np.zeros(1, np.int32)
    problem = Problem(
        *(
            ends,
            one + 1,
            clause,
            np.ones((1, 1), np.int64),
            one + 2,
            1,
            one,
            one[:0],
            0,
            np.zeros(1, np.uint8),
        ),
        *(clause, ends, clause, np.ones(1, np.bool_)),
    )
    Tree(problem).search(Budget(Deadline(None), 1))


def _is_first_time() -> bool:
    """Whether numba has never compiled the tree before, and there are at least two cores."""
    kept = explore.stats.cache_path
    return (os.cpu_count() or 1) > 1 and kept is not None and not any(Path(kept).glob("*explore*.nbi"))


def _share_the_work() -> None:
    """Compile the tree in another process, into numba's cache, and the kernels used before it in this one."""
    beside = threading.Thread(target=call, args=(_TREE, (), Deadline(_PATIENCE)), daemon=True)
    beside.start()
    rng = np.random.default_rng(0)
    space = Space.flags(_N_FEATURES)
    query = robustness_query(_machine(rng, space), _row(rng, space), _N_FEATURES)
    problem = problem_of(query, _N_FEATURES)
    greedy(problem)
    Tree(problem).rebuild()
    beside.join()


def _meet_the_rest(problem: Problem, log: ProofLog | None) -> None:
    """Compile the kernels that small questions may miss: search, rebuild, write down multipliers, sweep."""
    draft = None if log is None else log.draft((), 0)
    tree = Tree(problem, draft)
    tree.search(Budget(Deadline(None), 1))
    tree.rebuild()
    if draft is not None:
        tree.write_multipliers(draft)
    swept(problem)  # which sat does, in a process of its own


def _columns() -> Space:
    """Columns of all kinds, of as many bits as there are features."""
    wide = (Number("number", (1, 2, 3, 4)), Category("category", ("a", "b", "c", "d")))
    return Space([*wide, *(Flag(f"flag {i}") for i in range(_N_FEATURES - 8))])


def _row(rng: np.random.Generator, space: Space) -> NDArray[np.uint8]:
    """A possible input."""
    values = [column.part.patterns[rng.integers(len(column.values))] for column in space.columns]
    return np.concatenate(values).astype(np.uint8)


def _machine(rng: np.random.Generator, space: Space) -> Model:
    features = [rng.choice(_N_FEATURES, 3, replace=False) + 1 for _ in range(_N_CLAUSES)]
    clauses = [(each * rng.choice([-1, 1], 3)).tolist() for each in features]
    return Model.from_clauses(_N_FEATURES, clauses, rng.integers(-2, 3, size=(3, _N_CLAUSES)), space=space)
