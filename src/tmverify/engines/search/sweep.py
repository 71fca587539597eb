"""Ruling out moves by the bound of each constraint with its first multipliers, as long as that helps.

This is what ``sat`` does before it asks a solver: it settles most cases, and leaves smaller formulas.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.proof_log import Draft
from tmverify.engines.search._bound import FREE
from tmverify.engines.search._columns import sweep_columns
from tmverify.engines.search._record import credit_record
from tmverify.engines.search.problem import Problem, shrunk
from tmverify.engines.search.tree import RECORD_UNIT, all_alive, new_record, unit_of


def swept(problem: Problem, draft: Draft | None = None) -> tuple[bool, Problem]:
    """Whether the problem is refuted, and what is left of it; steps are written into the draft."""
    unit = min(unit_of(problem), RECORD_UNIT)
    if not unit:
        return False, problem
    n = len(problem.bounds)
    idle, c = 0, 0
    while idle < n:
        refuted, fixed = _look(problem, c, unit)
        if draft is not None and n > 1 and (refuted or fixed is not None):
            draft.step("mix", *(int(d == c) for d in range(n)))
        if fixed is not None:
            if draft is not None:
                draft.step("fix")
            if refuted:
                return True, problem
            if draft is not None:
                draft.step("shrink")
            problem = shrunk(problem, fixed)
            idle = 0
        elif refuted:
            return True, problem
        else:
            idle += 1
        c = (c + 1) % n
    return False, problem


def _look(problem: Problem, c: int, unit: int) -> tuple[bool, NDArray[np.int8] | None]:
    """Whether constraint c is refuted, and what its bound fixes, None if nothing."""
    credits = np.empty(len(problem.feature_ids), np.int64)
    votes, dead = np.ascontiguousarray(problem.votes[c]), np.zeros(len(problem.middles), np.int32)
    constant = int(credit_record(problem.arrays, votes, dead, new_record(problem, unit), credits))
    need = int(problem.bounds[c]) * unit
    if problem.moves is None:
        return _look_at_flips(constant, need, credits, problem.radius)
    moving = all_alive(problem)
    assert moving is not None
    flips = np.empty(len(credits), np.bool_)
    scratch = np.empty(len(moving.alive), np.int64)
    result = sweep_columns(problem.radius, problem.moves, moving, credits, constant, need, scratch, flips)
    fixed = None if moving.alive.all() else moving.alive.astype(np.int8)
    return result > 0, fixed


def _look_at_flips(
    constant: int, need: int, credits: NDArray[np.int64], left: int
) -> tuple[bool, NDArray[np.int8] | None]:
    gains = np.sort(credits[credits > 0])[::-1]
    reach = constant + int(gains[:left].sum())
    if reach < need:
        return True, None
    if not left:
        return False, None
    least = int(gains[left - 1]) if len(gains) >= left else 0
    next_best = int(gains[left]) if len(gains) > left else 0
    chosen = (credits > least) | ((credits == least) & (least > 0))
    fixed = np.full(len(credits), FREE, np.int8)
    fixed[chosen & (reach - credits + next_best < need)] = 1
    fixed[~chosen & (reach - least + credits < need)] = 0
    return int((fixed == 1).sum()) > left, fixed if (fixed != FREE).any() else None
