"""Engine, a declaration: what an engine accepts, what it can do, what its proofs rest on, how to call it.

This module also has what an engine and its caller exchange: a ``Deadline``, and an ``Answer`` or a
``Nearest``. An engine only makes claims: ``verify.decide`` replays every witness before anyone sees it.

Declarations are cheap to import: numba or a solver is imported when an engine is first called.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cache
from importlib import import_module
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.follow import Bounds, follower_of_now
from tmverify.engines.proof_log import ProofLog, Refutation
from tmverify.errors import InvalidInputError, shown
from tmverify.model import Model
from tmverify.properties.query import Query
from tmverify.properties.region import Region
from tmverify.properties.trust import REPLAYED
from tmverify.properties.verdict import StopReason

# About thirty years: longer limits mean no limit, because system clocks do not accept them.
_STRIDE = 16  # a radius beyond this is raised by the 16th part, where changes have costs
_FOREVER = 1e9


class EncodingTooLargeError(Exception):
    """A problem would not fit in memory; an engine that meets this error answers UNKNOWN."""


class Outcome(Enum):
    """What an engine found."""

    WITNESS = auto()
    NO_WITNESS = auto()
    STOPPED = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """An engine's claim: a witness, the proof that there is none, or why it stopped."""

    outcome: Outcome
    witness: NDArray[np.uint8] | None = None
    stop_reason: StopReason | None = None
    detail: str = ""
    stats: dict[str, Any] = field(default_factory=dict)
    engine: str | None = None
    """The engine that answered, if one engine calls others …"""
    relies_on: tuple[str, ...] = ()
    """… and all engines whose work is part of the answer, if there are several."""
    open_cases: tuple[tuple[int, ...], ...] | None = None
    """When stopped: the cases that are not refuted, if the engine knows them."""
    refutations: tuple[Refutation, ...] = ()
    """The refutations that a worker process wrote, for the process that called it."""


def found(witness: NDArray[np.uint8], **stats: Any) -> Answer:
    """The answer of an engine that found a witness."""
    return Answer(Outcome.WITNESS, witness=witness, stats=stats)


def none_exists(**stats: Any) -> Answer:
    """The answer of an engine that has ruled out every input."""
    return Answer(Outcome.NO_WITNESS, stats=stats)


def stopped(reason: StopReason, detail: str, **stats: Any) -> Answer:
    """The answer of an engine that had to give up."""
    return Answer(Outcome.STOPPED, stop_reason=reason, detail=detail, stats=stats)


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """Bounds on the nearest witness: it is at least ``lower`` flips away; ``witness`` is ``upper`` away.

    Attributes
    ----------
    lower, upper : int or math.inf
        Equal when the question is settled; both infinite if the region holds no witness.
    witness : uint8 array or None
        None if ``upper`` is infinite.
    open_cases : tuple of tuples of int
        The cases that might hold a nearer witness.
    stop_reason : StopReason or None
        Why ``lower`` is less than ``upper``.
    """

    lower: float
    upper: float
    witness: NDArray[np.uint8] | None
    engine: str
    open_cases: tuple[tuple[int, ...], ...] = ()
    stop_reason: StopReason | None = None
    detail: str = ""
    stats: dict[str, Any] = field(default_factory=dict)
    relies_on: tuple[str, ...] = ()


def nothing_known(engine: str, reason: StopReason | None = None, detail: str = "") -> Nearest:
    """What is known before a search, or after one that failed."""
    return Nearest(0, math.inf, None, engine, stop_reason=reason, detail=detail)


class Deadline:
    """A moment on the monotonic clock, or no limit at all.

    Whoever looks at it also learns whether the question was withdrawn: then ``Withdrawn`` is raised. ``told``
    hears the bounds of the one question that the deadline is for.
    """

    __slots__ = ("_end", "_follower", "_told", "seconds")

    def __init__(self, seconds: float | None, told: Bounds | None = None) -> None:
        self.seconds = seconds
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._follower = follower_of_now()
        self._told = told
        if self._follower is not None:
            self._follower.check()

    def tell(self, lower: float, upper: float, witness: NDArray[np.uint8] | None) -> None:
        """Tell what is known of the nearest witness, if anybody listens."""
        if self._told is not None:
            self._told(lower, upper, witness)

    def remaining(self) -> float | None:
        """Seconds left, at least 0; None means no limit."""
        if self._follower is not None:
            self._follower.check()
        return None if self._end == math.inf else max(0.0, self._end - time.monotonic())

    def share(self, part: float, unlimited: float | None = None) -> Deadline:
        """A deadline after a part of the time left, or after ``unlimited`` seconds if there is no limit."""
        left = self.remaining()
        return Deadline(unlimited if left is None else left * part, self._told)

    def passed(self) -> bool:
        """Whether the time is over."""
        if self._follower is not None:
            self._follower.check()
        return time.monotonic() >= self._end


