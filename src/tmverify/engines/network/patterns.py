"""The search of a shell by patterns: a pattern is the set of first-block neurons that some flips change.

``bad_patterns`` evaluates all 2^m patterns of m open neurons; for many flips these are far fewer than the
sets of flips. A pattern is bad if a rival wins with it; ``solver.reach`` decides if flips can produce it.

``enumerate_shell`` goes through every set of k flips, but evaluates each pattern only once. A set affects the
network only through the few neurons of the first block that are open in the shell, so its effect is a word of
bits, computed in a nanosecond; the rest of the network is evaluated once for each pattern (as long as it is
in the table of those seen). Whole subtrees are closed by intervals.

``hunt`` is for shells too large to enumerate at once: for most inputs that are not robust, it finds a witness
in about a second.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.engine import Deadline
from tmverify.engines.network._patterns import DONE, FOUND, HASH, OPEN, enumerate_sets, find_bad, scan
from tmverify.engines.network.shell import WORD, Shell, Stage, Surroundings
from tmverify.engines.network.solver import Patterns

MOST_BAD = 1 << 22
NEAR = 1 << 21  # patterns that are evaluated if all are too many
MANY = 2000  # bad ones of them that are tried
WORDS = 1 << 27  # processed between two checks of the clock
WIDTH = 256  # inputs in the beam of a hunt
HUNT_WORDS = 1 << 26  # like WORDS, in a hunt
_TABLE = 20  # log2 of the size of both tables, of patterns and of their first-stage outputs
_ROOM = 1 << 23  # words in the table of outputs, at most
_STEPS = 10_000_000  # between two checks of the clock, a few hundredths of a second


class Effort(NamedTuple):
    """What was looked at: sets of flips, patterns, and subtrees that intervals closed."""

    sets: int
    patterns: int
    closed_by_intervals: int


def enumerate_shell(
    shell: Shell, deadline: Deadline, counted: int = 0
) -> tuple[bool, NDArray[np.int64] | None, Effort]:
    """Enumerate a shell: (whether it is complete, features whose flips let a rival win or None, effort).

    Intervals close subtrees only after ``counted`` patterns: with no more, the effort counts all of them.
    """
    k = shell.flips
    near = np.zeros((k + 1, k + 1), np.uint64)
    near[0] = [_word(shell.quotas <= t) for t in range(k + 1)]
    favours = np.array([_word(column) for column in shell.favourable.T], np.uint64)
    chosen, state, counts = np.full(k, -1, np.int64), np.zeros(1, np.int64), np.zeros(3, np.int64)
    seen, mix = _table(len(shell.quotas))
    stages = pack_stages(shell.stages)
    width = stages[0].shape[1]
    scratch = tuple(np.zeros((3, width), np.uint64) for _ in range(3))
    known = room_for_outputs(shell)
    work = max(1, work_of(stages) // 4)
    result = OPEN
    while result == OPEN and not deadline.passed():
        closing = bool(counts[1] >= counted)
        result = enumerate_sets(
            favours, near, chosen, state, seen, mix, known, stages, scratch, _STEPS, work, counts, closing
        )
    flips = shell.features[chosen] if result == FOUND else None
    return result == DONE, flips, Effort(*counts.tolist())


def bad_patterns(shell: Shell, deadline: Deadline) -> Patterns | None:
    """All patterns with which a rival wins; None if there are too many or the time is over."""
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
    """Some bad patterns that change the fewest neurons: those are the likeliest to be produced by flips."""
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


def hunt(around: Surroundings, most: int, deadline: Deadline) -> NDArray[np.int64] | None:
    """Features, at most ``most``, whose flips let a rival win; or None, which proves nothing.

    This is a beam search: it chooses the flips after which the best rival lacks least.
    """
    rng = np.random.default_rng(0)
    stages = pack_stages(tuple(Stage(weights, needs) for weights, needs in around.layers))
    words = -(-len(around.thresholds) // 64)
    values = np.zeros((2, max(words, stages[0].shape[1])), np.uint64)
    gains = around.gains
    counts = around.counts[None, :]
    taken = np.zeros((1, len(gains)), np.bool_)
    for _ in range(most):
        lacks = np.full((len(counts), len(gains)), np.iinfo(np.int64).max)
        batch = max(1, HUNT_WORDS // work_of(stages) // len(gains))
        for start in range(0, len(counts), batch):
            if deadline.passed():
                return None
            part = slice(start, start + batch)
            scan(counts[part], gains, around.thresholds, taken[part], stages, values, lacks[part])
        order = np.argsort(lacks + rng.random(lacks.shape), axis=None)[: 4 * WIDTH]
        order = order[~taken.ravel()[order]]  # each feature flips once
        if not len(order):
            break
        beams, flips = np.unravel_index(order, lacks.shape)
        sets = taken[beams]
        sets[np.arange(len(order)), flips] = True
        if lacks[beams[0], flips[0]] <= 0:
            found: NDArray[np.int64] = around.features[sets[0]]
            return found
        sets, first = np.unique(sets, axis=0, return_index=True)  # in no order
        kept = np.sort(first)[:WIDTH]
        taken = taken[beams[kept]].copy()
        taken[np.arange(len(kept)), flips[kept]] = True
        counts = counts[beams[kept]] + gains[flips[kept]]
    return None


class _Judge:
    """Tells bad patterns from others."""

    def __init__(self, shell: Shell) -> None:
        self.stages, self.known = pack_stages(shell.stages), room_for_outputs(shell)
        self.values = np.zeros((3, self.stages[0].shape[1]), np.uint64)
        self.piece = max(1, WORDS // work_of(self.stages))

    def bad(self, patterns: Patterns) -> Patterns:
        """Those with which a rival wins, in their order."""
        bad = np.empty(len(patterns), np.uint64)
        return bad[: find_bad(patterns, self.stages, self.known, self.values, bad)]


def pack_stages(stages: tuple[Stage, ...]) -> tuple[NDArray[np.uint64], ...]:
    """Rows and masks of all stages as words, needs, where each stage ends, and how many words each reads."""
    sizes = [len(stage.needs) for stage in stages]
    words = [max(1, -(-stage.weights.shape[1] // WORD)) for stage in stages]
    width = max([*words, *(-(-size // WORD) for size in sizes)])
    rows, masks = (np.zeros((sum(sizes), width), np.uint64) for _ in range(2))
    r = 0
    for stage in stages:
        for weights in stage.weights:
            rows[r], masks[r] = _words(weights > 0, width), _words(weights != 0, width)
            r += 1
    needs = np.concatenate([stage.needs for stage in stages])
    return rows, masks, needs, np.cumsum(sizes), np.array(words)


def work_of(stages: tuple[NDArray[Any], ...]) -> int:
    """How many words it takes to evaluate a pattern."""
    _, _, _, ends, words = stages
    return max(1, int((np.diff(ends, prepend=0) * words).sum()))


def room_for_outputs(shell: Shell) -> NDArray[np.uint64]:
    """An empty table of outputs of the first stage; an entry has one more word that says if it is in use."""
    n_words = -(-len(shell.stages[0].needs) // WORD) + 1
    size = min(_TABLE, max(1, (_ROOM // n_words).bit_length() - 1))
    return np.zeros((1 << size, n_words), np.uint64)


def _table(n_open: int) -> tuple[NDArray[np.uint64], np.uint64]:
    """A table for patterns, and the factor; the top bits of factor times pattern are the pattern's index.

    Each pattern has its own entry if there are few enough; otherwise they are hashed.
    """
    size = min(_TABLE, max(1, n_open))
    return np.zeros(1 << size, np.uint64), np.uint64(1 << (64 - size)) if n_open <= _TABLE else HASH


def _words(bits: NDArray[np.bool_], width: int) -> NDArray[np.uint64]:
    padded = np.zeros(width * WORD, np.bool_)
    padded[: len(bits)] = bits
    return np.packbits(padded, bitorder="little").view(np.dtype("<u8")).astype(np.uint64)


def _word(bits: NDArray[np.bool_]) -> np.uint64:
    return np.uint64(_words(bits, 1)[0])
