"""The form of the documentation: lines fit on a screen, files that it names exist, terms are explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").glob("*.md")),
]
LONGEST = 110
# Lines that may be longer, by how they begin, and why.
EXCEPTIONS = {
    "docs/results.md": ("| machine | clauses | T |",),  # a table that a script of experiments/ writes
    "docs/tables.md": ("  L0", "  4 of 6"),  # what commands print
    "docs/texts.md": ("  +1", "  -1"),
    "docs/explanations.md": ("  IF", "  contrastive", "  sufficient", "  importance", "L0", "proofs/"),
}
SOURCE_FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.py)`")
PLACES = ("", "src", "src/tmverify", "src/tmverify/engines", "tests/unit/certificates")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_lines_fit_a_screen(page: Path) -> None:
    allowed = EXCEPTIONS.get(str(page.relative_to(ROOT)), ())
    long = [
        f"{page.name}:{number}: {len(line)} characters"
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > LONGEST and not line.startswith(allowed)
    ]
    assert not long


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=lambda page: page.name
)
def test_files_that_are_named_are_there(page: Path) -> None:
    for name in SOURCE_FILE.findall(page.read_text(encoding="utf-8")):
        assert any((ROOT / place / name).exists() for place in PLACES), name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_newcomers_find_the_glossary() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "docs/design.md"):
        assert "glossary.md" in (ROOT / name).read_text(encoding="utf-8"), name
