"""The formula of a shell put to CaDiCaL, in a process of its own; with a clausal proof, if that is wanted."""

from __future__ import annotations

import shutil

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.network.encoding import encode_shell
from tmverify.engines.network.shell import Shell
from tmverify.engines.sat.proving import solve_with_proof

Solved = tuple[NDArray[np.int64] | None, dict[str, int]]


def solve(shell: Shell, proof: str | None) -> Solved:
    """Features whose flips let a rival win, or None, and the formula's size.

    Runs without a limit. If there are no such features, the proof goes to the file of that name.
    """
    formula = encode_shell(shell)
    size = {"variables": formula.cnf.n_vars, "clauses": formula.cnf.n_clauses}
    if proof is None:
        from pysat.solvers import Cadical195

        with Cadical195() as solver:
            for block in formula.cnf.blocks():
                solver.append_formula(block)
            satisfiable = solver.solve()
            if satisfiable is None:
                raise RuntimeError("the solver gave no answer")
            model = solver.get_model() if satisfiable else None
    else:
        model, text = solve_with_proof(formula.cnf)
        with text:
            if model is None:
                with open(proof, "wb") as file:
                    shutil.copyfileobj(text, file)
    return (None if model is None else formula.flips(model)), size
