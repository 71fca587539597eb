"""A Query written as one CNF, with the way back from a satisfying assignment to an input.

``encode_*`` functions return a Formula; the engines solve it, and the DIMACS exporter writes it down.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.sat.cnf import Cnf


@dataclass(frozen=True, slots=True, eq=False)
class Formula:
    """A CNF that is satisfiable iff the query has a witness.

    Attributes
    ----------
    cnf : Cnf
    origin : uint8 array, (n_features,)
        The witness starts as this input …
    bits : dict of feature index to literal
        … and takes the value of the literal at these features.
    clauses : dict of pool clause index to literal
        The literal that stands for a clause's output.
    """

    cnf: Cnf
    origin: NDArray[np.uint8]
    bits: dict[int, int]
    clauses: dict[int, int]

    def decode(self, assignment: Iterable[int]) -> NDArray[np.uint8]:
        """The input in a satisfying assignment, given as signed literals."""
        true = set(assignment)
        witness = self.origin.copy()
        for feature, lit in self.bits.items():
            witness[feature] = lit in true
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
