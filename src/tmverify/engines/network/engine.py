"""Questions about a network, shell by shell, nearest first.

- ``search``  all sets of flips, or all patterns of neurons that they could change (``enumerating``)
- ``sat``     the formula of each shell (``encoding``, ``solving``)
- ``auto``    all patterns, and a solver for what flips can have (``reaching``); or all sets of flips; where
              both take long the hunt first (``hunting``); ``sat`` where they are no use

Intervals are tried before any of them. With an ``Evidence``, each shell that is refuted says how (see
``docs/certificates.md``): "close", "patterns" or "enumerate" where a checker can follow, or a clausal
proof.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tmverify.bnn.query import NetworkQuery
from tmverify.engines.network.encoding import MAX_LITERALS, first_block_size, formula_size
from tmverify.engines.network.reaching import MOST_OPEN, Patterns
from tmverify.engines.network.shell import Shell, Surroundings
from tmverify.engines.proof_log import Evidence
from tmverify.engines.protocol import Answer, Deadline, Nearest, found, none_exists, stopped
from tmverify.engines.subprocesses.call import Failure, call
from tmverify.properties.verdict import StopReason

NAMES = ("auto", "search", "sat")
SMALL = 1 << 20  # inputs of a shell, for which no solver need be started
LONG = 2.0  # seconds that a search is expected to take, to be worth a hunt first
FURTHER = 2  # shells, beyond one that takes long, in which bad patterns are tried
HUNTED = 24  # flips at most, in a hunt: some ten seconds on a network of the size of MNIST's
RATE = 1e9  # inputs that the search passes in a second
PATTERN_RATE = 3e6  # and patterns
CHECKED_SETS = 1_000_000  # what tmcheck enumerates
CHECKED_PATTERNS = 800_000  # some below its limit, which counts a few more
CHECKED_CELLS = 400_000_000  # patterns times open neurons
CHECKED_FLIPS = 32
CHECKED_OPEN = 20  # neurons of the first block, all of whose patterns tmcheck looks at
CHECKED_LITERALS = 5_000_000
PROOF_SECONDS = 300.0  # for a clausal proof of what is known, where there is no limit

Features = NDArray[np.int64]
_BLOCK = 1 << 20
_HUGE = 10**300  # inputs: more than any engine passes, and a float yet


class Stopped(Exception):  # noqa: N818 - says why, it is no error
    """A shell could not be decided."""

    def __init__(self, reason: StopReason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def decide(name: str, query: NetworkQuery, deadline: Deadline, evidence: Evidence | None = None) -> Answer:
    """Decide ``query`` by the engine of that name."""
    answer = _walk(name, query, deadline, evidence, any_witness=True)
    if answer.witness is not None:
        plain = found(answer.witness, **answer.stats)
    elif answer.stop_reason is not None:
        plain = stopped(answer.stop_reason, answer.detail, **answer.stats)
    else:
        plain = none_exists(**answer.stats)
    return replace(plain, engine=answer.engine, relies_on=answer.relies_on)


def nearest(name: str, query: NetworkQuery, deadline: Deadline, evidence: Evidence | None = None) -> Nearest:
    """The nearest witness in the query's region."""
    return _walk(name, query, deadline, evidence, any_witness=False)


def _walk(
    name: str, query: NetworkQuery, deadline: Deadline, evidence: Evidence | None, *, any_witness: bool
) -> Nearest:
    try:
        return _Walk(name, query, deadline, evidence).nearest(any_witness=any_witness)
    except MemoryError:
        reason, detail = StopReason.OUT_OF_MEMORY, "the engine ran out of memory"
    except Exception as error:  # whatever went wrong, it is no answer
        reason, detail = StopReason.CRASHED, f"the engine failed: {type(error).__name__}: {error}"
    return Nearest(
        0, math.inf, None, name, stop_reason=reason, detail=detail, relies_on=("network-intervals",)
    )


