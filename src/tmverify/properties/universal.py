"""Universal questions: does a property hold on at least an eta fraction of a set of inputs?

    universal(S, eta)  iff  |{x in S : the property holds at x}| >= ceil(eta * |S|)

The paper writes floor in its formula and "eta |S| or more" in its definition; we follow the definition.
Each input is decided on its own, and the tally stops as soon as the outcome can no longer change.
"""

from __future__ import annotations

import math
import numbers
import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from tmverify.errors import InvalidInputError, shown
from tmverify.properties.verdict import Status


def exact_fraction(eta: object) -> Fraction:
    """Read eta exactly: a Fraction, an int, "2/3", "0.1", or a float as its shortest decimal (0.1 is 1/10).

    Raises
    ------
    InvalidInputError
        If it is not a number between 0 and 1.
    """
    try:
        value = _read(eta)
    except (ValueError, ZeroDivisionError, OverflowError):
        value = None
    if value is None or not 0 <= value <= 1:
        raise InvalidInputError(
            f"eta must be a fraction between 0 and 1, such as 0.9, Fraction(2, 3) or '2/3'. "
            f"Got {shown(eta)} instead."
        )
    return value


def _read(eta: object) -> Fraction | None:
    if isinstance(eta, (bool, np.bool_)):
        return None
    if isinstance(eta, str):
        # A long exponent would make Fraction build a number with that many digits.
        return None if re.search(r"[eE][+-]?[\d_]{4,}", eta) else Fraction(eta)
    if isinstance(eta, (float, np.floating)):
        return Fraction(str(eta.item() if isinstance(eta, np.float64) else eta))
    if isinstance(eta, numbers.Rational):
        return Fraction(int(eta.numerator), int(eta.denominator))
    return None


def required_count(eta: Fraction, n_inputs: int) -> int:
    """The least number of inputs that is an eta fraction or more."""
    return math.ceil(eta * n_inputs)


@dataclass(slots=True)
class Count:
    """A running count that knows when the outcome is decided."""

    n_inputs: int
    required: int
    holds: int = 0
    violated: int = 0

    def add(self, status: Status) -> None:
        """Count one more input."""
        self.holds += status is Status.HOLDS
        self.violated += status is Status.VIOLATED

    @property
    def status(self) -> Status:
        """HOLDS or VIOLATED once the remaining inputs cannot matter, else UNKNOWN."""
        if self.holds >= self.required:
            return Status.HOLDS
        if self.violated > self.n_inputs - self.required:
            return Status.VIOLATED
        return Status.UNKNOWN
