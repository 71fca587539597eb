"""What is worth trying in a shell, and what a checker follows: estimates by which the engine chooses."""

from __future__ import annotations

import math

from tmverify.engines.network.shell import Shell

SMALL = 1 << 20  # inputs of a shell, for which no solver need be started
LONG = 2.0  # seconds that a search is expected to take, to be worth a hunt first
MOST_OPEN = 27  # neurons of the first block, all of whose patterns are evaluated: a minute or so
RATE = 1e9  # inputs that the search passes in a second
PATTERN_RATE = 3e6  # and patterns
CHECKED_SETS = 1_000_000  # what tmcheck enumerates
CHECKED_PATTERNS = 800_000  # some below its limit, which counts a few more
CHECKED_CELLS = 400_000_000  # patterns times open neurons
CHECKED_FLIPS = 32
CHECKED_OPEN = 20  # neurons of the first block, all of whose patterns tmcheck looks at
CHECKED_LITERALS = 5_000_000  # of a formula

_HUGE = 10**300  # inputs: more than any engine passes, and a float yet


def few_patterns(shell: Shell) -> bool:
    """Whether all patterns are evaluated sooner than all sets of flips are passed."""
    return len(shell.quotas) <= MOST_OPEN and 1 << len(shell.quotas) < shell.n_inputs


def seconds_for_sets(shell: Shell) -> float:
    """How long passing all sets of flips takes, roughly."""
    return min(shell.n_inputs, _HUGE) / RATE


def seconds_for_search(shell: Shell) -> float:
    """How long a search may take, roughly."""
    n_patterns = 2.0 ** min(len(shell.quotas), 1000)
    if few_patterns(shell):
        return n_patterns / PATTERN_RATE
    return seconds_for_sets(shell) + min(shell.n_inputs, _HUGE, n_patterns) / PATTERN_RATE


def checked_patterns(shell: Shell) -> int:
    """How many patterns tmcheck looks at, in a shell that it enumerates itself; else 0."""
    if shell.flips > CHECKED_FLIPS or math.comb(len(shell.features), shell.flips - 1) > CHECKED_SETS:
        return 0
    return min(CHECKED_PATTERNS, CHECKED_CELLS // max(1, shell.n_open))


def all_checked(shell: Shell) -> bool:
    """Whether tmcheck looks at all patterns of so many open neurons."""
    n_first = len(shell.quotas)
    return n_first <= CHECKED_OPEN and shell.n_open << n_first <= CHECKED_CELLS
