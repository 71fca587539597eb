"""Let another virtual environment use the packages of this one too, after its own: inherit.py FOLDER."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

if __name__ == "__main__":
    ask = [
        str(Path(sys.argv[1], "bin", "python")),
        "-c",
        "import sysconfig; print(sysconfig.get_path('purelib'))",
    ]
    theirs = subprocess.check_output(ask, text=True).strip()
    ours = sysconfig.get_path("purelib")
    Path(theirs, "inherited.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
