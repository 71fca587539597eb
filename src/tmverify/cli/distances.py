"""Distances: the radii of many inputs, the answers so far, and what can be said of them together.

Where radii are open, so may be their median, least and greatest: each lies between that of the lower bounds
and that of the upper bounds, because all three are monotone in every radius.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tmverify.cli.certificates import Certificates, Kept
from tmverify.cli.subject import Subject
from tmverify.cli.survey import ROBUSTNESS, SIMILARITY, Question
from tmverify.model import Label
from tmverify.properties import Radius


@dataclass(frozen=True, slots=True, eq=False)
class Distance:
    """The radius of input ``index`` of the data file, whose bits are ``x`` and whose class is ``label``.

    With a class as scope, ``label`` is 1 or 0, as in ``Radius.decisions``; of two models, the first's.
    """

    index: int
    scope: Label
    x: NDArray[np.uint8]
    label: Label
    found: Radius
    kept: Kept

    @property
    def nearest(self) -> tuple[Label | None, ...]:
        """What is said of the nearest input that is known: by the model, or by each of two."""
        return (None, None) if self.found.decisions is None else self.found.decisions


@dataclass(frozen=True, slots=True)
class Span:
    """A number that is known, or lies between two bounds."""

    lower: float
    upper: float

    def __str__(self) -> str:
        if self.lower == self.upper:
            return f"{self.lower:g}"
        return f"{self.lower:g}..{'?' if self.upper == math.inf else f'{self.upper:g}'}"


@dataclass(slots=True, kw_only=True)
class Distances:
    """What was asked, and the answers so far."""

    subject: Subject
    engine: str
    timeout: float | None
    certificates: Certificates
    answers: list[Distance] = field(default_factory=list)
    interrupted: bool = False

    @property
    def question(self) -> Question:
        return ROBUSTNESS if len(self.subject.models) == 1 else SIMILARITY

    @property
    def n_exact(self) -> int:
        return sum(answer.found.exact for answer in self.answers)

    @property
    def n_open(self) -> int:
        return len(self.answers) - self.n_exact

    @property
    def all_exact(self) -> bool:
        """Whether every input was asked about, and every radius is exact."""
        return self.n_exact == len(self.subject.rows)

    def spans(self) -> dict[str, Span]:
        """The median, least and greatest radius of the inputs answered; nothing if there are none."""
        if not self.answers:
            return {}
        measures: dict[str, Callable[[Iterable[float]], float]] = {
            "median": statistics.median,
            "least": min,
            "greatest": max,
        }
        lowers = [answer.found.lower for answer in self.answers]
        uppers = [answer.found.upper for answer in self.answers]
        return {name: Span(of(lowers), of(uppers)) for name, of in measures.items()}

    def counts(self) -> Counter[float]:
        """How many inputs have each exact radius."""
        return Counter(answer.found.lower for answer in self.answers if answer.found.exact)

    def nearest_first(self) -> list[Distance]:
        """The answers by what is seen, then by what is proved, then in the order of the file."""
        return sorted(self.answers, key=lambda answer: (answer.found.upper, answer.found.lower))


def number(value: float | None) -> Any:
    """A bound for JSON and CSV, where infinity has no number: ``inf``."""
    return "inf" if value == math.inf else value
