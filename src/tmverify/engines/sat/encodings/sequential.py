"""The sequential counter, as in the paper's Eq. 2 (Sinz 2005), both directions of every equivalence.

With inputs l_1 … l_n and k columns, r[i, j] means "at least j of the first i inputs":

    r[1, 1] <-> l_1;   not r[1, j] for j >= 2;   r[i, 1] <-> l_i or r[i-1, 1];
    r[i, j] <-> (l_i and r[i-1, j-1]) or r[i-1, j].

Size: n * k variables, about 4 * n * k clauses. Reified: the last row may be used either way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.sat.cnf import Cnf


def sequential_counter(cnf: Cnf, inputs: Sequence[int], k: int) -> NDArray[np.int32]:
    """Add a counter; return the last row, whose j-th entry says "at least j + 1 inputs", j < k."""
    lits = np.array(inputs, np.int32)
    n = len(lits)
    r: NDArray[np.int32] = cnf.new_vars(n, k)
    if n == 0 or k == 0:
        return np.zeros(0, np.int32)
    cnf.add(-int(lits[0]), int(r[0, 0]))
    cnf.add(int(lits[0]), -int(r[0, 0]))
    if k > 1:
        cnf.add_block(-r[0, 1:])
    if n > 1:
        above, here, lit = r[:-1, 0], r[1:, 0], lits[1:]
        cnf.add_block(-here, lit, above)
        cnf.add_block(here, -lit)
        cnf.add_block(here, -above)
    if n > 1 and k > 1:
        above, corner, here, lit = r[:-1, 1:], r[:-1, :-1], r[1:, 1:], lits[1:, None]
        cnf.add_block(-here, lit, above)
        cnf.add_block(-here, corner, above)
        cnf.add_block(here, -lit, -corner)
        cnf.add_block(here, -above)
    last: NDArray[np.int32] = r[-1]
    return last
