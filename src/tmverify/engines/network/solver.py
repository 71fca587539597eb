"""Questions to CaDiCaL about a shell; these functions run in a separate process.

- ``solve``: the whole shell as one CNF of flips, changed neurons, the blocks after them and the rivals. It is
  exact both ways: each solution is an input of the shell with another decision, and each such input has one
  solution. It is the formula that ``docs/certificates.md`` describes, clause by clause.
- ``reach``: can flips produce one of the given bad patterns? The formula has only the first block. If flips
  produce a bad pattern, they are a witness. If not, the solver names a few neurons that can't have these
  values together, and all other bad patterns with the same values there are dropped too.
"""

from __future__ import annotations

import shutil

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import EncodingTooLargeError
from tmverify.engines.network.shell import Shell, Stage
from tmverify.engines.sat.cnf import Cnf
from tmverify.engines.sat.encodings.reified import at_least, at_least_size
from tmverify.engines.sat.formula import solve_cnf, solve_with_proof

MAX_LITERALS = 30_000_000  # some gigabytes in the solver
SOLVER = "cadical195"

Patterns = NDArray[np.uint64]
Solved = tuple[NDArray[np.int64] | None, dict[str, int]]


def solve(shell: Shell, proof: str | None) -> Solved:
    """Features whose flips let a rival win, or None, and the formula's size.

    Runs without a time limit. If there are no such features, the proof is written to the file ``proof``.
    """
    cnf = encode_shell(shell)
    if proof is None:
        model = solve_cnf(cnf, SOLVER)
    else:
        model, text = solve_with_proof(cnf)
        with text:
            if model is None:
                with open(proof, "wb") as file:
                    shutil.copyfileobj(text, file)
    flips = None if model is None else _flips(shell, model)
    return flips, {"variables": cnf.n_vars, "clauses": cnf.n_clauses}


def reach(shell: Shell, bad: Patterns) -> Solved:
    """Features whose flips produce a bad pattern, or None; runs in a worker process without a time limit."""
    from pysat.solvers import Cadical195

    cnf = Cnf()
    demands, changed = encode_first_block(cnf, shell)
    left = bad[np.argsort(_ones(bad), kind="stable")]  # fewest changes first: flips produce those most easily
    asked = 0
    with Cadical195() as solver:
        for block in cnf.blocks():
            solver.append_formula(block)
        for clause in demands:
            solver.add_clause(clause)
        while len(left):
            asked += 1
            pattern = int(left[0])
            wanted = [lit if pattern >> j & 1 else -lit for j, lit in enumerate(changed)]
            satisfiable = solver.solve(assumptions=wanted)
            if satisfiable is None:
                raise RuntimeError("the solver gave no answer")
            if satisfiable:
                return _flips(shell, solver.get_model()), {"bad_patterns": len(bad), "reached_for": asked}
            core = set(solver.get_core() or ())
            # Several neurons may have the same literal: then all of them are part of the reason.
            mask = sum(1 << j for j, literal in enumerate(wanted) if literal in core)
            left = left[(left & np.uint64(mask)) != np.uint64(pattern & mask)]
    return None, {"bad_patterns": len(bad), "reached_for": asked}


def encode_shell(shell: Shell) -> Cnf:
    """The formula of a shell in which rivals are open and none is certain; its first variables are the flips.

    Raises
    ------
    EncodingTooLargeError
        If it would have more than ``MAX_LITERALS`` literals.
    """
    if formula_size(shell) > MAX_LITERALS:
        raise EncodingTooLargeError(f"the formula would have more than {MAX_LITERALS} literals")
    cnf = Cnf()
    demands, literals = encode_first_block(cnf, shell)
    for stage in shell.stages:
        literals = _stage(cnf, stage, literals)
    demands.append(literals)
    cnf.demand(demands)
    return cnf


def encode_first_block(cnf: Cnf, shell: Shell) -> tuple[list[list[int]], list[int]]:
    """Add flips as the first variables; return clauses that fix their number, and changed-neuron literals."""
    flips = [cnf.new_var() for _ in shell.features]
    demands = [[at_least(cnf, flips, shell.flips)]]
    if shell.flips < len(flips):
        demands.append([-at_least(cnf, flips, shell.flips + 1)])
    return demands, _changed(cnf, shell, flips)


def first_block_size(shell: Shell) -> int:
    """The number of literals that ``encode_first_block`` writes, roughly."""
    n, k = len(shell.features), shell.flips
    total = 2 * at_least_size(n, min(k + 1, n))
    for quota, favourable in zip(shell.quotas.tolist(), shell.favourable.sum(axis=1).tolist(), strict=True):
        few = quota <= k - quota + 1
        total += at_least_size(favourable, quota) if few else at_least_size(n - favourable, k - quota + 1)
    return total


def formula_size(shell: Shell) -> int:
    """The number of literals of a shell's formula, roughly."""
    total = first_block_size(shell)
    for stage in shell.stages:
        widths = (stage.weights != 0).sum(axis=1)
        sizes = zip(widths.tolist(), stage.needs.tolist(), strict=True)
        total += sum(at_least_size(width, need) for width, need in sizes)
    return total


def _changed(cnf: Cnf, shell: Shell, flips: list[int]) -> list[int]:
    """For each open neuron of the first block, a literal that says that it has changed."""
    result = []
    for quota, favourable in zip(shell.quotas.tolist(), shell.favourable.tolist(), strict=True):
        others = shell.flips - quota + 1  # this many unfavourable flips keep it from changing
        if quota <= others:
            result.append(at_least(cnf, [y for y, yes in zip(flips, favourable, strict=True) if yes], quota))
        else:
            against = [y for y, yes in zip(flips, favourable, strict=True) if not yes]
            result.append(-at_least(cnf, against, others))
    return result


def _stage(cnf: Cnf, stage: Stage, inputs: list[int]) -> list[int]:
    """A literal for each neuron of a stage."""
    result = []
    for weights, need in zip(stage.weights.tolist(), stage.needs.tolist(), strict=True):
        matching = [lit * weight for lit, weight in zip(inputs, weights, strict=True) if weight]
        result.append(at_least(cnf, matching, need))
    return result


def _flips(shell: Shell, assignment: list[int]) -> NDArray[np.int64]:
    """The features that flip in a solution."""
    true = set(assignment)
    return shell.features[[i + 1 in true for i in range(len(shell.features))]]


def _ones(words: Patterns) -> NDArray[np.int64]:
    """Bits set in each word."""
    small = np.array([i.bit_count() for i in range(1 << 16)])
    pieces = ((words >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48))
    counts: NDArray[np.int64] = np.sum([small[piece.astype(np.int64)] for piece in pieces], axis=0)
    return counts
