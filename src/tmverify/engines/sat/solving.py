"""Putting formulas to a PySAT solver."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tmverify.engines.protocol import Answer, EncodingTooLargeError, found, none_exists, stopped
from tmverify.engines.sat.formula import Formula
from tmverify.properties.verdict import StopReason


def solve_formulas(formulas: Callable[[], Iterator[Formula]], solver_name: str) -> Answer:
    """Solve formulas, made one at a time, until one is satisfiable; without a limit.

    The limit is for the process around this to hold.
    """
    from pysat.solvers import Solver

    start = time.perf_counter()
    stats = {"formulas": 0, "variables": 0, "clauses": 0, "solve_seconds": 0.0}
    try:
        for formula in formulas():
            stats["formulas"] += 1
            stats["variables"] += formula.cnf.n_vars
            stats["clauses"] += formula.cnf.n_clauses
            begin = time.perf_counter()
            with Solver(name=solver_name) as solver:
                for block in formula.cnf.blocks():
                    solver.append_formula(block)
                satisfiable = solver.solve()
                model = solver.get_model() if satisfiable else None
            stats["solve_seconds"] += time.perf_counter() - begin
            stats["encode_seconds"] = time.perf_counter() - start - stats["solve_seconds"]
            if satisfiable is None:
                return stopped(StopReason.CRASHED, "the solver gave no answer", **stats)
            if model is not None:
                return found(formula.decode(model), **stats)
    except EncodingTooLargeError as error:
        return stopped(StopReason.ENCODING_TOO_LARGE, str(error), **stats)
    return none_exists(**stats)
