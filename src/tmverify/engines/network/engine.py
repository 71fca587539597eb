"""Deciding questions about a network shell by shell, nearest first.

- ``search``  all sets of flips, or all patterns of neurons that they could change (``patterns``)
- ``sat``     the formula of each shell (``solver``)
- ``auto``    all patterns, with a solver for the bad ones, or all sets of flips; if both take long, first
              the hunt (``patterns.hunt``); if neither can work, ``sat``

Intervals are tried before any of them. With a proof log, it is written down how each shell is refuted (see
``docs/certificates.md``): "close", "patterns" or "enumerate" if a checker can repeat that, or a clausal
proof.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.model import BnnModel
from tmverify.bnn.query import NetworkQuery
from tmverify.engines.engine import Answer, Deadline, Nearest, found, none_exists, nothing_known, stopped
from tmverify.engines.network import INTERVALS, PATTERNS, SOLVER
from tmverify.engines.network.patterns import bad_patterns, enumerate_shell, hunt, near_patterns
from tmverify.engines.network.shell import Shell, Surroundings
from tmverify.engines.network.solver import MAX_LITERALS, Patterns, first_block_size, formula_size
from tmverify.engines.proof_log import ProofLog
from tmverify.engines.subprocesses.call import Failure, call
from tmverify.properties import robustness_query
from tmverify.properties.verdict import StopReason

FURTHER = 2  # how many shells beyond one that takes long are tried for bad patterns
HUNTED = 24  # flips at most in a hunt: about ten seconds on a network for MNIST
PROOF_SECONDS = 300.0  # for a clausal proof of what is already decided, if there is no time limit

# Estimates that decide what is worth trying in a shell, and limits of what tmcheck can check.
SMALL = 1 << 20  # inputs of a shell that needs no solver
LONG = 2.0  # seconds; a search expected to take longer comes after a hunt
MOST_OPEN = 27  # open neurons of the first block, at most, to evaluate all their patterns: about a minute
RATE = 1e9  # inputs that the search enumerates in a second …
PATTERN_RATE = 3e6  # … and patterns that it evaluates
CHECKED_SETS = 1_000_000  # sets that tmcheck enumerates
CHECKED_PATTERNS = 800_000  # a little below tmcheck's limit, because it counts a few more
CHECKED_CELLS = 400_000_000  # patterns times open neurons
CHECKED_FLIPS = 32
CHECKED_OPEN = 20  # open neurons of the first block, at most, for tmcheck to evaluate all their patterns
CHECKED_LITERALS = 5_000_000  # of a formula

_HUGE = 10**300  # inputs: more than any engine can enumerate, but still a float
_BLOCK = 1 << 20

Features = NDArray[np.int64]


class Stopped(Exception):  # noqa: N818 - it is no error
    """A shell could not be decided; the arguments are the StopReason and the detail."""


def prepare(name: str, query: NetworkQuery, certificate: bool) -> None:
    """Compile the kernels of the engine of that name."""
    if name != "sat":
        compile_kernels()


@cache
def compile_kernels() -> None:
    """Compile every kernel by asking a small question that uses it; once in a process."""
    rng = np.random.default_rng(0)
    weights = [rng.choice([-1, 1], shape) for shape in ((9, 8), (7, 9), (3, 7))]
    network = BnnModel.from_layers([(weights[0], [4] * 9), (weights[1], [4] * 7)], weights[2])
    query = robustness_query(network, [0] * 8, 4)
    assert isinstance(query, NetworkQuery)
    around = Surroundings(query)
    hunt(around, 1, Deadline(None))
    for flips in (1, 4):
        shell = around.shell(flips)
        if not shell.safe and not shell.certain:
            enumerate_shell(shell, Deadline(None))
            bad_patterns(shell, Deadline(None))


def decide(name: str, query: NetworkQuery, deadline: Deadline, log: ProofLog | None = None) -> Answer:
    """Decide ``query`` by the engine of that name."""
    answer = nearest(name, query, deadline, log, any_witness=True)
    if answer.witness is not None:
        plain = found(answer.witness, **answer.stats)
    elif answer.stop_reason is not None:
        plain = stopped(answer.stop_reason, answer.detail, **answer.stats)
    else:
        plain = none_exists(**answer.stats)
    return replace(plain, engine=answer.engine, relies_on=answer.relies_on)


def nearest(
    name: str,
    query: NetworkQuery,
    deadline: Deadline,
    log: ProofLog | None = None,
    *,
    any_witness: bool = False,
) -> Nearest:
    """The nearest witness in the query's region, or ``any_witness``, by the engine of that name."""
    try:
        return _Walk(name, query, deadline, log).nearest(any_witness=any_witness)
    except MemoryError:
        failed = nothing_known(name, StopReason.OUT_OF_MEMORY, "the engine ran out of memory")
    except Exception as error:  # after an error of any kind there is no answer
        detail = f"the engine failed: {type(error).__name__}: {error}"
        failed = nothing_known(name, StopReason.CRASHED, detail)
    return replace(failed, relies_on=(INTERVALS,))


