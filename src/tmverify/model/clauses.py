"""Clauses: the only definition of what a clause is and what it outputs.

A clause is a set of literals over ``n_features`` bits, written as in DIMACS: ``+i`` requires feature
``i - 1`` to be 1, ``-i`` requires it to be 0. Its output on an input is

    clause(x) = 1  iff no literal of the clause is violated by x,

with two exact edge cases:

- a clause that holds a literal and its negation is *contradictory*: its output is 0 everywhere;
- a clause without literals is *empty*: its output is a constant that the model declares
  (0, ``"silent"``, as all implementations do in prediction; or 1, ``"fires"``).

Literals are stored flat (``literals[offsets[j]:offsets[j + 1]]`` is clause j), sorted by feature and
without repetition, so that equal clauses are equal arrays. Invariant: arrays are read-only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from tmverify.errors import ModelError, shown
from tmverify.model.checks import integer
from tmverify.model.container import MAX_FILE_BYTES

MAX_FEATURES = 1 << 24
MAX_CLAUSES = 1 << 24

MAX_LITERALS = MAX_FILE_BYTES // 4  # the most that a model file can hold

# The plain evaluator gathers one cell per (row, literal); rows are taken in slices of this many cells.
_CELLS_AT_ONCE = 1 << 24
_CELLS_TO_SEARCH = 1 << 22  # numpy needs 24 bytes per cell to find the included literals


# Clauses, and their weights: (n_clauses,), or (outputs, n_clauses).
Votes = tuple["Clauses", NDArray[np.int64]]


class Clauses(Sequence[tuple[int, ...]]):
    """An immutable sequence of clauses, each read as a tuple of signed, 1-based literals."""

    literals: NDArray[np.int32]
    offsets: NDArray[np.int64]
    n_features: int

    def __init__(self, n_features: int, literals: NDArray[np.int32], offsets: NDArray[np.int64]) -> None:
        """Wrap arrays that are already in canonical form (see ``from_lists`` for any other input)."""
        object.__setattr__(self, "n_features", n_features)
        object.__setattr__(self, "literals", _frozen(literals))
        object.__setattr__(self, "offsets", _frozen(offsets))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"Clauses are immutable: cannot set {name}")

    @classmethod
    def from_lists(cls, n_features: int, clauses: Iterable[Iterable[int]]) -> Clauses:
        """Build from lists of signed, 1-based literals, in any order, repetitions allowed.

        Raises
        ------
        ModelError
            If a literal is 0, not an integer, or names a feature beyond ``n_features``.
        """
        n_features = check_n_features(n_features)
        flat: list[int] = []
        offsets = [0]
        if not isinstance(clauses, Iterable):
            raise ModelError(f"clauses must be a list of lists of literals. Got {shown(clauses)} instead.")
        for j, clause in enumerate(clauses):
            if not isinstance(clause, Iterable):
                raise ModelError(
                    f"A clause must be a list of literals. Clause {j} is {shown(clause)} instead."
                )
            flat.extend(_canonical(j, clause, n_features))
            offsets.append(len(flat))
        return cls(n_features, np.array(flat, np.int32), np.array(offsets, np.int64))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, index: int) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[int, ...], ...]: ...
    def __getitem__(self, index: int | slice) -> tuple[int, ...] | tuple[tuple[int, ...], ...]:
        if isinstance(index, slice):
            return tuple(self[j] for j in range(*index.indices(len(self))))
        j = range(len(self))[index]
        return tuple(self.literals[self.offsets[j] : self.offsets[j + 1]].tolist())

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        flat, ends = self.literals.tolist(), self.offsets.tolist()
        return (tuple(flat[a:b]) for a, b in pairwise(ends))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Clauses):
            return (
                self.n_features == other.n_features
                and np.array_equal(self.offsets, other.offsets)
                and np.array_equal(self.literals, other.literals)
            )
        if isinstance(other, Sequence):
            return [*self] == [tuple(clause) if isinstance(clause, Iterable) else clause for clause in other]
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{len(self)} clauses over {self.n_features} features, {len(self.literals)} literals>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Clauses, (self.n_features, self.literals, self.offsets)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of literals of each clause."""
        return np.diff(self.offsets)

    @cached_property
    def features(self) -> NDArray[np.int64]:
        """Feature index of each stored literal."""
        return _frozen(np.abs(self.literals).astype(np.int64) - 1)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """Clause index of each stored literal."""
        return _frozen(np.repeat(np.arange(len(self)), self.lengths))

    @cached_property
    def contradictory(self) -> NDArray[np.bool_]:
        """Which clauses hold a literal and its negation, and so never output 1."""
        features, owners = self.features, self.owners
        twin = (features[1:] == features[:-1]) & (owners[1:] == owners[:-1])
        result = np.zeros(len(self), np.bool_)
        result[owners[1:][twin]] = True
        return _frozen(result)

    def outputs(self, bits: NDArray[np.uint8], *, empty_fires: bool) -> NDArray[np.bool_]:
        """Evaluate every clause on every row: the plain reference, (n, n_clauses)."""
        result = np.full((len(bits), len(self)), empty_fires, np.bool_)
        filled = self._filled
        if not len(filled):
            return result
        starts, wanted = self.offsets[filled], self._wanted
        rows = max(1, _CELLS_AT_ONCE // len(self.literals))
        for a in range(0, len(bits), rows):
            violated = bits[a : a + rows].take(self.features, axis=1) != wanted
            result[a : a + rows, filled] = ~np.logical_or.reduceat(violated, starts, axis=1)
        return result

    @cached_property
    def _filled(self) -> NDArray[np.int64]:
        """The clauses that have a literal."""
        return _frozen(np.flatnonzero(self.lengths))

    @cached_property
    def _wanted(self) -> NDArray[np.uint8]:
        """The bit that each stored literal demands."""
        return _frozen((self.literals > 0).astype(np.uint8))

    def select(self, indices: NDArray[np.int64]) -> Clauses:
        """The clauses at ``indices``, in that order."""
        if len(indices) == len(self) and (indices == np.arange(len(self))).all():
            return self
        lengths = self.lengths[indices]
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        positions = np.arange(offsets[-1]) + np.repeat(self.offsets[indices] - offsets[:-1], lengths)
        return Clauses(self.n_features, self.literals[positions], offsets)


def concatenate(parts: Sequence[Clauses]) -> Clauses:
    """All clauses of ``parts``, which have the same features, one after another."""
    if len(parts) == 1:
        return parts[0]
    ends = np.cumsum([0, *(len(part.literals) for part in parts)])
    offsets = [part.offsets[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return Clauses(
        parts[0].n_features,
        np.concatenate([part.literals for part in parts]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
    )


def clauses_of_matrix(included: NDArray[np.bool_], n_features: int) -> Clauses:
    """Clauses of a Boolean matrix with ``n_features`` columns, or twice as many: then the negations."""
    n_features = check_n_features(n_features)
    n_clauses, n_literals = included.shape
    if n_literals not in (n_features, 2 * n_features):
        raise ModelError(f"{n_features} features have as many literals, or twice. Got {n_literals} instead.")
    lengths = np.count_nonzero(included, axis=1)
    if lengths.sum() > MAX_LITERALS:
        raise ModelError(f"A model may have {MAX_LITERALS} literals in all. Got {lengths.sum()} instead.")
    rows = max(1, _CELLS_TO_SEARCH // n_literals)
    parts = [_literals(included[a : a + rows], n_features) for a in range(0, n_clauses, rows)]
    return Clauses(
        n_features,
        np.concatenate([np.zeros(0, np.int32), *parts]),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
    )


def _literals(included: NDArray[np.bool_], n_features: int) -> NDArray[np.int32]:
    """The literals of some rows, sorted by feature, the negation first, as clauses are."""
    both = np.zeros((len(included), n_features, 2), np.bool_)
    both[:, :, 1] = included[:, :n_features]
    if included.shape[1] > n_features:
        both[:, :, 0] = included[:, n_features:]
    _, features, positive = np.nonzero(both)
    return np.where(positive == 1, features + 1, -(features + 1)).astype(np.int32)


def one_machine_a_class(parts: Sequence[Votes]) -> Votes:
    """All clauses, and a matrix in which the clauses of machine c vote on class c alone."""
    weights = np.zeros((len(parts), sum(len(clauses) for clauses, _ in parts)), np.int64)
    start = 0
    for c, (clauses, votes) in enumerate(parts):
        weights[c, start : start + len(clauses)] = votes
        start += len(clauses)
    return concatenate([clauses for clauses, _ in parts]), weights


def check_n_features(n_features: object) -> int:
    """Return ``n_features`` as an int, or raise ModelError."""
    return integer(n_features, "n_features", 1, MAX_FEATURES)


def _canonical(j: int, clause: Iterable[int], n_features: int) -> list[int]:
    literals = set()
    for lit in clause:
        if isinstance(lit, bool) or not isinstance(lit, (int, np.integer)):
            raise ModelError(f"A literal must be a signed integer. Clause {j} has {shown(lit)} instead.")
        if lit == 0 or abs(int(lit)) > n_features:
            raise ModelError(
                f"A literal must be between 1 and n_features={n_features}, or its negative "
                f"(1-based, as in DIMACS). Clause {j} has {shown(int(lit))} instead."
            )
        literals.add(int(lit))
    return sorted(literals, key=lambda lit: (abs(lit), lit))


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array = np.array(array, order="C")
    array.flags.writeable = False
    return array
