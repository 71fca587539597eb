"""Checks of an estimator's parameters. An error says which one is wrong, what it must be and what it is."""

from __future__ import annotations

import numbers
from typing import Any

from tmverify.errors import InvalidInputError, shown


def check_integer(estimator: Any, name: str, least: int | None = None, most: int | None = None) -> int:
    """The parameter, or InvalidInputError unless it is an integer within the bounds."""
    value: Any = getattr(estimator, name)
    bounds = "" if least is None else f" of at least {least}" if most is None else f" from {least} to {most}"
    if (
        not is_number(value, numbers.Integral)
        or (least is not None and value < least)
        or (most is not None and value > most)
    ):
        raise wrong_parameter(estimator, name, f"an integer{bounds}")
    return int(value)


def wrong_parameter(estimator: Any, name: str, must: str) -> InvalidInputError:
    """The error for a parameter; ``must`` completes "must be …"."""
    return InvalidInputError(
        f"The {name!r} parameter of {type(estimator).__name__} must be {must}. "
        f"Got {shown(getattr(estimator, name))} instead."
    )


def is_number(value: Any, kind: type = numbers.Real) -> bool:
    """Whether it is a number of that kind; True and False do not count as numbers."""
    return isinstance(value, kind) and not isinstance(value, bool)