class _Walk:
    """From shell to shell."""

    def __init__(self, name: str, query: NetworkQuery, deadline: Deadline, evidence: Evidence | None) -> None:
        self.name, self.query, self.deadline, self.evidence = name, query, deadline, evidence
        self.around = Surroundings(query)
        self.stats: dict[str, float] = {}
        self.engine = "sat" if name == "sat" else "search"
        self.relies_on: dict[str, None] = {"network-intervals": None}
        self.hunted: Features | None = None
        self.has_hunted = False

    def nearest(self, *, any_witness: bool) -> Nearest:
        """Go out until there is a witness; one that the hunt finds need not be the nearest."""
        lower = 1
        try:
            while lower <= self.query.region.reach:
                if self.deadline.passed():
                    raise Stopped(StopReason.TIMEOUT, _late(self.deadline))
                shell = self.around.shell(lower)
                if self._worth_a_hunt(shell):
                    self._hunt(lower)
                if self.hunted is not None and (any_witness or len(self.hunted) == lower):
                    return self._result(lower, self.hunted)
                flips = self._flips(shell)
                if flips is not None:
                    return self._result(lower, flips)
                lower += 1
        except Stopped as why:
            return replace(self._result(lower, self.hunted), stop_reason=why.reason, detail=why.detail)
        return self._result(math.inf, None)

    def _result(self, lower: float, flips: Features | None) -> Nearest:
        witness = None
        if flips is not None:
            witness = self.query.region.origin.copy()
            witness[flips] ^= 1
        return Nearest(
            lower,
            math.inf if flips is None else len(flips),
            witness,
            self.engine,
            stats=self.stats,
            relies_on=tuple(self.relies_on),
        )

    def _flips(self, shell: Shell) -> Features | None:
        """Flips of the shell that let a rival win; None if it is shown that there are none."""
        if shell.certain:
            return shell.features[: shell.flips]
        if shell.safe:
            self._note(shell, "close")
            return None
        if self.name == "search":
            return self._search(shell, self.deadline)
        if self.name == "sat":
            return self._sat(shell)
        return self._auto(shell)

    def _worth_a_hunt(self, shell: Shell) -> bool:
        return self.name == "auto" and not self.has_hunted and not shell.safe and _seconds(shell) > LONG

    def _hunt(self, lower: int) -> None:
        """Look for a witness, here and some flips further out: by the nearest bad patterns, then a beam."""
        from tmverify.engines.network.hunting import hunt

        self.has_hunted = True
        for flips in range(lower, min(lower + FURTHER, self.query.region.reach) + 1):
            self.hunted = self._try_near(self.around.shell(flips))
            if self.hunted is not None:
                return
        left = self.deadline.remaining()
        share = Deadline(None if left is None else left / 4)
        self.hunted = hunt(self.around, min(self.query.region.reach, HUNTED), share)

    def _auto(self, shell: Shell) -> Features | None:
        if shell.n_inputs > SMALL and _few_patterns(shell):
            bad = self._bad_patterns(shell, self.deadline)
            if bad is not None and not len(bad):
                return None
            # A set of flips that a checker would enumerate too is better evidence.
            if bad is not None and not (self.evidence and _checked_patterns(shell)):
                try:
                    return self._reach(shell, bad)
                except Stopped:
                    if self.deadline.passed():
                        raise
        left = self.deadline.remaining()
        if shell.fits_a_word and _inputs(shell) / RATE <= (1e3 if left is None else left):
            try:
                return self._search(shell, Deadline(None if left is None else 0.8 * left))
            except Stopped:
                if self.deadline.passed():
                    raise
        if self.deadline.passed():
            raise Stopped(StopReason.TIMEOUT, _late(self.deadline))
        return self._sat(shell)

    def _search(self, shell: Shell, deadline: Deadline) -> Features | None:
        from tmverify.engines.network.enumerating import Effort, enumerate_shell

        if not shell.fits_a_word:
            raise Stopped(
                StopReason.REGION_TOO_LARGE,
                f"{len(shell.quotas)} neurons of the first block may change within {shell.flips} flips; "
                "the search takes 63",
            )
        if self.name == "search" and _few_patterns(shell):
            bad = self._bad_patterns(shell, deadline)
            if bad is not None and not len(bad):
                return None
        effort = Effort()
        most = 0 if self.evidence is None else _checked_patterns(shell)
        complete, flips = enumerate_shell(shell, deadline, effort, most)
        self._count(effort.stats)
        if flips is not None:
            return flips
        if not complete:
            raise Stopped(StopReason.TIMEOUT, _late(self.deadline))
        self.engine = "search"
        self.relies_on["network-search"] = None
        if not effort.closed and effort.patterns <= most:
            self._note(shell, "enumerate")
        else:
            self._prove_too(shell)
        return None

    def _bad_patterns(self, shell: Shell, deadline: Deadline) -> Patterns | None:
        """Patterns with which a rival wins, whether they can be had or not; if none does, that is all."""
        from tmverify.engines.network.reaching import bad_patterns

        bad = bad_patterns(shell, deadline)
        if bad is not None:
            self._count({"patterns": 1 << len(shell.quotas)})
            if not len(bad):
                self.engine = "search"
                self.relies_on["network-search"] = None
                if _all_checked(shell):
                    self._note(shell, "patterns")
                else:
                    self._prove_too(shell)
        return bad

    def _reach(self, shell: Shell, bad: Patterns) -> Features | None:
        """Whether flips have one of these patterns."""
        flips = self._ask("reaching:reach", shell, bad, first_block_size(shell), self.deadline)
        if flips is not None:
            return flips
        self.engine = "search"
        self.relies_on |= {"network-search": None, "network-sat": None}
        self._prove_too(shell)
        return None

    def _try_near(self, shell: Shell) -> Features | None:
        """A witness by one of the nearest bad patterns; None says nothing."""
        from tmverify.engines.network.reaching import near_patterns

        if shell.safe or shell.certain or not shell.fits_a_word:
            return None
        left = self.deadline.remaining()
        share = Deadline(30.0 if left is None else left / 8)
        bad = near_patterns(shell, share)
        if not len(bad):
            return None
        try:
            return self._ask("reaching:reach", shell, bad, first_block_size(shell), share)
        except Stopped:
            return None

    def _ask(
        self, function: str, shell: Shell, what: Patterns | str | None, size: int, deadline: Deadline
    ) -> Features | None:
        """Flips that a solver finds in a process of its own; ``size`` is that of its formula."""
        if size > MAX_LITERALS:
            detail = f"the formula would have more than {MAX_LITERALS} literals"
            raise Stopped(StopReason.ENCODING_TOO_LARGE, detail)
        reply = call(f"tmverify.engines.network.{function}", (shell, what), deadline)
        if isinstance(reply, Failure):
            raise Stopped(reply.stop_reason, reply.detail)
        flips, counts = reply
        self._count(counts)
        return None if flips is None else np.asarray(flips)

    def _count(self, counts: Mapping[str, float]) -> None:
        self.stats.update({key: self.stats.get(key, 0) + value for key, value in counts.items()})

    def _prove_too(self, shell: Shell) -> None:
        """More than a checker goes through: if evidence is wanted, a clausal proof gets some of the time."""
        if self.evidence is None:
            return
        left = self.deadline.remaining()
        try:
            if formula_size(shell) > CHECKED_LITERALS:
                raise Stopped(StopReason.ENCODING_TOO_LARGE, "too large for tmcheck")
            flips = self._sat(shell, Deadline(PROOF_SECONDS if left is None else left / 4))
        except (Stopped, OSError, MemoryError):
            self.evidence = None  # it would not be complete
            return
        if flips is not None:
            raise Stopped(StopReason.REJECTED, "search and sat disagree: a bug, please report it")

    def _sat(self, shell: Shell, deadline: Deadline | None = None) -> Features | None:
        size = formula_size(shell)
        proving = self.evidence is not None and size <= CHECKED_LITERALS
        with tempfile.TemporaryDirectory(prefix="tmverify-") as folder:
            path = os.path.join(folder, "proof") if proving else None
            flips = self._ask("solving:solve", shell, path, size, deadline or self.deadline)
            self.engine = "sat"
            if flips is None:
                self.relies_on["network-sat"] = None
                if proving:
                    self._note(shell, "lrat", path)
        return flips

    def _note(self, shell: Shell, how: str, proof: str | None = None) -> None:
        if self.evidence is None:
            return
        draft = self.evidence.draft((), shell.flips)
        draft.start_shell(how)
        if proof is not None:
            with open(proof, "rb") as file:
                while block := file.read(_BLOCK):
                    draft.block(block)
            draft.step("qed")
        draft.keep()


