"""Parts of kernels, called from Python: only kernels can call them, so each is wrapped in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit


def from_python(part: Any) -> Callable[..., Any]:
    """The part as a function of the same arguments."""

    @njit  # type: ignore[untyped-decorator, unused-ignore]
    def call(*arguments: Any) -> Any:
        return part(*arguments)

    def checked(*arguments: Any) -> Any:
        return call(*arguments)

    return checked