def check_timeout(timeout: object) -> float | None:
    """Return a time limit in seconds (None: no limit), or raise InvalidInputError."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float, np.integer, np.floating)):
        raise InvalidInputError(f"timeout must be a number of seconds or None. Got {shown(timeout)} instead.")
    if not timeout > 0:
        raise InvalidInputError(
            f"timeout must be positive, or None for no limit. Got {shown(timeout)} instead."
        )
    return None if timeout > _FOREVER else float(timeout)


Words = tuple[str, ...]


class Decide(Protocol):
    """Decides a query, and writes down why there is no witness, if that is wanted."""

    def __call__(self, query: Any, deadline: Deadline, log: ProofLog | None = None, /) -> Answer:
        """The engine's answer."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A name that may appear as ``.engine`` of an answer, and what a proof under that name may rest on.

    Attributes
    ----------
    name : str
        ``.engine`` of the answer.
    proofs : tuple of tuples of str
        The sets of engines that a proof may rest on, as in ``.relies_on``; empty if it only finds witnesses.
    finds : bool
        Whether it finds witnesses.
    region : {"ball", "everything"} or None
        The kind of questions that it answers; None: both.
    certified : bool or None
        Whether it answers with a certificate or without one; None: both.
    """

    name: str
    proofs: tuple[tuple[str, ...], ...] = ()
    finds: bool = True
    region: Literal["ball", "everything"] | None = None
    certified: bool | None = None


def _is_about_machines(asked: object) -> bool:
    return isinstance(asked, Query | Model)


def _nothing_to_prepare(query: Any, certificate: bool) -> None:
    pass


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Engine:
    """The declaration of an engine.

    Attributes
    ----------
    name : str
        An engine for machines and one for networks may have the same name.
    decide : Decide
    find_nearest : callable with the same arguments, or None
        None: it goes up one flip at a time (``nearest_by_steps``).
    prepare : callable of a query and of whether a certificate is wanted
        Compiles the kernels for such a query; it is called before the clock starts.
    accepts : callable
        Whether it accepts this query, or queries about this model; ``subject`` describes such models.
    certifies : bool
        Whether it can write a proof that there is no witness, in a ``log``.
    trust : mapping of str to tuple of str
        What a proof rests on, in words, for each name of its own in ``.engine`` or ``.relies_on``.
    replayed : tuple of str
        What a witness rests on.
    signers : tuple of Signer
        The names that its answers may carry.
    """

    name: str
    decide: Decide
    find_nearest: Callable[[Any, Deadline, ProofLog | None], Nearest] | None = None
    prepare: Callable[[Any, bool], None] = _nothing_to_prepare
    accepts: Callable[[object], bool] = _is_about_machines
    subject: str = "a Tsetlin machine"
    certifies: bool = False
    log: type[ProofLog] = ProofLog
    trust: Mapping[str, Words]
    replayed: Words = REPLAYED
    signers: tuple[Signer, ...]

    def signers_of(self, *, everything: bool, certified: bool) -> tuple[Signer, ...]:
        """The signers for a question about every input, or else about a ball, certified or not."""
        region = "everything" if everything else "ball"
        return tuple(
            signer
            for signer in self.signers
            if signer.region in (None, region) and signer.certified in (None, certified)
        )

    def nearest(self, query: Any, deadline: Deadline, log: ProofLog | None = None) -> Nearest:
        """The nearest witness in the query's region."""
        if self.find_nearest is not None:
            return self.find_nearest(query, deadline, log)
        return nearest_by_steps(self.decide, self.name, query, nothing_known(self.name), deadline, log)


def at_first_use(function: str, *first: Any) -> Callable[..., Any]:
    """The function ``"module:name"`` of this package with ``first`` arguments, imported when it is called."""

    @cache
    def find() -> Callable[..., Any]:
        module, name = function.split(":")
        found: Callable[..., Any] = getattr(import_module(f"tmverify.engines.{module}"), name)
        return found

    def imported(*arguments: Any) -> Any:
        return find()(*first, *arguments)

    return imported


def next_radius(region: Region, lower: int) -> int:
    """The radius to try if less than ``lower`` is not enough: that, or a little more if costs are large."""
    return lower + lower // _STRIDE if region.options else lower


def nearest_by_steps(
    decide: Decide, name: str, query: Any, known: Nearest, deadline: Deadline, log: ProofLog | None = None
) -> Nearest:
    """The nearest witness, by calling ``decide``, the engine called ``name``, with one flip more each time.

    It continues from what is ``known``, and refutes one radius after another below ``known.upper``.
    """
    region = query.region
    last = min(known.upper - 1, region.reach)
    lower, spent, relies_on = int(known.lower), known.stats, known.relies_on
    while lower <= last:
        deadline.tell(lower, known.upper, known.witness)
        radius = int(min(next_radius(region, lower), last))
        answer = decide(replace(query, region=region.within(radius)), deadline, log)
        spent, relies_on = {**spent, **answer.stats}, answer.relies_on
        if answer.outcome is Outcome.STOPPED:
            return replace(
                known,
                lower=lower,
                stop_reason=answer.stop_reason,
                detail=answer.detail,
                stats=spent,
                relies_on=relies_on,
            )
        if answer.outcome is Outcome.NO_WITNESS:
            lower = radius + 1
            continue
        assert answer.witness is not None
        cost = lower if radius == lower else region.cost(answer.witness)
        if cost is None or cost <= lower:
            # Nothing is nearer: every smaller radius has been refuted.
            return Nearest(lower, lower, answer.witness, name, stats=spent, relies_on=relies_on)
        known, last = replace(known, upper=cost, witness=answer.witness), cost - 1
    return Nearest(known.upper, known.upper, known.witness, name, stats=spent, relies_on=relies_on)
