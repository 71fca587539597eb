"""What was measured, as markdown and JSON, section by section.

A section that is run again replaces its older self; sections measured on another machine are dropped. No
paths and no host names are written.
"""

from __future__ import annotations

import json
import os
import platform
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Section:
    """One section of the report. ``findings`` are sentences; ``raw`` is for the JSON only."""

    title: str
    settings: dict[str, Any]
    columns: tuple[str, ...] = ()
    rows: list[list[str]] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    raw: list[dict[str, Any]] = field(default_factory=list)
    began: str = field(default_factory=lambda: time.strftime("%Y-%m-%d %H:%M", time.gmtime()))
    load_before: float = field(default_factory=lambda: round(os.getloadavg()[0], 2))
    complete: bool = False


def machine() -> dict[str, Any]:
    """CPU, cores, system."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text().splitlines()
        cpu = next((ln.split(":", 1)[1].strip() for ln in lines if ln.startswith("model name")), cpu)
        flags = next((ln for ln in lines if ln.startswith("flags")), "").split()
        cpu += ", AVX-512" if "avx512f" in flags else ", AVX2" if "avx2" in flags else ""
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def save(name: str, section: Section, folder: Path, order: tuple[str, ...]) -> None:
    """Put a section into training.json and training.md."""
    folder.mkdir(parents=True, exist_ok=True)
    stored = folder / "training.json"
    report: dict[str, Any] = {"machine": machine(), "sections": {}}
    if stored.exists():
        older = json.loads(stored.read_text())
        if older["machine"] == report["machine"]:
            report["sections"] = older["sections"]
    report["sections"][name] = asdict(section)
    report["sections"] = {key: report["sections"][key] for key in order if key in report["sections"]}
    _replace(stored, json.dumps(report, indent=1) + "\n")
    _replace(folder / "training.md", markdown(report))


def markdown(report: dict[str, Any]) -> str:
    m = report["machine"]
    lines = [
        "# Training and inference, measured",
        "",
        f"{m['cpu']}, {m['cores']} cores, {m['system']}, Python {m['python']}.",
        "Written by `benchmarks/training.py`; the raw figures are in `training.json`.",
    ]
    for section in report["sections"].values():
        lines += ["", *section_lines(section)]
    return "\n".join(lines) + "\n"


def section_lines(section: dict[str, Any]) -> list[str]:
    lines = [f"## {section['title']}", ""]
    lines += ["; ".join(f"{key}: {value}" for key, value in section["settings"].items()) + "."]
    versions = ", ".join(f"{name} {number}" for name, number in sorted(section["versions"].items()))
    lines += [f"Begun {section['began']} UTC at load {section['load_before']}. {versions}".rstrip(". ") + "."]
    if not section["complete"]:
        lines += ["**Not finished**: what follows was measured before it was stopped."]
    if section["rows"]:
        lines += ["", _row(section["columns"]), _row(["---"] * len(section["columns"]))]
        lines += [_row(row) for row in section["rows"]]
    return lines + [""] * bool(section["findings"]) + [f"- {finding}" for finding in section["findings"]]


def _row(cells: Any) -> str:
    return "| " + " | ".join(cells) + " |"


def _replace(path: Path, text: str) -> None:
    fresh = path.with_suffix(path.suffix + ".new")
    fresh.write_text(text)
    fresh.replace(path)
