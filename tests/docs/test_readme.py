"""The examples of the README and of the tours run as printed, and their output is the one that they show."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOURS = {
    "tables": {"me.csv": "age,income"},
    "texts": {"my-reviews.txt": "The plot"},
    "explanations": {"my-reviews.txt": "The plot"},
}  # the files that a tour shows, and how they begin
UNSURE = "│|  (line|L0)|  .* (counterexamples|no row)|seconds|  *epochs|  .* questions? in "
PYTHON = re.findall(r"```python\n(.*?)```", README, re.S)
SHELL = re.findall(r"```sh\n(.*?)```", README, re.S)
PLANS = re.findall(r"```toml\n(.*?)```", README, re.S)
QUOTED = re.findall(r"`((?:line \d+|L\d+):\s[^`]*?)\sif\s[^`]*`", README)
RADIUS = re.findall(r"`(tmverify radius [^`]*)`:\n\n```\n(.*?)```", README, re.S)


@pytest.mark.parametrize(
    "block",
    PYTHON,
    ids=[
        "train",
        "space",
        "by hand",
        "votes",
        "changes",
        "why",
        "stated",
        "radius",
        "certificate",
        "network",
    ],
)
def test_python(block: str, tmp_path: Path) -> None:
    output = subprocess.check_output([sys.executable, "-c", block], cwd=tmp_path, text=True)
    promised = re.findall(r"^print\(.*\)  # (.*?):", block, re.M)
    assert promised
    assert set(promised) <= set(output.splitlines())


def test_certificate(tmp_path: Path) -> None:
    """What the checker says of the file that the example of certificates leaves."""
    subprocess.check_call([sys.executable, "-c", PYTHON[8]], cwd=tmp_path, stdout=subprocess.DEVNULL)
    shutil.copytree(Path(__file__).parents[2] / "src" / "tmcheck", tmp_path / "tmcheck")
    words = re.findall(r"`python (-I -S tmcheck \S+ \S+)`", README)[0].split()
    said = subprocess.check_output([sys.executable, *words], cwd=tmp_path, text=True)
    assert f"```\n{said}```" in README


def test_shell(tmp_path: Path) -> None:
    assert (len(SHELL), len(PLANS), len(RADIUS)) == (4, 1, 1)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "plan.toml").write_text(PLANS[0])
    shown_command, shown = RADIUS[0]
    said = {command: run(command, tmp_path) for block in SHELL for command in block.splitlines()}
    assert "160 of 160 tasks done, 160 solved" in said["tmverify campaign status results.db"]
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert len(QUOTED) == 2
    for quoted in QUOTED:
        beginning = f"  {' '.join(quoted.split())} if "
        assert any(line.startswith(beginning) for text in said.values() for line in text.splitlines())
    lines = [line.rstrip() for line in said[shown_command].splitlines()]
    for line in shown.splitlines():
        # Seconds differ, and where several changes are nearest, so may the one that is found.
        if not line.startswith(("│", "  input", "seconds")):
            assert line in lines


@pytest.mark.parametrize("name", TOURS)
def test_tour(name: str, tmp_path: Path) -> None:
    """Each command of the page prints what stands below it; its Python prints what it promises."""
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for file, beginning in TOURS[name].items():
        (content,) = re.findall(rf"```\n({re.escape(beginning)}.*?)```", page, re.S)
        (tmp_path / file).write_text(content, encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```\n\n```\n(.*?)```", page, re.S)
    assert len(blocks) == page.count("```sh\n") > 3
    for command, shown in blocks:
        lines = [line.rstrip() for line in run(command.strip(), tmp_path, columns=100).splitlines()]
        for line in shown.splitlines():
            # Times differ, and where several changes are nearest, so may the one that is found.
            if not re.match(UNSURE, line):
                assert line in lines
    (block,) = re.findall(r"```python\n(.*?)```", page, re.S)
    output = subprocess.check_output([sys.executable, "-c", block], cwd=tmp_path, text=True)
    promised = re.findall(r"^print\(.*\)  # (.*?):", block, re.M)
    assert promised
    assert set(promised) <= set(output.splitlines())


def test_properties(tmp_path: Path) -> None:
    """The page of properties from top to bottom: files are written, commands and Python print as promised."""
    page = (ROOT / "docs" / "properties.md").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    blocks = re.findall(r"```(python|sh|toml)\n(.*?)```(?:\n\n```\n(.*?)```)?", page, re.S)
    assert [kind for kind, *_ in blocks].count("toml") == 3
    for kind, content, shown in blocks:
        if kind == "toml":
            (tmp_path / content.split(":")[0].removeprefix("# ")).write_text(content, encoding="utf-8")
        elif kind == "python":
            output = subprocess.check_output([sys.executable, "-c", content], cwd=tmp_path, text=True)
            promised = re.findall(r"^print\(.*\)  # (.*?):", content, re.M)
            assert promised
            assert set(promised) <= set(output.splitlines())
        else:
            lines = [line.rstrip() for line in run(content.strip(), tmp_path, columns=100).splitlines()]
            answers = [_answer(line) for line in lines]
            for line in shown.splitlines():
                if line.startswith("│"):  # a property and its answer; the seconds differ
                    assert _answer(line) in answers
                elif not re.match(r"  (engine|\w+ {2,}| {5,})", line):  # which counterexample, is open
                    assert line in lines


def _answer(line: str) -> list[str]:
    """The first two cells of a line of a table."""
    return [cell.strip() for cell in line.split("│")[1:3]]


def run(command: str, folder: Path, columns: int = 80) -> str:
    """What ``command`` prints; some of the inputs are not robust, which is exit code 1."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": str(columns)}
    done = subprocess.run(
        shlex.split(command.replace("\\\n", " ")),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    assert done.stdout
    return done.stdout