class _Walk:
    """Goes from shell to shell until there is an answer."""

    def __init__(self, name: str, query: NetworkQuery, deadline: Deadline, log: ProofLog | None) -> None:
        self.name, self.query, self.deadline, self.log = name, query, deadline, log
        self.engine = "sat" if name == "sat" else "search"  # the one that has answered so far
        self.stats: dict[str, float] = {}
        self.relies_on = {INTERVALS: None}
        self.around = Surroundings(query)
        self.hunted: Features | None = None
        self.has_hunted = False

    def nearest(self, *, any_witness: bool) -> Nearest:
        """Try larger and larger shells until there is a witness; the hunt's need not be the nearest."""
        lower = 1
        try:
            while lower <= self.query.region.reach:
                self._check_time()
                shell = self.around.shell(lower)
                if self.name == "auto" and not shell.safe and seconds_for_search(shell) > LONG:
                    self._hunt_once(lower)
                if self.hunted is not None and (any_witness or len(self.hunted) == lower):
                    return self._result(lower, self.hunted)
                flips = self._flips(shell)
                if flips is not None:
                    return self._result(lower, flips)
                lower += 1
        except Stopped as why:
            reason, detail = why.args
            return replace(self._result(lower, self.hunted), stop_reason=reason, detail=detail)
        return self._result(math.inf, None)

    def _result(self, lower: float, flips: Features | None) -> Nearest:
        witness = None if flips is None else self.query.region.with_flips(flips)
        upper = math.inf if flips is None else len(flips)
        rests_on = tuple(self.relies_on)
        return Nearest(lower, upper, witness, self.engine, stats=self.stats, relies_on=rests_on)

    def _count(self, counts: Mapping[str, float]) -> None:
        """Add to the statistics."""
        self.stats.update({key: self.stats.get(key, 0) + value for key, value in counts.items()})

    def _refuted(self, engine: str, *parts: str) -> None:
        """Note that these parts of the program have refuted a shell."""
        self.engine = engine
        self.relies_on |= dict.fromkeys(parts)

    def _write(self, shell: Shell, how: str, proof: Iterable[bytes] = ()) -> None:
        """Write down how a shell is refuted, if evidence is wanted."""
        if self.log is None:
            return
        draft = self.log.draft((), shell.flips)
        draft.start_shell(how)
        for block in proof:
            draft.block(block)
        if how == "lrat":
            draft.step("qed")
        draft.keep()

    def _check_time(self) -> None:
        if self.deadline.passed():
            raise Stopped(StopReason.TIMEOUT, self._late())

    def _late(self) -> str:
        seconds = self.deadline.seconds
        return "no time left" if seconds is None else f"no answer within {seconds:g} s"

    # Ways to decide a shell. Each returns flips that let a rival win, or None after it has proved that there
    # are none and has written down the proof; otherwise it raises Stopped.

    def _flips(self, shell: Shell) -> Features | None:
        if shell.certain:
            return shell.features[: shell.flips]
        if shell.safe:
            self._write(shell, "close")
            return None
        if self.name == "search":
            return self._search(shell, self.deadline)
        return self._sat(shell, self.deadline) if self.name == "sat" else self._auto(shell)

    def _auto(self, shell: Shell) -> Features | None:
        if shell.n_inputs > SMALL and few_patterns(shell):
            bad = self._bad_patterns(shell, self.deadline)
            if bad is not None and not len(bad):
                return None
            # If a checker can enumerate the sets of flips too, enumerating them is better evidence.
            if bad is not None and not (self.log and checked_patterns(shell)):
                try:
                    return self._reach(shell, bad)
                except Stopped:
                    if self.deadline.passed():
                        raise
        left = self.deadline.remaining()
        if shell.fits_a_word and seconds_for_sets(shell) <= (1e3 if left is None else left):
            try:
                return self._search(shell, self.deadline.share(0.8))
            except Stopped:
                if self.deadline.passed():
                    raise
        self._check_time()
        return self._sat(shell, self.deadline)

    def _search(self, shell: Shell, deadline: Deadline) -> Features | None:
        if not shell.fits_a_word:
            raise Stopped(
                StopReason.REGION_TOO_LARGE,
                f"{len(shell.quotas)} neurons of the first block may change within {shell.flips} flips; "
                "the search takes 63",
            )
        if self.name == "search" and few_patterns(shell):
            bad = self._bad_patterns(shell, deadline)
            if bad is not None and not len(bad):
                return None
        most = 0 if self.log is None else checked_patterns(shell)
        complete, flips, effort = enumerate_shell(shell, deadline, most)
        self._count(effort._asdict())
        if flips is not None:
            return flips
        if not complete:
            raise Stopped(StopReason.TIMEOUT, self._late())
        self._refuted("search", PATTERNS)
        if not effort.closed_by_intervals and effort.patterns <= most:
            self._write(shell, "enumerate")
        else:
            self._prove_too(shell)
        return None

    def _bad_patterns(self, shell: Shell, deadline: Deadline) -> Patterns | None:
        """Patterns with which a rival wins, even if no flips produce them; if none, the shell is refuted."""
        bad = bad_patterns(shell, deadline)
        if bad is not None:
            self._count({"patterns": 1 << len(shell.quotas)})
            if not len(bad):
                self._refuted("search", PATTERNS)
                if all_checked(shell):
                    self._write(shell, "patterns")
                else:
                    self._prove_too(shell)
        return bad

    def _reach(self, shell: Shell, bad: Patterns) -> Features | None:
        """Flips that produce one of these patterns, or None."""
        flips = self._ask("reach", shell, bad, first_block_size(shell), self.deadline)
        if flips is None:
            self._refuted("search", PATTERNS, SOLVER)
            self._prove_too(shell)
        return flips

    def _sat(self, shell: Shell, deadline: Deadline) -> Features | None:
        size = formula_size(shell)
        proving = self.log is not None and size <= CHECKED_LITERALS
        with tempfile.TemporaryDirectory(prefix="tmverify-") as folder:
            path = os.path.join(folder, "proof") if proving else None
            flips = self._ask("solve", shell, path, size, deadline)
            self.engine = "sat"
            if flips is None:
                self._refuted("sat", SOLVER)
                if path is not None:
                    with open(path, "rb") as file:
                        self._write(shell, "lrat", iter(lambda: file.read(_BLOCK), b""))
        return flips

    def _prove_too(self, shell: Shell) -> None:
        """Look for a clausal proof, if evidence is wanted, because a checker can't repeat this refutation."""
        if self.log is None:
            return
        try:
            if formula_size(shell) > CHECKED_LITERALS:
                raise Stopped(StopReason.ENCODING_TOO_LARGE, "too large for tmcheck")
            flips = self._sat(shell, self.deadline.share(1 / 4, PROOF_SECONDS))
        except (Stopped, OSError, MemoryError):
            self.log = None  # the evidence would not be complete
            return
        if flips is not None:
            raise Stopped(StopReason.REJECTED, "search and sat disagree: a bug, please report it")

    def _ask(
        self, function: str, shell: Shell, what: Patterns | str | None, size: int, deadline: Deadline
    ) -> Features | None:
        """Flips that a solver finds in a separate process; ``size`` is the size of its formula."""
        if size > MAX_LITERALS:
            detail = f"the formula would have more than {MAX_LITERALS} literals"
            raise Stopped(StopReason.ENCODING_TOO_LARGE, detail)
        reply = call(f"tmverify.engines.network.solver:{function}", (shell, what), deadline)
        if isinstance(reply, Failure):
            raise Stopped(reply.stop_reason, reply.detail)
        flips, counts = reply
        self._count(counts)
        return None if flips is None else np.asarray(flips)

    # A hunt that finds nothing proves nothing: it may miss a witness.

    def _hunt_once(self, lower: int) -> None:
        """Look for a witness in this shell and the next ones: by the nearest bad patterns, then a beam."""
        if self.has_hunted:
            return
        self.has_hunted = True
        for flips in range(lower, min(lower + FURTHER, self.query.region.reach) + 1):
            self.hunted = self._try_near(self.around.shell(flips))
            if self.hunted is not None:
                return
        self.hunted = hunt(self.around, min(self.query.region.reach, HUNTED), self.deadline.share(1 / 4))

    def _try_near(self, shell: Shell) -> Features | None:
        """A witness with one of the nearest bad patterns; None proves nothing."""
        if shell.safe or shell.certain or not shell.fits_a_word:
            return None
        share = self.deadline.share(1 / 8, 30.0)
        bad = near_patterns(shell, share)
        if not len(bad):
            return None
        try:
            return self._ask("reach", shell, bad, first_block_size(shell), share)
        except Stopped:
            return None


