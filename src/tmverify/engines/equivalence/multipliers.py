"""Which multiples of constraints to add up: a guess by linear programming, to be checked in integers.

    minimise   sum_j max(0, (m V)_j)      over  m >= 0,  m . bounds = 1

where V has a row per constraint and a column per clause. At 0 nothing is left of the clauses, and the
constraints contradict each other; near 0 little is left. For two models that share most of their structure
the solution is simple, and a sample of the columns shows it.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

_MOST_COLUMNS = 400
_LARGEST_DENOMINATOR = 10_000


def guess_multipliers(weights: NDArray[np.int64], bounds: list[int]) -> list[int] | None:
    """Integers >= 0, one for each row of ``weights``, or None if there is no good guess."""
    from scipy.optimize import linprog

    if not any(bounds):
        return None
    columns, counts = _sample(weights)
    n, k = len(counts), len(bounds)
    size = max(1.0, float(np.abs(columns).max(initial=0)))
    scale = max(abs(b) for b in bounds)
    solution = linprog(
        np.concatenate([np.zeros(k), counts]),
        A_ub=np.hstack([columns / size, -np.eye(n)]),
        b_ub=np.zeros(n),
        A_eq=np.concatenate([np.array(bounds, float) / scale, np.zeros(n)])[None, :],
        b_eq=[1.0],
        method="highs-ds",  # a corner, where most multipliers are 0
    )
    return _integers(solution.x[:k]) if solution.status == 0 else None


def _sample(weights: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distinct columns that are not 0, as rows, and how often each occurs."""
    columns = weights.T[weights.any(axis=0)]
    if len(columns) > 10 * _MOST_COLUMNS:
        columns = columns[:: len(columns) // (10 * _MOST_COLUMNS)]
    distinct, counts = np.unique(columns, axis=0, return_counts=True)
    if len(distinct) > _MOST_COLUMNS:
        stride = -(-len(distinct) // _MOST_COLUMNS)
        distinct, counts = distinct[::stride], counts[::stride]
    return distinct.astype(float), counts.astype(float)


def _integers(values: NDArray[np.float64]) -> list[int]:
    """The multipliers as integers in about the same proportions."""
    largest = float(values.max(initial=0.0))
    if not largest > 0:
        return [0] * len(values)
    near = [
        Fraction(max(0.0, float(value)) / largest).limit_denominator(_LARGEST_DENOMINATOR) for value in values
    ]
    whole = lcm(*(fraction.denominator for fraction in near))
    return [int(fraction * whole) for fraction in near]
