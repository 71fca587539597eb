"""The README's examples run as printed, and say what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.S)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.S)


@pytest.mark.parametrize("block", PYTHON, ids=["train", "by hand"])
def test_python(block: str, tmp_path: Path) -> None:
    output = subprocess.check_output([sys.executable, "-c", block], cwd=tmp_path, text=True)
    promised = re.search(r"# (violated.*?):", block)
    assert promised is not None
    assert promised[1] in output.splitlines()


def test_shell(tmp_path: Path) -> None:
    assert len(SHELL) == 1
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command in SHELL[0].splitlines():
        done = subprocess.run(
            command.split(), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode in (0, 1), done.stderr  # 1: not all of the digits are robust
        assert done.stdout
