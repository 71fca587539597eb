"""Scripts that run in a process of their own, to which signals can be sent."""

from __future__ import annotations

import subprocess
import sys
import textwrap


def output_of(script: str) -> str:
    """What an indented Python script prints; it must end without an error."""
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout
