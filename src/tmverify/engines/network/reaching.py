"""A shell, patterns first: which patterns of changed neurons let a rival win, and can flips have them at all?

There are 2^m patterns of m open neurons, whatever the number of flips: far fewer than sets of flips when
these are many. All are evaluated; the bad ones are put to a solver that knows the first block alone. One that
can be had is a witness. One that can't comes with a reason, a few neurons that can't be so together, and
that reason does away with all other bad patterns that share it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.network.encoding import encode_first_block
from tmverify.engines.network.shell import Shell
from tmverify.engines.protocol import Deadline
from tmverify.engines.sat.cnf import Cnf

MOST_OPEN = 27  # a minute or so
MOST_BAD = 1 << 22
NEAR = 1 << 21  # patterns that are looked at where all are too many
MANY = 2000  # bad ones of them that are tried
WORDS = 1 << 27  # looked at between two looks at the clock

Patterns = NDArray[np.uint64]


def bad_patterns(shell: Shell, deadline: Deadline) -> Patterns | None:
    """All patterns with which a rival wins; None if they are too many or there is no time."""
    everything = 1 << len(shell.quotas)
    judge = _Judge(shell)
    found, total = [], 0
    for first in range(0, everything, judge.piece):
        if deadline.passed() or total > MOST_BAD:
            return None
        found.append(judge.bad(np.arange(first, min(first + judge.piece, everything), dtype=np.uint64)))
        total += len(found[-1])
    return np.concatenate(found)


def near_patterns(shell: Shell, deadline: Deadline) -> Patterns:
    """Some patterns with which a rival wins, those that change fewest neurons: the likeliest to be had."""
    judge = _Judge(shell)
    level, found, total, looked = np.zeros(1, np.uint64), [], 0, 0
    while len(level) and looked + len(level) <= NEAR and total < MANY:
        for first in range(0, len(level), judge.piece):
            if deadline.passed():
                break
            found.append(judge.bad(level[first : first + judge.piece]))
            total += len(found[-1])
        looked += len(level)
        bits = [np.uint64(1 << j) for j in range(len(shell.quotas))]
        level = np.concatenate([level[level < bit] | bit for bit in bits])
    return np.concatenate([np.zeros(0, np.uint64), *found])[:MANY]


class _Judge:
    """Tells bad patterns from others."""

    def __init__(self, shell: Shell) -> None:
        from tmverify.engines.network.enumerating import pack_stages, room_for_outputs, work_of

        self.stages, self.known = pack_stages(shell.stages), room_for_outputs(shell)
        self.values = np.zeros((3, self.stages[0].shape[1]), np.uint64)
        self.piece = max(1, WORDS // work_of(self.stages))

    def bad(self, patterns: Patterns) -> Patterns:
        """Those with which a rival wins, in their order."""
        from tmverify.engines.network._patterns import find_bad

        bad = np.empty(len(patterns), np.uint64)
        return bad[: find_bad(patterns, self.stages, self.known, self.values, bad)]


def reach(shell: Shell, bad: Patterns) -> tuple[NDArray[np.int64] | None, dict[str, int]]:
    """Features whose flips have one of the bad patterns, or None; without a limit, for a worker process."""
    from pysat.solvers import Cadical195

    cnf = Cnf()
    demands, changed = encode_first_block(cnf, shell)
    left = bad[np.argsort(_ones(bad), kind="stable")]  # few changes first: they are had most easily
    asked = 0
    with Cadical195() as solver:
        for block in cnf.blocks():
            solver.append_formula(block)
        for clause in demands:
            solver.add_clause(clause)
        while len(left):
            asked += 1
            pattern = int(left[0])
            wanted = [lit if pattern >> j & 1 else -lit for j, lit in enumerate(changed)]
            satisfiable = solver.solve(assumptions=wanted)
            if satisfiable is None:
                raise RuntimeError("the solver gave no answer")
            if satisfiable:
                true = set(solver.get_model())
                flips = shell.features[[i + 1 in true for i in range(len(shell.features))]]
                return flips, {"bad_patterns": len(bad), "reached_for": asked}
            core = set(solver.get_core() or ())
            # Neurons may share a literal: all of them are part of the reason.
            mask = sum(1 << j for j, literal in enumerate(wanted) if literal in core)
            left = left[(left & np.uint64(mask)) != np.uint64(pattern & mask)]
    return None, {"bad_patterns": len(bad), "reached_for": asked}


def _ones(words: Patterns) -> NDArray[np.int64]:
    """Bits set in each word."""
    small = np.array([i.bit_count() for i in range(1 << 16)])
    pieces = ((words >> np.uint64(shift)) & np.uint64(0xFFFF) for shift in (0, 16, 32, 48))
    counts: NDArray[np.int64] = np.sum([small[piece.astype(np.int64)] for piece in pieces], axis=0)
    return counts
