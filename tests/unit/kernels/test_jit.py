"""Compiling is announced once, on standard error, without numba's own log."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tmverify.kernels.jit import NOTICE

KERNEL = """
import logging
{before}
import tmverify.kernels.jit as jit
def twice(x): return x + x
def thrice(x): return 3 * x
for function in (twice, thrice):
    function.__module__ = {module!r}
    jit.njit(function)(1)
print(logging.getLogger("numba").level)
"""


def run(before: str = "", module: str = "tmverify.made_up") -> tuple[str, str]:
    code = KERNEL.format(before=before, module=module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr


def test_the_first_kernel_says_that_it_is_compiled_and_numba_logs_nothing() -> None:
    """Even where everything is logged, as beside tmu, which sets the root logger to DEBUG."""
    level, err = run(before="logging.basicConfig(level=logging.DEBUG)")
    assert (level, err) == ("30", f"{NOTICE}\n")


def test_a_worker_is_quiet() -> None:
    assert run(before="from tmverify import kernels; kernels.announce_compiling = False")[1] == ""


def test_other_peoples_kernels_and_their_wishes_are_left_alone() -> None:
    asked = "logging.basicConfig(); logging.getLogger('numba').setLevel(logging.DEBUG)"
    level, err = run(before=asked, module="theirs")
    assert level == "10"
    assert err.count("DEBUG:numba") > 10
    assert NOTICE not in err


@pytest.mark.deep
def test_the_first_question_from_python_says_that_it_compiles(tmp_path: Path) -> None:
    """A whole question, with an empty cache: networks have the fewest kernels."""
    code = """
import logging, sys
logging.basicConfig(level=logging.DEBUG)
import tmverify as tv
from tmverify.bnn import BnnModel
net = BnnModel.from_layers([([[1, 1, 1], [1, -1, 1]], [2, 3])], [[-1, -1], [1, 1]])
for _ in range(2):
    print(tv.check_robustness(net, [1, 0, 1], 1).status)
"""
    for first in (True, False):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "violated\nviolated\n"
        assert done.stderr == (f"{NOTICE}\n" if first else "")
