"""Jobs that engines of networks give to another process, done in this one, so that thousands are quick."""

from __future__ import annotations

from typing import Any

from tmverify.engines.engine import Deadline
from tmverify.engines.network.solver import reach, solve

JOBS: dict[str, Any] = {
    "tmverify.engines.network.solver:solve": solve,
    "tmverify.engines.network.solver:reach": reach,
}


def call_here(function: str, arguments: tuple[Any, ...], deadline: Deadline) -> Any:
    """Stands in for ``processes.call``."""
    return JOBS[function](*arguments)
