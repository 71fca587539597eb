"""A formula in conjunctive normal form, grown clause by clause or block by block."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray


class Cnf:
    """Clauses of signed, 1-based integers, as in DIMACS.

    Clauses of equal length that are added as one array are stored as one: a counter over a thousand clauses
    has millions of them, and a Python list for each would take gigabytes.
    """

    __slots__ = ("_blocks", "_loose", "n_clauses", "n_vars")

    def __init__(self) -> None:
        self.n_vars = 0
        self.n_clauses = 0
        self._blocks: list[NDArray[np.int32] | list[list[int]]] = []
        self._loose: list[list[int]] = []

    def new_var(self) -> int:
        """A fresh variable."""
        self.n_vars += 1
        return self.n_vars

    def new_vars(self, *shape: int) -> NDArray[np.int32]:
        """An array of fresh variables."""
        count = int(np.prod(shape))
        start = self.n_vars + 1
        self.n_vars += count
        return np.arange(start, start + count, dtype=np.int32).reshape(shape)

    def add(self, *clause: int) -> None:
        """Add one clause."""
        self._loose.append(list(clause))
        self.n_clauses += 1

    def add_block(self, *columns: NDArray[np.int32]) -> None:
        """Add a clause per position of the columns, which broadcast against each other."""
        grid = np.stack([column.ravel() for column in np.broadcast_arrays(*columns)], axis=1)
        if self._loose:
            self._blocks.append(self._loose)
            self._loose = []
        self._blocks.append(grid)
        self.n_clauses += len(grid)

    def demand(self, clauses: Iterable[Iterable[int]]) -> None:
        """Add the last clauses of a formula whose refutation is checked.

        CaDiCaL numbers clauses as they are added, and derives further ones after a unit clause: so there is
        only one unit clause, and it comes last.
        """
        demand = self.new_var()
        for clause in clauses:
            self.add(*clause, -demand)
        self.add(demand)

    def blocks(self) -> Iterator[Sequence[Sequence[int]]]:
        """The clauses in order, as lists of lists, a block at a time."""
        for block in [*self._blocks, self._loose]:
            yield block.tolist() if isinstance(block, np.ndarray) else block

    def __iter__(self) -> Iterator[Sequence[int]]:
        for block in self.blocks():
            yield from block
