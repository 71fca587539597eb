"""The two ways in which a certificate fails, and the check that most of them come from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Refused(Exception):
    """The certificate does not prove its claim."""


class Unreadable(Exception):
    """The certificate or a model is not one."""


def readable(condition: object, what: str) -> None:
    """Raise Unreadable, saying ``what`` is wrong, unless the condition holds."""
    if not condition:
        raise Unreadable(what)


@contextmanager
def strictly() -> Iterator[None]:
    """What goes wrong inside, of the kind that odd content leads to, is Unreadable too."""
    try:
        yield
    except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise Unreadable(f"not as it should be: {error!r:.200}") from error
