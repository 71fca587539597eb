"""The ``sat`` engine with evidence: the same questions, but each refutation ends with a clausal proof.

Here everything that happens to a problem before the solver sees it must be a step that a checker can follow.
The problem is that of the search (``search.problem``). The search is tried for some nodes (without evidence,
credits are used instead); then flips are ruled out by the bound with its first multipliers; and the formula
is the one that ``docs/certificates.md`` describes, clause by clause.
"""

from __future__ import annotations

import time
from dataclasses import replace

from tmverify.engines.engine import Answer, Deadline, EncodingTooLargeError, found, none_exists, stopped
from tmverify.engines.proof_log import Draft, ProofLog
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.totalizer import totalizer_at_most, totalizer_size
from tmverify.engines.sat.formula import add_outputs, missing_votes, solve_with_proof
from tmverify.engines.sat.specialised import MoveLiterals, add_moves
from tmverify.engines.search.problem import Problem, Solution, part, problem_of
from tmverify.engines.search.sweep import swept
from tmverify.engines.search.tree import RECORD_UNIT, Budget, Found, Tree, unit_of
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
            result, solution = Tree(problem, log.draft(case, radius)).search(budget)
            if result is Found.OPEN:
                result, solution = _refute(problem, log.draft(case, radius), sweep, stats)
            if solution is not None:
                return found(query.region.with_flips(solution.flips), **stats)
    except EncodingTooLargeError as error:
        return stopped(StopReason.ENCODING_TOO_LARGE, str(error), **stats)
    return none_exists(**stats)


def _refute(
    problem: Problem, draft: Draft, sweep: bool, stats: dict[str, float]
) -> tuple[Found, Solution | None]:
    """Find a solution, or write a refutation, with the solver."""
    draft.start(max(1, min(unit_of(problem), RECORD_UNIT)))
    if sweep:
        closed, problem = swept(problem, draft)
        if closed:
            draft.step("close")
            draft.keep()
            return Found.NOTHING, None
    encoded = encode(problem)
    draft.step("lrat")
    if encoded is not None:
        cnf, literals = encoded
        stats["formulas"] += 1
        stats["variables"] += cnf.n_vars
        stats["clauses"] += cnf.n_clauses
        begin = time.perf_counter()
        model, proof = solve_with_proof(cnf)
        stats["solve_seconds"] += time.perf_counter() - begin
        with proof:
            if model is not None:
                return Found.SOLUTION, literals.solution(model)
            while block := proof.read(_BLOCK):
                draft.block(block)
    draft.step("qed")
    draft.keep()
    return Found.NOTHING, None


def encode(problem: Problem) -> tuple[Cnf, MoveLiterals] | None:
    """A problem as a CNF whose first variables are the moves; None if some bound can't be reached at all."""
    cnf = Cnf()
    literals = add_moves(cnf, problem)
    outputs = add_outputs(cnf, literals.clauses(), problem.votes)
    demands = []
    for weights, need in zip(problem.votes.tolist(), problem.bounds.tolist(), strict=True):
        missing, sizes, best = missing_votes(outputs, weights)
        if best < need:
            return None
        demands += _at_most(cnf, missing, sizes, best - need)
    demands += _at_most(cnf, *literals.priced, problem.radius)
    cnf.demand([literal] for literal in demands)
    return cnf, literals


def _at_most(cnf: Cnf, inputs: list[int], sizes: list[int], limit: int) -> list[int]:
    """Literals that hold only if the sizes of true inputs add up to at most ``limit``."""
    if sum(sizes) <= limit:
        return []
    if totalizer_size(sizes, limit, MAX_TOTALIZER_PAIRS) > MAX_TOTALIZER_PAIRS:
        raise EncodingTooLargeError(f"a counter would have more than {MAX_TOTALIZER_PAIRS} pairs of sums")
    return [-exceeds for exceeds in totalizer_at_most(cnf, inputs, sizes, limit)]
