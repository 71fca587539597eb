"""Radius: how many flips away is the nearest input that is decided otherwise?

radius(x) = min { |z - x| : z in the region, decided otherwise },  infinity if there is none
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from tmverify.model import Label
from tmverify.properties.summary import radius_line
from tmverify.properties.trust import CHECKED
from tmverify.properties.verdict import Evidence, StopReason


@dataclass(frozen=True, slots=True, eq=False)
class Radius:
    """The exact radius of an input, or the bounds that are proved.

    Attributes
    ----------
    lower : int or math.inf
        Proved: no fewer flips change the decision.
    upper : int or math.inf
        Seen: so many flips do, those of ``witness``; infinite if no such input is known.
    witness : uint8 array, (n_features,), or None
        An input decided otherwise, ``upper`` flips away; None if ``upper`` is infinite.
    flips : int64 array or None
        The features in which it differs from the input asked about.
    flipped : tuple of str
        Their names: the model's, or x0, x1, … by their index.
    decisions : pair of labels, or None
        The decisions that differ, as in Verdict.
    seconds : float
    engine : str
        The engine that answered.
    question : str
        "robustness" or "similarity".
    stop_reason : StopReason or None
        Why the radius is not exact; ``detail`` says more.
    stats : mapping of str to number
        Sizes and times, depending on the engine.
    relies_on, certificate, rests_on
        As in Verdict; a certificate is of an exact radius.
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
    rests_on: tuple[str, ...] = ()

    @property
    def trusts(self) -> tuple[str, ...]:
        """What must be right for the bounds to be right; see ``docs/trust.md``."""
        return self.rests_on if self.certificate is None else CHECKED

    @property
    def radius(self) -> float | None:
        """The least number of flips; math.inf if nothing in the region changes the decision; None if open."""
        return self.lower if self.lower == self.upper else None

    @property
    def exact(self) -> bool:
        """Whether the radius is known."""
        return self.lower == self.upper

    def __bool__(self) -> NoReturn:
        raise TypeError("a radius is a number or two bounds: look at .radius, .exact, .lower or .upper")

    def __repr__(self) -> str:
        return radius_line(self)

    def __str__(self) -> str:
        if self.exact:
            return "inf" if self.lower == math.inf else str(self.lower)
        return f"{self.lower}..{'?' if self.upper == math.inf else self.upper}"
