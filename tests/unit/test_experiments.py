"""The experiments as smoke runs, without data: they end, resume, and leave their tables and reports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
QUICK = "radius_published_networks"
OTHERS = (
    "training_tables",
    "robustness_mnist",
    "robustness_imdb",
    "similarity_imdb",
    "accuracy_mnist_c",
    "robustness_back_image",
)


@pytest.mark.parametrize(
    ("name", "n_runs"), [(QUICK, 1), *(pytest.param(name, 2, marks=pytest.mark.deep) for name in OTHERS)]
)
def test_smoke_run(name: str, n_runs: int, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "TMVERIFY_DATA"}
    command = [sys.executable, str(EXPERIMENTS / f"{name}.py"), "--quick", "--folder", str(tmp_path)]
    printed = [subprocess.check_output(command, env=environment, text=True) for _ in range(n_runs)]
    assert printed[0] == printed[-1], "the second run has nothing to do, and finds the same"
    assert (tmp_path / "results" / f"{name}.md").read_text() == printed[0].rstrip("\n") + "\n"
    assert "These figures say nothing" in printed[0]
    if (EXPERIMENTS / "plans" / f"{name}.toml").exists():
        assert "tasks of the plan are solved" in printed[0]
        assert (tmp_path / f"{name}.html").exists()
        assert list((tmp_path / "results").glob(f"{name}-*.svg"))


def test_every_experiment_is_run_here_and_shown() -> None:
    page = (EXPERIMENTS / "results_page.py").read_text()
    scripts = {path.stem for path in EXPERIMENTS.glob("*.py")} - {"results_page"}
    assert scripts == {QUICK, *OTHERS}
    assert all(f'"{name}"' in page for name in scripts)


def test_a_section_that_was_not_measured_again_stays(tmp_path: Path) -> None:
    page, before = tmp_path / "results.md", (EXPERIMENTS.parent / "docs" / "results.md").read_text()
    page.write_text(before)
    fresh = "## Training\n\n`python experiments/training_tables.py`, anew\n"
    code = "import pathlib, results_page, sys; results_page.main(*map(pathlib.Path, sys.argv[1:]))"
    command = [sys.executable, "-c", code, str(page), str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(EXPERIMENTS), *sys.path])}
    subprocess.check_call(command, env=environment)
    assert page.read_text() == before
    (tmp_path / "training_tables.md").write_text(fresh)
    subprocess.check_call(command, env=environment)
    assert fresh in page.read_text()
    assert page.read_text().count("\n## ") == before.count("\n## ")
