"""What passes between an engine and its caller: a Deadline, and an Answer or how near a witness is.

An engine claims; it does not judge. ``verify.decide`` replays every witness before anyone sees it.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.engines.proof_log import Refutation
from tmverify.errors import InvalidInputError, shown
from tmverify.properties.verdict import StopReason

# Some thirty years: as a limit it means none, and the clocks of the system take no more.
_FOREVER = 1e9


class EncodingTooLargeError(Exception):
    """A problem would not fit in memory; an engine answers this with UNKNOWN."""


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
    """The engine that answered, if an engine asks others …"""
    relies_on: tuple[str, ...] = ()
    """… and all whose work is part of the answer, if there are several."""
    open_cases: tuple[tuple[int, ...], ...] | None = None
    """When stopped: the cases that are not refuted, if the engine knows."""
    refutations: tuple[Refutation, ...] = ()
    """What a worker process wrote down, for the process that asked."""


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
    """How near the nearest witness is: at least ``lower`` flips away; ``witness`` is ``upper`` away.

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
    """A moment on the monotonic clock, or never."""

    __slots__ = ("_end", "seconds")

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self._end = math.inf if seconds is None else time.monotonic() + seconds

    def remaining(self) -> float | None:
        """Seconds left, at least 0; None means no limit."""
        return None if self._end == math.inf else max(0.0, self._end - time.monotonic())

    def share(self, part: float, unlimited: float | None = None) -> Deadline:
        """A deadline after a part of the time that is left; ``unlimited`` seconds where there is no limit."""
        left = self.remaining()
        return Deadline(unlimited if left is None else left * part)

    def passed(self) -> bool:
        """Whether the time is over."""
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
