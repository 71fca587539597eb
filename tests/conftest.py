"""Preparation for the tests: Ctrl-C is enabled, and stale kernels are removed.

A background job is started with Ctrl-C ignored, and so would be the processes that tests start and interrupt.
numba's cache notices changes in a kernel's own file, but not in those of the kernels that it calls.
"""

import signal
from contextlib import suppress
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src" / "tmverify"


def pytest_configure(config: pytest.Config) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        return  # the controller has done it
    kernels = [file for file in SOURCES.rglob("*.py") if "kernels.jit" in file.read_text(encoding="utf-8")]
    newest = max(file.stat().st_mtime for file in kernels)
    for file in SOURCES.rglob("*.nb[ic]"):
        with suppress(FileNotFoundError):  # another run may be at it too
            if file.stat().st_mtime < newest:
                file.unlink()
