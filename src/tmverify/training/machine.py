"""The live form of a machine: automata, weights and random numbers, in the layout of the kernels.

The frozen form, for everything else, is ``Model``, made from ``included_literals``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 64
PLANES = 8
MAX_STATES = 1 << (PLANES - 1)  # per action
CHANCE_UNIT = 1 << 24
NO_BUDGET = 1 << 40
_LANE_GROUP = 4  # words of an AVX2 vector: the rows of a clause are whole vectors
Words = NDArray[np.uint64]


class Machine(NamedTuple):
    """Arrays of one machine with n clauses in b blocks, over w literal words, p = 8 state bits.

    Literal words: the features, 64 to a word; then their negations, in the same form; then padding.
    """

    planes: Words  # (64 b, p, w): state bits; the last plane is "included"
    weights: NDArray[np.int32]  # (64 b,)
    n_included: NDArray[np.int32]  # (64 b,): literals that each clause includes
    included: Words  # (b, 2, features rounded up): the last planes again, 64 clauses to a word
    real: Words  # (b,): clauses that exist
    present: Words  # (w,): literals that exist
    draws: Words  # (b,): generator of choices
    lanes: Words  # (b, w): generators of feedback masks


class Rule(NamedTuple):
    """The parameters of Algorithm 1, in the form for the kernels."""

    threshold: np.int64
    forget: np.uint64  # 1 / specificity, in units of 2^-24
    floor: np.uint64  # lowest state
    max_literals: np.int64
    weighted: bool
    boost: np.uint64  # all ones or 0


def make_rule(
    *,
    threshold: int,
    specificity: float,
    n_states: int,
    max_literals: int | None,
    weighted: bool,
    boost_true_positive: bool,
) -> Rule:
    """The parameters in the form for the kernels; 1 / specificity is rounded to a multiple of 2^-24."""
    return Rule(
        threshold=np.int64(threshold),
        forget=np.uint64(round(CHANCE_UNIT / float(specificity))),
        floor=np.uint64(MAX_STATES - int(n_states)),
        max_literals=np.int64(NO_BUDGET if max_literals is None else max_literals),
        weighted=bool(weighted),
        boost=np.uint64(2**64 - 1 if boost_true_positive else 0),
    )


def new_machine(n_clauses: int, n_features: int, seed: np.random.SeedSequence) -> Machine:
    """A machine with empty clauses: every automaton is in the highest state that excludes its literal."""
    n_blocks, half = -(-n_clauses // BLOCK), -(-n_features // BLOCK)
    n_words = -(-2 * half // _LANE_GROUP) * _LANE_GROUP
    planes = np.zeros((n_blocks * BLOCK, PLANES, n_words), np.uint64)
    planes[:, :-1] = ~np.uint64(0)
    random = np.random.Generator(np.random.PCG64(seed))
    return Machine(
        planes=planes,
        weights=np.ones(n_blocks * BLOCK, np.int32),
        n_included=np.zeros(n_blocks * BLOCK, np.int32),
        included=np.zeros((n_blocks, 2, half * BLOCK), np.uint64),
        real=_ones_below(n_clauses, n_blocks),
        present=np.concatenate(
            [np.tile(_ones_below(n_features, half), 2), np.zeros(n_words - 2 * half, np.uint64)]
        ),
        draws=_seeds(random, (n_blocks,)),
        lanes=_seeds(random, (n_blocks, n_words)),
    )


def copy_machine(machine: Machine) -> Machine:
    """A copy: training one does not change the other."""
    return Machine._make(array.copy() for array in machine)


def array_shapes(n_clauses: int, n_features: int) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and type of the arrays that can't be computed from a machine's other arrays."""
    n_blocks, half = -(-n_clauses // BLOCK), -(-n_features // BLOCK)
    n_words = -(-2 * half // _LANE_GROUP) * _LANE_GROUP
    word = np.dtype(np.uint64)
    return {
        "planes": ((n_blocks * BLOCK, PLANES, n_words), word),
        "weights": ((n_blocks * BLOCK,), np.dtype(np.int32)),
        "draws": ((n_blocks,), word),
        "lanes": ((n_blocks, n_words), word),
    }


def states_within(machine: Machine, n_states: int) -> bool:
    """Whether every automaton is in one of the middle ``2 n_states`` states."""
    low, high = MAX_STATES - n_states, MAX_STATES + n_states - 1
    return not (_below(machine.planes, low) | _below(~machine.planes, 2 * MAX_STATES - 1 - high)).any()


def _below(planes: Words, bound: int) -> Words:
    """Bits of the automata whose state, read from ``planes``, is below ``bound``."""
    below, equal = np.zeros_like(planes[:, 0]), np.full_like(planes[:, 0], ~np.uint64(0))
    for p in reversed(range(PLANES)):
        if bound >> p & 1:
            below |= equal & ~planes[:, p]
            equal &= planes[:, p]
        else:
            equal &= ~planes[:, p]
    return below


def restored_machine(
    blank: Machine, *, planes: Words, weights: NDArray[np.int32], draws: Words, lanes: Words
) -> Machine:
    """A machine of the size of ``blank`` with these automata; the other arrays are computed from them."""
    # Automata of literals that do not exist have no effect; they are reset, so that a file can't set them.
    planes = (planes & blank.present) | (blank.planes & ~blank.present)
    n_blocks, _, n_half = blank.included.shape
    literals = _bits_of(planes[:, -1])[:, : 2 * n_half]
    included = np.packbits(literals.reshape(n_blocks, BLOCK, 2, n_half), axis=1, bitorder="little")
    return blank._replace(
        planes=planes,
        weights=np.ascontiguousarray(weights),
        n_included=literals.sum(axis=1, dtype=np.int32),
        included=_words_of(included.transpose(0, 2, 3, 1)),
        draws=np.ascontiguousarray(draws),
        lanes=np.ascontiguousarray(lanes),
    )


def included_literals(machine: Machine, n_clauses: int, n_features: int) -> NDArray[np.bool_]:
    """(n_clauses, 2, n_features): whether a clause includes x_f, and not x_f."""
    n_half = machine.included.shape[2]
    literals = _bits_of(machine.planes[:n_clauses, -1])[:, : 2 * n_half]
    return literals.reshape(n_clauses, 2, n_half)[:, :, :n_features].astype(np.bool_)


def _bits_of(words: Words) -> NDArray[np.uint8]:
    """(n, 64 w) bits of (n, w) words, the lowest first."""
    octets = np.ascontiguousarray(words).astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")


def _words_of(octets: NDArray[np.uint8]) -> Words:
    """(…, w) words of (…, 8 w) bytes, the lowest first."""
    return np.ascontiguousarray(octets).view("<u8").astype(np.uint64).reshape(*octets.shape[:-1], -1)[..., 0]


def _ones_below(n: int, n_words: int) -> Words:
    """Words in which the first n bits are set."""
    bits = np.zeros(n_words * BLOCK, np.uint8)
    bits[:n] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def _seeds(random: np.random.Generator, shape: tuple[int, ...]) -> Words:
    """Generator states: any word except 0, which xorshift never leaves."""
    return random.integers(1, 2**64, shape, np.uint64, endpoint=False)
