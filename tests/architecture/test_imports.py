"""The shape of the project: import directions, a light import, the public names."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import tmverify as tv
from tmverify.properties.questions import QUESTIONS, RADIUS

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "tmverify"


def test_imports_point_one_way() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([lint, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_heavy_packages_wait_until_they_are_needed() -> None:
    """In one process, from the lightest import to the heaviest."""
    code = """
import sys
heavy = {"numpy", "numba", "pysat", "scipy", "sklearn", "pandas", "torch"}
import tmverify, tmverify.cli
print(heavy & set(sys.modules))
import tmverify.data
print(heavy & set(sys.modules) - {"numpy"})
tmverify.data.ThresholdBinarizer
print("sklearn" in sys.modules)
from tmverify.bnn import BnnClassifier
print("torch" in sys.modules)
"""
    said = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert said.splitlines() == ["set()", "set()", "True", "False"]


def test_public_names() -> None:
    assert sorted(tv.__all__) == list(tv.__all__)
    promised = """Model load Status Verdict check_robustness check_universal_robustness check_equivalence
    check_similarity check_universal_similarity robustness_radius similarity_radius Radius to_dimacs
    TmVerifyError ModelFormatError"""
    assert set(promised.split()) <= set(tv.__all__)
    for name in tv.__all__:
        assert getattr(tv, name).__doc__, name


def test_every_module_says_what_it_is_for() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        assert path.read_text().removeprefix("r").startswith('"""'), path


def test_the_changelog_knows_this_version() -> None:
    assert re.search(rf"^## \[?{re.escape(tv.__version__)}", (ROOT / "CHANGELOG.md").read_text(), re.M)


def test_no_pickle_is_ever_read_from_a_file() -> None:
    """Pickles pass between our own processes, and nowhere else."""
    own_pipes = {"engines/subprocesses/_worker.py", "engines/subprocesses/call.py"}
    for path in (ROOT / "src" / "tmverify").rglob("*.py"):
        text = path.read_text()
        for line in text.splitlines():
            assert "np.load(" not in line or "allow_pickle=False" in line, path
        if str(path.relative_to(ROOT / "src" / "tmverify")) not in own_pipes:
            assert not re.search(
                r"^\s*(import|from) (pickle|dill|cloudpickle|shelve|marshal)\b", text, re.M
            ), path
            assert "joblib.load" not in text, path


def test_kernels_are_compiled_in_one_way() -> None:
    """What ``kernels/jit.py`` says of numba's log and of compiling holds for all of them."""
    for path in (ROOT / "src" / "tmverify").rglob("*.py"):
        if path.name != "jit.py":
            assert not re.search(
                r"^\s*(from numba import .*\b(njit|jit)\b|import numba$)", path.read_text(), re.M
            ), path


def test_questions_are_known_by_name_in_one_file() -> None:
    """Whoever needs one asks the registry; ``radius`` is also the name of a column."""
    names = set(QUESTIONS) - {RADIUS.name}
    for path in SOURCES.rglob("*.py"):
        if path.is_symlink() or path == SOURCES / "properties" / "questions.py":
            continue
        texts = [
            node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)
        ]
        assert not names & {text for text in texts if isinstance(text, str)}, path


def test_machines_and_networks_are_told_apart_by_what_they_offer() -> None:
    for path in SOURCES.rglob("*.py"):
        home = path.relative_to(SOURCES).parts
        if home[0] != "bnn" and home[:2] != ("engines", "network"):
            assert not re.search(r"isinstance\([^)]*(BnnModel|NetworkQuery)", path.read_text()), path


def test_no_file_is_longer_than_a_reader_can_hold() -> None:
    for path in SOURCES.rglob("*.py"):
        if not path.is_symlink():  # the checker is one file on purpose
            assert len(path.read_text().splitlines()) <= 500, path
