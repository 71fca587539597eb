"""How many of our files and functions a command touches: a call trace of the ways that users go most often.

    python tools/files_touched.py                      # the table of all ways
    python tools/files_touched.py robustness --list    # some of them, and the files that they touch
    python tools/files_touched.py --src OTHER/src      # of another source tree

A way touches a file if at least one function defined in it is called while the way runs. The top
level of a module, the bodies of its classes, and whatever these call while the module is imported do not
count, nor do lambdas and comprehensions. Compiled kernels cannot be seen: what is counted is the Python code
around them.

Each way runs in a process of its own, in a temporary folder with a tiny machine trained on scikit-learn's
digits and a random tiny network; no other data are needed. The ways in Python begin with the model and the
inputs in memory. The processes that a way starts are traced as well; the columns "with its processes" count
them too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

REPOSITORY = Path(__file__).resolve().parent.parent

# Python runs a module of this name, if there is one on its path, before anything else: so every process that
# a way starts is traced. A function is written down at its first call, since a worker may be killed.
_TRACE = '''
import inspect, os, sys, threading

_SOURCE, _NOTES = os.environ["FILES_TOUCHED_SOURCE"], os.environ["FILES_TOUCHED_NOTES"]
_seen, _local = set(), threading.local()


def _note(frame, event, argument):
    if event not in ("call", "return"):
        return
    code = frame.f_code
    if code.co_name == "<module>":  # being imported
        _local.imports = getattr(_local, "imports", 0) + (1 if event == "call" else -1)
    if event == "return" or code in _seen or not code.co_filename.startswith(_SOURCE):
        return
    # The main program is a module too: hence 1 for "python -c" and 0 in its threads.
    if getattr(_local, "imports", 0) > (threading.current_thread() is threading.main_thread()):
        return
    _seen.add(code)
    if code.co_flags & inspect.CO_OPTIMIZED and not code.co_name.startswith("<"):
        with open(os.path.join(_NOTES, str(os.getpid())), "a") as notes:
            notes.write(f"{code.co_filename[len(_SOURCE):]}\\t{code.co_qualname}:{code.co_firstlineno}\\n")


def begin():
    """Forget what was called until now."""
    _seen.clear()
    open(os.path.join(_NOTES, str(os.getpid())), "w").close()


_local.imports = 1  # this module is being imported: its end will be noted
threading.setprofile(_note)
sys.setprofile(_note)
'''

_CLI = "import sys; from tmverify.cli import main; sys.exit(main())"
_PYTHON = """
import sys
import numpy as np
import tmverify as tv
X, y = np.load("test.npz")["X"], np.load("test.npz")["y"]
model = tv.load("digits.tm")
network = tv.bnn.load_bnn("network.tm")
if "sitecustomize" in sys.modules and hasattr(sys.modules["sitecustomize"], "begin"):
    sys.modules["sitecustomize"].begin()