def few_patterns(shell: Shell) -> bool:
    """Whether there are few patterns, and fewer of them than sets of flips."""
    return len(shell.quotas) <= MOST_OPEN and 1 << len(shell.quotas) < shell.n_inputs


def seconds_for_sets(shell: Shell) -> float:
    """How many seconds enumerating all sets of flips takes, roughly."""
    return min(shell.n_inputs, _HUGE) / RATE


def seconds_for_search(shell: Shell) -> float:
    """How many seconds a search may take, roughly."""
    n_patterns = 2.0 ** min(len(shell.quotas), 1000)
    if few_patterns(shell):
        return n_patterns / PATTERN_RATE
    return seconds_for_sets(shell) + min(shell.n_inputs, _HUGE, n_patterns) / PATTERN_RATE


def checked_patterns(shell: Shell) -> int:
    """How many patterns tmcheck accepts in this shell if it can enumerate the shell itself; else 0."""
    if shell.flips > CHECKED_FLIPS or math.comb(len(shell.features), shell.flips - 1) > CHECKED_SETS:
        return 0
    return min(CHECKED_PATTERNS, CHECKED_CELLS // max(1, shell.n_open))


def all_checked(shell: Shell) -> bool:
    """Whether tmcheck can evaluate all patterns of the shell's open neurons."""
    n_first = len(shell.quotas)
    return n_first <= CHECKED_OPEN and shell.n_open << n_first <= CHECKED_CELLS
