"""Binary addition (after Warners 1998): for sums with so many different weights that a totalizer explodes.

For "sum of w_i * l_i <= limit": bits of equal significance are added with full and half adders, whose sum
and carry are equivalent to their definitions, until one bit per place is left; then the binary number is
compared with the limit. Size: O(n log W) variables and clauses, whatever the weights; it propagates worse
than a totalizer, so it is the second choice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from tmverify.engines.sat.cnf import Cnf


def adder_at_most(cnf: Cnf, inputs: Sequence[int], weights: Sequence[int], limit: int) -> list[int]:
    """Add clauses that force the returned literal, if any, whenever the weighted sum exceeds ``limit``.

    Forbid that literal to impose the bound. The list is empty if the sum cannot exceed the limit.
    """
    if sum(weights) <= limit:
        return []
    digits = _binary_sum(cnf, inputs, weights)
    exceeds = cnf.new_var()
    # The sum exceeds the limit iff at some place it has a 1 where the limit has a 0, and at every
    # higher place where the limit has a 1 it has one too.
    higher_ones: list[int] = []
    for place in reversed(range(max(len(digits), limit.bit_length()))):
        digit = digits[place] if place < len(digits) else None
        if limit >> place & 1:
            if digit is None:  # always 0 here: no lower place can make up for it
                break
            higher_ones.append(-digit)
        elif digit is not None:
            cnf.add(*higher_ones, -digit, exceeds)
    return [exceeds]


def _binary_sum(cnf: Cnf, inputs: Sequence[int], weights: Sequence[int]) -> list[int | None]:
    """One literal per binary place of the sum, lowest first; None where the place is always 0."""
    places: list[deque[int]] = [deque() for _ in range(sum(weights).bit_length() + 1)]
    for lit, weight in zip(inputs, weights, strict=True):
        for place in range(weight.bit_length()):
            if weight >> place & 1:
                places[place].append(lit)
    for place, column in enumerate(places):
        while len(column) >= 2:
            taken = [column.popleft() for _ in range(min(3, len(column)))]
            column.append(_parity(cnf, taken))
            places[place + 1].append(_majority(cnf, taken))
    return [column[0] if column else None for column in places]


def _parity(cnf: Cnf, lits: list[int]) -> int:
    """A variable equivalent to the exclusive or of two or three literals."""
    out = cnf.new_var()
    everything = [*lits, out]
    # Forbid every assignment of lits and out with an odd number of ones.
    for pattern in range(1 << len(everything)):
        if pattern.bit_count() % 2 == 1:
            cnf.add(*(-lit if pattern >> i & 1 else lit for i, lit in enumerate(everything)))
    return out


def _majority(cnf: Cnf, lits: list[int]) -> int:
    """A variable equivalent to "at least two of" two or three literals."""
    out = cnf.new_var()
    if len(lits) == 2:
        cnf.add(-lits[0], -lits[1], out)
        cnf.add(lits[0], -out)
        cnf.add(lits[1], -out)
        return out
    for a, b in ((0, 1), (0, 2), (1, 2)):
        cnf.add(-lits[a], -lits[b], out)
        cnf.add(lits[a], lits[b], -out)
    return out
