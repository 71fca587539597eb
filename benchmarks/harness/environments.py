"""A virtual environment per peer, made once and kept.

One each: pyTsetlinMachine and pyTsetlinMachineParallel overwrite each other's shared library, and tmu 0.8.3
needs NumPy 1. The native build is the package's own source under ``-O3 -march=native``. gcc is needed. Tools
that ask about our models inherit our packages, for what they do not bring themselves.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Environment:
    requirements: tuple[str, ...]
    from_source: str | None = None  # a package to compile here, with CFLAGS
    cflags: str = ""
    inherits: bool = False  # the packages of the environment that runs this, after its own


ENVIRONMENTS = {
    "pytsetlinmachine": Environment(("pyTsetlinMachine==0.6.6", "numpy")),
    "pytsetlinmachine-native": Environment(
        ("pyTsetlinMachine==0.6.6", "numpy"), from_source="pyTsetlinMachine", cflags="-O3 -march=native"
    ),
    "pytsetlinmachineparallel": Environment(("pyTsetlinMachineParallel==0.2.1", "numpy")),
    "tmu": Environment(("tmu==0.8.3", "numpy<2")),
    "green": Environment(("green-tsetlin==1.1.0",)),
    "dice": Environment(("dice-ml==0.12",), inherits=True),
    "treecf": Environment(("treecf==0.3.2",), inherits=True),
    "pyxai": Environment(("pyxai==2.0.1",)),
    "nice": Environment(("NICEx==0.2.3",), inherits=True),
}
OWN = "tmverify"
INHERIT = Path(__file__).parents[2] / "tests" / "interop" / "inherit.py"


class InstallError(Exception):
    """A peer could not be installed; the log says why."""


def python_of(name: str, folder: Path) -> str:
    """The interpreter of an environment, which is made if it is not there. ``OWN`` is this one."""
    if name == OWN:
        return sys.executable
    made, python = folder / name, folder / name / "bin" / "python"
    ready = made / "ready.txt"
    wanted = repr(ENVIRONMENTS[name])
    if not ready.exists() or ready.read_text() != wanted:
        _make(ENVIRONMENTS[name], made, python)
        ready.write_text(wanted)
    return str(python)


def _make(environment: Environment, folder: Path, python: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    if environment.from_source:
        # A wheel from the cache would have been built with other flags.
        command += ["--no-cache-dir", "--no-binary", environment.from_source]
    log = folder.parent / f"{folder.name}.log"
    with log.open("w") as out:
        for step in (
            [sys.executable, "-m", "venv", "--clear", str(folder)],
            *([[sys.executable, str(INHERIT), str(folder)]] if environment.inherits else []),
            [*command, *environment.requirements],
        ):
            env = os.environ | ({"CFLAGS": environment.cflags} if environment.cflags else {})
            if subprocess.run(step, stdout=out, stderr=out, env=env, check=False).returncode:
                raise InstallError(f"{folder.name} could not be installed; see {log}")
