"""The ``sat`` engine with evidence: the same questions, but each refutation ends with a clausal proof.

Here everything that happens to a problem before the solver sees it must be a step that a checker can follow.
The problem is that of the search (``search.problem``). The search is tried for some nodes (without evidence,
credits are used instead); then flips are ruled out by the bound with its first multipliers; and the formula
is the one that ``docs/certificates.md`` describes, clause by clause.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Answer, Deadline, EncodingTooLargeError, found, none_exists, stopped
from tmverify.engines.proof_log import Draft, ProofLog
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.totalizer import totalizer_at_most, totalizer_size
from tmverify.engines.sat.formula import add_outputs, missing_votes, solve_with_proof
from tmverify.engines.search._bound import FREE
from tmverify.engines.search._record import credit_record
from tmverify.engines.search.problem import Problem, part, problem_of, shrunk
from tmverify.engines.search.tree import RECORD_UNIT, Budget, Found, Tree, new_record, unit_of
from tmverify.properties.query import Query
from tmverify.properties.verdict import StopReason

NODES = 20  # of the search before the solver is asked
MAX_TOTALIZER_PAIRS = 1_500_000  # the checker can hold formulas of about six million literals
_BLOCK = 1 << 20


def solve(query: Query, path: str) -> Answer:
    """Decide ``query``, without a time limit; refutations are written to the file ``path``."""
    with ProofLog(path) as log:
        answer = prove(query, log)
        return replace(answer, refutations=tuple(log.refutations))


def prove(query: Query, log: ProofLog, *, sweep: bool = True) -> Answer:
    """Decide ``query``; without ``sweep``, everything is left to the solver."""
    stats = {"formulas": 0, "variables": 0, "clauses": 0, "solve_seconds": 0.0}
    radius = query.region.radius
    try:
        whole = problem_of(query, radius)
        for case in dict.fromkeys(tuple(dict.fromkeys(case)) for case in query.cases):
            if log.covers(case, radius) is not None:
                continue
            problem = part(whole, case, whole.radius)
            budget = Budget(Deadline(None), NODES if sweep else 0)
            result, flips = Tree(problem, log.draft(case, radius)).search(budget)
            if result is Found.OPEN:
                result, flips = _refute(problem, log.draft(case, radius), sweep, stats)
            if result is Found.SOLUTION:
                return found(query.region.with_flips(flips), **stats)
    except EncodingTooLargeError as error:
        return stopped(StopReason.ENCODING_TOO_LARGE, str(error), **stats)
    return none_exists(**stats)


def _refute(problem: Problem, draft: Draft, sweep: bool, stats: dict[str, float]) -> tuple[Found, list[int]]:
    """Find the flips of a solution, or write a refutation, with the solver."""
    unit = min(unit_of(problem), RECORD_UNIT)
    draft.start(max(1, unit))
    if sweep and unit:
        closed, problem = _swept(problem, unit, draft)
        if closed:
            draft.step("close")
            draft.keep()
            return Found.NOTHING, []
    cnf = encode(problem)
    draft.step("lrat")
    if cnf is not None:
        stats["formulas"] += 1
        stats["variables"] += cnf.n_vars
        stats["clauses"] += cnf.n_clauses
        begin = time.perf_counter()
        model, proof = solve_with_proof(cnf)
        stats["solve_seconds"] += time.perf_counter() - begin
        with proof:
            if model is not None:
                true = set(model)
                flips = np.array([i + 1 in true for i in range(len(problem.feature_ids))], np.bool_)
                return Found.SOLUTION, problem.flips_of_query(flips)
            while block := proof.read(_BLOCK):
                draft.block(block)
    draft.step("qed")
    draft.keep()
    return Found.NOTHING, []


def _swept(problem: Problem, unit: int, draft: Draft) -> tuple[bool, Problem]:
    """Rule out flips by the bound of each constraint, with its first multipliers, until none are left to fix.

    Returns whether the problem is refuted, and what is left of it.
    """
    n = len(problem.bounds)
    idle, c = 0, 0
    while idle < n:
        credits = np.empty(len(problem.feature_ids), np.int64)
        votes, dead = np.ascontiguousarray(problem.votes[c]), np.zeros(len(problem.middles), np.int32)
        reach = int(credit_record(problem, votes, dead, new_record(problem, unit), credits))
        need = int(problem.bounds[c]) * unit
        left = problem.radius
        gains = np.sort(credits[credits > 0])[::-1]
        reach += int(gains[:left].sum())
        fixed = _fixable(reach, need, credits, gains, left) if left else np.full(len(credits), FREE, np.int8)
        if (reach < need or (fixed != FREE).any()) and n > 1:
            draft.step("mix", *(int(d == c) for d in range(n)))
        if reach < need:
            return True, problem
        if (fixed != FREE).any():
            draft.step("fix")
            if (fixed == 1).sum() > left:
                return True, problem
            draft.step("shrink")
            problem = shrunk(problem, fixed)
            idle = 0
        else:
            idle += 1
        c = (c + 1) % n
    return False, problem


def _fixable(
    reach: int, need: int, credits: NDArray[np.int64], gains: NDArray[np.int64], left: int
) -> NDArray[np.int8]:
    """1 or 0 for each feature whose other value would bring the bound below the need."""
    least = int(gains[left - 1]) if len(gains) >= left else 0
    next_best = int(gains[left]) if len(gains) > left else 0
    chosen = (credits > least) | ((credits == least) & (least > 0))
    fixed = np.full(len(credits), FREE, np.int8)
    fixed[chosen & (reach - credits + next_best < need)] = 1
    fixed[~chosen & (reach - least + credits < need)] = 0
    return fixed


def encode(problem: Problem) -> Cnf | None:
    """A problem as a CNF whose first variables are the flips; None if some bound can't be reached at all."""
    cnf = Cnf()
    flips: list[int] = cnf.new_vars(len(problem.feature_ids)).tolist()
    variables = (problem.features + 1).tolist()
    clauses = [
        [*variables[first:middle], *(-v for v in variables[middle:end])]
        for first, middle, end in zip(
            problem.offsets[:-1].tolist(), problem.middles.tolist(), problem.offsets[1:].tolist(), strict=True
        )
    ]
    outputs = add_outputs(cnf, clauses, problem.votes)
    demands = []
    for weights, need in zip(problem.votes.tolist(), problem.bounds.tolist(), strict=True):
        missing, sizes, best = missing_votes(outputs, weights)
        if best < need:
            return None
        demands += _at_most(cnf, missing, sizes, best - need)
    demands += _at_most(cnf, flips, [1] * len(flips), problem.radius)
    cnf.demand([literal] for literal in demands)
    return cnf


def _at_most(cnf: Cnf, inputs: list[int], sizes: list[int], limit: int) -> list[int]:
    """Literals that hold only if the sizes of true inputs add up to at most ``limit``."""
    if sum(sizes) <= limit:
        return []
    if totalizer_size(sizes, limit, MAX_TOTALIZER_PAIRS) > MAX_TOTALIZER_PAIRS:
        raise EncodingTooLargeError(f"a counter would have more than {MAX_TOTALIZER_PAIRS} pairs of sums")
    return [-exceeds for exceeds in totalizer_at_most(cnf, inputs, sizes, limit)]
