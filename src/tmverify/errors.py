"""Every exception that tmverify raises on purpose.

::

    TmVerifyError
    ├── InvalidInputError (ValueError)   an argument is not what the function needs
    ├── ModelError (ValueError)          the parts given do not make a model
    │   ├── ModelFormatError             a file is not a readable model
    │   └── ImportMismatchError          an imported model differs from the library that it came from
    ├── DataFormatError (ValueError)     a file is not readable data
    ├── CertificateError (ValueError)    a certificate does not prove its claim
    ├── TrainingStateError (ValueError)  a file is not a training that can be resumed
    ├── PlanError (ValueError)           a file is not a plan of a campaign
    ├── StoreError (ValueError)          a file is not a store of results, or another run writes to it
    ├── ClusterError (RuntimeError)      the cluster can't be reached, or went away
    └── MissingExtraError (ImportError)  a package that this needs is not installed

A message says what was given, what is expected and, where there is one, the remedy.
Limits are not errors: a time-out or a crashed solver is a ``Verdict`` with status UNKNOWN.
"""

import reprlib
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 10
_SHORT.maxlevel = 3


def shown(value: object) -> str:
    """``repr`` for a message, shortened if it is long or deeply nested."""
    try:
        return _SHORT.repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return "a huge number"


def some(names: Sequence[str], most: int) -> str:
    """The first ``most`` names for a message, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown, names[:most])) + more


def meant(given: str, known: Sequence[str]) -> str | None:
    """The name that someone who wrote ``given`` probably meant, whatever its case; None if none is near."""
    lower = [name.lower() for name in known]
    near = get_close_matches(given.lower(), lower, 1)
    return known[lower.index(near[0])] if near else None


def guess(given: str, known: Sequence[str]) -> str:
    """ " Is 'good' meant?" for the end of a message; nothing if no known name is near."""
    near = meant(given, known)
    return "" if near is None else f" Is {shown(near)} meant?"


def first_line(error: BaseException) -> str:
    """The first line of the message of another library's exception."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


class TmVerifyError(Exception):
    """The root: catch this to catch everything that tmverify raises on purpose."""


class InvalidInputError(TmVerifyError, ValueError):
    """An argument has the wrong shape, type or value."""


class ModelError(TmVerifyError, ValueError):
    """The clauses, weights or options given do not make a model."""


class ModelFormatError(ModelError):
    """A file is truncated, damaged, hostile, or not a tmverify model at all."""


class ImportMismatchError(ModelError):
    """An imported model does not decide, or score, as the library that it came from.

    Attributes
    ----------
    input : uint8 array, (n_features,)
        The first input on which they differ.
    """

    def __init__(self, message: str, input: Any) -> None:
        super().__init__(message)
        self.input = input

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.input)


class DataFormatError(TmVerifyError, ValueError):
    """A data file is missing, damaged or not what it should be."""


class CertificateError(TmVerifyError, ValueError):
    """A certificate does not prove its claim about the models given."""


class TrainingStateError(TmVerifyError, ValueError):
    """A file holds no training that can be resumed, or one with other data or settings."""


class PlanError(TmVerifyError, ValueError):
    """A plan asks for something that does not exist, or the file is not a plan at all."""


class StoreError(TmVerifyError, ValueError):
    """A file is not a store of results, or another run is writing to it."""


class ClusterError(TmVerifyError, RuntimeError):
    """A cluster can't be reached, went away, or runs another version."""


class MissingExtraError(TmVerifyError, ImportError):
    """A package that only some uses of tmverify need is not installed."""
