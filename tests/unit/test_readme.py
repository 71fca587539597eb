"""The README's example runs as printed, and says what it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def test_the_ten_lines(tmp_path: Path) -> None:
    block = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S)
    assert block is not None
    output = subprocess.check_output([sys.executable, "-c", block[1]], cwd=tmp_path, text=True)
    promised = re.search(r"# (violated .*?):", block[1])
    assert promised is not None
    assert output.strip() == promised[1]
