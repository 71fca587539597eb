"""Putting a Formula to a PySAT solver."""

from __future__ import annotations

import time
from collections.abc import Callable

from tmverify.engines.protocol import Answer, found, none_exists, stopped
from tmverify.engines.sat.formula import EncodingTooLargeError, Formula
from tmverify.properties.query import Query
from tmverify.properties.verdict import StopReason


def solve_formula(query: Query, encode: Callable[[Query], Formula], solver_name: str) -> Answer:
    """Encode ``query`` and solve it, without a limit: that is for the process around it to hold."""
    from pysat.solvers import Solver

    start = time.perf_counter()
    try:
        formula = encode(query)
    except EncodingTooLargeError as error:
        return stopped(StopReason.ENCODING_TOO_LARGE, str(error))
    encoded = time.perf_counter()
    with Solver(name=solver_name) as solver:
        for block in formula.cnf.blocks():
            solver.append_formula(block, no_return=True)
        satisfiable = solver.solve()
        stats = {
            "variables": formula.cnf.n_vars,
            "clauses": formula.cnf.n_clauses,
            "encode_seconds": encoded - start,
            "solve_seconds": time.perf_counter() - encoded,
        }
        if satisfiable is None:
            return stopped(StopReason.CRASHED, "the solver gave no answer", **stats)
        return found(formula.decode(solver.get_model()), **stats) if satisfiable else none_exists(**stats)
