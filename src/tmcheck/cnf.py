"""Formulas in conjunctive normal form, built clause by clause up to a limit."""

from __future__ import annotations

from tmcheck import limits
from tmcheck.errors import Refused

Clauses = list[tuple[int, ...]]


class Cnf:
    """Clauses of signed literals over variables 1, 2, …"""

    def __init__(self, n_vars: int) -> None:
        self.n_vars, self.size = n_vars, 0
        self.clauses: Clauses = []

    def new(self) -> int:
        """One more variable."""
        self.n_vars += 1
        return self.n_vars

    def add(self, *clause: int) -> None:
        """One more clause: each literal once, and not at all if it says nothing."""
        self.size += len(clause)
        if self.size > limits.LARGEST_FORMULA:
            raise Refused("the formula of a clausal proof is too large")
        proper = tuple(dict.fromkeys(clause))
        if not any(-literal in proper for literal in proper):
            self.keep(proper)

    def keep(self, clause: tuple[int, ...]) -> None:
        """Take a clause that says something."""
        self.clauses.append(clause)
