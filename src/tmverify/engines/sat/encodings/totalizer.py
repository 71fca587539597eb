"""The generalised totalizer (Bailleux & Boufkhad 2003; with weights Joshi, Martins & Manquinho 2015).

For "sum of w_i * l_i <= limit", a balanced tree of merges. A node carries, for each sum s that its leaves
can reach, an output meaning "at least s", capped at limit + 1:

    a_s -> out_s;   b_t -> out_t;   a_s and b_t -> out_{s+t};   out_s -> out_{the next lower sum}.

One direction only: a sum that is reached forces its output, never the reverse, which is all that an upper
bound needs. Size: per merge one variable per distinct sum, at most one clause per pair of sums; with unit
weights n inputs and limit k give O(n log n) variables and O(n k log n) clauses. Many different weights
make many sums: ``totalizer_size`` predicts the size.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from tmverify.engines.sat.cnf import Cnf

Node = dict[int, int]
"""Output literal of each reachable sum, in rising order of sums."""


def totalizer_at_most(cnf: Cnf, inputs: Sequence[int], weights: Sequence[int], limit: int) -> list[int]:
    """Add clauses that force the returned literal, if any, whenever the weighted sum exceeds ``limit``.

    Forbid that literal to impose the bound. The list is empty if the sum cannot exceed the limit.
    """
    cap = limit + 1
    leaves: list[Node] = [{min(w, cap): lit} for lit, w in zip(inputs, weights, strict=True)]
    leaves.sort(key=lambda node: next(iter(node)))  # equal weights meet first, so sums stay few
    root = _fold(leaves, lambda a, b: _merge(cnf, a, b, cap)) or {}
    return [root[cap]] if cap in root else []


def totalizer_size(weights: Sequence[int], limit: int, most: int) -> int:
    """How many pairs of sums the merges would join (about as many as clauses), or any number > ``most``."""
    cap = limit + 1
    total = 0

    def merge(a: Iterable[int], b: Iterable[int]) -> list[int]:
        nonlocal total
        left, right = list(a), list(b)
        total += (len(left) + 1) * (len(right) + 1)
        if total > most:
            return []
        return _sums(left, right, cap)

    _fold([[min(w, cap)] for w in sorted(weights)], merge)
    return total


def _fold(leaves: Iterable[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Merge the two nodes with the fewest leaves until one is left; None if there are no leaves."""
    nodes = [(1, i, leaf) for i, leaf in enumerate(leaves)]  # a heap already
    number = len(nodes)
    while len(nodes) > 1:
        size_a, _, a = heapq.heappop(nodes)
        size_b, _, b = heapq.heappop(nodes)
        heapq.heappush(nodes, (size_a + size_b, number, merge(a, b)))
        number += 1
    return nodes[0][2] if nodes else None


def _sums(left: Iterable[int], right: Iterable[int], cap: int) -> list[int]:
    both = [0, *right]
    return sorted({min(s + t, cap) for s in (0, *left) for t in both} - {0})


def _merge(cnf: Cnf, a: Node, b: Node, cap: int) -> Node:
    out = {s: cnf.new_var() for s in _sums(a, b, cap)}
    for s, lit in a.items():
        cnf.add(-lit, out[s])
    for t, lit in b.items():
        cnf.add(-lit, out[t])
        for s, other in a.items():
            cnf.add(-lit, -other, out[min(s + t, cap)])
    for lower, higher in pairwise(out.values()):
        cnf.add(-higher, lower)
    return out
