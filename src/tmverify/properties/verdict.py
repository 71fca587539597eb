"""The answers to questions: a Verdict, a Radius or a UniversalVerdict.

HOLDS and VIOLATED are proved: every input of the region was accounted for, or a counterexample was replayed
through the plain evaluator. If an engine stopped before that, the answer is UNKNOWN, with the reason.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from os import PathLike
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from tmverify.model import Label, Model
from tmverify.properties.setting import Setting
from tmverify.properties.summary import radius_line, universal_line, verdict_line
from tmverify.properties.trust import CHECKED
from tmverify.space import Change


class Status(StrEnum):
    """The outcome of a question."""

    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class StopReason(StrEnum):
    """Why an engine stopped without an answer."""

    TIMEOUT = "timeout"
    NODE_LIMIT = "node-limit"
    REGION_TOO_LARGE = "region-too-large"
    ENCODING_TOO_LARGE = "encoding-too-large"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"
    REJECTED = "answer-rejected"
    UNDECIDED_INPUTS = "undecided-inputs"


class Evidence(Protocol):
    """The methods of a ``tmverify.Certificate``."""

    def save(self, path: str | PathLike[str], /) -> None:
        """Write it to a file."""

    def check(self, *models: Model) -> str:
        """Check that the claim is proved for these models, and return it in words."""


class _NotABool:
    """A three-valued answer must be compared, not tested: UNKNOWN is neither true nor false."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict is holds, violated or unknown: compare .status, e.g. v.status == 'holds'")


@dataclass(frozen=True, slots=True, eq=False)
class Verdict(_NotABool):
    """The answer to one question about one region.

    Attributes
    ----------
    status : Status
    witness : uint8 array, (n_features,), or None
        The counterexample, when VIOLATED.
    flips : int64 array or None
        Indices of the features in which the witness differs from the input asked about; None where no
        input was given (equivalence).
    flipped : tuple of str
        The names of those features: the model's, or x0, x1, … by their index.
    changes : tuple of Change
        The same in the user's words: the columns that differ, each with its value before and after.
    decisions : tuple of labels, or None
        The two decisions that differ: for robustness the decision at the input and the one at the
        witness; for two models, their decisions at the witness. With a class as scope they are 1 ("it is
        that class") and 0. Of a property: the decision on each input. With a margin they may be the same, and
        stand by too few votes.
    margin : int
        By how many votes the decision had to stand; 0 if that was not asked.
    leads : tuple of int, or None
        With a margin: by how many votes the model's decision at the witness stands, or that of each.
    pair : pair of uint8 arrays, or None
        Of a property about two inputs: the inputs. ``witness`` is the first of them then, and ``flips`` and
        ``changes`` say how the second differs from it.
    vacuous : bool
        Of a property that holds: whether it does because nothing possible satisfies its assumption.
    as_rounded : bool
        Of a property that was rounded: whether the answer may be true of the rounded one only. Rounded
        "outer", HOLDS is right about the property as it was written, and so is VIOLATED unless this is set;
        "inner", VIOLATED is right, and HOLDS is always about the rounded one.
    seconds : float
    engine : str
        The engine that answered.
    question : str
        "robustness", "similarity" or "equivalence".
    stop_reason : StopReason or None
        Why the status is UNKNOWN; ``detail`` says more.
    stats : mapping of str to number
        Sizes and times, depending on the engine.
    relies_on : tuple of str
        Engines whose work is part of the answer, where there are several.
    certificate : Certificate or None
        Evidence that can be checked independently of the engine, if it was asked for.
    rests_on : tuple of str
        What must be correct for this answer to be correct if there is no certificate, in words.
    setting : Setting or None
        What was asked: the columns, the input and what might change, so that it can be shown by itself.
    """

    status: Status
    seconds: float
    engine: str
    witness: NDArray[np.uint8] | None = None
    flips: NDArray[np.int64] | None = None
    decisions: tuple[Label, ...] | None = None
    stop_reason: StopReason | None = None
    detail: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)
    relies_on: tuple[str, ...] = ()
    certificate: Evidence | None = None
    question: str = ""
    flipped: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    rests_on: tuple[str, ...] = ()
    pair: tuple[NDArray[np.uint8], ...] | None = None
    margin: int = 0
    leads: tuple[int, ...] | None = None
    vacuous: bool = False
    as_rounded: bool = False
    setting: Setting | None = None

    def __repr__(self) -> str:
        return verdict_line(self)

    def _repr_html_(self) -> str:
        from tmverify.properties.card import verdict_card

        return verdict_card(self)

    @property
    def trusts(self) -> tuple[str, ...]:
        """What must be correct for this answer to be correct; see ``docs/trust.md``."""
        if self.status is Status.UNKNOWN:
            return ()
        return self.rests_on if self.certificate is None else CHECKED


