"""The commands' help: names that it repeats to avoid an import are right, and it imports nothing heavy."""

from __future__ import annotations

import subprocess
import sys

from tmverify import interop
from tmverify.cli import export, options
from tmverify.engines import ENGINE_NAMES
from tmverify.interop.cnf import ENCODERS


def test_names_that_are_written_twice_are_the_same() -> None:
    """Where they come from is too heavy for ``--help``."""
    assert options.ENGINES == ENGINE_NAMES
    assert {*export.QUESTION_FORMATS.values(), *export.SOURCE_FORMATS.values()} <= set(interop.__all__)
    assert tuple(ENCODERS) == export.ENCODINGS


def test_help_imports_nothing_heavy() -> None:
    code = """
import sys
from tmverify.cli import main
for typed in (["--version"], ["--help"], ["robustness", "--help"], ["train", "--help"]):
    code = main(typed)
    heavy = [m for m in ("numpy", "numba", "pysat", "scipy", "sklearn", "joblib") if m in sys.modules]
    if code or heavy:
        sys.exit(f"{typed} {code} {heavy}")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