"""
_PLAN = """
[models]
digits = "digits.tm"
[inputs.test]
file = "test.npz"
n = 4
[[ask]]
question = "robustness"
epsilons = [1]
[[ask]]
question = "radius"
"""
_NETWORK = """
import numpy as np
from tmverify.bnn import BnnModel
rng = np.random.default_rng(0)
hidden = [(rng.choice([-1, 1], (8, 64)), np.full(8, 32)), (rng.choice([-1, 1], (8, 8)), np.full(8, 4))]
BnnModel.from_layers(hidden, rng.choice([-1, 1], (10, 8))).save("network.tm")
"""


@dataclass(frozen=True)
class Way:
    """Commands for ``python -c``, run one after the other and counted together."""

    title: str
    commands: tuple[tuple[str, ...], ...]


WAYS = {
    "check": Way(
        "`check_robustness` from Python",
        ((f"{_PYTHON}tv.check_robustness(model, X[0], epsilon=3)",),),
    ),
    "robustness": Way(
        "`tmverify robustness`",
        ((_CLI, "robustness", "digits.tm", "test.npz", "--epsilon", "1", "--n", "5"),),
    ),
    "radius": Way(
        "radius with certificate",
        ((f"{_PYTHON}tv.robustness_radius(model, X[0], certificate=True)",),),
    ),
    "fit": Way(
        "`fit` to Model",
        (
            (
                f"{_PYTHON}clf = tv.TsetlinMachineClassifier(20, 10, 5, n_epochs=2, random_state=0)\n"
                "clf.fit(X, y).model_",
            ),
        ),
    ),
    "campaign": Way(
        "campaign `-j 2` to HTML",
        (
            (_CLI, "campaign", "run", "plan.toml", "--store", "results.db", "-j", "2"),
            (_CLI, "report", "results.db", "-o", "report.html"),
        ),
    ),
    "network": Way(
        "a network's robustness",
        ((f"{_PYTHON}tv.check_robustness(network, X[0], epsilon=2)",),),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("way", nargs="*", help=f"{', '.join(WAYS)} (default: all)")
    parser.add_argument("--list", action="store_true", help="print the files, with their functions counted")
    parser.add_argument("--src", type=Path, default=REPOSITORY / "src", help="the source tree to trace")
    given = parser.parse_args()
    if unknown := set(given.way) - set(WAYS):
        parser.error(f"no such way: {', '.join(sorted(unknown))}; there are {', '.join(WAYS)}")
    chosen = given.way or list(WAYS)
    with TemporaryDirectory() as folder:
        room = Room(Path(folder), given.src.resolve())
        room.furnish()
        print("| way | files | functions | files, with its processes | functions, with its processes |")
        print("|---|---:|---:|---:|---:|")
        found = {}
        for name in chosen:
            own, all_ = found[name] = room.trace(WAYS[name])
            counts = (len(files(own)), len(own), len(files(all_)), len(all_))
            print(f"| {WAYS[name].title} | {' | '.join(map(str, counts))} |", flush=True)
    if given.list:
        for name, (own, all_) in found.items():
            print(f"\n{WAYS[name].title}:")
            print("\n".join(listed(own, all_)))


Functions = set[tuple[str, str]]  # (file, function)


@dataclass(frozen=True)
class Room:
    """The temporary folder in which the ways run."""

    folder: Path
    source: Path

    def furnish(self) -> None:
        """Make the machine, the network, the inputs and the plan, untraced."""
        (self.folder / "trace").mkdir()
        (self.folder / "trace" / "sitecustomize.py").write_text(_TRACE)
        (self.folder / "plan.toml").write_text(_PLAN)
        small = ["--clauses", "20", "--threshold", "10", "--specificity", "5", "--epochs", "5"]
        self._run(_CLI, "train", "digits", "-o", "digits.tm", "--save-test", "test.npz", *small)
        self._run(_NETWORK)
        for name in ("check", "radius", "fit", "network"):  # their kernels are compiled here, not on the way
            self._run(*WAYS[name].commands[0])

    def trace(self, way: Way) -> tuple[Functions, Functions]:
        """What the commands touch in their own process, and together with the processes that they start."""
        with TemporaryDirectory(dir=self.folder) as notes:
            main_processes = {self._run(*command, notes=Path(notes)) for command in way.commands}
            own, everything = set[tuple[str, str]](), set[tuple[str, str]]()
            for path in Path(notes).iterdir():
                functions = set(read(path))
                everything |= functions
                own |= functions if int(path.name) in main_processes else set()
        return own, everything

    def _run(self, *command: str, notes: Path | None = None) -> int:
        """Run ``python -c`` and return the number of its process; traced if there is a folder for notes."""
        path = [str(self.source)] if notes is None else [str(self.folder / "trace"), str(self.source)]
        env = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        if notes is not None:
            env |= {"FILES_TOUCHED_SOURCE": f"{self.source}{os.sep}", "FILES_TOUCHED_NOTES": str(notes)}
        process = subprocess.Popen(
            [sys.executable, "-c", *command],
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said, _ = process.communicate()
        if process.returncode not in (0, 1) or "Traceback" in said:  # 1: violated
            sys.exit(f"{' '.join(command)} failed:\n{said}")
        return process.pid


def read(notes: Path) -> Iterator[tuple[str, str]]:
    for line in notes.read_text().splitlines():
        file, function = line.split("\t")
        yield file, function


def files(functions: Functions) -> list[str]:
    return sorted({file for file, _ in functions})


def listed(own: Functions, everything: Functions) -> Iterator[str]:
    """A line for each file: its functions that the command's own process called, and that any process did."""
    for file in files(everything):
        mine, all_ = (sum(each == file for each, _ in functions) for functions in (own, everything))
        yield f"  {mine:4} {all_:4}  {file}"


if __name__ == "__main__":
    main()
