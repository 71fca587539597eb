"""Time limits as typed: a positive number of seconds, or inf for none."""

from __future__ import annotations

from tmverify.engines.protocol import check_timeout
from tmverify.errors import InvalidInputError


def read_limit(seconds: float | None, option: str) -> float | None:
    """The limit in seconds, or None for no limit.

    Raises
    ------
    InvalidInputError
    """
    try:
        return check_timeout(seconds)
    except InvalidInputError:
        raise InvalidInputError(
            f"{option} must be a positive number of seconds, or inf for no limit. Got {seconds:g} instead."
        ) from None
