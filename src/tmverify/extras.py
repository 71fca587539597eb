"""Optional packages: they are imported at first use, and the error for a missing one says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tmverify.errors import MissingExtraError


def need(module: str, *, extra: str, what: str) -> Any:
    """Import ``module`` for ``what``.

    Raises
    ------
    MissingExtraError
        If it is not installed; the message names the extra.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise MissingExtraError(
            f"{what} needs the package {package}: pip install 'tmverify[{extra}]' ({error})."
        ) from None