@dataclass(frozen=True, slots=True, eq=False)
class Radius:
    """How many flips away the nearest input with another decision is: exactly, or between proved bounds.

    radius(x) = min { |z - x| : z in the region, with another decision },  infinity if there is none

    With a margin: or with a decision that stands by fewer votes. It is 0 if that is so at x itself.

    Attributes
    ----------
    lower : int or math.inf
        Proved: no fewer flips change the decision.
    upper : int or math.inf
        Seen: this many flips change it, those of ``witness``; infinite if no such input is known.
    witness : uint8 array, (n_features,), or None
        An input with another decision, ``upper`` flips away; None if ``upper`` is infinite.
    flips : int64 array or None
        The features in which it differs from the input asked about.
    flipped : tuple of str
        Their names: the model's, or x0, x1, … by their index.
    changes : tuple of Change
        The same in the user's words: the columns that differ, each with its value before and after.
    decisions : pair of labels, or None
        The decisions that differ, as in Verdict.
    stop_reason : StopReason or None
        Why the radius is not exact; ``detail`` says more.
    margin, leads, seconds, engine, question, stats, relies_on, certificate, rests_on, setting
        As in Verdict; only an exact radius has a certificate.
    """

    lower: float
    upper: float
    seconds: float
    engine: str
    witness: NDArray[np.uint8] | None = None
    flips: NDArray[np.int64] | None = None
    decisions: tuple[Label, Label] | None = None
    stop_reason: StopReason | None = None
    detail: str = ""
    stats: Mapping[str, Any] = field(default_factory=dict)
    relies_on: tuple[str, ...] = ()
    certificate: Evidence | None = None
    question: str = ""
    flipped: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    rests_on: tuple[str, ...] = ()
    margin: int = 0
    leads: tuple[int, ...] | None = None
    setting: Setting | None = None

    def __bool__(self) -> NoReturn:
        raise TypeError("a radius is a number or two bounds: look at .radius, .exact, .lower or .upper")

    def __repr__(self) -> str:
        return radius_line(self)

    def _repr_html_(self) -> str:
        from tmverify.properties.card import radius_card

        return radius_card(self)

    @property
    def trusts(self) -> tuple[str, ...]:
        """What must be correct for the bounds to be correct; see ``docs/trust.md``."""
        return self.rests_on if self.certificate is None else CHECKED

    @property
    def radius(self) -> float | None:
        """The least number of flips; math.inf if nothing in the region changes the decision; None if open."""
        return self.lower if self.lower == self.upper else None

    @property
    def exact(self) -> bool:
        """Whether the radius is known."""
        return self.lower == self.upper

    def __str__(self) -> str:
        if self.exact:
            return "inf" if self.lower == math.inf else str(self.lower)
        return f"{self.lower}..{'?' if self.upper == math.inf else self.upper}"


@dataclass(frozen=True, slots=True, eq=False)
class UniversalVerdict(_NotABool):
    """The answer to a question about a set of inputs: does the property hold on enough of them?

    Attributes
    ----------
    status : Status
    verdicts : tuple of Verdict
        One for each input that counts, in order, up to the input that decided the outcome.
    n_inputs : int
        How many inputs count.
    required : int
        The least number of inputs on which the property must hold, ``ceil(eta * n_inputs)``.
    eta : Fraction
    about : tuple of int, or None
        Of a property with an assumption: the inputs that count, by their place, which are those that the
        assumption is about, or may be. None: all.
    vacuous : bool
        Whether it holds because the assumption is about no input.
    as_rounded : bool
        As in ``Verdict``; also set for a share below 1 if the assumption was rounded, or compares two
        columns: other rows may count then.
    margin, seconds, engine, stop_reason, detail, certificate
        As in ``Verdict``.
    """

    status: Status
    seconds: float
    engine: str
    verdicts: tuple[Verdict, ...]
    n_inputs: int
    required: int
    eta: Fraction
    stop_reason: StopReason | None = None
    detail: str = ""
    certificate: Evidence | None = None
    margin: int = 0
    about: tuple[int, ...] | None = None
    vacuous: bool = False
    as_rounded: bool = False

    def __repr__(self) -> str:
        return universal_line(self)

    def _repr_html_(self) -> str:
        from tmverify.properties.card import universal_card

        return universal_card(self)

    @property
    def trusts(self) -> tuple[str, ...]:
        """What must be correct for this answer to be correct: all that its inputs' answers rest on."""
        if self.certificate is not None:
            return CHECKED
        every = (trusted for verdict in self.verdicts for trusted in verdict.trusts)
        return tuple(dict.fromkeys(every)) if self.status is not Status.UNKNOWN else ()

    def count(self, status: Status) -> int:
        """How many of the examined inputs have this status."""
        return sum(verdict.status is status for verdict in self.verdicts)
