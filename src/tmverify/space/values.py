"""Single values: what counts as missing, and numbers as they are written and read.

A value is *missing* if it is None, not equal to itself (NaN), an NA of pandas, or a blank text. Among
numbers, texts such as NA and ? (``MISSING_NUMBERS``) are missing too; as categories they are values: whoever
has the category "none" means it.
"""

from __future__ import annotations

import math
import numbers
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np

MISSING = "missing"
_EXACT = 2.0**53  # up to here, floats hold every integer
MISSING_NUMBERS = frozenset(
    ("na", "n/a", "#n/a", "nan", "<na>", "null", "none", "nil", "?", "-", ".", MISSING)
)
"""Texts that mark a missing number, in lower case."""
TRUTH = {"0": 0, "1": 1, "false": 0, "true": 1}
"""Texts that are bits, in lower case."""


def is_missing(value: Any) -> bool:
    """Whether a value, or the text of a cell, is a missing one."""
    if isinstance(value, str):
        return not value.strip()
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas' NA has no truth value
        return not hasattr(value, "__len__")
    except InvalidOperation:  # a Decimal NaN that signals
        return True


def number_text(value: float) -> str:
    """The shortest text that reads back as ``value``: 75, 37.5, 1e-07."""
    value = float(value)
    return str(int(value)) if value.is_integer() and abs(value) <= _EXACT else repr(value)


def as_number(value: Any) -> float | None:
    """A number, a Boolean or the text of a number as float; None if it is anything else."""
    if isinstance(value, str):
        try:
            return None if "_" in value else float(value)
        except ValueError:
            return None
    if isinstance(value, np.timedelta64):  # to Python, a duration of numpy is an integer
        return None
    if isinstance(value, numbers.Real | np.bool_):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    try:
        return float(value) if isinstance(value, Decimal) else None
    except (TypeError, ValueError):  # a Decimal NaN that signals
        return None


def truth(text: str) -> int | None:
    """The bit that a text stands for, if it is one of 0, 1, 1.0, false, true."""
    said = TRUTH.get(text.strip().lower())
    number = as_number(text)
    return said if said is not None else int(number) if number in (0.0, 1.0) else None


def as_text(value: Any) -> str | None:
    """A category as text: text itself, whole numbers without a point; None if it is no category.

    An integer keeps all its digits, also those that a float would lose.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return str(bool(value))
    number = as_number(value)
    if number is None or not math.isfinite(number):
        return None
    return str(int(value)) if isinstance(value, numbers.Integral) else number_text(number)
