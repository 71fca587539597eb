"""Formula: a Query as one CNF, which also turns a satisfying assignment into an input; and solving it.

``encode_*`` functions return a Formula; the engines solve it, and the DIMACS exporter writes it down.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Answer, EncodingTooLargeError, found, none_exists, stopped
from tmverify.engines.sat.cnf import Cnf
from tmverify.properties.verdict import StopReason


class OptionLiteral(NamedTuple):
    """A literal that is true iff a column has this option: its value, cost, and the bits that it flips."""

    literal: int
    column: int
    value: int
    cost: int
    flips: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """A CNF that is satisfiable iff the query has a witness.

    Attributes
    ----------
    cnf : Cnf
    origin : uint8 array, (n_features,)
        The witness starts as this input …
    bits : dict of feature index to literal
        … takes the value of the literal at these features …
    options : tuple of OptionLiteral
        … and flips the bits of the options whose literals are true.
    clauses : dict of pool clause index to literal
        The literal that stands for a clause's output.
    costs : dict of literal to int
        What it costs if the literal of a flip or an option is true.
    """

    cnf: Cnf
    origin: NDArray[np.uint8]
    bits: dict[int, int]
    clauses: dict[int, int]
    options: tuple[OptionLiteral, ...] = ()
    costs: dict[int, int] = field(default_factory=dict)

    def decode(self, assignment: Iterable[int]) -> NDArray[np.uint8]:
        """The input in a satisfying assignment, given as signed literals."""
        true = set(assignment)
        witness = self.origin.copy()
        for feature, lit in self.bits.items():
            witness[feature] = lit in true
        for option in self.options:
            if option.literal in true:
                witness[list(option.flips)] ^= 1
        return witness


def add_conjunction(cnf: Cnf, lits: Iterable[int], *, forward: bool = True, backward: bool = True) -> int:
    """A variable v with v -> every literal (forward) and all literals -> v (backward)."""
    v = cnf.new_var()
    inputs = list(lits)
    if forward:
        for lit in inputs:
            cnf.add(-v, lit)
    if backward:
        cnf.add(v, *(-lit for lit in inputs))
    return v


def add_outputs(cnf: Cnf, clauses: Iterable[Sequence[int]], weights: NDArray[np.int64]) -> list[int]:
    """A literal for each conjunction, tied to it only in the directions that its weights can use.

    ``weights`` is (n_constraints, n_clauses); each constraint is a lower bound on a sum.
    """
    helps: list[bool] = np.any(weights > 0, axis=0).tolist()
    hurts: list[bool] = np.any(weights < 0, axis=0).tolist()
    return [
        lits[0] if len(lits) == 1 else add_conjunction(cnf, lits, forward=forward, backward=backward)
        for lits, forward, backward in zip(clauses, helps, hurts, strict=True)
    ]


def missing_votes(outputs: list[int], weights: list[int]) -> tuple[list[int], list[int], int]:
    """The literals that, when true, reduce the sum below its maximum; by how much each; and that maximum."""
    voters = [(lit, w) for lit, w in zip(outputs, weights, strict=True) if w]
    missing = [-lit if w > 0 else lit for lit, w in voters]
    return missing, [abs(w) for _, w in voters], sum(w for _, w in voters if w > 0)


def solve_formulas(formulas: Callable[[], Iterator[Formula]], solver_name: str) -> Answer:
    """Solve formulas, made one at a time, until one is satisfiable.

    There is no time limit here; the calling process enforces it.
    """
    start = time.perf_counter()
    stats = {"formulas": 0, "variables": 0, "clauses": 0, "solve_seconds": 0.0}
    try:
        for formula in formulas():
            stats["formulas"] += 1
            stats["variables"] += formula.cnf.n_vars
            stats["clauses"] += formula.cnf.n_clauses
            begin = time.perf_counter()
            model = solve_cnf(formula.cnf, solver_name)
            stats["solve_seconds"] += time.perf_counter() - begin
            stats["encode_seconds"] = time.perf_counter() - start - stats["solve_seconds"]
            if model is not None:
                return found(formula.decode(model), **stats)
    except EncodingTooLargeError as error:
        return stopped(StopReason.ENCODING_TOO_LARGE, str(error), **stats)
    return none_exists(**stats)


def solve_cnf(cnf: Cnf, solver_name: str) -> list[int] | None:
    """A satisfying assignment, or None if there is none."""
    from pysat.solvers import Solver

    with Solver(name=solver_name) as solver:
        for block in cnf.blocks():
            solver.append_formula(block)
        satisfiable = solver.solve()
        if satisfiable is None:
            raise RuntimeError("the solver gave no answer")
        model: list[int] | None = solver.get_model() if satisfiable else None
        return model


def solve_with_proof(cnf: Cnf) -> tuple[list[int] | None, IO[bytes]]:
    """A satisfying assignment or None, and a file, which then has CaDiCaL's proof as text in LRAT."""
    import pysolvers
    from pysat.solvers import Cadical195

    solver = Cadical195()
    # PySAT starts tracing before options can be set, and would write binary DRAT; and it closes the file.
    solver.configure({"lrat": 1, "binary": 0})
    solver.prfile = tempfile.TemporaryFile()  # noqa: SIM115
    proof = os.fdopen(os.dup(solver.prfile.fileno()), "rb")
    try:
        solver.prfp = pysolvers.cadical195_tracepr(solver.cadical, solver.prfile)
        for clause in proper_clauses(cnf):
            solver.add_clause(clause)
        model = solver.get_model() if solver.solve() else None
    finally:
        solver.delete()
    proof.seek(0)
    return model, proof


def proper_clauses(cnf: Cnf) -> Iterator[list[int]]:
    """The clauses without repeated literals, and no tautologies: CaDiCaL would number clauses otherwise."""
    for clause in cnf:
        if not any(-literal in clause for literal in clause):
            yield list(dict.fromkeys(clause))