def _checked_patterns(shell: Shell) -> int:
    """How many patterns tmcheck looks at, in a shell that it enumerates itself; else 0."""
    if shell.flips > CHECKED_FLIPS or math.comb(len(shell.features), shell.flips - 1) > CHECKED_SETS:
        return 0
    n_open = len(shell.quotas) + sum(len(stage.needs) for stage in shell.stages)
    return min(CHECKED_PATTERNS, CHECKED_CELLS // max(1, n_open))


def _all_checked(shell: Shell) -> bool:
    """Whether tmcheck looks at all patterns of so many open neurons."""
    n_open = len(shell.quotas) + sum(len(stage.needs) for stage in shell.stages)
    return len(shell.quotas) <= CHECKED_OPEN and n_open << len(shell.quotas) <= CHECKED_CELLS


def _few_patterns(shell: Shell) -> bool:
    """Whether all patterns are evaluated sooner than all sets of flips are passed."""
    return len(shell.quotas) <= MOST_OPEN and 1 << len(shell.quotas) < shell.n_inputs


def _inputs(shell: Shell) -> float:
    return float(min(shell.n_inputs, _HUGE))


def _seconds(shell: Shell) -> float:
    """How long a search may take, roughly."""
    if _few_patterns(shell):
        return (1 << len(shell.quotas)) / PATTERN_RATE
    n_inputs = _inputs(shell)
    return n_inputs / RATE + min(n_inputs, 2.0 ** min(len(shell.quotas), 1000)) / PATTERN_RATE


def _late(deadline: Deadline) -> str:
    return "no time left" if deadline.seconds is None else f"no answer within {deadline.seconds:g} s"
