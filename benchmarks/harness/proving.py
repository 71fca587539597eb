"""What every section of ``verification.py`` is given: the subjects, the limits, how many inputs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.asking import Sheet
from harness.report import Section, stored_sections
from harness.subjects import Subjects


@dataclass(frozen=True)
class Proving:
    """Limits are in seconds for one question; counts of inputs are before a smoke run cuts them down."""

    subjects: Subjects
    stored: Path  # the report's JSON
    resume: bool
    quick: bool
    epsilons: tuple[int, ...]
    scopes: tuple[str, ...]
    images: int  # of each class
    reviews: int
    limit: float
    paper_limit: float
    paper_inputs: int
    sat_inputs: int
    radius_inputs: int
    radius_reviews: int
    radius_limit: float
    curve_inputs: int
    curve_limit: float

    def few(self, n: int, quick: int) -> int:
        return min(n, quick) if self.quick else n

    def begin(self, name: str, title: str, settings: dict[str, Any], columns: tuple[str, ...]) -> Sheet:
        """A new section, and what an unfinished one with the same settings had measured, if wanted."""
        title += " (smoke run, small machines)" if self.quick else ""
        section = Section(title, {"seed": self.subjects.seed, **settings}, columns)
        older = stored_sections(self.stored).get(name) if self.resume else None
        if older and not older["complete"] and older["settings"] == section.settings:
            section.findings.append(f"Begun at {older['began']}, stopped, and taken up again.")
            return Sheet(section, older["raw"])
        return Sheet(section)

    def named(self, *models: str) -> str:
        """The machines by name and hash, for a section's settings."""
        return ", ".join(f"{name} ({self.subjects.model(name).content_hash[:8]})" for name in models)
