"""A reified count: a literal that is true iff at least k of n literals are (Bailleux & Boufkhad 2003).

It is a totalizer with unit weights and both directions of every merge. A node of n leaves has outputs
o_1 … o_m, m = min(n, k), where o_s means "at least s of the leaves"; from children a and b, with i + j = s,

    a_i and b_j -> o_s            (s <= m),
    not a_{i+1} and not b_{j+1} -> not o_{s+1}    (s < m),      o_{s+1} -> o_s.

If k is more than n / 2, false literals are counted: at least k are true iff fewer than n - k + 1 are false.
Size: O(n log n) variables and O(n k log n) clauses, k being at most half of n here. Outputs are determined by
the inputs, so the literal may be used either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from tmverify.engines.sat.cnf import Cnf


def at_least(cnf: Cnf, inputs: Sequence[int], k: int) -> int:
    """Add clauses; return a literal that is true iff at least ``k`` inputs are, 1 <= k <= len(inputs)."""
    n = len(inputs)
    if k > n - k + 1:
        return -_tree(cnf, [-lit for lit in inputs], n - k + 1)[n - k]
    return _tree(cnf, list(inputs), k)[k - 1]


def at_least_size(n: int, k: int) -> int:
    """Number of literals that ``at_least`` writes, roughly."""
    return _tree_size(n, min(k, n - k + 1))


@lru_cache(maxsize=1 << 16)
def _tree_size(n: int, k: int) -> int:
    if n < 2:
        return 0
    half = n // 2
    pairs = (min(half, k) + 1) * (min(n - half, k) + 1)
    return 5 * pairs + _tree_size(half, k) + _tree_size(n - half, k)


def _tree(cnf: Cnf, inputs: list[int], k: int) -> list[int]:
    n = len(inputs)
    if n == 1:
        return inputs
    a, b = _tree(cnf, inputs[: n // 2], k), _tree(cnf, inputs[n // 2 :], k)
    out = [cnf.new_var() for _ in range(min(n, k))]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            s = i + j
            if 1 <= s <= len(out):
                cnf.add(*(-lit for lit in (*a[i - 1 : i], *b[j - 1 : j])), out[s - 1])
            if s < len(out):
                cnf.add(*a[i : i + 1], *b[j : j + 1], -out[s])
    for lower, higher in pairwise(out):
        cnf.add(-higher, lower)
    return out
