"""Bring docs/results.md up to date with the sections that experiments wrote here.

A section that was not measured here stays as it is on the page.
"""

from __future__ import annotations

import re
from pathlib import Path

from lab.arguments import ROOT

PAGE = ROOT / "docs" / "results.md"
SECTION_FOLDER = ROOT / "build" / "experiments" / "results"

SECTIONS = (
    "training_tables",
    "robustness_mnist",
    "robustness_imdb",
    "similarity_imdb",
    "accuracy_mnist_c",
    "robustness_back_image",
    "radius_published_networks",
)
INTRODUCTION = """\
# The paper's evaluation, run again

Every table of *Verifying Properties of Tsetlin Machines* (arXiv 2303.14464), with our machines and our
engines beside the paper's figures. Each section was written by the script it names, from what that script
measured; nothing is typed in by hand. `make experiments` runs them all (with `TMVERIFY_DATA` set to the
data folder), each goes on where it was stopped, and `--quick` is a smoke run that needs no data. The plans
are in `experiments/plans/`, the figures of the paper in `experiments/lab/paper.py`. Times are from two
shared and noisy cores; a ratio to the paper's seconds is between two machines as much as between two
methods. `docs/benchmarks.md` compares with the paper's own method on one machine.
"""


def main(page: Path = PAGE, folder: Path = SECTION_FOLDER) -> None:
    measured = {name: folder / f"{name}.md" for name in SECTIONS if (folder / f"{name}.md").exists()}
    sections = sections_of(page.read_text(encoding="utf-8"))
    sections |= {name: path.read_text(encoding="utf-8") for name, path in measured.items()}
    found = [sections[name] for name in SECTIONS if name in sections]
    page.write_text("\n".join([INTRODUCTION, *found]), encoding="utf-8")
    print(f"docs/results.md: {len(measured)} sections written anew, {len(found)} of {len(SECTIONS)} in all")


def sections_of(page: str) -> dict[str, str]:
    """The sections of a page by the name of the script that wrote them, which each says in its first line."""
    found = {}
    for section in re.split(r"^(?=## )", page, flags=re.MULTILINE)[1:]:
        script = re.search(r"`python experiments/(\w+)\.py`", section)
        if script is not None:
            found[script[1]] = section.rstrip("\n") + "\n"
    return found


if __name__ == "__main__":
    main()
