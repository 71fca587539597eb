"""Which inputs are asked about: all, or a seeded draw that is as even over the labels as it can be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import InvalidInputError


def draw(n_inputs: int, y: NDArray[Any] | None, n: int | None, seed: int) -> NDArray[np.int64]:
    """Rows to ask about, ascending: all of them, or ``n`` without repetition.

    With labels, every class gives the same number of rows, up to one, or all that it has.

    Raises
    ------
    InvalidInputError
        If there are fewer than ``n`` inputs.
    """
    if n is None:
        return np.arange(n_inputs)
    if n > n_inputs:
        raise InvalidInputError(f"n must be at most the number of inputs, {n_inputs}. Got {n} instead.")
    rng = np.random.default_rng(seed)
    if y is None:
        return np.sort(rng.choice(n_inputs, n, replace=False))
    groups = [np.flatnonzero(y == label) for label in np.unique(y)]
    sizes = quotas([len(group) for group in groups], n)
    parts = [rng.choice(group, size, replace=False) for group, size in zip(groups, sizes, strict=True)]
    return np.sort(np.concatenate(parts))


def quotas(sizes: list[int], n: int) -> list[int]:
    """How many to take from each group, ``n`` together: equal up to one, or all of a small group."""
    taken = [0] * len(sizes)
    remaining = n
    # The smallest first: what it cannot give is shared by those that are left.
    for done, group in enumerate(sorted(range(len(sizes)), key=lambda g: sizes[g])):
        taken[group] = min(sizes[group], remaining // (len(sizes) - done))
        remaining -= taken[group]
    return taken
